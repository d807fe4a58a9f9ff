use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use assay_execute::live::{CellCounts, DriveCondition, LatencyFigures, RunningCell};
use assay_io::Nanos;
use assay_stats::HostLoad;

use super::*;

fn op(ios: u64) -> OpFigures {
    OpFigures {
        iops: ios as f64 / 2.0,
        bytes_per_s: ios as f64 * 2048.0,
        latency: Some(LatencyFigures {
            p50: Nanos(81_000),
            p99: Nanos(200_000),
            p999: Nanos(1_500_000),
        }),
        ios,
        bytes: ios * 4096,
        errors: 3,
        latency_count: ios,
        latency_sum_s: ios as f64 * 90e-6,
    }
}

/// A drive with every figure, and one with none.
fn live() -> LiveSnapshot {
    let full = DriveSnapshot {
        label: "a \"quoted\" \\ drive".into(),
        model: "Model".into(),
        serial: "S1".into(),
        firmware: "F1".into(),
        capacity_bytes: 128_000_000_000,
        simulated: true,
        phase: Phase::Measuring,
        cell: Some(RunningCell {
            id: "a/read".into(),
            step: "read".into(),
            at: Nanos::from_millis(1500),
            ..RunningCell::default()
        }),
        read: op(1000),
        write: op(500),
        temperature_c: Some(61.5),
        power_mw: Some(5200),
        throttled: Some(true),
        condition: Some(DriveCondition { label: CONDITIONS[4], details: None }),
        drive_time: Nanos::from_secs(90),
        speed_up: Some(45.5),
        ..DriveSnapshot::default()
    };
    let empty = DriveSnapshot { label: "b".into(), ..DriveSnapshot::default() };
    LiveSnapshot {
        suite: "quick".into(),
        elapsed: Nanos::from_secs(20),
        left: Nanos::from_secs(40),
        done_share: 0.25,
        cells: CellCounts { done: 2, skipped: 1, failed: 0, left: 8 },
        host: Some(HostLoad { user_pct: 25.0, ..HostLoad::default() }),
        warning_counts: [("not-steady".to_owned(), 2)].into(),
        drives: vec![full, empty],
        ..LiveSnapshot::default()
    }
}

