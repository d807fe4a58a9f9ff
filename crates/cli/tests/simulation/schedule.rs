//! What goes wrong in one simulation, drawn from a seed.

use std::fmt;

use assay_stream::registers::ControlBits;
use assay_units::Rng;

/// What the file system of the outputs does at its `at`-th change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFault {
    Nothing,
    /// The change fails with this errno, and later ones succeed.
    FailsOnce(i32),
    FailsFromThen(i32),
    /// A write takes half of its bytes.
    ShortWrite,
    PowerLoss,
    /// The process is ended by SIGKILL.
    Killed,
}

#[derive(Clone, Debug)]
pub struct Schedule {
    pub seed: u64,
    pub file: FileFault,
    pub at: u64,
    /// A signal asks the run to end at this change of the file system.
    pub stop_run_at: Option<u64>,
    /// A signal asks the recording to end at this fill of a chunk.
    pub stop_recording_at: Option<(u64, ControlBits)>,
    /// The process does not run for [`STOP_MS`] at this change.
    pub stopped_at: Option<u64>,
    /// The date is set by so many seconds at this change.
    pub date_jumps: Vec<(u64, i64)>,
    /// Faults of each of the run's drives, one or two, and of those with the recording.
    pub run_faults: Vec<Vec<String>>,
    pub stream_faults: Vec<Vec<String>>,
}

/// Drives of a run or a recording.
pub const MOST_DRIVES: usize = 2;

/// Longer than what a `StopWatch` takes for a stop.
pub const STOP_MS: u64 = 220;

/// Commands of each kind to a drive, about: faults beyond them do not happen.
const RUN_COMMANDS: u64 = 150;
const STREAM_COMMANDS: u64 = 60;

impl Schedule {
    /// `changes`: of a run and a replay without faults.
    pub fn new(seed: u64, changes: u64) -> Schedule {
        let mut rng = Rng::stream(seed, "simulation");
        let errno = [5, 28, 122, 30][rng.below(4) as usize]; // EIO, ENOSPC, EDQUOT, EROFS
        let file = match rng.below(8) {
            0 | 1 => FileFault::Nothing,
            2 => FileFault::FailsOnce(errno),
            3 => FileFault::FailsFromThen(errno),
            4 => FileFault::ShortWrite,
            5 | 6 => FileFault::PowerLoss,
            _ => FileFault::Killed,
        };
        let mut at = |one_in: u64| {
            let at = rng.below(changes + changes / 16);
            (rng.below(one_in) == 0).then_some(at)
        };
        let [file_at, stop_run_at, stopped_at] = [at(1), at(4), at(64)];
        let stop_recording_at = (rng.below(4) == 0).then(|| {
            let controls = [ControlBits::STOP, ControlBits::ABORT];
            (rng.below(44), controls[rng.below(2) as usize])
        });
        let mut run_faults = vec![drive_faults(&mut rng, RUN_COMMANDS)];
        let mut stream_faults = vec![drive_faults(&mut rng, STREAM_COMMANDS)];
        for (faults, commands) in
            [(&mut run_faults, RUN_COMMANDS), (&mut stream_faults, STREAM_COMMANDS)]
        {
            if rng.below(4) == 0 {
                faults.push(drive_faults(&mut rng, commands));
            }
        }
        let date_jumps = (0..rng.below(4).saturating_sub(1)).map(|_| {
            let by_s = 1 << rng.below(32);
            let at = rng.below(changes);
            (at, if rng.below(2) == 0 { by_s } else { -by_s })
        });
        Schedule {
            seed,
            file,
            at: file_at.unwrap_or_default(),
            stop_run_at,
            stop_recording_at,
            stopped_at,
            date_jumps: date_jumps.collect(),
            run_faults,
            stream_faults,
        }
    }
}

/// The drives with these faults, in the notation of the command line.
pub fn drives(profiles: &[String; MOST_DRIVES], faults: &[Vec<String>]) -> Vec<String> {
    let drive = |(profile, faults): (&String, &Vec<String>)| {
        let faults = faults.iter().map(|fault| format!(",fault={fault}"));
        format!("sim:{profile}{}", faults.collect::<String>())
    };
    profiles.iter().zip(faults).map(drive).collect()
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{self:?}\nrepeat it: ASSAY_SIMULATION_SEED={} cargo test -p assay-cli --features s3 \
             --test simulation -- --nocapture",
            self.seed
        )
    }
}

/// None in half of the cases, else one or two.
fn drive_faults(rng: &mut Rng, commands: u64) -> Vec<String> {
    let count = [0, 0, 0, 1, 1, 2][rng.below(6) as usize];
    let fault = |_| {
        let at = rng.below(commands) + 1;
        match rng.below(11) {
            0 => format!("corrupt-write@{at}"),
            1 => format!("drop-write@{at}"),
            2 => format!("misdirect-write@{at}"),
            3 => format!("stale-read@{at}"),
            4 => format!("read-error@{at}"),
            5 => format!("write-error@{at}"),
            6 => format!("drop-flush@{}", at / 16 + 1),
            7 => format!("power-loss@{at}"),
            8 => format!("vanish@{at}"),
            9 => format!("latency-spike@{at}=2s"),
            _ => format!("media-error@{}k+4k", at * 4),
        }
    };
    (0..count).map(fault).collect()
}
