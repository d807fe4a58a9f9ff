//! Published latency and consistency figures (`reference/*.csv`) in the manifest's form.

use std::collections::BTreeMap;

use assay_store::model::Published;

use super::single_thread;

const LATENCIES: &str = include_str!("../../../../reference/latency_percentiles.csv");
const CONSISTENCY: &str = include_str!("../../../../reference/consistency.csv");

/// Block size and queue depth of the consistency test (AnandTech M8Pe, docs/sources.md).
const HOUR_BLOCK_BYTES: u64 = 4096;
const HOUR_DEPTH: u32 = 32;

pub(super) fn published_figures(profile: &str) -> Vec<Published> {
    let latencies = rows(LATENCIES, profile).filter_map(|row| latencies(&row));
    let hours = rows(CONSISTENCY, profile).filter_map(|row| hour(&row));
    latencies.chain(hours).collect()
}

type Row<'t> = BTreeMap<&'t str, &'t str>;

fn rows<'t>(text: &'t str, profile: &'t str) -> impl Iterator<Item = Row<'t>> {
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows = lines.map(move |line| {
        let fields = line.splitn(heading.len(), ',');
        heading.iter().copied().zip(fields).collect::<Row<'_>>()
    });
    rows.filter(move |row| row.get("drive") == Some(&profile))
}

fn number(row: &Row<'_>, column: &str) -> Option<f64> {
    row.get(column)?.trim().parse().ok()
}

fn source(row: &Row<'_>) -> Option<String> {
    Some(format!("AnandTech ({})", row.get("source")?.trim()))
}

fn rate(iops: f64, block_bytes: u64) -> f64 {
    iops * block_bytes as f64 / (1 << 20) as f64
}

fn latencies(row: &Row<'_>) -> Option<Published> {
    let bs_bytes = number(row, "block_bytes")? as u64;
    let rw = format!("rand{}", row.get("op")?.trim());
    let mib_per_s = rate(number(row, "kiops").unwrap_or(0.0) * 1e3, bs_bytes);
    let columns =
        [("mean", "mean_us"), ("p50", "median_us"), ("p99", "p99_us"), ("p99.999", "p99999_us")];
    let columns = columns.into_iter();
    Some(Published {
        numjobs: number(row, "threads")? as u32,
        iodepth: number(row, "queue_depth")? as u32,
        latency_us: columns
            .filter_map(|(name, column)| Some((name.to_owned(), number(row, column)?)))
            .collect(),
        ..single_thread(&source(row)?, &rw, bs_bytes, mib_per_s)
    })
}

/// Mean of the consistency test's last 400 seconds, without extra over-provisioning.
fn hour(row: &Row<'_>) -> Option<Published> {
    let whole = number(row, "over_provisioning_percent") == Some(0.0);
    (whole && row.get("figure") == Some(&"mean_iops")).then_some(())?;
    let mib_per_s = rate(number(row, "value")?, HOUR_BLOCK_BYTES);
    Some(Published {
        iodepth: HOUR_DEPTH,
        ..single_thread(&source(row)?, "randwrite", HOUR_BLOCK_BYTES, mib_per_s)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/manifest/reference_files.rs"]
mod tests;
