//! A job in fio's words, as typed on the command line or written in a suite; nothing checked yet.

use serde::{Deserialize, Serialize};

/// The options of one workload. Absent ones take fio's defaults, or better ones where said.
///
/// Text forms (sizes, durations, mixes) are kept as typed, so that an error can quote them; [`crate::plan`] reads them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct JobOptions {
    /// read, write, randread, randwrite, rw, randrw; also `trim` is refused with advice.
    pub rw: Option<String>,
    /// Block size, or a mix with percentages: `4k`, `4k/60:64k/40`.
    pub bs: Option<String>,
    /// I/Os in flight per thread.
    pub iodepth: Option<u32>,
    /// Threads.
    pub numjobs: Option<u32>,
    /// Area: a size, or a percentage of the drive.
    pub size: Option<String>,
    /// Where the area begins: a size, or a percentage of the drive.
    pub offset: Option<String>,
    /// Thread `i` starts at `offset + i * this`.
    pub offset_increment: Option<String>,
    /// Each thread works in its own equal part of the area.
    pub split: Option<bool>,
    /// Stop after this many bytes per thread.
    pub io_size: Option<String>,
    /// Measured time.
    pub runtime: Option<String>,
    /// Time before measuring starts.
    pub ramp_time: Option<String>,
    /// Reads in a mix, percent.
    pub rwmixread: Option<u32>,
    /// random, cover, `zipf:THETA`, `zoned:ACCESS/SIZE:...`.
    pub random_distribution: Option<String>,
    /// Alignment of random offsets.
    pub blockalign: Option<String>,
    /// fio's `zonemode=strided`: bytes to transfer per zone.
    pub zonesize: Option<String>,
    /// Length of a zone.
    pub zonerange: Option<String>,
    /// Gap between zones.
    pub zoneskip: Option<String>,
    /// Open loop: this many I/Os per second are due, whether or not earlier ones have ended; latency counts from the due time.
    pub rate: Option<String>,
    /// Spacing of an open loop: constant or poisson.
    pub arrival: Option<String>,
    /// Closed loop, held back to this many I/Os per second (fio's `rate_iops`); latency counts from submission.
    pub rate_iops: Option<String>,
    /// Closed loop, held back to this many bytes per second.
    pub rate_bw: Option<String>,
    /// auto, sync, uring, passthru (real drives only; a simulated or null drive is its own engine).
    pub engine: Option<String>,
    /// O_DIRECT (default), or through the page cache.
    pub direct: Option<bool>,
    /// A kernel thread submits (io_uring SQPOLL).
    pub sqpoll: Option<bool>,
    /// Poll the device for completions (io_uring IOPOLL).
    pub hipri: Option<bool>,
    /// Wait for at least this many completions before submitting again (fio's name); saves processor time at the price of
    /// completions that wait to be seen, which counts as latency.
    pub iodepth_batch_complete_min: Option<u32>,
    /// Processors the threads may run on, `0-3,8` (fio's name); default: where the system puts them.
    pub cpus_allowed: Option<String>,
    /// Bytes written: incompressible, zero, `compress=R`.
    pub data: Option<String>,
    /// Write self-describing blocks and check them; for reads, check what an earlier job with the same seed wrote.
    pub verify: Option<bool>,
    /// Read back what was written when all of it is (fio's name); `false` leaves that to a later job that reads. Default true.
    pub do_verify: Option<bool>,
    /// Length of a self-describing block.
    pub verify_interval: Option<String>,
    /// Seed that self-describing blocks carry, to check later what an earlier job wrote.
    pub verify_seed: Option<u64>,
    /// Seed of every random choice.
    pub seed: Option<u64>,
    /// Length of a reporting interval.
    pub interval: Option<String>,
}

