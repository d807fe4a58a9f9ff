//! Exports agree with the run and with each other, and have the keys of fio's output.

#[path = "export/fio.rs"]
mod fio;
use crate::fixtures;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_analysis::conclusions::{CellIntervals, Conclusion, Conclusions, ModeRow, PhaseRow};
use assay_export::{
    ExportError, ExportFormat, export_csv, export_fio_json, export_json, export_parquet,
};
use assay_stats::confidence;
use assay_stats::modes::Mode;
use assay_store::model::{Entry, RunEnd};
use assay_store::{Destination, Run, RunWriter, StoreError};
use assay_units::{Classified as _, ErrorClass, Rng};
use parquet::basic::{Compression, LogicalType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use fio::{fio_json, mixed_run};
use fixtures::{LARGE, SMALL};

type Row = BTreeMap<String, String>;

/// Something of each kind about the first drive of the first cell; finding it is not this crate's.
fn conclude(run: &Run) -> Conclusions {
    let plan = &run.cells[0].plan;
    let (drive, cell, step) = (plan.drives[0], plan.id.clone(), plan.step.clone());
    let mut rng = Rng::stream(1, "rates");
    let rates: Vec<f64> = (0..200).map(|_| 1000.0 + 30.0 * rng.normal()).collect();
    let intervals = CellIntervals {
        iops: confidence::mean(&rates, confidence::LEVEL).ok(),
        ..CellIntervals::default()
    };
    Conclusions {
        conclusions: vec![
            Conclusion {
                drive,
                cell: Some(cell.clone()),
                step: Some(step.clone()),
                kind: "score",
                name: "mean",
                span_s: Some((3200.5, 3600.0)),
                value: Some(22_000.25),
                unit: "IOPS",
                interval: Some((21_900.0, 22_100.5)),
                text: None,
            },
            Conclusion {
                drive,
                kind: "verdict",
                name: "result",
                text: Some("not_recommended".to_owned()),
                ..Conclusion::default()
            },
        ],
        phases: vec![PhaseRow {
            drive,
            cell: cell.clone(),
            step: step.clone(),
            span_s: (0.0, 31.5),
            cause: "slc_cache_exhausted".to_owned(),
            mean_mib_per_s: 512.5,
            mean_iops: 4100.0,
            cache_bytes: Some(8 << 30),
            evidence: "the rate fell, \"abruptly\"".to_owned(),
            ..PhaseRow::default()
        }],
        modes: vec![ModeRow {
            drive,
            cell: cell.clone(),
            step,
            span_s: (0.0, 400.0),
            number: 1,
            mode: Mode {
                level: 2400.0,
                stddev: 24.5,
                share_pct: 30.0,
                visits: 10,
                dwell: 12.5,
                longest: 13.0,
            },
        }],
        intervals: BTreeMap::from([((cell, drive), intervals)]),
    }
}

fn export(path: &Path, format: ExportFormat, out: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let run = Run::open(path)?;
    match format {
        ExportFormat::Csv => export_csv(&run, &conclude(&run), out),
        ExportFormat::Parquet => export_parquet(&run, &conclude(&run), out),
        _ => assay_export::export(&run, format, out),
    }
}

/// A parser of RFC 4180, independent of the writer.
fn read_csv(path: &Path) -> Vec<Row> {
    let text = fs::read_to_string(path).unwrap();
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => field.push(chars.next().unwrap()),
            (_, '"') => quoted = !quoted,
            (false, ',') => record.push(std::mem::take(&mut field)),
            (false, '\r') => {
                assert_eq!(chars.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (_, c) => field.push(c),
        }
    }
    assert!(field.is_empty() && record.is_empty(), "the last line is ended");
    let header = records.remove(0);
    records
        .into_iter()
        .map(|record| {
            assert_eq!(record.len(), header.len());
            header.iter().cloned().zip(record).collect()
        })
        .collect()
}

/// A Parquet file as rows of text, in the spelling of the CSV export.
fn read_parquet(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            row.get_column_iter()
                .map(|(name, field)| {
                    let text = match field {
                        Field::Null => String::new(),
                        Field::Bool(flag) => flag.to_string(),
                        Field::ULong(n) => n.to_string(),
                        Field::Double(x) => x.to_string(),
                        Field::Str(text) => text.clone(),
                        other => panic!("{name} is a {other:?}"),
                    };
                    (name.clone(), text)
                })
                .collect()
        })
        .collect()
}

