//! The text that CrystalDiskMark saves (`SaveText` and `GetResultString` of DiskMarkDlg.cpp,
//! version 7 and later): rates in 10^6 bytes per second, IOPS, mean latency. Every rate is the best
//! of several measurements of some seconds on a test file; the cache of the system is off.

use assay_units::Nanos;

use super::{job, of_rates, set_mean};
use crate::{Job, Note, Parsed};

/// The head of the text.
pub const KEY: &[u8] = b"CrystalDiskMark";

/// The jobs. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let tool = text.lines().find(|line| line.starts_with("CrystalDiskMark"));
    let after = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name));
    // `Test: 1 GiB (x5) [C: 45% (210/465GiB)]`, `Time: Measure 5 sec / Interval 5 sec`.
    let size = after("Test:").and_then(|rest| rest.split('(').next());
    let size = size.map(|size| size.replace("iB", "").replace(' ', ""));
    let seconds = after("Time: Measure").and_then(|rest| rest.split_whitespace().next());
    let elapsed = Nanos::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(5));
    let (mut section, mut jobs) = ("", Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if let Some(job) = of_line(section, line, size.as_deref(), elapsed) {
            jobs.push(job);
        }
    }
    let words = tool.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
    match jobs.is_empty() {
        true => Err("no line has a rate".to_owned()),
        false => Ok(Parsed { tool: words.unwrap_or_default(), jobs }),
    }
}

/// `SEQ    1MiB (Q=  8, T= 1):  6830.352 MB/s [   6514.0 IOPS] <  1227.23 us>`.
fn of_line(section: &str, line: &str, size: Option<&str>, elapsed: Nanos) -> Option<Job> {
    let random = match line.get(..3)? {
        "SEQ" => "",
        "RND" => "rand",
        _ => return None,
    };
    let (kind, mix) = match section {
        "[Read]" => ("read", None),
        "[Write]" => ("write", None),
        mix => ("rw", number(mix.split("Read").nth(1)?)),
    };
    let (workload, rates) = line.split_once("):")?;
    let (block, point) = workload[3..].split_once('(')?;
    let value = |text: &str, name: &str| number(text.split(name).nth(1)?);
    let (mb_per_s, iops) = (number(rates)?, number(rates.split('[').nth(1)?)?);
    let mut options = vec![
        ("rw", format!("{random}{kind}")),
        ("bs", block.trim().replace("iB", "").to_lowercase()),
        ("iodepth", format!("{}", value(point, "Q=")?)),
        ("numjobs", format!("{}", value(point, "T=")?)),
        ("ioengine", "windowsaio".to_owned()),
        ("direct", "1".to_owned()),
    ];
    options.extend(size.map(|size| ("size", size.to_lowercase())));
    options.extend(mix.map(|reads| ("rwmixread", format!("{reads}"))));
    let mut job = job(workload.trim(), options);
    job.elapsed = elapsed;
    job.note(Note::BestOfSeveral);
    let mut direction = of_rates(iops, mb_per_s * 1e6, elapsed);
    let mean_us = rates.split('<').nth(1).and_then(number);
    set_mean(&mut direction, mean_us.unwrap_or(0.0));
    match kind {
        "write" => job.write = direction,
        _ => job.read = direction,
    }
    if mix.is_some() {
        job.one_sum();
    }
    Some(job)
}

/// The number at the start.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}
