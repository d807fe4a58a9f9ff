//! `assay import`: results of the installed fio, read by an independent reader (Python) too.

use serde_json::Value;

use crate::fixture::{Fixture, number};

const JOBS: &str = "\
[global]
ioengine=libaio
direct=1
size=16m
runtime=1s
time_based
filename=area.img
log_avg_msec=100
[reads]
rw=randread
bs=4k
iodepth=8
numjobs=2
write_iops_log=reads
write_bw_log=reads
[mixed]
stonewall
rw=randrw
rwmixread=70
bs=4k,16k
iodepth=4
group_reporting
numjobs=2
";

/// Prints jobs of a fio document by name: sums over threads of I/Os, bytes and rates per direction,
/// the mean latency of all I/Os, and the 99th percentile from the bins.
const READER: &str = r#"
import json, sys
jobs = {}
for job in json.load(open(sys.argv[1]))["jobs"]:
    sides = jobs.setdefault(job["jobname"], {})
    for name in ("read", "write"):
        side, clat, lat = job[name], job[name]["clat_ns"], job[name]["lat_ns"]
        if side["total_ios"] == 0:
            continue
        sums = sides.setdefault(name, {"ios": 0, "bytes": 0, "iops": 0, "sum": 0, "n": 0, "bins": {}})
        sums["ios"] += side["total_ios"]
        sums["bytes"] += side["io_bytes"]
        sums["iops"] += side["iops"]
        sums["sum"] += lat["mean"] * lat["N"]
        sums["n"] += lat["N"]
        for value, count in clat["bins"].items():
            sums["bins"][int(value)] = sums["bins"].get(int(value), 0) + count
for sides in jobs.values():
    for sums in sides.values():
        left = sums["n"] * 0.99
        for value, count in sorted(sums.pop("bins").items()):
            left -= count
            if left <= 0:
                sums["p99"] = value
                break
        sums["mean"] = sums["sum"] / sums["n"]
print(json.dumps(jobs))
"#;

fn fio(fixture: &Fixture, format: &str, output: &str) {
    let format = format!("--output-format={format}");
    let output = format!("--output={output}");
    fixture.tool("fio", &[&format, &output, "jobs.fio"]);
}

fn results(fixture: &Fixture, run: &str) -> Vec<Value> {
    fixture.ok(&format!("export {run} --format json -o {run}.json"));
    let run: Value = serde_json::from_str(&fixture.text(&format!("{run}.json"))).unwrap();
    run["cells"].as_array().unwrap().clone()
}

fn close(what: &str, found: f64, expected: f64, within: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off <= within, "{what}: {found}, expected {expected}");
}

#[test]
fn fio_json_has_the_figures_of_an_independent_reader() {
    let fixture = Fixture::on_disk();
    fixture.write("jobs.fio", JOBS);
    fio(&fixture, "json+", "out.json");
    let expected = fixture.tool("python3", &["-c", READER, "out.json"]);
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let imported = fixture.json("import out.json . --out run --model M --capacity 1TB");
    assert_eq!((imported["cells"].as_u64(), imported["files"].as_u64()), (Some(2), Some(1)));
    assert_eq!(imported["duplicates"], 1);
    let cells = results(&fixture, "run");
    for (cell, name) in cells.iter().zip(["reads", "mixed"]) {
        assert_eq!(number(cell, "/workload/numjobs"), 2.0);
        assert!(cell["unfit"].as_str().unwrap().contains("16 MiB"), "{cell}");
        for (side, sums) in expected[name].as_object().unwrap() {
            let at = |key: &str| number(cell, &format!("/results/0/result/{side}/{key}"));
            let of = |key: &str| number(sums, &format!("/{key}"));
            assert_eq!((at("ios"), at("bytes")), (of("ios"), of("bytes")), "{name} {side}");
            close("iops", at("iops"), of("iops"), 1e-9);
            close("mean", at("latency_ns/mean"), of("mean"), 1e-9);
            close("p99", at("latency_ns/p99"), of("p99"), 0.02);
        }
    }
    // The logs of the job that names them: both threads.
    let series = cells[0]["results"][0]["series"].as_array().unwrap();
    let logged: f64 = series.iter().map(|row| number(row, "/ios")).sum();
    // The last part of an interval is in no log, nor what a busy host delays; one thread of both
    // would be half.
    let share = logged / number(&expected, "/reads/read/ios");
    assert!((0.55..1.3).contains(&share), "the logs have {share} of the I/Os");
    // They have no latencies.
    assert!(series.iter().all(|row| row["latency_ns"].is_null()), "{series:?}");
    fixture.ok("report run -o run.html");
    let page = fixture.text("run.html");
    assert!(page.contains("imported from fio 3."), "no origin on the page");
    assert!(page.contains("SHA-256"), "no hash on the page");
}