#[test]
fn parquet_csv_and_json_agree_with_the_run_and_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), fixtures::Size { max_ios_per_interval: 200, ..LARGE });
    let run = Run::open(&path).unwrap();
    let out = |name: &str| dir.path().join(name);
    let csv_files = export(&path, ExportFormat::Csv, &out("csv")).unwrap();
    let parquet_files = export(&path, ExportFormat::Parquet, &out("parquet")).unwrap();
    let mut file = File::create(out("run.json")).unwrap();
    export_json(&run, &conclude(&run), &mut file).unwrap();
    let json: Value = serde_json::from_slice(&fs::read(out("run.json")).unwrap()).unwrap();
    let mut tables = BTreeMap::new();
    for (csv, parquet) in csv_files.iter().zip(&parquet_files) {
        let rows = read_csv(csv);
        assert_eq!(csv.file_stem(), parquet.file_stem());
        assert_eq!(rows, read_parquet(parquet), "{csv:?}");
        tables.insert(csv.file_stem().unwrap().to_str().unwrap().to_owned(), rows);
    }
    let parts: usize = run.cells.iter().map(|c| c.drives.len()).sum();
    assert_eq!(tables["cells"].len(), parts);
    for table in tables.values() {
        assert!(!table.is_empty());
        assert!(
            table.iter().all(|row| row["simulated"] == "true" && row["run_id"] == fixtures::RUN_ID)
        );
    }

    // CSV against JSON, figure by figure.
    let (mut cells, mut points, mut readings) =
        (tables["cells"].iter(), tables["intervals"].iter(), tables["telemetry"].iter());
    assert_eq!(json["simulated"], true);
    for cell in json["cells"].as_array().unwrap() {
        for part in cell["results"].as_array().unwrap() {
            let row = cells.next().unwrap();
            assert_eq!(row["cell"], cell["id"].as_str().unwrap());
            assert_eq!(row["state"], cell["state"].as_str().unwrap());
            assert_eq!(row["bs_bytes"], cell["workload"]["bs_bytes"].to_string());
            assert_eq!(part["simulated"], true);
            // The direction that a workload does not use is absent, not zero.
            let measured = !row["elapsed_ns"].is_empty();
            let rw = row["rw"].as_str();
            for (direction, other) in [("read", "write"), ("write", "read")] {
                let ios = &row[&format!("{direction}_ios")];
                let is_used = measured && !rw.ends_with(other);
                if row["kind"] == "measure" {
                    assert_eq!(!ios.is_empty(), is_used, "{rw}: {direction} {ios:?}");
                }
            }
            for (column, pointer) in [
                ("elapsed_ns", "/result/elapsed_ns"),
                ("read_iops", "/result/read/iops"),
                ("read_latency_p99_9_ns", "/result/read/latency_ns/p99_9"),
                ("write_bytes", "/result/write/bytes"),
                ("write_latency_mean_ns", "/result/write/latency_ns/mean"),
            ] {
                same(&row[column], part.pointer(pointer), column);
            }
            for point in part["series"].as_array().unwrap() {
                let row = points.next().unwrap();
                for column in [
                    "index",
                    "ramp",
                    "start_ns",
                    "end_ns",
                    "ios",
                    "bytes",
                    "errors",
                    "iops",
                    "mib_per_s",
                ] {
                    same(&row[column], point.get(column), column);
                }
                assert_eq!(row["op"], point["op"].as_str().unwrap());
                same(&row["latency_p99_ns"], point.pointer("/latency_ns/p99"), "p99");
                same(&row["latency_max_ns"], point.pointer("/latency_ns/max"), "max");
            }
            for reading in part["telemetry"].as_array().unwrap() {
                same(
                    &readings.next().unwrap()["temperature_c"],
                    reading.get("temperature_c"),
                    "temperature",
                );
            }
        }
    }
    assert!(cells.next().is_none() && points.next().is_none() && readings.next().is_none());
    // What is concluded has the same rows and keys in JSON.
    for name in ["conclusions", "phases", "modes"] {
        let objects = json[name].as_array().unwrap();
        assert_eq!(objects.len(), tables[name].len(), "{name}");
        for (object, row) in objects.iter().zip(&tables[name]) {
            let object = object.as_object().unwrap();
            assert!(object.keys().all(|key| row.contains_key(key)) && object.len() == row.len());
            for (key, value) in object {
                match value {
                    Value::String(text) => assert_eq!(&row[key], text, "{name}: {key}"),
                    Value::Bool(flag) => assert_eq!(row[key], flag.to_string()),
                    value => same(&row[key], Some(value), key),
                }
            }
        }
    }
    let first = &tables["cells"][0];
    let interval = conclude(&run).intervals.into_values().next().unwrap().iops.unwrap();
    let ends = ["ci_low_iops", "ci_high_iops"].map(|key| first[key].parse::<f64>().unwrap());
    assert_eq!(ends, [interval.low, interval.high]);
    let result = json.pointer("/cells/0/results/0/result").unwrap();
    if !result.is_null() {
        assert_eq!(result["iops_ci"]["low"].as_f64(), Some(interval.low));
        same(&first["iops"], result.get("iops"), "iops");
        same(&first["mib_per_s"], result.get("mib_per_s"), "mib_per_s");
    }
    // The manifest has the plan that the columns of cells repeat.
    for row in &tables["cells"] {
        let planned = json["cells"].as_array().unwrap().iter();
        let cell = planned.clone().find(|cell| cell["id"] == row["cell"].as_str()).unwrap();
        for (column, pointer) in [
            ("rwmixread", "/workload/rwmixread"),
            ("power_state", "/workload/power_state"),
            ("round", "/round/number"),
            ("load_pct", "/load/percent"),
        ] {
            same(&row[column], cell.pointer(pointer), column);
        }
        for column in ["variant", "view"] {
            assert_eq!(row[column], cell[column].as_str().unwrap_or_default(), "{column}");
        }
    }
}

