//! The workload that fio's options describe.

use std::collections::BTreeMap;
use std::fmt;

use assay_fio_job::number::{self, Size};
use assay_store::model::WorkloadRecord;
use assay_units::text::compact_size;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Options by fio's main names, the last value of each: a later section of a job file, a job's own
/// option, replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// The options of these names and values.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Options {
        let mut options = Options::default();
        for (name, value) in pairs {
            options.set(name, value);
        }
        options
    }

    /// A synonym of fio (`readwrite`) is stored under the main name.
    pub fn set(&mut self, name: &str, value: &str) {
        let name = assay_fio_job::options::main_name(name);
        self.0.insert(name.to_owned(), value.trim().to_owned());
    }

    /// These, with those of `over` in place of the same ones.
    pub fn with(mut self, over: Options) -> Options {
        self.0.extend(over.0);
        self
    }

    /// Whether all options of the job are there, so that others have fio's defaults: fio before
    /// 2.3 wrote none, and the results of clients have those of the section `[global]` only.
    fn is_whole(&self) -> bool {
        ["rw", "bs", "ioengine", "filename"].iter().any(|name| self.0.contains_key(*name))
    }

    /// The value as fio stored it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn count(&self, name: &str) -> Option<u64> {
        number::bytes(self.text(name)?, 1024)
    }

    fn kb_base(&self) -> u64 {
        match self.count("kb_base") {
            Some(1000) => 1000,
            _ => 1024,
        }
    }

    /// The first value of `4k,16k`, in bytes; none of a share, or of zones (`1z`).
    fn bytes(&self, name: &str) -> Option<u64> {
        let first = self.text(name)?.split([',', '-']).next()?;
        match number::size(first.trim(), self.kb_base())? {
            Size::Bytes(bytes) => Some(bytes),
            Size::Percent(_) | Size::Zones(_) => None,
        }
    }

    fn nanos(&self, name: &str) -> u64 {
        // A fraction (`0.5s`) is none for fio 3.33, and half a second for later versions.
        let micros = self.text(name).and_then(|text| number::micros(text, 1e6));
        micros.unwrap_or(0).saturating_mul(1000)
    }

    fn is_on(&self, name: &str) -> Option<bool> {
        let text = self.text(name)?;
        Some(text.is_empty() || self.count(name).is_some_and(|value| value != 0))
    }

    /// `None` where it cannot be known, not even by fio's default.
    pub fn direct(&self) -> Option<bool> {
        let by_engine =
            matches!(self.text("ioengine"), Some("spdk" | "spdk_bdev" | "io_uring_cmd"));
        let buffered = self.is_on("buffered").map(|buffered| !buffered);
        let direct = self.is_on("direct");
        // Of the two the last one counts, and a map has no order.
        if direct.is_some() && buffered.is_some() && direct != buffered {
            return None;
        }
        match direct.or(buffered) {
            Some(direct) => Some(direct || by_engine),
            None if self.is_whole() => Some(by_engine),
            None => None,
        }
    }

    /// The name of what was read and written: of a partition its drive, of a file its name.
    pub fn device(&self) -> String {
        let name = self.text("filename").unwrap_or_default();
        let first = name.split(':').next().unwrap_or_default();
        match first.strip_prefix("/dev/") {
            Some(device) => drive_of(device.rsplit('/').next().unwrap_or(device)),
            None => String::new(),
        }
    }

    /// Name of the logs of rates, without folder, kind and number.
    pub fn log_prefix(&self, job: &str) -> Option<String> {
        let names = ["write_iops_log", "write_bw_log", "write_lat_log", "write_hist_log"];
        let prefix = names.into_iter().find_map(|name| self.text(name))?;
        let last = prefix.rsplit('/').next().filter(|last| !last.is_empty());
        Some(last.unwrap_or(job).to_owned())
    }

    /// Reads, writes and their order: fio's `rw` without a number after a colon.
    pub fn rw(&self) -> Option<&str> {
        let rw = self.text("rw")?.split(':').next()?;
        Some(match rw {
            "readwrite" => "rw",
            other => other,
        })
    }

    /// The workload, with fio's defaults for options that are not there, if there are any options.
    pub fn workload(&self) -> WorkloadRecord {
        let known = |value: u64| if self.is_whole() { value } else { 0 };
        // What cannot be read is not known, and is not fio's default.
        let or_default = |name: &str, value: Option<u64>, default: u64| match self.text(name) {
            Some(_) => value.unwrap_or(0),
            None => known(default),
        };
        let number = |name: &str, default: u64| {
            u32::try_from(or_default(name, self.count(name), default)).unwrap_or(0)
        };
        let mut workload = WorkloadRecord {
            rw: self.rw().unwrap_or_default().to_owned(),
            bs_bytes: or_default("bs", self.bytes("bs"), 4096),
            iodepth: number("iodepth", 1),
            numjobs: number("numjobs", 1),
            engine: self.text("ioengine").unwrap_or("unknown").to_owned(),
            // Where it is not known, `Job::knows_direct` says so.
            direct: self.direct().unwrap_or(true),
            span_bytes: self.bytes("size").unwrap_or(0),
            offset_bytes: self.bytes("offset").unwrap_or(0),
            data: "unknown".to_owned(),
            runtime_ns: self.nanos("runtime"),
            ramp_ns: self.nanos("ramp_time"),
            ..WorkloadRecord::default()
        };
        if matches!(workload.rw.as_str(), "rw" | "randrw") {
            let reads = self.count("rwmixread");
            let writes = self.count("rwmixwrite").map(|writes| 100_u64.saturating_sub(writes));
            let share = reads.or(writes).unwrap_or(50).min(100);
            // A mix of nothing else is that operation: ezFIO's tests are all mixes.
            match share {
                0 => workload.rw = workload.rw.replace("rw", "write"),
                100 => workload.rw = workload.rw.replace("rw", "read"),
                _ => workload.rwmixread = u8::try_from(share).ok(),
            }
        }
        if let Some(largest) = self.text("bsrange").and_then(|range| self.largest(range)) {
            workload.bs_bytes = largest;
        }
        workload.options = self.job_line(&workload);
        workload.rate_limit_iops = self.rate_limit_iops(&workload);
        workload
    }

    /// The largest size of `4k-16k,8k-64k`.
    fn largest(&self, ranges: &str) -> Option<u64> {
        let sizes = ranges.split([',', '-']);
        let sizes = sizes.filter_map(|size| number::bytes(size.trim(), self.kb_base()));
        sizes.max()
    }

    /// The limit of all threads together; of a limit in bytes only where there is one block size.
    fn rate_limit_iops(&self, workload: &WorkloadRecord) -> Option<f64> {
        let threads = f64::from(workload.numjobs.max(1));
        let rw = workload.rw.trim_start_matches("rand");
        let used = [rw != "write", matches!(rw, "write" | "rw")];
        let limits = |name: &str| {
            let values: Vec<&str> = self.text(name)?.split(',').collect();
            // A single value is that of reads and of writes.
            let of = |at: usize| values.get(at).or(values.first()).copied();
            let of = |at: usize| number::bytes(of(at)?.trim(), self.kb_base());
            let limits = [0, 1].into_iter().filter(|at| used[*at]).map(of);
            let limits: Vec<u64> = limits.collect::<Option<_>>()?;
            let all_limited = limits.iter().all(|limit| *limit > 0);
            all_limited.then(|| limits.into_iter().map(|limit| limit as f64).sum::<f64>() * threads)
        };
        let bs_bytes = workload.single_bs_bytes().filter(|bytes| *bytes > 0);
        limits("rate_iops").or_else(|| Some(limits("rate")? / bs_bytes? as f64))
    }

    /// Options of `assay job` that distinguish workloads (fio's names are the same).
    fn job_line(&self, workload: &WorkloadRecord) -> String {
        const SAME: [&str; 17] = [
            "rw",
            "iodepth",
            "numjobs",
            "rwmixread",
            "random_distribution",
            "percentage_random",
            "blockalign",
            "rate",
            "rate_iops",
            "fsync",
            "fdatasync",
            "sync",
            "thinktime",
            "verify",
            "iodepth_batch",
            "latency_target",
            "zonemode",
        ];
        let is_mix = self.rw().is_some_and(|rw| rw.ends_with("rw"));
        let is_one = is_mix && workload.rwmixread.is_none();
        let of = |name: &&str| match *name {
            "rw" if is_one => Some(format!("--rw {}", workload.rw)),
            "rwmixread" if is_one => None,
            name => Some(format!("--{name} {}", self.text(name)?)),
        };
        let mut words: Vec<String> = SAME.iter().filter_map(of).collect();
        let sizes = self.text("bssplit").or_else(|| self.text("bsrange"));
        let several = self.text("bs").filter(|bs| bs.contains(','));
        match sizes.or(several) {
            Some(sizes) => words.push(format!("--bs {sizes}")),
            None if workload.bs_bytes > 0 => {
                words.push(format!("--bs {}", compact_size(workload.bs_bytes)));
            }
            None => {}
        }
        words.join(" ")
    }
}