/// fio's text and terse output of a run have the rates of its JSON, as far as they are printed.
#[test]
fn all_outputs_of_one_fio_run_agree() {
    let fixture = Fixture::on_disk();
    fixture.write("jobs.fio", JOBS);
    fio(&fixture, "json,normal,terse", "out.all");
    let all = fixture.text("out.all");
    let start = all.find("\n{\n").unwrap() + 1;
    let end = all.rfind("\n}\n").unwrap() + 3;
    fixture.write("out.json", &all[start..end]);
    fixture.write("out.rest", format!("{}{}", &all[..start], &all[end..]));
    let terse = all.lines().filter(|line| line.starts_with("3;fio-"));
    fixture.write("out.terse", terse.collect::<Vec<_>>().join("\n"));
    for name in ["json", "rest", "terse"] {
        fixture.ok(&format!("import out.{name} --out {name} --assume direct=1"));
    }
    let [json, text, terse] = ["json", "rest", "terse"].map(|run| results(&fixture, run));
    for other in [&text, &terse] {
        assert_eq!(other.len(), json.len());
        for (a, b) in json.iter().zip(other) {
            let at =
                |cell: &Value, key: &str| number(cell, &format!("/results/0/result/read/{key}"));
            close("iops", at(b, "iops"), at(a, "iops"), 0.002);
            close("mib_per_s", at(b, "mib_per_s"), at(a, "mib_per_s"), 0.002);
            close("mean", at(b, "latency_ns/mean"), at(a, "latency_ns/mean"), 0.02);
        }
    }
}

/// Percentiles that the JSON of a run does not have come from its logs of histograms.
#[test]
fn logs_of_histograms_give_percentiles() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "jobs.fio",
        "[reads]\nfilename=data\nsize=16m\nrw=randread\nbs=4k\nnumjobs=2\ngroup_reporting\n\
         time_based\nruntime=2\nwrite_hist_log=reads\nlog_hist_msec=100\n",
    );
    fio(&fixture, "json", "all.json");
    let mut all: Value = serde_json::from_str(&fixture.text("all.json")).unwrap();
    let percentiles = &mut all["jobs"][0]["read"]["clat_ns"]["percentile"];
    let expected = [number(percentiles, "/50.000000"), number(percentiles, "/90.000000")];
    *percentiles = Value::Null;
    fixture.write("few.json", all.to_string());
    std::fs::remove_file(fixture.path("all.json")).unwrap();
    fixture.ok("import . --out run");
    let cell = results(&fixture, "run").remove(0);
    // What was in flight at the end of the last interval is in no log.
    for (key, expected) in ["p50", "p90"].into_iter().zip(expected) {
        let path = format!("/results/0/result/read/latency_ns/{key}");
        close(key, number(&cell, &path), expected, 0.1);
    }
    let series = cell["results"][0]["series"].as_array().unwrap();
    assert!(series.len() > 10, "{} intervals", series.len());
}