/// A CSV field and a JSON number (or nothing) are the same figure.
fn same(field: &str, json: Option<&Value>, what: &str) {
    match json {
        None | Some(Value::Null) => assert_eq!(field, "", "{what}"),
        Some(Value::Bool(flag)) => assert_eq!(field, flag.to_string(), "{what}"),
        Some(number) => {
            assert_eq!(field.parse::<f64>().unwrap(), number.as_f64().unwrap(), "{what}")
        }
    }
}

#[test]
fn parquet_has_its_metadata() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let files = export(&path, ExportFormat::Parquet, &dir.path().join("out")).unwrap();
    for file in files {
        let reader = SerializedFileReader::new(File::open(&file).unwrap()).unwrap();
        let metadata = reader.metadata();
        let pairs: BTreeMap<_, _> = metadata
            .file_metadata()
            .key_value_metadata()
            .unwrap()
            .iter()
            .map(|pair| (pair.key.as_str(), pair.value.clone().unwrap()))
            .collect();
        assert_eq!(pairs["assay.run_id"], fixtures::RUN_ID);
        assert_eq!(pairs["assay.simulated"], "true");
        assert_eq!(pairs["assay.tool"], "assay 0.1.0 (fixture)");
        let columns = metadata.file_metadata().schema_descr().columns().to_vec();
        for column in &columns {
            let counted = column.name().ends_with("_bytes")
                || column.name().ends_with("_ns")
                    && !column.name().contains("mean")
                    && !column.name().contains("stddev");
            if counted {
                assert_eq!(
                    column.logical_type_ref(),
                    Some(&LogicalType::integer(64, false)),
                    "{}",
                    column.name()
                );
            }
            if ["cell", "run_id", "op"].contains(&column.name()) {
                assert_eq!(column.logical_type_ref(), Some(&LogicalType::String));
            }
        }
        for group in metadata.row_groups() {
            assert!(
                group.columns().iter().all(|c| matches!(c.compression(), Compression::ZSTD(_)))
            );
        }
    }
}

#[test]
fn a_run_without_measurements_exports_empty_tables() {
    let dir = tempfile::tempdir().unwrap();
    let under = Destination::Under(dir.path().to_owned());
    let writer = RunWriter::create(&under, &fixtures::manifest(SMALL)).unwrap();
    let out = dir.path().join("out");
    export(&writer.path, ExportFormat::Parquet, &out).unwrap();
    assert_eq!(read_parquet(&out.join("intervals.parquet")), Vec::<Row>::new());
    export(&writer.path, ExportFormat::Csv, &out).unwrap();
    assert_eq!(read_csv(&out.join("intervals.csv")), Vec::<Row>::new());
    assert!(read_csv(&out.join("cells.csv")).iter().all(|row| row["read_ios"].is_empty()));
    let run = Run::open(&writer.path).unwrap();
    assert_eq!(fio_json(&run)["jobs"], Value::Array(vec![]));
    for format in [ExportFormat::BenchFio, ExportFormat::FioLogs] {
        let error = export(&writer.path, format, &dir.path().join("none")).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Usage);
        assert!(error.to_string().contains(format.name()), "{error}");
    }
    let runs = read_csv(&out.join("runs.csv"));
    assert_eq!(runs.len(), run.manifest.drives.len());
    assert!(runs.iter().all(|row| {
        row["attempts"] == "0"
            && ["began", "ended", "outcome"].iter().all(|key| row[*key].is_empty())
    }));
}

#[test]
fn formats_have_their_names() {
    for format in ExportFormat::ALL {
        assert_eq!(format.name().parse::<ExportFormat>().unwrap(), format);
    }
    let error = "xlsx".parse::<ExportFormat>().unwrap_err();
    assert!(matches!(error, ExportError::UnknownFormat { .. }));
    assert!(error.to_string().contains("parquet, json, csv, fio-json, bench-fio, fio-logs or ocp"));
    assert_eq!(ExportFormat::FioJson.default_name("r1"), "r1.fio.json");
}

