use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use assay_store::replace::check_replaceable;
use assay_trace::fit::FittedWorkload;
use assay_trace::profile::{HOTTEST_PCT, TraceProfile};
use assay_trace::survey::OpCount;
use assay_trace::{TraceError, TraceFormat, TraceSource, TraceSurvey};
use assay_units::text::{compact_size, format_size, group_digits, printable};
use serde_json::{Value, json};

use crate::args::trace::{TraceArguments, TraceCommand, TraceFile, TraceFitArguments};
use crate::exit::{CommandOutcome, UsageError, bail_usage};
use crate::terminal::Output;

/// Per operation.
const SHOWN_SIZES: usize = 5;

pub fn run(arguments: &TraceArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    match &arguments.command {
        TraceCommand::Info(file) => info(file, output),
        TraceCommand::Fit(fit_arguments) => fit(fit_arguments, output),
    }
}

struct Trace {
    source: TraceSource,
    survey: TraceSurvey,
    profile: TraceProfile,
}

impl Trace {
    fn read(file: &TraceFile) -> anyhow::Result<Trace> {
        let read = || -> Result<Trace, TraceError> {
            let source = TraceSource {
                path: file.trace.clone(),
                format: TraceFormat::parse(Some(&file.format), file.columns.as_deref())?,
                device: file.device.clone(),
            };
            let survey = TraceSurvey::clone(&*TraceSurvey::load(&source)?);
            let profile = TraceProfile::new(&source, &survey)?;
            Ok(Trace { source, survey, profile })
        };
        Ok(read().map_err(|error| UsageError(error.to_string()))?)
    }
}

fn info(file: &TraceFile, output: Output) -> anyhow::Result<CommandOutcome> {
    let trace = Trace::read(file)?;
    output.show(|| text(&trace), || document(&trace))
}

/// The most frequent sizes with their shares: `4k 60 %, 64k 40 %`.
fn sizes_text(sizes: &BTreeMap<u64, u64>) -> String {
    let all: u64 = sizes.values().sum();
    let mut sizes: Vec<(u64, u64)> = sizes.iter().map(|(size, count)| (*size, *count)).collect();
    sizes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let one = |(size, count): &(u64, u64)| {
        let share = *count as f64 / all.max(1) as f64 * 100.0;
        format!("{} {share:.0} %", compact_size(*size))
    };
    let mut shown: Vec<String> = sizes.iter().take(SHOWN_SIZES).map(one).collect();
    if sizes.len() > SHOWN_SIZES {
        shown.push(format!("{} further sizes", sizes.len() - SHOWN_SIZES));
    }
    shown.join(", ")
}

fn count(operations: &OpCount) -> String {
    let requests = group_digits(operations.requests);
    format!("{requests}, {}", format_size(operations.bytes))
}

fn rate_text(profile: &TraceProfile) -> String {
    format!(
        "{:.0} per second, variation of the gaps {:.2} (Poisson: 1), longest gap {}",
        profile.rate, profile.gap_variation, profile.longest_gap
    )
}

fn order_text(profile: &TraceProfile) -> String {
    let run = profile.requests as f64 / profile.runs.max(1) as f64;
    let runs = group_digits(profile.runs);
    format!("runs of {run:.1} requests on average, {runs} runs")
}

fn hot_spots_text(profile: &TraceProfile) -> String {
    let hottest = HOTTEST_PCT.iter().zip(profile.hottest_pct);
    let hottest: Vec<String> =
        hottest.map(|(blocks, share)| format!("{share:.0} % to {blocks} %")).collect();
    format!(
        "of {} runs' begins {} of the {} blocks with any; as Zipf's law with theta {:.2}",
        group_digits(profile.runs),
        hottest.join(", "),
        group_digits(profile.begin_blocks),
        profile.theta
    )
}