impl JobOptions {
    /// These options, with those of `defaults` where nothing is said here.
    #[must_use]
    pub fn or(self, defaults: &JobOptions) -> JobOptions {
        let d = defaults.clone();
        JobOptions {
            rw: self.rw.or(d.rw),
            bs: self.bs.or(d.bs),
            iodepth: self.iodepth.or(d.iodepth),
            numjobs: self.numjobs.or(d.numjobs),
            size: self.size.or(d.size),
            offset: self.offset.or(d.offset),
            offset_increment: self.offset_increment.or(d.offset_increment),
            split: self.split.or(d.split),
            io_size: self.io_size.or(d.io_size),
            runtime: self.runtime.or(d.runtime),
            ramp_time: self.ramp_time.or(d.ramp_time),
            rwmixread: self.rwmixread.or(d.rwmixread),
            random_distribution: self.random_distribution.or(d.random_distribution),
            blockalign: self.blockalign.or(d.blockalign),
            zonesize: self.zonesize.or(d.zonesize),
            zonerange: self.zonerange.or(d.zonerange),
            zoneskip: self.zoneskip.or(d.zoneskip),
            rate: self.rate.or(d.rate),
            arrival: self.arrival.or(d.arrival),
            rate_iops: self.rate_iops.or(d.rate_iops),
            rate_bw: self.rate_bw.or(d.rate_bw),
            engine: self.engine.or(d.engine),
            direct: self.direct.or(d.direct),
            sqpoll: self.sqpoll.or(d.sqpoll),
            hipri: self.hipri.or(d.hipri),
            iodepth_batch_complete_min: self
                .iodepth_batch_complete_min
                .or(d.iodepth_batch_complete_min),
            cpus_allowed: self.cpus_allowed.or(d.cpus_allowed),
            data: self.data.or(d.data),
            verify: self.verify.or(d.verify),
            do_verify: self.do_verify.or(d.do_verify),
            verify_interval: self.verify_interval.or(d.verify_interval),
            verify_seed: self.verify_seed.or(d.verify_seed),
            seed: self.seed.or(d.seed),
            interval: self.interval.or(d.interval),
        }
    }

    /// One line of `assay job` options that repeats this workload: only what is set, in a fixed order.
    pub fn command_line(&self) -> String {
        let words: Vec<String> = self
            .pairs()
            .into_iter()
            .filter_map(|(name, value)| {
                let value = value?;
                Some(match (FLAGS.contains(&name), value.as_str()) {
                    (true, "true") => format!("--{name}"),
                    (true, _) => return None,
                    (false, text) => format!("--{name} {text}"),
                })
            })
            .collect();
        words.join(" ")
    }

    /// Every option with its text, in declaration order.
    fn pairs(&self) -> [(&'static str, Option<String>); 34] {
        fn text<T: ToString>(value: &Option<T>) -> Option<String> {
            value.as_ref().map(ToString::to_string)
        }
        [
            ("rw", text(&self.rw)),
            ("bs", text(&self.bs)),
            ("iodepth", text(&self.iodepth)),
            ("numjobs", text(&self.numjobs)),
            ("size", text(&self.size)),
            ("offset", text(&self.offset)),
            ("offset_increment", text(&self.offset_increment)),
            ("split", text(&self.split)),
            ("io_size", text(&self.io_size)),
            ("runtime", text(&self.runtime)),
            ("ramp_time", text(&self.ramp_time)),
            ("rwmixread", text(&self.rwmixread)),
            ("random_distribution", text(&self.random_distribution)),
            ("blockalign", text(&self.blockalign)),
            ("zonesize", text(&self.zonesize)),
            ("zonerange", text(&self.zonerange)),
            ("zoneskip", text(&self.zoneskip)),
            ("rate", text(&self.rate)),
            ("arrival", text(&self.arrival)),
            ("rate_iops", text(&self.rate_iops)),
            ("rate_bw", text(&self.rate_bw)),
            ("engine", text(&self.engine)),
            ("direct", text(&self.direct)),
            ("sqpoll", text(&self.sqpoll)),
            ("hipri", text(&self.hipri)),
            (
                "iodepth_batch_complete_min",
                text(&self.iodepth_batch_complete_min),
            ),
            ("cpus_allowed", text(&self.cpus_allowed)),
            ("data", text(&self.data)),
            ("verify", text(&self.verify)),
            ("do_verify", text(&self.do_verify)),
            ("verify_interval", text(&self.verify_interval)),
            ("verify_seed", text(&self.verify_seed)),
            ("seed", text(&self.seed)),
            ("interval", text(&self.interval)),
        ]
    }
}

/// Options that stand alone on the command line; every other boolean takes `true` or `false`.
const FLAGS: [&str; 4] = ["split", "sqpoll", "hipri", "verify"];

#[cfg(test)]
#[path = "../tests/unit/options.rs"]
mod tests;