fn sample(text: &str, start: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("no {start} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn figures_have_base_units() {
    let text = text(&live(), &RunIdentity::default());
    let drive = r#"{drive="a \"quoted\" \\ drive""#;
    for (start, value) in [
        (format!("assay_reads_total{drive}}}"), 1000.0),
        (format!("assay_read_bytes_total{drive}}}"), 4_096_000.0),
        (format!("assay_written_bytes_per_second{drive}}}"), 1_024_000.0),
        (format!("assay_temperature_celsius{drive}}}"), 61.5),
        (format!("assay_power_watts{drive}}}"), 5.2),
        (format!("assay_read_latency_seconds{drive},quantile=\"0.99\"}}"), 0.0002),
        (format!("assay_read_latency_seconds_count{drive}}}"), 1000.0),
        (format!("assay_drive_phase{drive},phase=\"measuring\"}}"), 1.0),
        (format!("assay_drive_state{drive},state=\"thermal throttling\"}}"), 1.0),
        (format!("assay_drive_state{drive},state=\"fresh\"}}"), 0.0),
        ("assay_cells{status=\"left\"}".to_owned(), 8.0),
        ("assay_warnings_total{code=\"not-steady\"}".to_owned(), 2.0),
        ("assay_host_cpu_ratio{mode=\"user\"}".to_owned(), 0.25),
        ("assay_run_elapsed_seconds".to_owned(), 20.0),
    ] {
        assert_eq!(sample(&text, &format!("{start} ")), value, "{start}");
    }
    // What a drive does not report is absent, not 0.
    assert!(!text.contains("assay_temperature_celsius{drive=\"b\"}"));
    assert!(!text.contains("assay_throttled{drive=\"b\"}"));
}

#[test]
fn a_drive_that_waits_has_no_rate() {
    let mut live = live();
    live.drives[0].phase = Phase::Waiting;
    let text = text(&live, &RunIdentity::default());
    assert_eq!(sample(&text, "assay_reads_per_second{drive=\"a"), 0.0);
    assert!(!text.contains("quantile=\"0.5\""));
}

#[test]
fn each_family_occurs_and_is_named_by_the_conventions() {
    let text = text(&live(), &RunIdentity::default());
    let mut names = BTreeSet::new();
    for family in FAMILIES {
        assert!(names.insert(family.name), "{} twice", family.name);
        assert!(family.name.starts_with("assay_"));
        assert!(!family.name.ends_with("_total"), "{}", family.name);
        assert!(family.unit.is_empty() || family.name.ends_with(&format!("_{}", family.unit)));
        assert!(family.help.ends_with('.'), "{}", family.help);
        let samples = text.lines().filter(|line| {
            let name = line.split(['{', ' ']).next().unwrap();
            let suffix = name.strip_prefix(family.name);
            suffix.is_some_and(|s| ["", "_total", "_sum", "_count"].contains(&s))
        });
        assert!(samples.count() > 0, "{} has no sample", family.name);
    }
}

/// Prometheus's own parsers: that of OpenMetrics, and that of the older format, which node_exporter
/// reads.
#[test]
fn prometheus_reads_the_text() {
    let script = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict
from prometheus_client.parser import text_string_to_metric_families as older
text = sys.stdin.read()
families = {family.name: family for family in strict(text)}
print(len(families))
print(len(families['assay_reads'].samples), families['assay_reads'].type)
print(families['assay_temperature_celsius'].unit)
print(families['assay_reads'].samples[0].labels['drive'])
print(sum(len(family.samples) for family in strict(text)) == sum(len(family.samples) for family in \
                  older(text)))
";
    // The system's own has Debian's module.
    let has_parser = |python: &&str| {
        let probe = Command::new(python).args(["-c", "import prometheus_client"]).output();
        probe.is_ok_and(|probe| probe.status.success())
    };
    let Some(python) = ["/usr/bin/python3", "python3"].into_iter().find(has_parser) else {
        println!("skipped: no Python module prometheus_client (python3-prometheus-client)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics");
    std::fs::write(&path, text(&live(), &RunIdentity::default())).unwrap();
    let input = std::fs::File::open(&path).unwrap();
    let output = Command::new(python).args(["-c", script]).stdin(input).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let expected = format!("{}\n2 counter\ncelsius\na \"quoted\" \\ drive\nTrue\n", FAMILIES.len());
    assert_eq!(printed, expected);
}

fn row(family: &Family) -> String {
    let name = match family.kind {
        FamilyKind::Counter => format!("{}_total", family.name),
        _ => family.name.to_owned(),
    };
    let labels: Vec<String> =
        family.labels.split(", ").filter(|l| !l.is_empty()).map(|l| format!("`{l}`")).collect();
    format!("| `{name}` | {} | {} | {} |", family.kind.name(), labels.join(", "), family.help)
}

#[test]
fn docs_metrics_md_has_a_row_for_each_metric_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let document = std::fs::read_to_string(path).unwrap();
    // Those of fleets are another table, after these.
    let (of_runs, _) = document.split_once("\n## Fleets\n").unwrap();
    let rows: Vec<&str> = of_runs.lines().filter(|line| line.starts_with("| `assay_")).collect();
    let expected: Vec<String> = FAMILIES.iter().map(row).collect();
    assert_eq!(rows, expected, "\n{}", expected.join("\n"));
}

/// Grafana's dashboard (docs/grafana/assay.json): each query is PromQL over metrics and labels that
/// exist, and panels lie beside each other in Grafana's 24 columns.
#[test]
fn the_dashboard_asks_for_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let dashboard: serde_json::Value =
        serde_json::from_str(&read("docs/grafana/assay.json")).unwrap();
    let labels = labels_of_metrics(&read("docs/metrics.md"));
    let mut used = BTreeSet::new();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{panel}");
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(taken.insert((x, y)), "{} lies over another", panel["title"]);
            }
        }
        let targets = panel["targets"].as_array().into_iter().flatten();
        for target in targets {
            assert_eq!(target["datasource"]["uid"], "${datasource}");
            let expr = target["expr"].as_str().unwrap();
            selectors(&expr.replace("$__rate_interval", "1m"), &mut |name, label| {
                let known = labels.get(name).unwrap_or_else(|| panic!("no {name}: {expr}"));
                // Prometheus adds the name of its target.
                let exists = label == "instance" || known.contains(label);
                assert!(exists, "{name} has no label {label}: {expr}");
                used.insert(name.to_owned());
            });
            let legend = target["legendFormat"].as_str().unwrap();
            for label in legend.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap()) {
                let has = |name: &String| labels[name].contains(label);
                assert!(label == "instance" || used.iter().any(has), "{legend}");
            }
        }
    }
    assert!(used.len() >= 20, "{used:?}");
}

/// Names of the samples in the tables of docs/metrics.md, which follow from the families, with
/// their labels.
fn labels_of_metrics(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `assay_")) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = fields[1].trim_matches('`');
        let own = fields[3].split(',').map(|label| label.trim().trim_matches('`').to_owned());
        let mut labels: BTreeSet<String> = own.filter(|label| !label.is_empty()).collect();
        if name.starts_with("assay_fleet_") {
            labels.extend(["plan", "serial", "host"].map(str::to_owned));
        }
        for suffix in ["", "_sum", "_count"] {
            found.insert(format!("{name}{suffix}"), labels.clone());
        }
    }
    found
}

/// Calls back with each selected metric and each label that selects, joins or groups.
fn selectors(expr: &str, found: &mut dyn FnMut(&str, &str)) {
    use promql_parser::parser::{Expr, LabelModifier, parse};
    fn walk(expr: &Expr, found: &mut dyn FnMut(&str, &str)) {
        match expr {
            Expr::VectorSelector(selector) => {
                let name = selector.name.as_deref().unwrap();
                let matchers = &selector.matchers.matchers;
                assert!(!matchers.is_empty(), "{name} is not selected by a variable");
                matchers.iter().for_each(|matcher| found(name, &matcher.name));
            }
            Expr::MatrixSelector(matrix) => walk(&Expr::VectorSelector(matrix.vs.clone()), found),
            Expr::Binary(binary) => {
                walk(&binary.lhs, found);
                walk(&binary.rhs, found);
            }
            Expr::Aggregate(aggregate) => {
                walk(&aggregate.expr, found);
                if let Some(LabelModifier::Include(labels)) = &aggregate.modifier {
                    let by = &labels.labels;
                    walk(&aggregate.expr, &mut |name, _| by.iter().for_each(|l| found(name, l)));
                }
            }
            Expr::Call(call) => call.args.args.iter().for_each(|arg| walk(arg, found)),
            Expr::Paren(paren) => walk(&paren.expr, found),
            Expr::NumberLiteral(_) => {}
            other => panic!("{other:?}"),
        }
    }
    walk(&parse(expr).unwrap_or_else(|why| panic!("{expr}: {why}")), found);
}