/// assay's own export in fio's layout, imported, has the figures of the run, and is compared with
/// it.
#[test]
fn an_export_in_fios_layout_comes_back() {
    let fixture = Fixture::in_memory();
    fixture.ok(
        "job sim:samsung-951 --rw randrw --rwmixread 70 --bs 4k --iodepth 8 --runtime 3s --out own",
    );
    fixture.ok("export own --format fio-json -o own-fio.json");
    fixture.ok("import own-fio.json --out back --model SM951");
    let (own, back) = (results(&fixture, "own"), results(&fixture, "back"));
    for side in ["read", "write"] {
        for key in ["ios", "bytes", "iops", "mib_per_s", "latency_ns/mean"] {
            let at =
                |cells: &[Value]| number(&cells[0], &format!("/results/0/result/{side}/{key}"));
            close(key, at(&back), at(&own), 1e-3);
        }
        for key in ["p50", "p99", "p99_9"] {
            let key = format!("latency_ns/{key}");
            let at =
                |cells: &[Value]| number(&cells[0], &format!("/results/0/result/{side}/{key}"));
            close(&key, at(&back), at(&own), 0.02);
        }
    }
}

/// Exported again, imported results have the figures that their file states, with and without
/// distributions, and say what the job was.
#[test]
fn an_export_of_imported_results_has_what_their_file_states() {
    let fixture = Fixture::in_memory();
    let bins = r#", "bins": {"60000": 900, "90000": 100}"#;
    for (name, bins) in [("plain", ""), ("plus", bins)] {
        let side = format!(
            r#"{{"io_bytes": 4096000, "bw_bytes": 409600, "iops": 100.0, "runtime": 10000,
                "total_ios": 1000,
                "clat_ns": {{"min": 50000, "max": 99000, "mean": 65000.0, "stddev": 9.0, "N": 1000,
                            "percentile": {{"50.000000": 61000, "99.000000": 98000}}{bins}}},
                "lat_ns": {{"min": 51000, "max": 99500, "mean": 66000.0, "stddev": 9.5, "N": 1000}}}}"#
        );
        let options = r#"{"rw": "randrw", "rwmixread": "70", "bs": "4k", "iodepth": "8",
            "direct": "1", "rate_iops": "100,90", "filename": "/dev/nvme1n1"}"#;
        let document = format!(
            r#"{{"fio version": "fio-3.36", "jobs": [
                {{"jobname": "a", "job options": {options}, "read": {side}, "write": {side}}}]}}"#
        );
        fixture.write(&format!("{name}.json"), document);
        fixture.ok(&format!("import {name}.json --out {name}"));
        fixture.ok(&format!("export {name} --format fio-json -o {name}-back.json"));
        fixture.ok(&format!("import {name}-back.json --out {name}-back"));
        let [first, back] =
            [name.to_owned(), format!("{name}-back")].map(|run| results(&fixture, &run));
        let workload = |cells: &[Value], key: &str| cells[0]["workload"][key].clone();
        for key in ["rw", "rwmixread", "iodepth", "rate_limit_iops"] {
            assert_eq!(workload(&back, key), workload(&first, key), "{name} {key}");
        }
        for side in ["read", "write"] {
            let of = |cells: &[Value]| cells[0]["results"][0]["result"][side].clone();
            assert_eq!(of(&back), of(&first), "{name} {side}");
        }
        assert_eq!(number(&first[0], "/workload/rate_limit_iops"), 190.0);
    }
    // Of options, those that the file has.
    fixture.ok("export plain --format fio-json -o options.json");
    let exported: Value = serde_json::from_str(&fixture.text("options.json")).unwrap();
    let plain = exported["jobs"][0]["job options"].as_object().unwrap();
    for (key, value) in [("rw", "randrw"), ("iodepth", "8"), ("direct", "1")] {
        assert_eq!(plain[key], value, "{plain:?}");
    }
    for key in ["filename", "ioengine", "size", "offset"] {
        assert!(!plain.contains_key(key), "{key}: {plain:?}");
    }
}

