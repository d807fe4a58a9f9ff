//! A simulated drive as a target: virtual time, one thread, all workers of a job.
//!
//! # Time
//! The clock stands still while the engine thinks and jumps to the next event when it waits. It goes on from job to job, so a
//! drive that was heated by one job begins the next one warm.
//!
//! # The simulated host
//! A synchronous thread of the machine that measured the published figures needs time of its own for every I/O
//! (`assay_ssd::profile::BenchProfile`), and shares that machine's processors with other threads (`assay_ssd::host`). Both are
//! applied here, outside the drive: a worker's I/Os reach the drive one host overhead after another, and latency includes it, as it
//! does on a real machine.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_ssd::host::HostCpus;
use assay_ssd::regenerate::Generator;
use assay_ssd::{Drive, DriveOptions, Identity, Profile, Status};
use assay_units::{Nanos, Op};

use crate::huge_tables::prefer_huge_tables;
use crate::identity::PcieLink;
use assay_io::buffers::Buffers;
use assay_io::{Completion, Io, Target, TargetError, Telemetry};

/// How a failed command looks to a program, as Linux maps NVMe status codes to `errno` (`nvme_error_status`, then
/// `blk_status_to_errno`).
fn errno_of(status: Status) -> i32 {
    match status {
        Status::Ok => 0,
        Status::InvalidField => libc::EREMOTEIO,
        Status::LbaOutOfRange => libc::EREMOTEIO,
        Status::WriteFault | Status::UnrecoveredReadError => libc::ENODATA,
        // A disk marked dead, or a command that nobody knows the end of.
        Status::PowerLoss | Status::Removed => libc::EIO,
    }
}

/// I/Os on their way to the drive, by arrival, then by order of submission.
///
/// Most arrive after all those before them: each host processor hands its own over in order. So a sorted ring is appended to nearly always,
/// where a heap would sift every time.
#[derive(Debug, Default)]
struct Arrivals {
    ring: VecDeque<(Nanos, u32)>,
}

impl Arrivals {
    fn next(&self) -> Option<Nanos> {
        self.ring.front().map(|&(at, _)| at)
    }

    #[inline]
    fn add(&mut self, at: Nanos, slot: u32) {
        if self.ring.back().is_none_or(|&(last, _)| last <= at) {
            self.ring.push_back((at, slot));
        } else {
            let place = self.ring.partition_point(|&(other, _)| other <= at);
            self.ring.insert(place, (at, slot));
        }
    }

    /// The first, if it arrives by `until`.
    #[inline]
    fn take(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        let first = *self.ring.front()?;
        if first.0 > until {
            return None;
        }
        self.ring.pop_front();
        Some(first)
    }
}

/// A simulated drive with its host.
pub struct SimTarget {
    name: String,
    drive: Drive,
    now: Nanos,
    depth: u32,
    /// What gives the workers' threads their time.
    cpus: HostCpus,
    arriving: Arrivals,
    /// Per slot, the I/O in flight.
    ios: Vec<Io>,
    buffers: Option<Buffers>,
    finished: Vec<assay_ssd::Completion>,
    /// Energy in microjoules and its instant at the last reading of the power.
    metered: (u64, Nanos),
}

impl SimTarget {
    /// Switch on a drive of a profile. `name` is what the user called it.
    ///
    /// # Errors
    /// When the profile cannot make a drive.
    pub fn new(
        name: &str,
        profile: Profile,
        options: DriveOptions,
    ) -> Result<SimTarget, TargetError> {
        let cpus = HostCpus::new(&profile.bench, 1, Nanos::ZERO);
        let drive = Drive::new(profile, options).map_err(|e| TargetError::Simulation {
            drive: name.to_owned(),
            message: e.to_string(),
        })?;
        prefer_huge_tables(&drive);
        Ok(SimTarget {
            name: name.to_owned(),
            drive,
            now: Nanos::ZERO,
            depth: 1,
            cpus,
            arriving: Arrivals::default(),
            ios: Vec::new(),
            buffers: None,
            finished: Vec::new(),
            metered: (0, Nanos::ZERO),
        })
    }

    /// What the drive says it is.
    pub fn identity(&self) -> &Identity {
        self.drive.identity()
    }

