//! The specification of Open Compute's output, version 2: required and optional keys, values, order
//! and references.

use std::collections::{BTreeMap, BTreeSet};

use assay_export::ocp::HEAD;
use serde_json::Value;

fn object<'a>(
    value: &'a Value,
    required: &[&str],
    optional: &[&str],
) -> &'a serde_json::Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    for key in required {
        assert!(object.contains_key(*key), "{key} is missing: {value}");
    }
    for key in object.keys() {
        let known = required.contains(&key.as_str()) || optional.contains(&key.as_str());
        assert!(known, "{key} is not of the specification: {value}");
    }
    object
}

fn one_of(value: &Value, known: &[&str]) {
    assert!(known.contains(&value.as_str().unwrap()), "{value}");
}

fn is_figure(value: &Value) {
    assert!(value.is_string() || value.is_boolean() || value.is_number(), "{value}");
}

#[derive(Default)]
struct Seen {
    hardware: BTreeSet<String>,
    steps: BTreeMap<String, bool>,
    /// Step and elements; no step when it has ended.
    series: BTreeMap<String, (Option<String>, u64)>,
}

/// The rules of the specification's text and tables, written down here independently of the writer.
/// Whether the last line is the end of the run.
pub fn check(text: &str) -> bool {
    let mut seen = Seen::default();
    let mut ended = false;
    assert!(text.is_empty() || text.ends_with('\n') && text.starts_with(HEAD));
    for (number, line) in text.lines().enumerate() {
        assert!(!ended, "after the end: {line}");
        let value: Value = serde_json::from_str(line).unwrap();
        let kinds = ["schemaVersion", "testRunArtifact", "testStepArtifact"];
        let line = object(&value, &["sequenceNumber", "timestamp"], &kinds);
        assert_eq!(line.len(), 3, "exactly one artifact");
        assert_eq!(line["sequenceNumber"], number);
        date(&line["timestamp"]);
        match (number, line.get("testRunArtifact"), line.get("testStepArtifact")) {
            (0, None, None) => {
                assert_eq!(line["schemaVersion"], serde_json::json!({"major": 2, "minor": 0}))
            }
            (_, Some(run), None) => ended = check_run(number, run, &mut seen),
            (_, None, Some(step)) => check_step(step, &mut seen),
            _ => panic!("{value}"),
        }
    }
    if ended {
        assert!(seen.steps.values().all(|open| !open), "a step is open at the end");
    }
    ended
}

fn date(value: &Value) {
    let text = value.as_str().unwrap();
    assert!(text.ends_with('Z'), "{text}");
    text.parse::<jiff::Timestamp>().unwrap();
}

fn check_run(number: usize, run: &Value, seen: &mut Seen) -> bool {
    let kinds = ["testRunStart", "testRunEnd", "log", "error"];
    let run = object(run, &[], &kinds);
    assert_eq!(run.len(), 1);
    let (kind, content) = run.iter().next().unwrap();
    assert_eq!(number == 1, kind == "testRunStart", "the second line and no other");
    match kind.as_str() {
        "testRunStart" => {
            let required = ["name", "version", "commandLine", "parameters", "dutInfo"];
            let start = object(content, &required, &["metadata"]);
            let infos = ["platformInfos", "softwareInfos", "hardwareInfos"];
            let dut = object(
                &start["dutInfo"],
                &["dutInfoId"],
                &[&infos[..], &["name", "metadata"]].concat(),
            );
            for hardware in dut["hardwareInfos"].as_array().unwrap() {
                let optional = [
                    "version",
                    "revision",
                    "location",
                    "serialNumber",
                    "partNumber",
                    "partType",
                    "manufacturer",
                    "manufacturerPartNumber",
                    "odataId",
                    "computerSystem",
                    "manager",
                ];
                let hardware = object(hardware, &["name", "hardwareInfoId"], &optional);
                assert!(
                    seen.hardware.insert(hardware["hardwareInfoId"].as_str().unwrap().to_owned())
                );
            }
            let mut software_ids = BTreeSet::new();
            for software in dut["softwareInfos"].as_array().unwrap() {
                let optional = ["version", "revision", "softwareType", "computerSystem"];
                let software = object(software, &["name", "softwareInfoId"], &optional);
                one_of(
                    &software["softwareType"],
                    &["UNSPECIFIED", "FIRMWARE", "SYSTEM", "APPLICATION"],
                );
                assert!(software_ids.insert(software["softwareInfoId"].to_string()));
            }
            for platform in dut["platformInfos"].as_array().unwrap() {
                object(platform, &["info"], &[]);
            }
        }
        "testRunEnd" => {
            let end = object(content, &["status", "result"], &[]);
            let pair = (end["status"].as_str().unwrap(), end["result"].as_str().unwrap());
            let valid = [
                ("SKIP", "NOT_APPLICABLE"),
                ("ERROR", "NOT_APPLICABLE"),
                ("COMPLETE", "PASS"),
                ("COMPLETE", "FAIL"),
            ];
            assert!(valid.contains(&pair), "{pair:?}");
            return true;
        }
        _ => check_message(kind, content),
    }
    false
}

