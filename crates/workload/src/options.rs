//! The options of one workload, by fio's names: the one definition behind `assay job`, suites,
//! their documentation and run folders.
//!
//! Text forms (sizes, durations, mixes) are kept as typed, so that an error can quote them;
//! [`crate::plan`] reads and checks them.

use assay_trace::replay::SkippedOps;
use assay_units::parse_size;
use serde::{Deserialize, Serialize};

/// How the value of an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Text that the plan reads.
    Text,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A boolean flag without a value on the command line.
    Flag,
}

/// One entry of [`JOB_OPTIONS`].
#[derive(Clone, Copy, Debug)]
pub struct JobOption {
    /// Name on the command line (after `--`), in suites and in run folders.
    pub name: &'static str,
    /// Heading in `assay job --help`.
    pub heading: &'static str,
    /// How the value is written.
    pub kind: OptionKind,
    /// Placeholder of the value in the help text.
    pub value_name: &'static str,
    /// What holds when it is absent.
    pub default: &'static str,
    /// Values as suites write them.
    pub examples: &'static [&'static str],
    help: &'static str,
}

impl JobOption {
    /// The option of this name.
    pub fn find(name: &str) -> Option<&'static JobOption> {
        JOB_OPTIONS.iter().find(|option| option.name == name)
    }

    /// What it means, in Markdown.
    pub fn help(&self) -> &'static str {
        self.help.trim_start()
    }

    /// Its row in the table of docs/suites.md.
    pub fn markdown_row(&self) -> String {
        let examples: Vec<String> = self.examples.iter().map(|e| format!("`{e}`")).collect();
        format!(
            "| `{}` | {} | {} | {} |",
            self.name,
            examples.join(", "),
            self.help(),
            self.default
        )
    }
}

/// The type of an option's value.
trait OptionValue: Sized {
    /// From text; the error completes "... is ".
    fn from_text(text: &str) -> Result<Self, &'static str>;
}

impl OptionValue for String {
    fn from_text(text: &str) -> Result<String, &'static str> {
        Ok(text.to_owned())
    }
}

impl OptionValue for u32 {
    fn from_text(text: &str) -> Result<u32, &'static str> {
        let number = whole_number(text).and_then(|number| number.try_into().ok());
        number.ok_or("not a whole number below 2^32")
    }
}

impl OptionValue for u64 {
    fn from_text(text: &str) -> Result<u64, &'static str> {
        whole_number(text).ok_or("not a whole number below 2^64")
    }
}

/// Also with fio's suffixes, powers of 1024 (`64k`).
fn whole_number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let digits = text.strip_suffix(|unit| "kKmMgGtT".contains(unit))?;
    let is_whole = digits.bytes().all(|digit| digit.is_ascii_digit());
    is_whole.then(|| parse_size(text).ok()).flatten()
}

impl OptionValue for bool {
    fn from_text(text: &str) -> Result<bool, &'static str> {
        parse_bool(text)
    }
}

/// `true` or `false`, as fio's 1 and 0 too.
pub fn parse_bool(text: &str) -> Result<bool, &'static str> {
    match text.trim() {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        _ => Err("neither true nor false; write true or false (or 1 or 0)"),
    }
}

