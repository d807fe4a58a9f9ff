//! fio's terse lines (`show_thread_status_terse_all` of its stat.c): one for each job, fields
//! separated by semicolons.

use std::fmt::Write as _;

use super::{Direction, Job, Latency, PERCENTILES};

/// `FIO_IO_U_LIST_MAX_LEN`: places for percentiles.
const PLACES: usize = 20;

/// Versions of the lines; fio's default is 3.
pub const VERSIONS: std::ops::RangeInclusive<u32> = 2..=5;

impl Job {
    /// With its end of line.
    pub(super) fn terse(&self, version: u32) -> String {
        let (name, group, error) = (&self.jobname, self.groupid, self.error);
        let mut line = match version {
            2 => format!("2;{name};{group};{error}"),
            _ => format!("{version};fio-3.33;{name};{group};{error}"),
        };
        self.read.terse(version, &mut line);
        self.write.terse(version, &mut line);
        if version != 3 {
            self.trim.terse(version, &mut line);
        }
        let _ = write!(
            line,
            ";{:.6}%;{:.6}%;{};{};{}",
            self.usr_cpu, self.sys_cpu, self.ctx, self.majf, self.minf
        );
        for (_, percent) in &self.iodepth_level.0 {
            let _ = write!(line, ";{percent:.1}%");
        }
        // fio counts nanoseconds to the first of the microseconds.
        let mut faster: f64 = self.latency_ns.0.iter().map(|(_, percent)| percent).sum();
        for (_, percent) in self.latency_us.0.iter().chain(&self.latency_ms.0) {
            let _ = write!(line, ";{:.2}%", percent + std::mem::take(&mut faster));
        }
        line + "\n"
    }
}

impl Direction {
    fn terse(&self, version: u32, line: &mut String) {
        let _ =
            write!(line, ";{};{};{};{}", self.io_kbytes, self.bw, self.iops as u64, self.runtime);
        self.slat_ns.terse(line);
        self.clat_ns.terse(line);
        let percentiles = self.clat_ns.percentile.as_ref().map(|list| &list.0);
        for place in 0..PLACES {
            let own =
                percentiles.and_then(|list| Some((PERCENTILES.get(place)?, list.get(place)?)));
            let _ = match own {
                Some((share, (_, ns))) => {
                    write!(line, ";{:.6}%={}", f64::from(*share) / 1e4, ns / 1000)
                }
                None => write!(line, ";0%=0"),
            };
        }
        self.lat_ns.terse(line);
        let _ = write!(
            line,
            ";{};{};{:.6}%;{:.6};{:.6}",
            self.bw_min, self.bw_max, self.bw_agg, self.bw_mean, self.bw_dev
        );
        if version == 5 {
            let _ = write!(
                line,
                ";{};{};{};{:.6};{:.6};{}",
                self.bw_samples,
                self.iops_min,
                self.iops_max,
                self.iops_mean,
                self.iops_stddev,
                self.iops_samples
            );
        }
    }
}

impl Latency {
    fn terse(&self, line: &mut String) {
        let (least, most) = (self.min / 1000, self.max / 1000);
        let (mean, deviation) = (self.mean / 1e3, self.stddev / 1e3);
        let _ = write!(line, ";{least};{most};{mean:.6};{deviation:.6}");
    }
}