/// Another block size than that of the options.
pub(super) fn set_block_size(workload: &mut WorkloadRecord, bytes: u64) {
    workload.bs_bytes = bytes;
    let words = workload.options.split_whitespace();
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    match words.iter().position(|word| word == "--bs") {
        Some(at) if at + 1 < words.len() => words[at + 1] = compact_size(bytes),
        _ => words.extend(["--bs".to_owned(), compact_size(bytes)]),
    }
    workload.options = words.join(" ");
}

/// The drive of a partition: nvme0n1 of nvme0n1p2, sda of sda3; others stay as they are.
pub fn drive_of(device: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if device.starts_with("nvme") {
        return match device.rsplit_once('p') {
            Some((drive, partition)) if digits(partition) => drive.to_owned(),
            _ => device.to_owned(),
        };
    }
    let letters = device.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_disk = ["sd", "vd", "xvd", "hd"].iter().any(|kind| letters.starts_with(kind));
    if is_disk { letters } else { device }.to_owned()
}

impl<'de> Deserialize<'de> for Options {
    /// A map of strings, numbers or truth values; of a key that occurs twice the last one counts.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Options, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Options;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("fio's options by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Options, A::Error> {
                let mut options = Options::default();
                while let Some(name) = map.next_key::<String>()? {
                    if let Some(value) = map.next_value::<Scalar>()?.0 {
                        options.set(&name, &value);
                    }
                }
                Ok(options)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// The text of a string, number or truth value; nothing of anything else.
struct Scalar(Option<String>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(Some(text.to_owned())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
                Ok(Scalar(Some(value.to_string())))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                Ok(Scalar(Some(value.to_string())))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                Ok(Scalar(Some(value.to_string())))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar(Some(u8::from(value).to_string())))
            }
            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar(None))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Scalar, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar(None))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
