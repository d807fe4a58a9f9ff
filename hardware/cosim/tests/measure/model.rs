//! The streamer's model of a recorder: the recording loop of `assay record` on a simulated drive,
//! without the core.
//!
//! A source of a fixed rate cannot wait. In the core a chunk needs its slot of the ring when its
//! first byte arrives; in the model when it is complete. So a ring of so many chunks is, in the
//! model, one chunk that is being filled and one slot less.

use std::cell::Cell;
use std::rc::Rc;

use assay_io::{Completion, Io, Nanos, Target, TargetError};
use assay_sim_host::{HostCosts, SimTarget};
use assay_ssd::{DriveOptions, Profile};
use assay_stream::buffer_table::BufferTable;
use assay_stream::queue::StreamQueue;
use assay_stream::range::StreamRange;
use assay_stream::record::{self, RecordOptions, SourceRate};
use assay_stream::registers::Registers;
use assay_stream::source::{FillResult, StreamSource};

/// Ring of a recorder.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// Bytes per chunk.
    pub chunk_bytes: u32,
    /// Chunks.
    pub chunks: u32,
}

impl Ring {
    /// Of the configuration `w128`.
    pub const W128: Ring = Ring { chunk_bytes: 128 << 10, chunks: 32 };

    /// All of it.
    pub fn bytes(&self) -> u64 {
        u64::from(self.chunk_bytes) * u64::from(self.chunks)
    }
}

/// When a recording ends, whichever is first.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Chunks.
    pub chunks: u64,
    /// Rounds of the drive.
    pub rounds: u64,
    /// Simulated time.
    pub time: Nanos,
    /// A chunk finds the ring full.
    pub until_loss: bool,
}

impl Span {
    /// So many chunks.
    pub fn chunks(chunks: u64) -> Span {
        Span { chunks, rounds: u64::MAX, time: Nanos::MAX, until_loss: false }
    }

    /// An hour.
    pub fn hour() -> Span {
        Span { time: Nanos::from_millis(3_600_000), ..Span::chunks(u64::MAX) }
    }

    /// The same, or until data are lost.
    #[must_use]
    pub fn until_loss(self) -> Span {
        Span { until_loss: true, ..self }
    }
}

/// A simulated drive whose clock the source can read.
struct ClockedDrive {
    drive: SimTarget,
    clock: Rc<Cell<Nanos>>,
}

impl Target for ClockedDrive {
    fn now(&mut self) -> Nanos {
        let now = self.drive.now();
        self.clock.set(now);
        now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        self.drive.submit(batch)
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.drive.reap(min, until, out)
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.drive.buffer(slot)
    }
}

/// Gives whole chunks, of a fixed rate or as fast as they are taken.
struct Source {
    clock: Rc<Cell<Nanos>>,
    rate: Option<u64>,
    span: Span,
    round_chunks: u64,
    given_chunks: u64,
    is_lost: bool,
    /// When the rounds of the drive ended.
    rounds: Vec<Nanos>,
}

impl StreamSource for Source {
    fn name(&self) -> String {
        "a source of chunks".to_owned()
    }

    fn fill(&mut self, chunk: &mut [u8], _: &Registers) -> std::io::Result<FillResult> {
        let now = self.clock.get();
        self.given_chunks += 1;
        if let Some(rate) = self.rate {
            let bytes = u128::from(self.given_chunks) * chunk.len() as u128;
            let due = bytes * 1_000_000_000 / u128::from(rate);
            assert!(u128::from(now.0) >= due, "taken before it is there");
            self.is_lost |= u128::from(now.0) > due;
        }
        if self.given_chunks.is_multiple_of(self.round_chunks) {
            self.rounds.push(now);
        }
        let is_over = self.given_chunks >= self.span.chunks
            || self.rounds.len() as u64 >= self.span.rounds
            || now >= self.span.time;
        Ok(FillResult { bytes: chunk.len(), last: is_over || self.span.until_loss && self.is_lost })
    }

    fn has_more(&mut self, _: bool, _: &Registers) -> std::io::Result<Option<bool>> {
        Ok(Some(false))
    }
}

/// What a recording needed.
#[derive(Clone, Debug)]
pub struct ModelRun {
    /// A chunk found the ring full.
    pub is_lost: bool,
    /// Most bytes delivered and not written: of a source with a fixed rate.
    pub backlog_bytes: u64,
    /// Mean rate; of the last round of the drive where there were two.
    pub mean_rate: f64,
    /// Rounds of the drive.
    pub rounds: f64,
    /// Simulated time.
    pub elapsed: Nanos,
    /// Buffer per rate.
    pub table: BufferTable,
}

