//! The lines that the kernel's io.cost controller takes, from a run of the suite `iocost`
//! (Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files").

use assay_store::model::CellResult;
use assay_store::read::{CellState, Run};

use crate::rank::IOCOST;

/// Coefficients of `io.cost.model`: bytes and I/Os per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IoCost {
    /// In the order of [`COEFFICIENTS`].
    pub coefficients: [u64; 6],
    /// 95th percentile of random reads and random writes, microseconds; 0 where it is not known.
    pub p95_us: [u64; 2],
}

/// Keys of the model, which are also the suite's steps.
pub const COEFFICIENTS: [&str; 6] =
    ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"];

/// `None` of other suites, and where a test was not measured.
pub fn of_drive(run: &Run, drive: usize) -> Option<IoCost> {
    if run.manifest.suite.name != IOCOST {
        return None;
    }
    let result = |step: &str| -> Option<&CellResult> {
        let measured = |c: &&assay_store::read::CellRecord| {
            c.plan.step == step && c.state == CellState::Finished && c.drive(drive).is_some()
        };
        let cell = run.cells.iter().find(measured)?;
        cell.drive(drive)?.result.as_ref()
    };
    let mut coefficients = [0; 6];
    for (place, step) in coefficients.iter_mut().zip(COEFFICIENTS) {
        let result = result(step)?;
        *place = match step.ends_with("bps") {
            true => (result.mib_per_s() * f64::from(1 << 20)).round() as u64,
            false => result.iops().round() as u64,
        };
    }
    let p95_us = ["rrandiops", "wrandiops"].map(|step| {
        let latency = result(step).map(CellResult::latency);
        latency.map_or(0, |latency| latency.p95 / 1000)
    });
    Some(IoCost { coefficients, p95_us })
}

impl IoCost {
    /// `rbps=... rseqiops=... rrandiops=... wbps=... wseqiops=... wrandiops=...`.
    pub fn model(&self) -> String {
        let pairs = COEFFICIENTS.iter().zip(self.coefficients);
        let words: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
        words.join(" ")
    }

    /// A proposal for `io.cost.qos`: the controller slows down below the rates of the model when
    /// the 95th percentile exceeds what the drive has when it is loaded as the model was measured.
    /// An opinion; the kernel's documentation prescribes no values.
    pub fn qos(&self) -> String {
        let [reads, writes] = self.p95_us;
        format!(
            "enable=1 ctrl=user rpct=95.00 rlat={reads} wpct=95.00 wlat={writes} min=50.00 \
             max=150.00"
        )
    }

    /// An entry of systemd's hardware database (iocost.conf(5), `90-iocost-tune.hwdb`).
    pub fn hwdb(&self, model: &str, firmware: &str) -> String {
        format!(
            "block::name:{model}:fwrev:{firmware}:*\n  IOCOST_SOLUTIONS=assay\n  \
             IOCOST_MODEL_ASSAY={}\n  IOCOST_QOS_ASSAY={}\n",
            self.model(),
            self.qos()
        )
    }
}
