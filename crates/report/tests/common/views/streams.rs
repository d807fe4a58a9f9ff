//! Fixtures of MLE NVMe Streamer: short streams by length, and the whole drive as one stream.

use assay_store::model::*;
use assay_store::read::Run;
use assay_units::{KIB, MIB};

use super::{DRIVES, STEADY, Shape, finished, label, plan, suite_run, workload};

const CHUNK: u64 = 128 * KIB;

/// MiB/s of streams up to the cache's 16 MiB, of longer ones, and of reads; the second drive has no
/// cache.
const RATES: [(f64, f64, f64); 5] = [
    (2500.0, 1000.0, 1500.0),
    (600.0, 600.0, 1400.0),
    (3200.0, 1300.0, 1400.0),
    (290.0, 290.0, 1350.0),
    (2000.0, 1900.0, 5900.0),
];

fn stream(d: usize, rw: &str, span_bytes: u64, round: u32, most: u32) -> CellPlan {
    let mut w = workload(rw, CHUNK, 1);
    (w.iodepth, w.runtime_ns, w.ramp_ns, w.span_bytes) = (32, 0, 0, span_bytes);
    let id = format!("{}/streams/{span_bytes},rw={rw},round={round}", label(d));
    let mut plan = plan(&id, "streams", "Streams by length", CellKind::Measure, &[d], w);
    plan.round = Some(Round { number: round, most, window: most, tracked: false });
    plan
}

/// Streams of 1 to 1024 chunks.
pub fn peak(drives: usize, repeats: u32) -> Run {
    let mut cells = Vec::new();
    for (d, (short, long, read)) in RATES.into_iter().enumerate().take(drives) {
        for round in 1..=repeats {
            for n in 0..11 {
                let bytes = CHUNK << n;
                for rw in ["write", "read"] {
                    let rate = match rw {
                        "read" => read * bytes as f64 / (bytes + CHUNK) as f64,
                        _ if bytes <= 16 * MIB => short,
                        _ => long,
                    };
                    let mut plan = stream(d, rw, bytes, round, repeats);
                    plan.view = Some(CellView::Peak);
                    let shape = Shape {
                        mib_per_s: rate * (1.0 + f64::from(round) / 100.0),
                        seconds: 1,
                        ..STEADY
                    };
                    cells.push(finished(plan, &[shape], 8));
                }
            }
        }
    }
    suite_run("streamer-peak", "Streamer, average peak", "Streams by length.", drives, cells)
}

/// The whole drive as one stream, twice; the first drive's cache is full after 20 seconds.
pub fn continuous(drives: usize) -> Run {
    let mut cells = Vec::new();
    for (d, (short, long, read)) in RATES.into_iter().enumerate().take(drives) {
        for round in 1..=2 {
            for rw in ["write", "read"] {
                let bytes = DRIVES[d].2;
                let mut plan = stream(d, rw, bytes, round, 2);
                plan.view = Some(CellView::Continuous);
                plan.title = "The whole drive as one stream".to_owned();
                let falls = rw == "write" && short > long;
                let shape = Shape {
                    mib_per_s: match (rw, falls) {
                        ("read", _) => read,
                        (_, true) => long / 2.0,
                        (_, false) => long,
                    },
                    seconds: 240,
                    course: if falls { |s, _| if s < 20 { 5.0 } else { 1.0 } } else { |_, _| 1.0 },
                    ..STEADY
                };
                let mut cell = finished(plan, &[shape], 8);
                if rw == "read" {
                    cell.drives[0].result.as_mut().unwrap().verify = Some(VerifySummary {
                        blocks_checked: bytes / 4096,
                        ..VerifySummary::default()
                    });
                }
                cells.push(cell);
            }
        }
    }
    suite_run(
        "streamer-continuous",
        "Streamer, average continuous",
        "The whole drive as one stream.",
        drives,
        cells,
    )
}
