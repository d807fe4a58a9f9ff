//! The lines of fio's text that scripts look for: rates and latency of each job, and of each group.

use std::fmt::Write as _;

use assay_units::KIB;

use super::{Direction, Job, Latency};

/// Significant figures.
const FIGURES: usize = 4;
const OF_LATENCY: usize = 6;

/// `num2str` of fio: at most so many characters, without the unit.
fn short(mut number: u64, most: usize, binary: bool) -> String {
    const PREFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let step = if binary { KIB } else { 1000 };
    let (mut rest, mut place) = (None, 0);
    while number.to_string().len() > most {
        rest = Some(number % step);
        number /= step;
        place += 1;
    }
    let prefix = match (binary, place) {
        (true, 1) => "Ki".to_owned(),
        (true, 2..) => format!("{}i", PREFIXES[place]),
        _ => PREFIXES[place].to_owned(),
    };
    let Some(rest) = rest else {
        return format!("{number}{prefix}");
    };
    let room = most - number.to_string().len();
    if room <= 1 {
        return format!("{}{prefix}", number + u64::from(rest >= step / 2));
    }
    let decimals = format!("{:.*}", room - 1, rest as f64 / step as f64);
    let carry = u64::from(decimals.starts_with('1'));
    format!("{}.{}{prefix}", number + carry, &decimals[2..])
}

fn both(bytes: u64, unit: &str) -> (String, String) {
    let text = |binary| short(bytes, FIGURES, binary) + unit;
    (text(true), text(false))
}

impl Job {
    pub(super) fn text(&self, threads: u64, pid: u32, time: &str) -> String {
        let (name, group, error) = (&self.jobname, self.groupid, self.error);
        let mut text = format!(
            "{name}: (groupid={group}, jobs={threads}): err={error:2}: pid={pid}: {time}\n"
        );
        for (name, direction) in self.directions() {
            direction.text(name, &mut text);
        }
        let [reads, writes, trims] = [&self.read, &self.write, &self.trim];
        let _ = writeln!(
            text,
            "     issued rwts: total={},{},{},{} short={},{},{},0 dropped=0,0,0,0",
            reads.total_ios,
            writes.total_ios,
            trims.total_ios,
            self.sync.total_ios,
            reads.short_ios,
            writes.short_ios,
            trims.short_ios
        );
        text
    }

    fn directions(&self) -> impl Iterator<Item = (&'static str, &Direction)> {
        let all = [("read", &self.read), ("write", &self.write), ("trim", &self.trim)];
        all.into_iter().filter(|(_, direction)| direction.io_bytes > 0)
    }
}

impl Direction {
    fn text(&self, name: &str, text: &mut String) {
        let (rate, decimal) = both(self.bw_bytes, "B/s");
        let _ = writeln!(
            text,
            "  {name}: IOPS={}, BW={rate} ({decimal})({}/{}msec)",
            short(self.iops as u64, FIGURES, false),
            both(self.io_bytes, "B").0,
            self.runtime
        );
        self.clat_ns.text("clat", text);
        self.lat_ns.text(" lat", text);
        self.clat_ns.percentiles(text);
    }
}

impl Latency {
    /// `nsec_to_msec` and `nsec_to_usec`.
    fn unit(&self) -> (&'static str, f64) {
        let all = [self.min as f64, self.max as f64, self.mean, self.stddev];
        let above = |ns: f64| all.iter().all(|&figure| figure > ns);
        match () {
            () if above(1e6) => ("msec", 1e6),
            () if above(1e3) => ("usec", 1e3),
            () => ("nsec", 1.0),
        }
    }

    fn text(&self, name: &str, text: &mut String) {
        let (unit, ns) = self.unit();
        let whole = |figure: u64| short(figure / ns as u64, OF_LATENCY, false);
        let _ = writeln!(
            text,
            "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
            whole(self.min),
            whole(self.max),
            self.mean / ns,
            self.stddev / ns
        );
    }

    /// `show_clat_percentiles`, in its rows of four.
    fn percentiles(&self, text: &mut String) {
        let Some(list) = self.percentile.as_ref().map(|list| &list.0) else {
            return;
        };
        let is_all_above = |ns: u64| list.first().is_some_and(|(_, least)| *least > ns);
        let (unit, ns) = match () {
            () if is_all_above(2_000_000) => ("msec", 1_000_000),
            () if is_all_above(2_000) => ("usec", 1_000),
            () => ("nsec", 1),
        };
        let width = list.last().map_or(0, |(_, most)| (most / ns).to_string().len()).max(5);
        let _ = writeln!(text, "    clat percentiles ({unit}):");
        for row in list.chunks(4) {
            let shown = row.iter().map(|(share, value)| {
                let share: f64 = share.parse().unwrap_or_default();
                format!("{share:5.2}th=[{:width$}]", value / ns)
            });
            let end = if row.len() < 4 { "" } else { "," };
            let _ = writeln!(text, "     | {}{end}", shown.collect::<Vec<_>>().join(", "));
        }
    }
}

/// `show_group_stats`, by group, of all jobs.
pub(super) fn groups(jobs: &[Job]) -> String {
    let mut text = String::new();
    for of_group in jobs.chunk_by(|one, next| one.groupid == next.groupid) {
        let _ = writeln!(text, "\nRun status group {} (all jobs):", of_group[0].groupid);
        let all = [
            ("READ", of_group.iter().map(|job| &job.read).collect::<Vec<_>>()),
            ("WRITE", of_group.iter().map(|job| &job.write).collect()),
            ("TRIM", of_group.iter().map(|job| &job.trim).collect()),
        ];
        for (name, mut directions) in all {
            directions.retain(|direction| direction.runtime > 0);
            let spans = directions.iter().map(|direction| direction.runtime);
            let rates = directions.iter().map(|direction| direction.bw_bytes);
            let (Some(shortest), Some(longest)) = (spans.clone().min(), spans.max()) else {
                continue;
            };
            let bytes: u64 = directions.iter().map(|direction| direction.io_bytes).sum();
            let (io, io_decimal) = both(bytes, "B");
            let together = u128::from(bytes) * 1000 / u128::from(longest);
            let (rate, decimal) = both(together as u64, "B/s");
            let (least, least_decimal) = both(rates.clone().min().unwrap_or(0), "B/s");
            let (most, most_decimal) = both(rates.max().unwrap_or(0), "B/s");
            let _ = writeln!(
                text,
                "{name:>7}: bw={rate} ({decimal}), {least}-{most} \
                 ({least_decimal}-{most_decimal}), io={io} ({io_decimal}), \
                 run={shortest}-{longest}msec"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::short;

    /// As fio 3.33 prints them.
    #[test]
    fn numbers_are_short_as_in_fio() {
        let shown = [
            (975, false, "975"),
            (12_345, false, "12.3k"),
            (110_400, false, "110k"),
            (50_436_505, true, "48.1Mi"),
            (50_436_505, false, "50.4M"),
            (1_048_576, true, "1024Ki"),
        ];
        for (number, binary, text) in shown {
            assert_eq!(short(number, 4, binary), text);
        }
        assert_eq!(short(1_234_567, 6, false), "1234.6k");
    }
}
