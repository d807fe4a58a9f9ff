//! fio's logs: of I/Os, of rates and latencies; their replay, and fio's tools that read them.

use crate::fixture::{Fixture, MIB, has, number};

const SIM: &str = "sim:samsung-951";

/// Actions, offsets and lengths of a log of I/Os, whose times do not fall.
fn iolog(fixture: &Fixture, file: &str) -> Vec<String> {
    let text = fixture.text(file);
    let mut times = Vec::new();
    let mut ios = Vec::new();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        times.push(words[0].parse::<u64>().unwrap());
        if let [_, _, action, offset, length] = words[..] {
            ios.push(format!("{action} {offset} {length}"));
        }
    }
    assert!(times.is_sorted(), "{text}");
    ios
}

/// The log of a job is that of fio for the same job, and either replays the other's.
#[test]
fn a_log_of_ios_is_fios() {
    if !has(&["fio"]) {
        return;
    }
    let fixture = Fixture::on_disk();
    fixture.write("data", vec![7; 2 << 20]);
    let logs = |name: &str, options: &str| {
        let line = format!("--name=a --filename=data --size=2m --direct=1 {options}");
        let (theirs, own) = (format!("fio-{name}.log"), format!("own{name}.log"));
        let log = format!("--write_iolog={theirs}");
        let arguments: Vec<&str> = line.split(' ').chain([&*log]).collect();
        fixture.tool("fio", &arguments);
        fixture.ok(&format!("fio {line} --write_iolog={own} --destroy data"));
        let ios = iolog(&fixture, &own);
        assert_eq!(ios, iolog(&fixture, &theirs));
        ios
    };
    let own = logs("", "--rw=randrw --bs=4k,8k --fsync=8");
    assert!(own.len() > 300, "{}", own.len());
    // With the read-back.
    let verified = logs("-verified", "--rw=randwrite --bs=8k --verify=crc32c");
    assert_eq!(verified.len(), 512);
    fixture.ok(&format!("job {SIM} --trace own.log --trace_timing closed --write_iolog again.log"));
    let data =
        |ios: Vec<String>| ios.into_iter().filter(|io| !io.starts_with("sync")).collect::<Vec<_>>();
    assert_eq!(data(iolog(&fixture, "again.log")), data(own));
    // What is there is appended to, and anything else is left alone.
    fixture.ok(&format!("job {SIM} --rw read --number_ios 5 --write_iolog again.log"));
    assert_eq!(fixture.text("again.log").matches("fio version 3 iolog").count(), 2);
    fixture.write("notes", "mine");
    let refused = fixture.run(&format!("job {SIM} --rw read --number_ios 5 --write_iolog notes"));
    refused.refuses(2, &["notes exists and is no earlier output"]);
    assert_eq!(fixture.text("notes"), "mine");
    let nowhere = fixture
        .run(&format!("job {SIM} --rw read --number_ios 5 --write_iolog none/log --out run"));
    nowhere.refuses(4, &["none/log"]);
    let suite = r#"
        name = "logged"
        title = "Logged"
        summary = "One cell with a log."
        source = "these tests"
        duration = "short"
        [[step]]
        id = "reads"
        title = "Reads"
        kind = "measure"
        job = { rw = "read", bs = "4k", runtime = "20ms", write_iolog = "none/log" }
    "#;
    fixture.write("logged.toml", suite);
    fixture.run("run logged.toml sim:samsung-951 --out run").refuses(4, &["none/log"]);
    assert!(!fixture.path("run").exists());
}

/// In order of time, of all threads.
#[test]
fn a_log_of_ios_has_all_threads() {
    let fixture = Fixture::on_disk();
    fixture.write("data", vec![7; 8 << 20]);
    fixture.ok("job data --rw randread --numjobs 3 --io_size 4m --interval 10ms --direct 0 \
         --write_iolog own.log");
    assert_eq!(iolog(&fixture, "own.log").len(), 3 << 10);
    let shared = "fio --rw=read --write_iolog=x.log --filename=data --name=a --name=b";
    fixture.run(shared).refuses(2, &["into one file"]);
}

