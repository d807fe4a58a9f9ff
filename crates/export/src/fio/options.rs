//! fio's options of a cell.

use assay_store::read::CellRecord;

use super::Ordered;

/// What stands in an imported workload for what its file does not say.
const UNKNOWN: [&str; 3] = ["", "0", "unknown"];

/// Those of the job of a cell, in the order in which fio prints them. Imported results have those
/// that their file has; its names of files are not kept.
pub(super) fn options(cell: &CellRecord, filename: &str) -> Ordered<&'static str, String> {
    let workload = &cell.plan.workload;
    let is_imported = cell.plan.file.is_some();
    let ioengine = match workload.engine.as_str() {
        "sync" if !is_imported => "psync",
        "uring" if !is_imported => "io_uring",
        other => other,
    };
    let sizes = match workload.block_size_mix() {
        None => ("bs", workload.bs_bytes.to_string()),
        Some(mix) if mix.contains('/') => ("bssplit", mix.to_owned()),
        Some(mix) if mix.contains('-') => ("bsrange", mix.to_owned()),
        Some(mix) => ("bs", mix.to_owned()),
    };
    let mut options = vec![
        ("name", cell.plan.id.clone()),
        ("filename", filename.to_owned()),
        ("ioengine", ioengine.to_owned()),
        ("rw", workload.rw.clone()),
        sizes,
        ("iodepth", workload.iodepth.to_string()),
        ("numjobs", workload.numjobs.to_string()),
    ];
    if let Some(direct) = workload.known_direct() {
        options.push(("direct", u8::from(direct).to_string()));
    }
    options.push(("size", workload.span_bytes.to_string()));
    options.push(("offset", workload.offset_bytes.to_string()));
    if is_imported {
        let is_known = |value: &str| !UNKNOWN.contains(&value);
        options.retain(|(name, value)| match *name {
            "filename" => false,
            name => name == "direct" || is_known(value),
        });
    }
    if workload.runtime_ns > 0 {
        options.push(("runtime", format!("{}us", workload.runtime_ns / 1_000)));
        options.push(("time_based", "1".to_owned()));
    }
    if workload.ramp_ns > 0 {
        options.push(("ramp_time", format!("{}us", workload.ramp_ns / 1_000)));
    }
    if let Some(share) = workload.rwmixread {
        options.push(("rwmixread", share.to_string()));
    }
    options.extend(rate(cell));
    Ordered(options)
}

/// fio's limit is that of a thread and a kind of operation; imported results have it as it was.
fn rate(cell: &CellRecord) -> Option<(&'static str, String)> {
    let workload = &cell.plan.workload;
    if cell.plan.file.is_some() {
        let given = |option: &str| {
            let mut words = workload.options.split_whitespace();
            words.find(|word| word.strip_prefix("--") == Some(option))?;
            words.next().map(str::to_owned)
        };
        let all = ["rate_iops", "rate"].into_iter();
        return all.filter_map(|name| Some((name, given(name)?))).next();
    }
    let kinds = if workload.rwmixread.is_some() { 2.0 } else { 1.0 };
    let threads = f64::from(workload.numjobs.max(1));
    let limit = workload.rate_limit_iops.map(|limit| limit / threads / kinds);
    let offered = Some(workload.rate_iops).filter(|rate| *rate > 0.0);
    let rate = offered.or(limit)?;
    Some(("rate_iops", format!("{rate:.0}")))
}