fn text(trace: &Trace) -> String {
    let (survey, profile) = (&trace.survey, &trace.profile);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<18} {value}");
    };
    line("trace", trace.source.name());
    line("format", survey.format.description().to_owned());
    if survey.devices.iter().any(|(name, _)| !name.is_empty()) {
        line("devices", devices_text(survey));
    }
    line("requests", group_digits(survey.requests()));
    line("reads", count(&survey.reads));
    line("writes", count(&survey.writes));
    if survey.discards.requests > 0 {
        line("trims", count(&survey.discards));
    }
    for (name, count) in [("FUA writes", survey.fua_writes), ("flushes", survey.flushes)] {
        if count > 0 {
            line(name, group_digits(count));
        }
    }
    line("time", survey.span.to_string());
    if profile.rate > 0.0 {
        line("rate", rate_text(profile));
    }
    if let Some(in_flight) = profile.in_flight {
        line("in flight", format!("{in_flight:.2} on average (Little's law)"));
    }
    if !profile.read_sizes.is_empty() {
        line("read sizes", sizes_text(&profile.read_sizes));
    }
    if !profile.write_sizes.is_empty() {
        line("write sizes", sizes_text(&profile.write_sizes));
    }
    let addresses = [survey.low_bytes, survey.high_bytes, survey.alignment_bytes];
    let [low, high, alignment] = addresses.map(format_size);
    line("addresses", format!("{low} to {high}, multiples of {alignment}"));
    line("order", order_text(profile));
    line("hot spots", hot_spots_text(profile));
    let counts = &survey.counts;
    for (name, count) in [
        ("not replayed", counts.unusable),
        ("out of order", counts.reordered),
        ("other devices", counts.other_devices),
        ("devices above", counts.upper_devices),
    ] {
        if count > 0 {
            line(name, group_digits(count));
        }
    }
    if let Some(mixed) = mixed(trace) {
        let _ = writeln!(text, "warning: {mixed}");
    }
    if let Some(joined) = survey.joined_text() {
        let _ = writeln!(text, "warning: {joined}: replay them one by one");
    }
    text
}

fn mixed(trace: &Trace) -> Option<String> {
    let text = trace.survey.mixed_text(&trace.source)?;
    Some(format!("{text}: choose one with --trace_device NAME"))
}

/// The first devices; those above another one are marked.
fn devices_text(survey: &TraceSurvey) -> String {
    const SHOWN: usize = 16;
    let one = |(name, requests): &(String, u64)| {
        let above = survey.upper_devices.contains(name);
        let above = if above { ", left out: above another" } else { "" };
        format!("{} ({}{above})", printable(name), group_digits(*requests))
    };
    let mut shown: Vec<String> = survey.devices.iter().take(SHOWN).map(one).collect();
    if survey.devices.len() > SHOWN {
        shown.push(format!("{} further ones", survey.devices.len() - SHOWN));
    }
    shown.join(" ")
}

fn sizes_json(sizes: &BTreeMap<u64, u64>) -> Vec<Value> {
    let one = |(size, count): (&u64, &u64)| json!({ "bytes": size, "requests": count });
    sizes.iter().map(one).collect()
}

