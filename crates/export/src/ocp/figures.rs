use std::io::Write;

use assay_stats::OpSummary;
use assay_store::model::{CellResult, SteadyRecord, Verdict, VerdictResult};
use assay_units::Op;
use serde_json::{Value, json};

use super::artifact::{Diagnosis, Measurement, StepContent, StepEnd, Validator};
use super::writer::{OcpWriter, Step};
use super::{CELSIUS, IOPS, MIB_PER_S, MICROSECONDS};

impl<W: Write> OcpWriter<'_, W> {
    pub(super) fn simulated(&self, drive: usize) -> Option<Value> {
        let drive = self.manifest.drives.get(drive)?;
        drive.simulated.then(|| json!({ "simulated": true }))
    }

    pub(super) fn result(&mut self, step: &Step, result: &CellResult) -> std::io::Result<()> {
        self.failed |= result.errors() > 0;
        let mut figures: Vec<(String, f64, Option<&'static str>)> = Vec::new();
        for (name, op) in result.operations() {
            if !op.is_unused() {
                of_op(name, op, &mut figures);
            }
        }
        // Some cells have it among their values.
        let hottest = step.hottest_c.get(&result.drive);
        if let Some(hottest) = hottest.filter(|_| !result.values.contains_key("temperature_max_c"))
        {
            figures.push(("temperature.max".to_owned(), *hottest, Some(CELSIUS)));
        }
        // Their names end in their units.
        figures.extend(result.values.iter().map(|(name, x)| (name.clone(), *x, None)));
        for (name, value, unit) in figures {
            self.measurement(&step.id, result.drive, &name, value, unit, Vec::new())?;
        }
        if let Some(verify) = &result.verify {
            let found: u64 = verify.found.values().fold(0, |sum, n| sum.saturating_add(*n));
            self.failed |= found > 0;
            let none = Validator { name: "no findings", kind: "EQUAL", value: json!(0) };
            let blocks = Some("blocks");
            let (drive, checked) = (result.drive, verify.blocks_checked as f64);
            self.measurement(&step.id, drive, "verify.checked", checked, blocks, Vec::new())?;
            let found = found as f64;
            self.measurement(&step.id, drive, "verify.findings", found, blocks, vec![none])?;
        }
        Ok(())
    }

    pub(super) fn measurement(
        &mut self,
        step: &str,
        drive: usize,
        name: &str,
        value: f64,
        unit: Option<&str>,
        validators: Vec<Validator>,
    ) -> std::io::Result<()> {
        if !value.is_finite() {
            return Ok(());
        }
        let measurement = Measurement {
            name,
            value: json!(value),
            unit,
            validators,
            hardware_info_id: drive.to_string(),
            metadata: self.simulated(drive),
        };
        self.of_step(step, StepContent::Measurement(measurement))
    }

    pub(super) fn verdict(&mut self, drive: usize, verdict: &Verdict) -> std::io::Result<()> {
        let step = match &self.verdict_step {
            Some(step) => step.clone(),
            None => {
                let step = self.begin_step("verdict")?;
                self.verdict_step = Some(step.clone());
                step
            }
        };
        for figure in (self.figures)(drive) {
            let limit = Validator {
                name: "limit of the verdict rule",
                kind: match figure.lower_is_better {
                    true => "LESS_THAN_OR_EQUAL",
                    false => "GREATER_THAN_OR_EQUAL",
                },
                value: json!(figure.limit),
            };
            // JSON has no other numbers.
            let limits = if figure.limit.is_finite() { vec![limit] } else { Vec::new() };
            let (name, unit) = (figure.name.as_str(), Some(figure.unit));
            self.measurement(&step, drive, name, figure.value, unit, limits)?;
        }
        let of_drive = self.steady.iter().filter(|record| record.drive == drive);
        let steady: Vec<SteadyRecord> = of_drive.cloned().collect();
        for record in steady {
            let why = record.why.map(|why| format!("; {why}")).unwrap_or_default();
            let diagnosis = Diagnosis {
                verdict: if record.achieved { "steady-state" } else { "not-steady" },
                // A drive that is not steady yet is no worse for it.
                kind: if record.achieved { "PASS" } else { "UNKNOWN" },
                message: format!("{} of {}: {}{why}", record.figure, record.group, record.rule),
                hardware_info_id: drive.to_string(),
            };
            self.of_step(&step, StepContent::Diagnosis(diagnosis))?;
        }
        let (name, kind) = match verdict.result {
            VerdictResult::Recommended => ("recommended", "PASS"),
            VerdictResult::Conditionally => ("conditionally-recommended", "PASS"),
            VerdictResult::NotRecommended => ("not-recommended", "FAIL"),
            VerdictResult::Undecided => ("undecided", "UNKNOWN"),
        };
        self.failed |= kind == "FAIL";
        let reasons: Vec<&str> = verdict.reasons.iter().map(|r| r.text.as_str()).collect();
        let diagnosis = Diagnosis {
            verdict: name,
            kind,
            message: reasons.join("; "),
            hardware_info_id: drive.to_string(),
        };
        self.of_step(&step, StepContent::Diagnosis(diagnosis))
    }

    pub(super) fn end_verdicts(&mut self) -> std::io::Result<()> {
        let Some(step) = self.verdict_step.take() else {
            return Ok(());
        };
        let status = "COMPLETE";
        self.of_step(&step, StepContent::TestStepEnd(StepEnd { status }))
    }
}

fn of_op(name: &str, op: &OpSummary, figures: &mut Vec<(String, f64, Option<&'static str>)>) {
    let mut add = |what: &str, value: f64, unit| {
        figures.push((format!("{name}.{what}"), value, Some(unit)));
    };
    add("iops", op.iops, IOPS);
    if name != Op::Flush.name() {
        add("bandwidth", op.mib_per_s, MIB_PER_S);
    }
    add("ios", op.ios as f64, "IO");
    add("errors", op.errors as f64, "IO");
    let latency = &op.latency_ns;
    if latency.samples > 0 {
        let us = |ns: f64| ns / 1e3;
        add("latency.mean", us(latency.mean), MICROSECONDS);
        for (what, ns) in [
            ("latency.p50", latency.p50),
            ("latency.p99", latency.p99),
            ("latency.p99.9", latency.p99_9),
            ("latency.max", latency.max),
        ] {
            add(what, us(ns as f64), MICROSECONDS);
        }
    }
}
