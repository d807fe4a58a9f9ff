//! `assay check DRIVE`: runs `quick` and says whether the drive is as fast as expected.

use std::fmt::Write;
use std::sync::Arc;

use assay_analysis::check::{Check, CheckInput, Health, Rating, SheetFigure, check};
use assay_device::identity::partition_start_bytes;
use assay_device::nvme::probe::Probe;
use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::blocks::VerifyBlocks;
use assay_store::model::ReasonWeight;
use assay_store::{Destination, Run};
use assay_suite::catalogue;
use assay_suite::expand::{RunSettings, expand};
use assay_suite::schema::{Suite, VerdictRules};
use assay_suite::verdict::{Basis, VerdictSubject, evaluate_by};
use assay_workload::plan::DEFAULT_SEED;
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::commands::report::PAGE_HEAD;
use crate::exit::CommandOutcome;
use crate::live::LiveArguments;
use crate::terminal::{Output, simulated_mark};

const SUITE: &str = "quick";

/// The cell of which most drives have public figures (reference/class_reads.csv).
const PUBLIC_CELL: &str = r#"
[[step]]
id = "random-read-public"
title = "Random 4 KiB read by one thread, 64 in flight"
kind = "measure"
job.rw = "randread"
job.engine = "uring"
job.bs = "4k"
job.iodepth = 64
job.size = "{area}"
job.runtime = "{runtime}"
job.ramp_time = "{ramp}"
job.interval = "50ms"
"#;

fn suite() -> anyhow::Result<Suite> {
    let text = catalogue::load(SUITE)?.text + PUBLIC_CELL;
    Ok(Suite::parse(SUITE, &text)?)
}

pub fn run(arguments: &CheckArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if let Some(page) = &arguments.report {
        assay_store::replace::check_replaceable(page, PAGE_HEAD)?;
    }
    let rules = super::verdict::rules(None, arguments.datasheet.as_deref())?.1;
    let suite = suite()?;
    let options =
        SessionOptions { generator: Some(Arc::new(VerifyBlocks)), ..SessionOptions::default() };
    let names = std::slice::from_ref(&arguments.drive);
    let mut drives = super::open_drives(names, &options)?;
    let settings = RunSettings { set: Vec::new(), scale: 1.0, seed: DEFAULT_SEED };
    let plan = expand(&suite, &settings, &drives)?;
    let state = StateBefore::new(&drives[0]);
    let watch = super::Watch::new(&LiveArguments::default())?;
    let destination = arguments.out.clone().map(Destination::At);
    let mut gated = false;
    let summary = super::run_plan(&plan, &mut drives, destination, watch, output, |run, _| {
        super::report::write_page_of(run, arguments.report.as_deref())?;
        let input = CheckInput {
            run,
            drive: 0,
            headlines: &suite.headlines,
            health: state.health,
            sheet: match run.manifest.drives[0].simulated && arguments.datasheet.is_none() {
                // A profile repeats the bench of its sources, which need not reach the data sheet.
                true => Vec::new(),
                false => sheet(run, &rules),
            },
            used_pct: state.used_pct,
            partition_start_bytes: state.partition_start_bytes,
        };
        let found = check(&input);
        gated = super::measured_nothing(run);
        if let Some(found) = &found {
            gated |= found.rating.is_below();
            output.show(|| text(run, found), || document(run, found))?;
        }
        Ok(())
    })?;
    Ok(super::outcome_of(&summary).unless(arguments.gate && gated))
}

/// What the run folder does not hold, read before the run.
struct StateBefore {
    health: Option<Health>,
    used_pct: Option<f64>,
    partition_start_bytes: Option<u64>,
}

impl StateBefore {
    fn new(session: &DriveSession) -> StateBefore {
        let probe = session.probe().and_then(Result::ok);
        let info = session.info();
        StateBefore {
            health: probe.map(health),
            used_pct: probe.and_then(|probe| used_pct(probe, info.nvme.as_ref().map(|n| n.nsid))),
            partition_start_bytes: partition_start_bytes(info),
        }
    }
}