fn document(trace: &Trace) -> Value {
    let (survey, profile) = (&trace.survey, &trace.profile);
    let op = |requests: u64, bytes: u64| json!({ "requests": requests, "bytes": bytes });
    let hottest = HOTTEST_PCT.iter().zip(profile.hottest_pct);
    json!({
        "file": trace.source.name(),
        "format": survey.format.name(),
        "devices": survey.devices.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "device_requests": survey.devices.iter().map(|(_, requests)| requests).collect::<Vec<_>>(),
        "upper_devices": survey.upper_devices,
        "warnings": mixed(trace).into_iter().collect::<Vec<_>>(),
        "read": op(survey.reads.requests, survey.reads.bytes),
        "write": op(survey.writes.requests, survey.writes.bytes),
        "discard": op(survey.discards.requests, survey.discards.bytes),
        "fua_writes": survey.fua_writes,
        "flushes": survey.flushes,
        "span_ns": survey.span.0,
        "low_bytes": survey.low_bytes,
        "high_bytes": survey.high_bytes,
        "alignment_bytes": survey.alignment_bytes,
        "longest_bytes": survey.longest_bytes,
        "unusable": survey.counts.unusable,
        "reordered": survey.counts.reordered,
        "other_devices": survey.counts.other_devices,
        "of_upper_devices": survey.counts.upper_devices,
        "rate_iops": profile.rate,
        "gap_variation": profile.gap_variation,
        "longest_gap_ns": profile.longest_gap.0,
        "in_flight_mean": profile.in_flight,
        "read_sizes": sizes_json(&profile.read_sizes),
        "write_sizes": sizes_json(&profile.write_sizes),
        "runs": profile.runs,
        "begin_blocks": profile.begin_blocks,
        "zipf_theta": profile.theta,
        "hottest": hottest
            .map(|(blocks, share)| json!({ "blocks_pct": blocks, "begins_pct": share }))
            .collect::<Vec<_>>(),
    })
}

fn fit(arguments: &TraceFitArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let trace = Trace::read(&arguments.file)?;
    if trace.profile.requests == 0 {
        bail_usage!("{}: has neither reads nor writes to fit a workload to", trace.source.name());
    }
    let stem = arguments.file.trace.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    if path.extension().is_none_or(|extension| extension != "toml") {
        bail_usage!(
            "-o {}: a suite's name ends in .toml, or assay run does not find it",
            path.display()
        );
    }
    let mut fitted = FittedWorkload::new(&trace.survey, &trace.profile);
    fitted.notes.extend(mixed(&trace));
    let suite = fitted.suite(&format!("fitted-{name}"), &trace.source, &trace.survey);
    check_replaceable(&path, SUITE_HEAD)?;
    super::write_atomically(&path, &suite)?;
    output.show(|| fitted_text(&fitted, &path), || fitted_document(&fitted, &path))
}

fn fitted_text(fitted: &FittedWorkload, path: &Path) -> String {
    let mut text = format!("workload: --rw {} --bs {}", fitted.rw, fitted.bs);
    if let Some(percent) = fitted.read_percent {
        let _ = write!(text, " --rwmixread {percent}");
    }
    if let Some(distribution) = &fitted.distribution {
        let _ = write!(text, " --random_distribution {distribution}");
    }
    if let Some((rate, poisson)) = fitted.rate {
        let arrival = if poisson { " --arrival poisson" } else { "" };
        let _ = write!(text, " --rate {rate}{arrival}");
    }
    let _ = writeln!(text, " --iodepth {}", fitted.iodepth);
    for note in &fitted.notes {
        let _ = writeln!(text, "not kept: {note}");
    }
    let shown = path.display();
    let _ = writeln!(
        text,
        "suite:    {shown}; run it and the trace itself: assay run {}{shown} DRIVE",
        prefix(path)
    );
    text
}

fn fitted_document(fitted: &FittedWorkload, path: &Path) -> Value {
    json!({
        "suite": path,
        "rw": fitted.rw,
        "bs": fitted.bs,
        "rwmixread": fitted.read_percent,
        "random_distribution": fitted.distribution,
        "blockalign_bytes": fitted.align_bytes,
        "size_bytes": fitted.area.0 + fitted.area.1,
        "rate_iops": fitted.rate.map(|(rate, _)| rate),
        "arrival": fitted.rate.map(|(_, poisson)| if poisson { "poisson" } else { "constant" }),
        "iodepth": fitted.iodepth,
        "fsync": fitted.fsync,
        "sync": fitted.synchronous.then_some("dsync"),
        "not_kept": fitted.notes,
    })
}

/// A file that begins so may be replaced.
const SUITE_HEAD: &str = "# A synthetic workload fitted to a trace";

/// A path without a folder needs one, so that it is no name of a built-in suite.
fn prefix(path: &std::path::Path) -> &'static str {
    match path.components().count() {
        1 => "./",
        _ => "",
    }
}