    /// Does it keep the bytes written to it, so that they can be verified?
    pub fn keeps_data(&self) -> bool {
        self.drive.keeps_data()
    }

    /// What can make pages again that the drive then need not keep (`sim:NAME,data=checksum`).
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        self.drive.set_generator(generator);
    }

    /// Prepare for a job of `workers` threads with `depth` I/Os in flight each, of at most `slot_bytes`. Nothing may be in
    /// flight.
    ///
    /// # Errors
    /// When buffers are needed (the drive keeps data) and cannot be had.
    pub fn begin_job(
        &mut self,
        workers: u32,
        depth: u32,
        slot_bytes: u32,
    ) -> Result<(), TargetError> {
        let slots = u64::from(workers) * u64::from(depth);
        let slots = u32::try_from(slots).map_err(|_| TargetError::TooDeep { slots })?;
        self.depth = depth;
        self.cpus = HostCpus::new(&self.drive.profile().bench, workers, self.now);
        self.ios = vec![
            Io {
                op: Op::Flush,
                data: assay_units::DataClass::Zero,
                slot: 0,
                len_bytes: 0,
                offset_bytes: 0
            };
            slots as usize
        ];
        self.buffers = if self.drive.keeps_data() {
            Some(Buffers::new(slots, slot_bytes)?)
        } else {
            None
        };
        Ok(())
    }

    /// Let the drive sit idle until this long from now.
    pub fn idle(&mut self, span: Nanos) {
        self.now += span;
        self.drive.advance(self.now, &mut self.finished);
        self.finished.clear();
    }

    /// Format the drive: everything on it is gone, see [`Drive::purge`]. Time goes on to when it is done.
    ///
    /// # Errors
    /// When the drive is gone.
    pub fn purge(&mut self) -> Result<(), TargetError> {
        let Some(end) = self.drive.purge(self.now) else {
            return Err(TargetError::Simulation {
                drive: self.name.clone(),
                message: "it is gone from the bus and cannot be purged; start a new run".to_owned(),
            });
        };
        self.now = self.now.max(end);
        self.idle(Nanos::ZERO);
        Ok(())
    }

    /// The drive loses power now and has it back at once, see [`Drive::power_loss`]. Nothing may be in flight.
    pub fn lose_power(&mut self) {
        self.drive.power_loss(self.now);
        self.idle(Nanos::ZERO);
    }

    /// Its link, worded as sysfs words that of a real drive; none for one on Serial ATA.
    pub fn pcie(&self) -> Option<PcieLink> {
        let link = &self.drive.profile().link;
        if link.sata.is_some() {
            return None;
        }
        // PCI Express Base Specification 6.0, section 1.2: transfer rates of the generations.
        let gt_per_s = match link.generation.value {
            0 | 1 => "2.5",
            2 => "5.0",
            3 => "8.0",
            4 => "16.0",
            _ => "32.0",
        };
        let speed = Some(format!("{gt_per_s} GT/s PCIe"));
        let width = Some(u32::from(link.lanes.value));
        Some(PcieLink {
            address: "simulated".to_owned(),
            speed: speed.clone(),
            width,
            max_speed: speed,
            max_width: width,
        })
    }

    /// The power state it is in.
    pub fn power_state(&mut self) -> u8 {
        self.drive.telemetry(self.now).power_state
    }

    /// Choose an NVMe power state now, as a host does with Set Features. `sim:NAME,ps=N` begins with one.
    ///
    /// # Errors
    /// When the drive has none of that number.
    pub fn set_power_state(&mut self, state: u8) -> Result<(), TargetError> {
        let now = self.now;
        let set = self.drive.set_power_state(now, state);
        set.map_err(|e| TargetError::Simulation {
            drive: self.name.clone(),
            message: e.to_string(),
        })
    }

    /// Mean power in milliwatts since the last reading, that of the last thermal step when none has passed.
    fn mean_power_mw(&mut self, telemetry: &assay_ssd::Telemetry) -> u64 {
        let (energy_uj, at) = std::mem::replace(
            &mut self.metered,
            (telemetry.energy_uj, telemetry.energy_until),
        );
        let span = telemetry.energy_until.0.saturating_sub(at.0);
        let used_uj = telemetry.energy_uj.saturating_sub(energy_uj);
        match u128::from(used_uj)
            .saturating_mul(1_000_000)
            .checked_div(u128::from(span))
        {
            Some(mw) => u64::try_from(mw).unwrap_or(u64::MAX),
            None => u64::from(telemetry.power_mw),
        }
    }

    fn start(&mut self, at: Nanos, slot: u32) {
        let io = self.ios[slot as usize];
        let command = assay_ssd::Command {
            tag: slot,
            queue: (slot / self.depth) as u16,
            op: io.op,
            offset_bytes: io.offset_bytes,
            len_bytes: io.len_bytes,
            data: io.data,
        };
        match &mut self.buffers {
            Some(buffers) if io.op == Op::Write => {
                let bytes = &buffers.slot(slot)[..io.len_bytes as usize];
                self.drive.submit_write(at, command, bytes);
            }
            _ => self.drive.submit(at, command),
        }
    }

    /// The next instant at which something happens, in the host or in the drive.
    fn next_event(&self) -> Nanos {
        let arrival = self.arriving.next().unwrap_or(Nanos::MAX);
        arrival
            .min(self.cpus.next())
            .min(self.drive.next_event().unwrap_or(Nanos::MAX))
    }

    /// Live through everything up to and including `until`.
    fn live_until(&mut self, until: Nanos, out: &mut Vec<Completion>) {
        while let Some((at, slot)) = self.cpus.take(until) {
            self.arriving.add(at, slot);
        }
        while let Some((at, slot)) = self.arriving.take(until) {
            self.start(at, slot);
        }
        self.drive.advance(until, &mut self.finished);
        for finished in &self.finished {
            let io = &self.ios[finished.tag as usize];
            let result = if finished.status.is_ok() {
                if io.op == Op::Read
                    && let Some(buffers) = &mut self.buffers
                {
                    let buffer = &mut buffers.slot(finished.tag)[..io.len_bytes as usize];
                    self.drive.read_data(finished, io.offset_bytes, buffer);
                }
                io.len_bytes as i32
            } else {
                -errno_of(finished.status)
            };
            out.push(Completion {
                slot: finished.tag,
                result,
            });
        }
        self.finished.clear();
    }
}