/// Each entry: help (Markdown), heading, name, kind and type, value name, default, examples.
macro_rules! job_options {
    ($(
        $(#[doc = $doc:literal])+
        $heading:ident $name:ident: $kind:ident($type:ty),
        $value:literal, $default:literal, $examples:expr;
    )+) => {
        /// The options of one workload. Absent ones take the default of [`JOB_OPTIONS`].
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct JobOptions {
            $($(#[doc = $doc])+ pub $name: Option<$type>,)+
        }

        /// All options of a workload.
        pub static JOB_OPTIONS: &[JobOption] = &[$(JobOption {
            name: stringify!($name),
            heading: stringify!($heading),
            kind: OptionKind::$kind,
            value_name: $value,
            default: $default,
            examples: &$examples,
            help: concat!($($doc),+),
        }),+];

        impl JobOptions {
            /// Set one option from text.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), &'static str> {
                $(if name == stringify!($name) {
                    self.$name = Some(OptionValue::from_text(text)?);
                    return Ok(());
                })+
                Err("the value of an option that does not exist")
            }

            /// Unset one option.
            pub fn clear(&mut self, name: &str) {
                $(if name == stringify!($name) {
                    self.$name = None;
                })+
            }

            /// The value of each option as text, in the order of [`JOB_OPTIONS`].
            fn values(&self) -> Vec<Option<String>> {
                vec![$(self.$name.as_ref().map(ToString::to_string)),+]
            }
        }
    };
}

// The order is that of `command_line`, which run folders keep.
job_options! {
    /// `read`, `write`, `randread`, `randwrite`, `rw`, `randrw`, `trim`, `randtrim` (deallocate);
    /// `read:8k` leaves a gap of so many bytes after each I/O (`read:-8k` with 4k blocks goes
    /// backwards), `randread:8` continues each random offset for 8 I/Os
    Workload rw: Text(String), "MODE", "`read`", ["\"randread\""];
    /// block size, or a mix with percentages; 512 B to 4 MiB; with a comma, one for reads and one
    /// for writes
    Workload bs: Text(String), "SIZE", "`4k`", ["\"4k\"", "\"4k/60:64k/40\"", "\"4k,64k\""];
    /// I/Os in flight per thread
    Workload iodepth: Number(u32), "N", "1, with `trace` 32", ["32"];
    /// threads
    Workload numjobs: Number(u32), "N", "1", ["16"];
    /// area to work on: a size, or a percentage of the drive
    Area size: Text(String), "SIZE", "the whole drive", ["\"16GiB\"", "\"50%\""];
    /// start of the area: a size, or a percentage of the drive
    Area offset: Text(String), "OFFSET", "0", ["\"1GiB\"", "\"50%\""];
    /// the area is so many equal segments, spread over the drive from `offset` on at random places
    /// that do not touch; one block size
    Area segments: Number(u32), "N", "1", ["2048"];
    /// thread i starts i times this further on
    Area offset_increment: Text(String), "SIZE", "0", ["\"1GiB\""];
    /// each thread works in its own equal part of the area
    Area split: Flag(bool), "", "`false`", ["true"];
    /// end after this many bytes per thread; a percentage is of the thread's part of the area
    Timing io_size: Text(String), "SIZE", "the area, without a `runtime`", ["\"4GiB\"", "\"200%\""];
    /// end after this many I/Os per thread
    Timing number_ios: Number(u64), "N", "no limit", ["1000"];
    /// measured time
    Timing runtime: Text(String), "TIME", "none: one pass over the area", ["\"{runtime}\""];
    /// time before measuring starts
    Timing ramp_time: Text(String), "TIME", "0", ["\"1s\""];
    /// reads in a mix, percent
    Workload rwmixread: Number(u32), "PCT", "50", ["70"];
    /// `random`: all offsets equally likely; `cover`: each block once per pass; `steady`: each
    /// block once, then those that leave the state of steady random writing; `zipf:THETA`;
    /// `pareto:POWER` (0.2: 80 % of the I/Os to 20 % of the area); `normal:PERCENT`, the deviation
    /// in percent of the area; `zoned:ACCESS/SIZE:...`: percent of the I/Os to percent of the area,
    /// in order (`zoned:50/5:30/15:20/80` are JESD219's zones)
    Area random_distribution: Text(String), "DISTRIBUTION", "`random`", ["\"zipf:1.2\""];
    /// alignment of random offsets
    Area blockalign: Text(String), "SIZE", "the smallest block size", ["\"64k\""];
    /// strided zones: bytes to transfer in a zone before the next zone
    Area zonesize: Text(String), "SIZE", "no zones", ["\"1m\""];
    /// strided zones: length of a zone
    Area zonerange: Text(String), "SIZE", "`zonesize`", ["\"1m\""];
    /// strided zones: gap between zones
    Area zoneskip: Text(String), "SIZE", "0", ["\"1m\""];
    /// which I/Os, and in which order: `own`, or `fio`: those of fio 3.33 for options of the same
    /// names, to which `;NAME=VALUE` adds options of fio that are none here; conversions of job
    /// files write it ([fio.md](fio.md))
    Workload order: Text(String), "ORDER", "`own`", ["\"fio\"", "\"fio;loops=2\""];
    /// open loop: this many I/Os per second are due per thread (`20k` is 20480), whether or not
    /// earlier ones have completed; latency counts from the due time
    Timing rate: Text(String), "IOPS", "closed loop", ["\"20000\""];
    /// spacing of an open loop: `constant` or `poisson`
    Timing arrival: Text(String), "PROCESS", "`constant`", ["\"poisson\""];
    /// closed loop limited to this many I/Os per second and thread; latency counts from submission
    Timing rate_iops: Text(String), "IOPS", "no limit", ["\"5000\""];
    /// closed loop limited to this many bytes per second and thread (`100m` is 100 MiB/s)
    Timing rate_bw: Text(String), "SIZE", "no limit", ["\"100m\""];
    /// pause after every `thinktime_blocks` I/Os, once they have completed
    Timing thinktime: Text(String), "TIME", "no pause", ["\"100us\""];
    /// I/Os before a pause
    Timing thinktime_blocks: Number(u32), "N", "1", ["16"];
    /// I/Os for this time before a pause; with `thinktime_blocks`, whichever comes first
    Timing thinktime_iotime: Text(String), "TIME", "by `thinktime_blocks`", ["\"5s\""];
    /// finds the highest depth up to `iodepth`, in each thread, at which I/Os take no longer than
    /// this, and measures it for a window; what is before that counts as ramp
    Timing latency_target: Text(String), "TIME", "`iodepth` as given", ["\"500us\""];
    /// how long a depth is tried
    Timing latency_window: Text(String), "TIME", "`1s`", ["\"5s\""];
    /// I/Os that have to be fast enough, percent
    Timing latency_percentile: Text(String), "PCT", "100", ["\"99.9\""];
    /// adjusts the depth until the runtime ends, and measures all of it
    Timing latency_run: Flag(bool), "", "`false`", ["true"];
    /// ends the job in steady state, by fio's rule: `iops` or `bw`, in which no interval's rate is
    /// further from the mean than the limit, or `iops_slope`, `bw_slope`, which limit the slope of
    /// the least-squares line per interval; the limit is absolute or in percent of the mean
    Timing steadystate: Text(String), "RULE", "runtime or size", ["\"iops:1%\""];
    /// the last intervals for which the rule has to hold
    Timing steadystate_duration: Text(String), "TIME", "needed with it", ["\"60s\""];
    /// measured time that the rule leaves out
    Timing steadystate_ramp_time: Text(String), "TIME", "0", ["\"10s\""];
    /// time before the job's first I/O, for jobs that run together; shown as part of the ramp
    Timing startdelay: Text(String), "TIME", "0", ["\"4s\""];
    /// jobs that run together do I/Os in proportion to this weight of each thread
    Timing flow: Number(u32), "WEIGHT", "no flow control", ["8"];
    /// only jobs with the same number balance their `flow`
    Timing flow_id: Number(u32), "N", "0", ["1"];
    /// time that a job waits when it is ahead of its `flow`
    Timing flow_sleep: Text(String), "TIME", "10us", ["\"1ms\""];
    /// when a thread of this job ends, the jobs end that run together with it: `group` (those with
    /// `exitall` and the same `exit_group`) or `stage` (all with `exitall`)
    Timing exitall: Text(String), "WHICH", "each job ends by itself", ["\"group\""];
    /// number of the job's group for `exitall`
    Timing exit_group: Number(u32), "N", "0", ["1"];
    /// `sync`, `uring`, `threads` (a blocking call per thread, as many as I/Os in flight; also in
    /// place of `uring` where the kernel refuses io_uring), `passthru` (NVMe commands through
    /// io_uring, see [real-drives.md](real-drives.md)), `auto` (`sync` at depth 1, `uring` above);
    /// a simulated drive is its own engine
    Engine engine: Text(String), "ENGINE", "`auto`", ["\"sync\""];
    /// O_DIRECT (`true`) or through the page cache (`false`)
    Engine direct: Bool(bool), "BOOL", "`true`", ["false"];
    /// a kernel thread submits (io_uring SQPOLL)
    Engine sqpoll: Flag(bool), "", "`false`", ["true"];
    /// processor of the kernel thread of `sqpoll`
    Engine sqpoll_cpu: Number(u32), "N", "any", ["1"];
    /// poll the device for completions (io_uring IOPOLL)
    Engine hipri: Flag(bool), "", "`false`", ["true"];
    /// wait for at least this many completions at a time; saves processor time, and the waiting
    /// counts as latency
    Engine iodepth_batch_complete_min: Number(u32), "N", "1", ["8"];
    /// processors that the threads, and the kernel workers of their io_uring, may run on
    Engine cpus_allowed: Text(String), "LIST", "all", ["\"0-3,8\""];
    /// which of them a thread may run on: `shared`: all; `split`: one each, in turn; `split:N`
    /// begins N further on in the list
    Engine cpus_allowed_policy: Text(String), "POLICY", "`shared`", ["\"split\""];
    /// I/O priority of the threads, by class and level (`rt:0` to `rt:7`, `be:0` to `be:7`,
    /// `idle`), and a hint after a further colon: what the kernel's scheduler and a drive that
    /// knows priorities go by
    Engine ioprio: Text(String), "CLASS", "that of assay", ["\"be:7\""];
    /// an I/O that overlaps one in flight waits for it
    Engine serialize_overlap: Flag(bool), "", "`false`", ["true"];
    /// data written: `incompressible`, `zero`, `compress=R`, `pattern=HEX` (up to 512 bytes,
    /// repeated from the begin of each I/O)
    Workload data: Text(String), "PATTERN", "`incompressible`", ["\"compress=2\""];
    /// so many of a hundred writes have the data of one before
    Workload dedupe_percentage: Number(u32), "PERCENT", "0", ["30"];
    /// these have the data of so many blocks, which are the first new ones, too, in place of that
    /// of the last new one
    Workload dedupe_working_set: Number(u32), "BLOCKS", "the last one", ["1000"];
    /// a flush after every so many writes of a thread, beside the other I/Os in flight: fsync(2) of
    /// a file, a Flush command on a drive
    Workload fsync: Number(u32), "N", "no flushes", ["1"];
    /// the same by fdatasync(2), which leaves out a file's times
    Workload fdatasync: Number(u32), "N", "no flushes", ["32"];
    /// each write completes when it is on non-volatile media: `dsync` (Force Unit Access of a
    /// drive, O_DSYNC of a file), `sync` (O_SYNC: the metadata of a file too), `none`
    Workload sync: Text(String), "KIND", "`none`", ["\"dsync\""];
    /// each write is done as a whole or not at all, also when power fails (RWF_ATOMIC): refused
    /// where kernel and drive do not promise that for the block size
    /// ([real-drives.md](real-drives.md))
    Workload atomic: Flag(bool), "", "`false`", ["true"];
    /// placement identifiers of the job's writes, so that data of one lifetime share reclaim units
    /// (Flexible Data Placement): one, several or `all` in turn, or with `random:` at random; of a
    /// simulated drive with `fdp=N`, or by `engine` `passthru`
    Workload fdp: Text(String), "IDS", "no placement", ["\"0-2,4\"", "\"random:all\""];
    /// writes are Zone Append commands, of which several may be in flight per zone; on zoned
    /// drives, by `engine` `passthru`
    Workload zone_append: Flag(bool), "", "`false`", ["true"];
    /// a flush when the last write of a thread has completed
    Workload end_fsync: Flag(bool), "", "`false`", ["true"];
    /// replay the requests of this block trace ([traces.md](traces.md)) in place of `rw` and `bs`
    Trace trace: Text(String), "FILE", "no replay", ["\"server.csv\""];
    /// its format ([traces.md](traces.md) lists them); `auto`: by its first lines
    Trace trace_format: Text(String), "FORMAT", "`auto`", ["\"msr\""];
    /// which column of a line is what, in place of a format: `time`, `op`, `offset`, `size`,
    /// `device`, `response`, each with its unit
    Trace trace_columns: Text(String), "COLUMNS",
    "those of the format", ["\"time=5:us,op=2,offset=3:512,size=4,device=1\""];
    /// only requests of this device, by its name in the trace
    Trace trace_device: Text(String), "NAME", "all", ["\"8,0\""];
    /// replays of the whole trace, one after the other
    Trace trace_repeat: Number(u32), "N", "1", ["10"];
    /// operations that are left out: `read`, `write`, `trim`, `sync`, separated by commas
    Trace trace_skip: Text(String), "OPS", "none", ["\"write,trim\""];
    /// `timed`: open loop, each request is due at its time in the trace and its latency counts from
    /// then; `closed`: in order, as fast as `iodepth` allows
    Trace trace_timing: Text(String), "TIMING", "`timed`", ["\"closed\""];
    /// factor on the times of the trace: `0.5` replays twice as fast
    Trace trace_time_scale: Text(String), "FACTOR", "1", ["\"0.5\""];
    /// longest time between two requests, after scaling: idle time above it is cut
    Trace trace_idle_limit: Text(String), "TIME", "no limit", ["\"25ms\""];
    /// addresses on the drive: `offset` (those of the trace, what is beyond the area is clipped),
    /// `modulo` (the area's length), `linear` (stretched or shrunk to the area), `divide:N`
    /// (divided by N, then clipped), `auto` (`offset` where the trace fits, else `modulo`)
    Trace trace_map: Text(String), "MAP", "`auto`", ["\"linear\""];
    /// offsets are rounded down to multiples of it
    Trace trace_align: Text(String), "SIZE", "the logical block", ["\"4k\""];
    /// phases with figures of their own: so many with equally many requests, or `gap:TIME`, a new
    /// one after so long without a request
    Trace trace_phases: Text(String), "RULE", "10", ["\"gap:10s\""];
    /// write self-describing blocks and read them back; for reads, check what an earlier job wrote
    Verification verify: Flag(bool), "", "`false`", ["true"];
    /// read back what was written when all of it is; `false` leaves that to a later job that reads
    Verification do_verify: Bool(bool), "BOOL", "`true`", ["false"];
    /// read back after every so many writes of a thread, in place of all at the end
    Verification verify_backlog: Number(u32), "N", "all at the end", ["1024"];
    /// length of a self-describing block
    Verification verify_interval: Text(String), "SIZE",
    "`4k`, or the block size if smaller", ["\"4k\""];
    /// seed in the self-describing blocks
    Verification verify_seed: Number(u64), "N", "new for each job that writes; for reads that of \
        the first block found", ["7"];
    /// seed of every random choice
    Engine seed: Number(u64), "N", "1, in suites the run's `--seed`", ["7"];
    /// writes every submitted I/O to this file, as fio's iolog of version 3, which `--trace` and
    /// fio's `read_iolog` replay; appended to where it exists, as in fio
    Timing write_iolog: Text(String), "FILE", "no log", ["\"job.iolog\""];
    /// length of a recording interval
    Timing interval: Text(String), "TIME", "`1s`", ["\"100ms\""];
}

impl JobOptions {
    /// Whether its `rw` changes what the drive holds; a text that is no `rw` is reported by the
    /// plan. A trace counts as writing unless its writes and trims are left out; what it really
    /// holds is known to the plan.
    pub fn writes(&self) -> bool {
        if self.trace.is_some() {
            let skipped = self.trace_skip.as_deref().map(SkippedOps::parse);
            return !skipped.is_some_and(|ops| ops.is_ok_and(SkippedOps::leaves_reads_only));
        }
        let rw = self.rw.as_deref().unwrap_or("read");
        ["write", "rw", "trim"].iter().any(|word| rw.contains(word))
    }

    /// The options that are set; a flag that is `false` is not.
    pub fn given(&self) -> impl Iterator<Item = &'static JobOption> {
        let options = JOB_OPTIONS.iter().zip(self.values());
        options.filter_map(|(option, value)| match option.kind {
            OptionKind::Flag => (value? == "true").then_some(option),
            _ => value.map(|_| option),
        })
    }

    /// These options, with those of `own` in their place where it has them.
    #[must_use]
    pub fn with(&self, own: &JobOptions) -> JobOptions {
        let mut options = self.clone();
        for (option, value) in JOB_OPTIONS.iter().zip(own.values()) {
            if let Some(value) = value {
                let set = options.set(option.name, &value);
                set.expect("the text of a value of this option");
            }
        }
        options
    }

    /// One line of `assay job` options that repeats this workload: only what is set, in the order
    /// of [`JOB_OPTIONS`].
    pub fn command_line(&self) -> String {
        let mut line = Vec::new();
        for (option, value) in JOB_OPTIONS.iter().zip(self.values()) {
            match (option.kind, value) {
                (_, None) => {}
                (OptionKind::Flag, Some(value)) if value == "true" => {
                    line.push(format!("--{}", option.name));
                }
                (OptionKind::Flag, Some(_)) => {}
                // A shell ends a command at it.
                (_, Some(value)) if value.contains(';') => {
                    line.push(format!("--{} '{value}'", option.name));
                }
                (_, Some(value)) => line.push(format!("--{} {value}", option.name)),
            }
        }
        line.join(" ")
    }
}

#[cfg(test)]
#[path = "../tests/unit/options.rs"]
mod tests;
