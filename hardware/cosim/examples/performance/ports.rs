//! The core with drives that do not limit: cycles per chunk, scaling, latency.

use assay_cosim::pcie_drive::LinkOptions;

use crate::measure::{self, Surroundings, chunk_cycles, ideal_cycles, latency};
use crate::{head, row};

const CHUNKS: u64 = 64;
const DIRECTIONS: [&str; 2] = ["record", "replay"];

fn table(cases: &[(&str, &str, LinkOptions)]) {
    head(&[
        "core",
        "link",
        "direction",
        "ideal",
        "steady",
        "efficiency",
        "whole stream",
        "efficiency",
        "begin and end",
        "MiB/s at 250 MHz",
    ]);
    for (name, title, link) in cases {
        let mut core = match measure::core(name, &Surroundings::unlimited(*link)) {
            Ok(core) => core,
            Err(reason) => {
                println!("{name}: {reason}");
                continue;
            }
        };
        let ideal = ideal_cycles(&core, link);
        let chunk = f64::from(core.configuration().chunk_bytes());
        let measured = chunk_cycles(&mut core, CHUNKS);
        for ((direction, ideal), cycles) in DIRECTIONS.iter().zip(ideal).zip(measured) {
            let rate = chunk / (cycles.steady() * 4e-9) / f64::from(1 << 20);
            row(&[
                (*name).to_owned(),
                (*title).to_owned(),
                (*direction).to_owned(),
                format!("{ideal:.0}"),
                format!("{:.1}", cycles.steady()),
                format!("{:.4}", ideal / cycles.steady()),
                format!("{:.1}", cycles.whole()),
                format!("{:.4}", ideal / cycles.whole()),
                format!("{:.0}", cycles.overhead()),
                format!("{rate:.0}"),
            ]);
        }
    }
}

/// Cycles per chunk; only the bus limits.
pub fn chunks() {
    let link = LinkOptions::unlimited();
    table(&["w128", "w256", "w512"].map(|name| (name, "no limit", link)));
}

/// Cycles per chunk behind links.
pub fn links() {
    let with_tags = |tags| LinkOptions { tags, ..LinkOptions::new(5, 4) };
    table(&[
        ("w128", "3.0 x4", LinkOptions::new(3, 4)),
        ("w256", "3.0 x4", LinkOptions::new(3, 4)),
        ("w256", "4.0 x4", LinkOptions::new(4, 4)),
        ("w512", "4.0 x4", LinkOptions::new(4, 4)),
        ("w512", "5.0 x4", LinkOptions::new(5, 4)),
        ("w512", "5.0 x4, 16 tags", with_tags(16)),
        ("w512", "5.0 x4, 64 tags", with_tags(64)),
    ]);
}

/// Four drives against one.
pub fn scaling() {
    head(&[
        "link of each drive",
        "direction",
        "1 drive, cycles per chunk",
        "4 drives",
        "ratio",
        "4 drives, MiB/s",
        "ideal ratio",
    ]);
    for generation in [3, 4] {
        let link = LinkOptions::new(generation, 4);
        let surroundings = Surroundings::unlimited(link);
        let cores = ["w512", "w512d4"].map(|name| measure::core(name, &surroundings));
        let [Ok(mut one), Ok(mut four)] = cores else {
            println!("not built: needs --features all-configurations");
            return;
        };
        let [ideal_one, ideal_four] = [&one, &four].map(|core| ideal_cycles(core, &link));
        let one = chunk_cycles(&mut one, CHUNKS);
        let four = chunk_cycles(&mut four, 2 * CHUNKS);
        for (at, direction) in DIRECTIONS.iter().enumerate() {
            let [one, four] = [one[at].steady(), four[at].steady()];
            row(&[
                format!("{generation}.0 x4"),
                (*direction).to_owned(),
                format!("{one:.1}"),
                format!("{four:.1}"),
                format!("{:.3}", one / four),
                format!("{:.0}", f64::from(128 << 10) / (four * 4e-9) / f64::from(1 << 20)),
                format!("{:.3}", ideal_one[at] / ideal_four[at]),
            ]);
        }
    }
}

/// Latencies of the first command.
pub fn latency() {
    head(&[
        "core",
        "link",
        "direction",
        "doorbell on `bar`",
        "entry has left the core",
        "memory's own",
    ]);
    for (title, link) in [
        ("no limit", LinkOptions::unlimited()),
        ("3.0 x4, 62 cycles each way", LinkOptions::new(3, 4)),
    ] {
        for name in ["w128", "w256", "w512", "w512d4"] {
            let Ok(mut core) = measure::core(name, &Surroundings::unlimited(link)) else {
                continue;
            };
            for (direction, what) in DIRECTIONS.iter().enumerate() {
                let latency = latency::first_command(&mut core, direction);
                row(&[
                    name.to_owned(),
                    title.to_owned(),
                    (*what).to_owned(),
                    latency.doorbell.to_string(),
                    latency.entry.to_string(),
                    latency.memory.to_string(),
                ]);
            }
        }
    }
}