impl Target for SimTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.now
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            self.ios[io.slot as usize] = *io;
            let thread = io.slot / self.depth;
            if let Some(sent) = self.cpus.hand_over(thread, io.slot, self.now) {
                self.arriving.add(sent, io.slot);
            }
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let before = out.len();
        loop {
            self.live_until(self.now, out);
            if out.len() - before >= min {
                return Ok(());
            }
            let next = self.next_event();
            if next >= until || next == Nanos::MAX {
                if until == Nanos::MAX {
                    return Err(TargetError::Simulation {
                        drive: self.name.clone(),
                        message: "the model has I/Os in flight and nothing that would ever complete them: a defect of the model, \
                                  please report it with the command line"
                            .to_owned(),
                    });
                }
                self.now = self.now.max(until);
                self.live_until(self.now, out);
                return Ok(());
            }
            self.now = self.now.max(next);
        }
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.buffers.as_mut().map(|buffers| buffers.slot(slot))
    }

    fn telemetry(&mut self) -> Option<Telemetry> {
        if !self.drive.is_present() {
            return None;
        }
        let telemetry = self.drive.telemetry(self.now);
        Some(Telemetry {
            temperature_c: Some(f64::from(telemetry.composite_celsius)),
            sensors_c: telemetry.sensors.iter().map(|&c| f64::from(c)).collect(),
            throttled: Some(telemetry.throttled),
            warning_time_s: Some(telemetry.warning_time_s),
            critical_time_s: Some(telemetry.critical_time_s),
            media_errors: Some(telemetry.media_errors),
            power_mw: Some(self.mean_power_mw(&telemetry)),
            power_state: Some(telemetry.power_state),
            host_bytes_read: Some(telemetry.host_bytes_read),
            host_bytes_written: Some(telemetry.host_bytes_written),
            nand_bytes_written: Some(telemetry.nand_bytes_written),
            ..Telemetry::default()
        })
    }
}

#[cfg(test)]
#[path = "../tests/unit/sim.rs"]
mod tests;
