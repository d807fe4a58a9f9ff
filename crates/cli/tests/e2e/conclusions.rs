//! Contract: what is concluded has the same rows in every export, and all of it is documented.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::fixture::{Fixture, number};

const TABLES: [&str; 3] = ["conclusions", "phases", "modes"];

/// Suites whose runs together have a conclusion of every kind, shortened.
const RUNS: [&str; 3] = [
    "consistency sim:plextor-m8pe-gn --scale 0.01",
    "thermal sim:samsung-951 --set area=64MiB --scale 0.05",
    "load sim:samsung-951 --set area=1% --set loads=5,60,95 --scale 0.01",
];

/// A CSV file as rows of (column, field).
fn csv(text: &str) -> Vec<Vec<(String, String)>> {
    let mut reader = csv_rows(text).into_iter();
    let header = reader.next().unwrap();
    let row = |fields: Vec<String>| header.iter().cloned().zip(fields).collect();
    reader.map(row).collect()
}

fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

/// A value of JSON in the spelling of CSV; numbers are compared as such.
fn is_same(field: &str, value: &Value) -> bool {
    match value {
        Value::Null => field.is_empty(),
        Value::String(text) => field == text,
        Value::Bool(flag) => field == flag.to_string(),
        value => field.parse().ok() == value.as_f64(),
    }
}

#[test]
fn conclusions_are_the_same_everywhere_and_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run-folder.md");
    let page = std::fs::read_to_string(page).unwrap();
    let documented = |name: &str| page.contains(&format!("`{name}`"));
    let fixture = Fixture::on_disk();
    let (mut kinds, mut causes) = (BTreeSet::new(), BTreeSet::new());
    let mut modes = 0;
    for (at, words) in RUNS.into_iter().enumerate() {
        let folder = format!("run-{at}");
        let printed = fixture.json(&format!("run {words} --out {folder}"));
        fixture.ok(&format!("export {folder} --format csv -o {folder}-csv"));
        fixture.ok(&format!("export {folder} --format json -o {folder}.json"));
        let exported: Value =
            serde_json::from_str(&fixture.text(&format!("{folder}.json"))).unwrap();
        for table in TABLES {
            let rows = csv(&fixture.text(&format!("{folder}-csv/{table}.csv")));
            let objects = exported[table].as_array().unwrap();
            let shown = printed["runs"][0][table].as_array().unwrap();
            // The run is named once in the document of the run.
            let without_run = objects.iter().map(|row| {
                let mut row = row.as_object().unwrap().clone();
                row.remove("run_id");
                Value::Object(row)
            });
            assert!(without_run.eq(shown.iter().cloned()), "{words}: {table}");
            assert_eq!(rows.len(), objects.len(), "{words}: {table}");
            for (row, object) in rows.iter().zip(objects) {
                for (column, field) in row {
                    assert!(documented(column), "{table}.{column} is not in docs/run-folder.md");
                    assert!(
                        is_same(field, &object[column]),
                        "{table}.{column}: {field:?}, {object:#}"
                    );
                }
            }
        }
        for row in exported["conclusions"].as_array().unwrap() {
            let (kind, name) = (row["kind"].as_str().unwrap(), row["name"].as_str().unwrap());
            assert!(
                documented(kind) && documented(name),
                "{kind}, {name} is not in docs/run-folder.md"
            );
            kinds.insert(kind.to_owned());
        }
        for row in exported["phases"].as_array().unwrap() {
            let cause = row["cause"].as_str().unwrap();
            assert!(documented(cause), "{cause}");
            causes.insert(cause.to_owned());
        }
        modes += exported["modes"].as_array().unwrap().len();
        // The columns of `cells` are documented, too, and agree with the document of the run.
        let cells = csv(&fixture.text(&format!("{folder}-csv/cells.csv")));
        let printed = printed["runs"][0]["cells"].as_array().unwrap();
        assert_eq!(cells.len(), printed.len());
        for (row, cell) in cells.iter().zip(printed) {
            let field = |name: &str| &row.iter().find(|(column, _)| column == name).unwrap().1;
            for (column, pointer) in [
                ("view", "/view"),
                ("variant", "/variant"),
                ("round", "/round/number"),
                ("rwmixread", "/rwmixread"),
                ("load_pct", "/load/percent"),
                ("power_state", "/power_state"),
                ("ci_low_iops", "/iops_ci/low"),
                ("ci_high_iops", "/iops_ci/high"),
                ("ci_low_mib_per_s", "/mib_per_s_ci/low"),
                ("ci_high_mib_per_s", "/mib_per_s_ci/high"),
                ("ci_low_latency_mean_ns", "/latency_mean_ns_ci/low"),
                ("ci_high_latency_mean_ns", "/latency_mean_ns_ci/high"),
            ] {
                let value = cell.pointer(pointer).unwrap_or(&Value::Null);
                assert!(
                    is_same(field(column), value),
                    "{words}: {column}: {}, {cell:#}",
                    field(column)
                );
                assert!(documented(column), "{column}");
            }
        }
    }
    let all = [
        "causes",
        "endurance",
        "knee",
        "latency",
        "power",
        "score",
        "steady_state",
        "throttling",
        "verdict",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
    assert!(causes.contains("thermal_throttling"), "{causes:?}");
    assert!(modes > 0);
}

/// One server per I/O: latency from submission is service and queueing, and nothing is late while
/// slots are free.
#[test]
fn a_job_at_a_fixed_rate_has_its_conclusions() {
    let fixture = Fixture::on_disk();
    let job = fixture.json(
        "job sim:samsung-951 --rw randread --bs 4k --iodepth 64 --rate 20k --arrival poisson \
         --runtime 2s",
    );
    let rows = job["conclusions"].as_array().unwrap();
    let value = |name: &str| {
        rows.iter()
            .find(|row| row["kind"] == "latency" && row["name"] == name)
            .map(|row| number(row, "/value"))
    };
    let read = &job["jobs"][0]["read"];
    assert_eq!(value("mean"), read["latency_ns"]["mean"].as_f64());
    let lateness = number(read, "/latency_ns/mean") - number(read, "/service_ns/mean");
    assert_eq!(value("lateness"), Some(lateness));
    // Nothing says what an I/O takes alone.
    assert_eq!((value("service"), value("queueing")), (None, None));
    assert!(!job["phases"].as_array().unwrap().is_empty());
}