fn check_message(kind: &str, content: &Value) {
    match kind {
        "log" => {
            let log = object(content, &["severity", "message"], &["sourceLocation"]);
            one_of(&log["severity"], &["INFO", "DEBUG", "WARNING", "ERROR", "FATAL"]);
        }
        "error" => {
            object(content, &["symptom"], &["message", "softwareInfoIds", "sourceLocation"]);
        }
        _ => panic!("{kind}"),
    }
}

fn check_step(step: &Value, seen: &mut Seen) {
    let kinds = [
        "testStepStart",
        "testStepEnd",
        "measurement",
        "measurementSeriesStart",
        "measurementSeriesElement",
        "measurementSeriesEnd",
        "diagnosis",
        "log",
        "error",
    ];
    let step = object(step, &["testStepId"], &kinds);
    assert_eq!(step.len(), 2);
    let id = step["testStepId"].as_str().unwrap().to_owned();
    let (kind, content) = step.iter().find(|(key, _)| *key != "testStepId").unwrap();
    if kind == "testStepStart" {
        object(content, &["name"], &[]);
        assert_eq!(seen.steps.insert(id, true), None, "identifiers are unique");
        return;
    }
    assert_eq!(seen.steps.get(&id), Some(&true), "{kind} of the step {id}, which is not open");
    let known = |content: &serde_json::Map<String, Value>| {
        assert!(seen.hardware.contains(content["hardwareInfoId"].as_str().unwrap()));
    };
    let series_id = || content["measurementSeriesId"].as_str().unwrap().to_owned();
    match kind.as_str() {
        "testStepEnd" => {
            one_of(&object(content, &["status"], &[])["status"], &["COMPLETE", "ERROR", "SKIP"]);
            let open = seen.series.values().any(|(step, _)| step.as_ref() == Some(&id));
            assert!(!open, "a series of the step {id} is open");
            seen.steps.insert(id, false);
        }
        "measurement" => {
            let content = object(
                content,
                &["name", "value"],
                &["unit", "validators", "hardwareInfoId", "subcomponent", "metadata"],
            );
            is_figure(&content["value"]);
            known(content);
            for validator in
                content.get("validators").and_then(Value::as_array).into_iter().flatten()
            {
                let validator = object(validator, &["type", "value"], &["name", "metadata"]);
                one_of(
                    &validator["type"],
                    &["EQUAL", "LESS_THAN_OR_EQUAL", "GREATER_THAN_OR_EQUAL"],
                );
                is_figure(&validator["value"]);
            }
        }
        "measurementSeriesStart" => {
            let content = object(
                content,
                &["name", "measurementSeriesId"],
                &["unit", "validators", "hardwareInfoId", "subcomponent", "metadata"],
            );
            known(content);
            assert_eq!(seen.series.insert(series_id(), (Some(id), 0)), None);
        }
        "measurementSeriesElement" => {
            let content = object(
                content,
                &["index", "value", "timestamp", "measurementSeriesId"],
                &["metadata"],
            );
            date(&content["timestamp"]);
            is_figure(&content["value"]);
            let (step, count) = seen.series.get_mut(&series_id()).unwrap();
            assert_eq!((step.as_ref(), content["index"].as_u64()), (Some(&id), Some(*count)));
            *count += 1;
        }
        "measurementSeriesEnd" => {
            let content = object(content, &["measurementSeriesId", "totalCount"], &[]);
            let (step, count) = seen.series.get_mut(&series_id()).unwrap();
            assert_eq!(content["totalCount"], *count);
            *step = None;
        }
        "diagnosis" => {
            let content = object(
                content,
                &["verdict", "type"],
                &["message", "hardwareInfoId", "subcomponent", "sourceLocation"],
            );
            one_of(&content["type"], &["PASS", "FAIL", "UNKNOWN"]);
            known(content);
        }
        _ => check_message(kind, content),
    }
}