/// Record on a new drive, around it as a ring, from a source of this rate, or as fast as it takes
/// it.
pub fn run(profile: &Profile, ring: Ring, rate: Option<u64>, span: Span) -> ModelRun {
    let name = "planned";
    let slots = ring.chunks - 1;
    let round_bytes = profile.identity.capacity_bytes.value;
    let drive = SimTarget::new(name, profile.clone(), DriveOptions::default());
    // The core is no processor: it takes no time to submit a command.
    let mut drive = drive.expect("a drive").on_host(HostCosts::default());
    let begun = drive.begin_job(1, slots, ring.chunk_bytes);
    begun.expect("no buffers are needed");
    let clock = Rc::new(Cell::new(Nanos::ZERO));
    let target = ClockedDrive { drive, clock: Rc::clone(&clock) };
    let queue = StreamQueue::new(name, target, slots, ring.chunk_bytes);
    let chunk = u64::from(ring.chunk_bytes);
    let round_chunks = round_bytes / chunk;
    let range = StreamRange {
        first: 0,
        last: (round_chunks - 1) * chunk,
        chunk_bytes: ring.chunk_bytes,
        drives: 1,
    };
    let mut source = Source {
        clock,
        rate,
        span,
        round_chunks,
        given_chunks: 0,
        is_lost: false,
        rounds: Vec::new(),
    };
    let options = RecordOptions {
        buffer_table: rate.is_none(),
        ring: true,
        source_rate: rate.map(|rate_bytes_per_s| SourceRate { rate_bytes_per_s, deadline: None }),
        ..RecordOptions::default()
    };
    let registers = Registers::default();
    let recorded = record::record(&mut [queue], &range, &mut source, &options, &registers);
    let recorded = recorded.expect("a simulated drive takes its stream");
    let status = recorded.status;
    assert_eq!(status.chunks, source.given_chunks);
    let mean_rate = match source.rounds[..] {
        [.., before, last] => assay_units::rate::per_second(round_chunks * chunk, last - before),
        _ => status.rate_bytes_per_s(),
    };
    ModelRun {
        is_lost: source.is_lost,
        backlog_bytes: status.backlog.map_or(0, |backlog| backlog.high_water_bytes),
        mean_rate,
        rounds: source.given_chunks as f64 / round_chunks as f64,
        elapsed: Nanos(status.elapsed_ns),
        table: recorded.buffer_table.expect("it was asked for"),
    }
}

/// The greatest rate that fits, within `step`, from `good`, which is taken to fit, to `bad`, which
/// is not. Neither is tried.
pub fn greatest_rate(
    mut good: u64,
    mut bad: u64,
    step: u64,
    mut fits: impl FnMut(u64) -> bool,
) -> u64 {
    while bad > good && bad - good > step {
        let middle = good.midpoint(bad);
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// The greatest rate, within 1 MB/s, of a source that cannot wait whose first `chunks` chunks never
/// find the ring full; at most `bus_rate`.
pub fn short_rate(profile: &Profile, ring: Ring, chunks: u64, bus_rate: u64) -> u64 {
    greatest_rate(1, bus_rate, 1_000_000, |rate| {
        let span = Span::chunks(chunks).until_loss();
        !run(profile, ring, Some(rate), span).is_lost
    })
}

/// Plan of a recorder for an hour.
#[derive(Clone, Debug)]
pub struct HourPlan {
    /// Drive written as fast as it takes the stream.
    pub saturated: ModelRun,
    /// The greatest rate without loss, within 2 % of the mean, with all of an hour at this rate.
    pub sustained: (u64, ModelRun),
    /// At the given shares of the mean.
    pub shares: Vec<ModelRun>,
    /// Recordings that were simulated.
    pub runs: u32,
}

/// Rounds of the drive, on a new drive and on a written one, after which a rate that fits is tried
/// for the whole hour.
const ROUNDS: u64 = 2;

/// Plan an hour on a new drive.
pub fn hour(profile: &Profile, ring: Ring, shares: &[f64]) -> HourPlan {
    let runs = Cell::new(0);
    let at = |rate, span| {
        runs.set(runs.get() + 1);
        run(profile, ring, rate, span)
    };
    let short = Span { rounds: ROUNDS, ..Span::hour() };
    let saturated = at(None, short);
    let mean = saturated.mean_rate;
    let step = (mean / 50.0) as u64;
    let mut best = None;
    let mut fits = |rate| {
        let tried = at(Some(rate), short.until_loss());
        let fits = !tried.is_lost;
        if fits {
            best = Some((rate, tried));
        }
        fits
    };
    // Between what the ring covers while the drive has no pauses, which is tried for an hour below,
    // and a little above the mean: a drive with pauses may do more.
    let covered = saturated.table.rate_for(ring.bytes());
    let mut rate = greatest_rate(covered, mean as u64 + step, step, &mut fits);
    let is_whole = |tried: &ModelRun| tried.elapsed >= Span::hour().time;
    let tried = best.filter(|(at, tried)| *at == rate && is_whole(tried));
    let sustained = match tried {
        Some(tried) => tried,
        None => loop {
            let hour = at(Some(rate), Span::hour().until_loss());
            if !hour.is_lost {
                break (rate, hour);
            }
            rate = rate.saturating_sub(step);
            assert!(rate > 0, "no rate is without loss");
        },
    };
    let share = |share: &f64| at(Some((mean * share) as u64), short);
    let shares = shares.iter().map(share).collect();
    HourPlan { saturated, sustained, shares, runs: runs.get() }
}