/// Latencies of syncs are those of flushes, in exports and on the page, and come back.
#[test]
fn syncs_of_fio_are_flushes() {
    let fixture = Fixture::on_disk();
    for option in ["fsync", "fdatasync"] {
        for format in ["json", "json+"] {
            let run = format!("{option}-{format}");
            let job = format!(
                "[a]\nioengine=sync\nrw=randrw\nbs=4k\nsize=4m\nfilename=area.img\n\
                 number_ios=200\n{option}=1\n"
            );
            fixture.write("jobs.fio", job);
            fio(&fixture, format, &format!("{run}.json"));
            let stated: Value =
                serde_json::from_str(&fixture.text(&format!("{run}.json"))).unwrap();
            fixture.ok(&format!("import {run}.json --out {run}"));
            fixture.ok(&format!("export {run} --format fio-json -o {run}-back.json"));
            fixture.ok(&format!("import {run}-back.json --out {run}-back"));
            let stated = |key: &str| number(&stated, &format!("/jobs/0/{key}"));
            for run in [run.clone(), format!("{run}-back")] {
                let cells = results(&fixture, &run);
                let of = |key: &str| number(&cells[0], &format!("/results/0/result/{key}"));
                assert_eq!(of("flush/ios"), stated("sync/lat_ns/N"), "{run}");
                assert_eq!(of("write/ios"), stated("write/total_ios"), "{run}");
                assert_eq!(of("read/errors"), 0.0, "{run}");
                for (key, name) in
                    [("mean", "mean"), ("max", "max"), ("p99", "percentile/99.000000")]
                {
                    let (found, expected) = (
                        of(&format!("flush/latency_ns/{key}")),
                        stated(&format!("sync/lat_ns/{name}")),
                    );
                    close(name, found, expected, 1e-6);
                }
            }
            fixture.ok(&format!("report {run} -o {run}.html"));
            let page = fixture.text(&format!("{run}.html"));
            assert!(page.contains(">flush<"), "no flushes on the page of {run}");
        }
    }
}

