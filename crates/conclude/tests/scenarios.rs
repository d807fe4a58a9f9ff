//! Every detector against simulated drives whose truth is known.

#![allow(clippy::unwrap_used)]

mod lab;

use assay_conclude::attribution::phases;
use lab::draw::scenario;
use lab::score::{Tally, add, table};

#[test]
fn labels_are_right() {
    let first: u64 = std::env::var("ATTRIB_FIRST").ok().and_then(|t| t.parse().ok()).unwrap_or(100_000);
    let count: u64 = std::env::var("ATTRIB_COUNT").ok().and_then(|t| t.parse().ok()).unwrap_or(240);
    let mut told: [Tally; 6] = Default::default();
    let mut blind: [Tally; 6] = Default::default();
    for seed in first..first + count {
        let scenario = scenario(seed);
        if let Some(wrong) = add(&mut told, &scenario, &phases(&scenario.watched), false) {
            println!("told  {wrong}");
        }
        if let Some(wrong) = add(&mut blind, &scenario, &phases(&scenario.blind()), true) {
            println!("blind {wrong}");
        }
        if count == 1 {
            println!("{:?} {:?}", scenario.name, scenario.truths);
            for p in phases(&scenario.watched) { println!("told {p:?}"); }
            for p in phases(&scenario.blind()) { println!("blind {p:?}"); }
            for m in &scenario.watched.moments { println!("{} {:.0} {:?} {:?} wa {:.2} {:?}mW {:.0}", m.start_s, m.iops, m.temperature_c.unwrap(), m.throttled.unwrap(), m.nand_bytes.unwrap() as f64/m.written_bytes.max(1) as f64, m.power_mw.unwrap(), m.busiest_thread_pct.unwrap()); }
        }
    }
    println!("{}{}", table("With the drive's counters", &told), table("Temperature only", &blind));
}
