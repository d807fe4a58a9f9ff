//! Several simulated drives at once on one simulated host.

use crate::common;

use common::run;

/// Rates of two equal drives, alone and then at once on a host of so many processors.
fn rates(processors: &str) -> ([f64; 2], [f64; 2]) {
    let step = format!(
        r#"
[[step]]
id = "both"
title = "Both at once"
kind = "concurrent"
simulated_host = {{ processors = "{processors}", uplink = "none" }}
job = {{ rw = "randread", engine = "sync", bs = "4k", numjobs = 32, runtime = "200ms" }}
"#
    );
    let spec = "sim:intel-p4510";
    let (_, run, _folder) = run(&common::text(&step), &[spec, spec]);
    let rates = |together: bool| -> [f64; 2] {
        let cells = run.cells.iter();
        let cells = cells.filter(|cell| (cell.plan.drives.len() > 1) == together);
        let drives = cells.flat_map(|cell| &cell.drives);
        let rates: Vec<f64> = drives.map(|part| part.result.as_ref().unwrap().iops()).collect();
        rates.try_into().unwrap()
    };
    (rates(false), rates(true))
}

/// Known truth: an I/O takes 20 us of a processor, so that two processors make 100,000 of them per
/// second, of one drive or divided equally; with 32 processors both drives are as fast as alone.
#[test]
fn few_processors_limit_all_drives_together() {
    let (alone, both) = rates("2");
    for (alone, both) in alone.iter().zip(both) {
        assert!((alone / 100_000.0 - 1.0).abs() < 0.03, "{alone}");
        assert!((both / 50_000.0 - 1.0).abs() < 0.03, "{both}");
    }
    let (alone, both) = rates("32");
    for (alone, both) in alone.iter().zip(both) {
        assert!(*alone > 150_000.0 && (both / alone - 1.0).abs() < 0.02, "{both}, alone {alone}");
    }
}