#[test]
fn errors_name_the_output_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let blocked = dir.path().join("file");
    fs::write(&blocked, "").unwrap();
    for format in ExportFormat::ALL {
        let out = blocked.join("out");
        let error = export(&path, format, &out).unwrap_err();
        assert!(matches!(error, ExportError::Store(StoreError::Io { .. })), "{error}");
        assert!(error.to_string().contains("/file/out"), "{error}");
    }
    let error = export(dir.path(), ExportFormat::Json, &dir.path().join("x.json")).unwrap_err();
    assert!(matches!(error, ExportError::Store(StoreError::NotARun(_))), "{error}");
    assert!(!dir.path().join("x.json").exists());
}

#[test]
fn runs_counts_attempts_and_has_the_end_of_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let out = dir.path().join("out");
    let manifest = Run::open(&path).unwrap().manifest;
    let begun = Destination::At(dir.path().join("resumed"));
    let mut writer = RunWriter::create(&begun, &manifest).unwrap();
    let start = |at: &str, resumed| Entry::Start { at: at.to_owned(), resumed };
    writer.append(&start("2026-11-24T01:00:00Z", 0)).unwrap();
    let path = writer.finish(RunEnd::Interrupted, "2026-11-24T02:00:00Z").unwrap();
    let row = |out: &Path| {
        export(&path, ExportFormat::Csv, out).unwrap();
        let row = read_csv(&out.join("runs.csv")).remove(0);
        ["began", "ended", "attempts", "outcome"].map(|key| row[key].clone())
    };
    let first = "2026-11-24T01:00:00Z";
    let ended = [first, "2026-11-24T02:00:00Z", "1", "interrupted"];
    assert_eq!(row(&out), ended);
    // Resumed and killed.
    let (mut writer, _) = RunWriter::resume(&path).unwrap();
    writer.append(&start("2026-11-24T03:00:00Z", 1)).unwrap();
    drop(writer);
    assert_eq!(row(&out), [first, "", "2", ""]);
    // What identifies drive and suite.
    let rows = read_csv(&out.join("runs.csv"));
    for (row, drive) in rows.iter().zip(&manifest.drives) {
        assert_eq!(row["serial"], drive.serial);
        assert_eq!(row["model"], drive.model);
        assert_eq!(row["firmware"], drive.firmware);
        assert_eq!(row["suite"], manifest.suite.name);
        assert_eq!(row["tool_version"], manifest.tool.version);
    }
    let mut sum = Command::new("sha256sum");
    let text = dir.path().join("suite.toml");
    fs::write(&text, &manifest.suite.text).unwrap();
    let sum = String::from_utf8(sum.arg(&text).output().unwrap().stdout).unwrap();
    let known = &rows[0]["suite_sha256"];
    assert!(!known.is_empty() && sum.starts_with(known), "{known} {sum}");
}

#[test]
fn a_full_disk_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures::make(dir.path(), SMALL);
    let full = dir.path().join("full");
    fs::create_dir(&full).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4k", "assay-export-test"])
        .arg(&full)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    }
    fs::write(full.join("ballast"), vec![1; 4 << 10]).unwrap();
    let results = ExportFormat::ALL.map(|format| export(&path, format, &full.join(format.name())));
    let unmounted = Command::new("umount").arg(&full).status();
    assert!(unmounted.unwrap().success());
    for result in results {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("full"), "{error}");
    }
}

/// A small run in each text format. A change here is a format change and belongs in the changelog.
#[test]
fn snapshots() {
    let dir = tempfile::tempdir().unwrap();
    let path = mixed_run(dir.path());
    let run = Run::open(&path).unwrap();
    let mut json = Vec::new();
    // Without intervals: what they are is not this crate's.
    let conclude = |run: &Run| Conclusions { intervals: BTreeMap::new(), ..conclude(run) };
    export_json(&run, &conclude(&run), &mut json).unwrap();
    insta::assert_snapshot!("json", String::from_utf8(json).unwrap());
    let mut fio = Vec::new();
    export_fio_json(&run, &mut fio).unwrap();
    insta::assert_snapshot!("fio-json", String::from_utf8(fio).unwrap());
    let out = dir.path().join("csv");
    for file in export_csv(&run, &conclude(&run), &out).unwrap() {
        let name = format!("csv-{}", file.file_stem().unwrap().to_str().unwrap());
        insta::assert_snapshot!(name, fs::read_to_string(&file).unwrap());
    }
}