fn health(probe: &Probe) -> Health {
    let log = &probe.health;
    Health {
        critical_warnings: log.critical_warnings.clone(),
        media_errors: log.media_errors,
        used_pct: log.percentage_used,
        spare_pct: log.available_spare_pct,
        composite_c: log.composite_c,
    }
}

/// Of the namespace. Many drives report all of it as used, whatever is: only less says anything.
fn used_pct(probe: &Probe, nsid: Option<u32>) -> Option<f64> {
    let of = |nsid: u32| probe.namespaces.iter().find(|n| n.nsid == nsid);
    let namespace = nsid.map_or_else(|| probe.namespaces.first(), of)?;
    let (used, size) = (namespace.used_bytes, namespace.size_bytes);
    (used < size).then(|| used as f64 / size as f64 * 100.0)
}

/// The rules of the suite that name a rating, by the data sheet.
fn sheet(run: &Run, rules: &VerdictRules) -> Vec<SheetFigure> {
    let subject = VerdictSubject::new(run, 0);
    let of_suite = rules
        .rules
        .iter()
        .filter(|rule| rule.suite.as_deref() == Some(SUITE) && rule.rating.is_some());
    let figures = of_suite.filter_map(|rule| {
        let alone = VerdictRules { rules: vec![rule.clone()], ..rules.clone() };
        let verdict = evaluate_by(&alone, &subject, Basis::Datasheet);
        let prefix = format!("{}: ", rule.about);
        let mut reasons = verdict.reasons.into_iter();
        let reason = reasons.find(|reason| reason.text.starts_with(&prefix))?;
        let advice = format!("; {}", rule.advice);
        let text = reason.text[prefix.len()..].trim_end_matches(&advice).to_owned();
        let about = rule.about.trim_start_matches("quick: ").to_owned();
        Some(SheetFigure {
            about,
            step: rule.step.clone()?,
            rating: match reason.weight {
                ReasonWeight::For => Some(Rating::AsExpected),
                ReasonWeight::Caution => Some(Rating::Below),
                ReasonWeight::Against => Some(Rating::FarBelow),
                ReasonWeight::Missing => None,
            },
            text,
        })
    });
    figures.collect()
}

fn text(run: &Run, check: &Check) -> String {
    let mut text = String::new();
    for drive in &run.manifest.drives {
        let mark = simulated_mark(drive.simulated);
        text.push_str(&drive.spec);
        let named =
            [("", &drive.model), ("serial ", &drive.serial), ("firmware ", &drive.firmware)];
        for (name, value) in named.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(text, "  {name}{value}");
        }
        text.push('\n');
        let _ = writeln!(text, "this drive{mark}: {}\n", check.rating.text());
    }
    for finding in &check.findings {
        let (rating, about) = (finding.rating.text(), &finding.about);
        let _ = writeln!(text, "{rating:<17} {about}: {}", finding.text);
        for next in &finding.next {
            let _ = writeln!(text, "{:<17}   next: {next}", "");
        }
    }
    if !check.without_reference.is_empty() {
        text.push_str(
            "\nmeasured, without a public figure by the same procedure; compare them with a drive \
             of the same model (assay compare):\n",
        );
        let width = check.without_reference.iter().map(|f| f.about.len()).max();
        for figure in &check.without_reference {
            let (about, value) = (&figure.about, &figure.value);
            let _ = writeln!(text, "  {about:<0$}  {value}", width.unwrap_or(0));
        }
    }
    text.push_str("\ndocs/slow.md: what to measure next.\n");
    text
}

fn document(run: &Run, check: &Check) -> Value {
    let drive = run.manifest.drives.first();
    json!({
        "drive": drive,
        "simulated": run.has_simulated(),
        "rating": check.rating,
        "findings": check.findings,
        "without_reference": check.without_reference,
    })
}