/// A profile is fitted to imported figures as to the run's own; what is not compared is not fitted.
#[test]
fn imported_figures_are_fitted_and_judged() {
    let fixture = Fixture::in_memory();
    let job = "job sim:samsung-951 --rw randread --bs 4k --runtime 1s";
    fixture.ok(&format!("{job} --iodepth 1 --out own"));
    fixture.ok("export own --format fio-json -o own-fio.json");
    fixture.ok("import own-fio.json --out back --model SM951 --capacity 128GB");
    let fit = |run: &str| {
        let fitted = fixture.json(&format!(
            "fit samsung-951 --to {run} --free nand.read_ns=20000..90000 --evaluations 10 --name \
             {run}-twin"
        ));
        fitted["residuals"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(fit("back"), fit("own"));
    let verdict = fixture.json("verdict back");
    assert_eq!(verdict["drives"][0]["verdict"]["result"], "undecided", "{verdict}");
    let small = fixture.text("own-fio.json").replace("\"size\"", "\"nosize\"");
    fixture.write("small.json", small);
    fixture.ok("import small.json --out small");
    let fitted = fixture.run("fit samsung-951 --to small --name x");
    fitted.refuses(2, &["unknown area: import it with --capacity"]);
}

/// A broken file is named, and all others are imported; a page that lies about its drive is asked
/// for one.
#[test]
fn what_cannot_be_imported_is_named() {
    let fixture = Fixture::in_memory();
    let document = |device: &str| {
        format!(
            r#"{{"fio version": "fio-3.33", "timestamp": 1700000000,
            "global options": {{"rw": "randread", "bs": "4k", "direct": "1", "filename": "/dev/{device}"}},
            "jobs": [{{"jobname": "a", "read": {{"io_bytes": 4096000, "io_kbytes": 4000, "iops": 100.0, "runtime": 10000, "total_ios": 1000}}}}]}}"#
        )
    };
    std::fs::create_dir_all(fixture.path("old/below")).unwrap();
    fixture.write("old/a.json", document("nvme0n1"));
    fixture.write("old/below/b.json", document("nvme1n1"));
    fixture.write("old/cut.json", &document("nvme2n1")[..200]);
    fixture.write("old/notes.txt", "no results");
    let found = fixture.json_status("import old --out run", 1);
    assert_eq!(found["drives"], serde_json::json!(["nvme0n1", "nvme1n1"]));
    assert_eq!(found["not_read"][0]["file"], "cut.json");
    assert_eq!(found["other_files"], 1);
    fixture.run("import old --out other --model M").refuses(2, &["nvme0n1, nvme1n1", "--device"]);
    fixture.write(
        "id.json",
        r#"{"mn": "A drive  ", "sn": "S1", "fr": "F1", "tnvmcap": 1000204886016}"#,
    );
    fixture.json_status("import old --out one --device nvme1n1 --drive-from id.json", 1);
    let manifest: Value = serde_json::from_str(&fixture.text("one/manifest.json")).unwrap();
    let drive = &manifest["drives"][0];
    assert_eq!((&drive["model"], &drive["label"]), (&"A drive".into(), &"nvme1n1".into()));
    assert_eq!(drive["capacity_bytes"], 1_000_204_886_016_u64);
    fixture.write("twice.json", document("nvme0n1").repeat(2));
    let done = fixture.ok("import twice.json --out twice");
    assert!(done.stdout.contains("1 files repeat a document"), "{done}");
    assert_eq!(results(&fixture, "twice").len(), 1);
    fixture.ok("report twice -o twice.html");
    assert!(fixture.text("twice.html").contains("the same document more than once"));
    fixture.run("import old/notes.txt --out none").refuses(2, &["no results in"]);
    fixture.run("report old/a.json -o x.html").refuses(2, &["assay import"]);
}

/// An imported result of the public procedure stands among the public drives; that of another area
/// does not. A run of `iocost` gives the lines of the kernel's controller.
#[test]
fn imported_results_are_ranked_among_public_drives() {
    let fixture = Fixture::in_memory();
    let document = |size: &str| {
        format!(
            r#"{{"fio version": "fio-3.33", "global options": {{"rw": "randread", "bs": "4k",
            "direct": "1", "iodepth": "64", "filename": "/dev/nvme0n1", "size": "{size}"}},
            "jobs": [{{"jobname": "a", "read": {{"io_bytes": 98304000000, "io_kbytes": 96000000,
            "iops": 200000.0, "runtime": 120000, "total_ios": 24000000}}}}]}}"#
        )
    };
    fixture.write("like.json", document("16G"));
    fixture.write("unlike.json", document("1000G"));
    fixture.ok("import like.json --out like");
    fixture.ok("import unlike.json --out unlike");
    let found = fixture.json("rank like");
    let figure = &found["drives"][0]["figures"][0];
    let at = |key: &str| number(figure, key);
    assert!(at("/of") >= 20.0 && at("/rank") > 1.0 && at("/rank") < at("/of"), "{figure}");
    assert!(at("/best/value") > 200_000.0 && at("/last") < 200_000.0);
    assert_eq!(fixture.json("rank unlike")["drives"][0]["figures"], serde_json::json!([]));
    fixture.ok("run iocost sim:samsung-951 --destroy SIM-SAMSUNG-951-0 --set area=64MiB --set \
         runtime=50ms --out costs");
    let costs = fixture.json("rank costs");
    let model = costs["drives"][0]["io_cost_model"].as_str().unwrap();
    let keys: Vec<&str> = model.split(' ').filter_map(|word| word.split('=').next()).collect();
    assert_eq!(keys, ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"]);
    assert!(model.split('=').skip(1).all(|value| !value.starts_with('0')), "{model}");
}