/// fio's own tools read the logs. They are scripts in Debian's package fio.
#[test]
fn fios_tools_read_the_logs() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "logs.fio",
        "[log]\nrw=randread\nbs=4k\nruntime=2\ntime_based\nlog_avg_msec=500\nwrite_bw_log\n\
         write_iops_log=it\nwrite_lat_log=it\nwrite_hist_log=it\n",
    );
    let run = fixture.json(&format!("run logs.fio {SIM} --out run"));
    for name in ["log_bw.1.log", "it_iops.1.log", "it_lat.1.log", "it_clat.1.log"] {
        let text = fixture.text(name);
        assert_eq!(text.lines().count(), 4, "{name}: {text}");
        assert_eq!(text.lines().next().unwrap().split(", ").count(), 5, "{name}");
    }
    let mean: f64 = {
        let text = fixture.text("it_iops.1.log");
        let values =
            text.lines().map(|line| line.split(", ").nth(1).unwrap().parse::<f64>().unwrap());
        values.sum::<f64>() / 4.0
    };
    let iops = number(&run, "/runs/0/cells/0/iops");
    assert!((mean / iops - 1.0).abs() < 0.01, "{mean} {iops}");
    let histogram = fixture.text("it_clat_hist.1.log");
    let completions = histogram.lines().flat_map(|line| line.split(", ").skip(3));
    let completions: u64 = completions.map(|n| n.parse::<u64>().unwrap()).sum();
    assert_eq!(completions as f64, number(&run, "/runs/0/cells/0/read/ios"));
    fixture.ok("export run --format fio-logs -o logs");
    let names = fixture.tool("find", &["logs", "-name", "randread-iodepth-1-numjobs-1_*.1.log"]);
    // fio-plot would take that of the histograms for another log of latencies.
    assert_eq!(names.lines().count(), 4, "{names}");
    let script = "/usr/share/doc/fio/fio-histo-log-pctiles.py.gz";
    if !std::path::Path::new(script).exists() {
        eprintln!("not tested: {script} is not installed (apt-get install fio)");
        return;
    }
    let unpacked = fixture.tool("gzip", &["-dc", script]);
    fixture.write("pctiles.py", unpacked);
    let table = fixture.tool(
        "python3",
        &["pctiles.py", "it_clat_hist.1.log", "--time-quantum", "1", "--percentiles", "50"],
    );
    let rows = table.lines().filter_map(|line| {
        let columns: Vec<f64> = line.split(',').map_while(|n| n.trim().parse().ok()).collect();
        (columns.len() == 3).then(|| (columns[1], columns[2]))
    });
    let rows: Vec<(f64, f64)> = rows.collect();
    let samples: f64 = rows.iter().map(|(samples, _)| samples).sum();
    assert_eq!(samples as u64, completions, "{table}");
    // The script's medians are in microseconds.
    let p50 = number(&run, "/runs/0/cells/0/latency_ns/p50") / 1e3;
    let near = |&(_, median): &(f64, f64)| (median / p50 - 1.0).abs() < 0.05;
    assert!(rows.iter().all(near), "{p50} {table}");
}

/// A log of two jobs of fio is replayed in its order, on the file that it names.
#[test]
fn a_log_is_replayed_on_the_file_that_it_names() {
    let fixture = Fixture::on_disk();
    fixture.noise("t.img", MIB);
    let log = "fio version 3 iolog\n17 t.img add\n129 t.img read 61440 4096\n3718 t.img close\n\
               fio version 3 iolog\n14 t.img add\n1093 t.img read 266240 4096\n";
    fixture.write("log", log);
    fixture.write("a.fio", "[a]\nread_iolog=log\n");
    let run = fixture.json("job --fio a.fio");
    assert_eq!(run["runs"][0]["cells"][0]["read"]["ios"], 2);
}
