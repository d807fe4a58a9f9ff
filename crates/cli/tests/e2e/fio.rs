//! fio's job files, logs and tools. fio's own files are taken from Debian's packages where they are
//! installed, never from this repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::fixture::{Fixture, MIB, has, number};

const SIM: &str = "sim:samsung-951";

/// The examples that need a drive of up to four terabytes.
const LARGE: [&str; 2] = ["cross-stripe-verify", "zbd-seq-read"];

/// Variables that the examples use.
const VARIABLES: [(&str, &str); 14] = [
    ("FIO_RW", "randread"),
    ("FIO_BS", "4k"),
    ("FIO_IODEPTH", "1"),
    ("FIO_DIR", "/tmp"),
    ("POOL", "pool"),
    ("CONT", "container"),
    ("GPU_DEV_IDS", "0"),
    ("SSE_KEY", "key"),
    ("STORAGE_CLASS", "class"),
    ("uri", "nbd"),
    ("S3_KEY", "key"),
    ("S3_ID", "id"),
    ("SWIFT_id", "id"),
    ("unixsocket", "/tmp/socket"),
];

/// The folder of Debian's package fio-examples.
fn examples() -> Option<PathBuf> {
    let named = std::env::var_os("ASSAY_FIO_EXAMPLES").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| "/usr/share/doc/fio/examples".into());
    let found = folder.is_dir().then_some(folder);
    if found.is_none() {
        eprintln!("not tested: fio's examples are not installed (apt-get install fio-examples)");
    }
    found
}

/// docs/fio.md says of every example whether it runs, and if not, what is missing.
#[test]
fn the_table_of_examples_is_true() {
    let Some(folder) = examples() else { return };
    let fixture = Fixture::on_disk();
    let document = include_str!("../../../../docs/fio.md");
    let large = std::fs::File::create(fixture.path("large")).unwrap();
    large.set_len(4 << 40).unwrap();
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "fio") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let drive = if LARGE.contains(&&*name) { "./large" } else { SIM };
        let words = format!("job --fio {} --dry-run {drive}", path.display());
        let output = fixture.command(&words).envs(VARIABLES).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let row = match output.status.code() {
            Some(0) => format!("| `{name}` | runs |"),
            Some(2) => {
                let error = stderr.lines().find(|line| line.contains("error:")).unwrap();
                let missing = error.split("]: ").nth(1).unwrap();
                let missing = missing.split([' ', ':']).next().unwrap();
                format!("| `{name}` | `{missing}` |")
            }
            _ => panic!("{name}: {stderr}"),
        };
        found.insert(name, row);
    }
    let absent: Vec<&str> =
        found.values().map(String::as_str).filter(|row| !document.contains(row)).collect();
    assert!(absent.is_empty(), "docs/fio.md lacks these rows:\n{}", absent.join("\n"));
}

/// Unlike jobs run at the same time on one drive, and a stage after them.
#[test]
fn jobs_of_a_stage_run_together() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "mixed.fio",
        "[global]\ndirect=1\ntime_based\nruntime=1\n[reader]\nrw=randread\nbs=4k\nioengine=libaio\n\
         iodepth=8\n[writer]\nrw=write\nbs=128k\nstartdelay=500ms\n[alone]\nstonewall\n\
         rw=randread\nbs=4k\nioengine=libaio\niodepth=8\n",
    );
    let run = fixture.json(&format!("run mixed.fio {SIM} --out run"));
    let cell =
        |number: usize, key: &str| self::number(&run, &format!("/runs/0/cells/{number}/{key}"));
    assert_eq!(run["runs"][0]["cells"][0]["step"], "reader");
    assert_eq!(run["runs"][0]["cells"][1]["step"], "writer");
    assert!((cell(0, "elapsed_ns") / 1e9 - 1.0).abs() < 0.05);
    assert!((cell(1, "elapsed_ns") / 1e9 - 1.0).abs() < 0.05, "a delay is not measured");
    assert!(cell(1, "write/ios") > 0.0);
    assert!(
        cell(0, "iops") < 0.95 * cell(2, "iops"),
        "a reader beside a writer is slower than alone: {} and {}",
        cell(0, "iops"),
        cell(2, "iops")
    );
    let again = fixture.json(&format!("run mixed.fio {SIM} --out again"));
    assert_eq!(run["runs"][0]["cells"], again["runs"][0]["cells"]);
}

#[test]
fn numbers_of_ios_pauses_and_gaps_are_kept() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "counts.fio",
        "[pauses]\nrw=randread\nbs=4k\nnumber_ios=100\nthinktime=10ms\nthinktime_blocks=10\n\
         [backwards]\nstonewall\nrw=read:-8k\nbs=4k\nsize=1m\n",
    );
    let run = fixture.json(&format!("job --fio counts.fio {SIM}"));
    assert_eq!(number(&run, "/runs/0/cells/0/read/ios"), 100.0);
    // Nine pauses between ten groups.
    let elapsed_ms = number(&run, "/runs/0/cells/0/elapsed_ns") / 1e6;
    assert!((90.0..120.0).contains(&elapsed_ms), "{elapsed_ms} ms");
    assert_eq!(number(&run, "/runs/0/cells/1/read/ios"), 256.0);
    // Groups of what is issued, below the depth.
    fixture.write(
        "issued.fio",
        "[a]\nrw=randread\nioengine=libaio\niodepth=8\nnumber_ios=40\nthinktime=10ms\n\
         thinktime_blocks=4\nthinktime_blocks_type=issue\n",
    );
    let run = fixture.json(&format!("job --fio issued.fio {SIM}"));
    let elapsed_ms = number(&run, "/runs/0/cells/0/elapsed_ns") / 1e6;
    assert!((90.0..105.0).contains(&elapsed_ms), "{elapsed_ms} ms");
}

#[test]
fn files_are_made_and_others_need_destroy() {
    let fixture = Fixture::on_disk();
    fixture.write("writes.fio", "[w]\nfilename=data\nrw=write\nbs=64k\nsize=2m\ndirect=1\n");
    fixture.ok("job --fio writes.fio");
    assert_eq!(fixture.read("data").len(), 2 * MIB);
    // It is there now.
    fixture.run("job --fio writes.fio").refuses(3, &["--destroy data"]);
    fixture.ok("job --fio writes.fio --destroy data");
    // A run that is refused leaves no file behind.
    fixture.write(
        "two.fio",
        "[new]\nfilename=fresh\nrw=write\nsize=1m\n[old]\nfilename=data\nrw=write\nsize=1m\n",
    );
    fixture.run("job --fio two.fio").refuses(3, &["--destroy data"]);
    assert!(!fixture.path("fresh").exists());
    fixture.write("absent.fio", "[w]\nfilename=none\nrw=read\nsize=1m\nallow_file_create=0\n");
    fixture.run("job --fio absent.fio").refuses(2, &["none does not exist"]);
    let passing = "fio --name=u --rw=write --bs=64k --size=1m --nrfiles=2 --unlink=1";
    fixture.ok(passing);
    fixture
        .run("fio --name=s --rw=write --bs=64k --nrfiles=8 --filesize=16k-80k")
        .refuses(2, &["has no byte", "begin the range at a block"]);
    assert!(!fixture.path("s.0.0").exists());
    assert!(!fixture.path("u.0.0").exists() && !fixture.path("u.0.1").exists());
}

#[test]
fn what_is_not_supported_is_named() {
    let fixture = Fixture::on_disk();
    fixture.write("a.fio", "[global]\nbs=4k\n[trims]\nrw=trimread\n");
    fixture.run(&format!("run a.fio {SIM}")).refuses(2, &["a.fio:4: [trims]: rw=trimread"]);
    // What only the drive shows to be wrong has its place too.
    fixture.write("b.fio", "[odd]\nrw=randread\nbs=1000\n");
    fixture
        .run(&format!("run b.fio {SIM}"))
        .refuses(2, &["b.fio:3: [odd]: bs: ", "--bs 1000 is not a multiple"]);
    // Not the option of an engine that is not there.
    fixture
        .run("fio --name=c --ioengine=rbd --clientname=admin --rw=read")
        .refuses(2, &["[c]: ioengine=rbd is not supported"]);
    fixture.run("job --fio gone.fio").refuses(2, &["gone.fio"]);
    fixture.run("run quick").refuses(2, &["no drive"]);
}

/// Flushes, trims and ends by other jobs are measured, shown and exported.
#[test]
fn flushes_trims_and_ends_are_in_the_results() {
    let fixture = Fixture::on_disk();
    fixture.write(
        "log.fio",
        "[global]\nexitall\n[log]\nrw=write\nbs=4k\nfsync=4\nnumber_ios=400\n[data]\nrw=randread\n\
         bs=4k\nruntime=60\ntime_based\n[trims]\nstonewall\nrw=randtrim\nbs=64k\nnumber_ios=100\n",
    );
    let run = fixture.json(&format!("run log.fio {SIM} --out run"));
    let cell = |index: usize, key: &str| number(&run, &format!("/runs/0/cells/{index}/{key}"));
    assert_eq!(cell(0, "write/ios"), 400.0);
    assert_eq!(cell(0, "flush/ios"), 99.0);
    assert!(cell(0, "flush/latency_ns/p50") > 0.0);
    assert_eq!(cell(0, "iops"), cell(0, "write/iops"), "flushes are no I/Os, as in fio");
    assert!(run["runs"][0]["cells"][1]["flush"].is_null());
    let ends = cell(0, "elapsed_ns") / cell(1, "elapsed_ns");
    assert!((ends - 1.0).abs() < 0.05, "the reader ends with the log: {ends}");
    assert_eq!(cell(2, "discard/bytes"), 100.0 * 65536.0);
    assert_eq!(cell(2, "iops"), cell(2, "discard/iops"));
    let shown = fixture.ok("report run -o page.html");
    assert!(shown.stdout.contains("page.html"));
    assert!(fixture.text("page.html").contains(">flush<"));
    fixture.ok("export run --format fio-json -o fio.json");
    let fio: serde_json::Value = serde_json::from_str(&fixture.text("fio.json")).unwrap();
    assert_eq!(fio["jobs"][0]["sync"]["total_ios"], 99);
    assert_eq!(fio["jobs"][2]["trim"]["total_ios"], 100);
    fixture.ok("export run --format fio-logs -o logs");
    let log = fixture.tool("find", &["logs", "-name", "randtrim*_iops.1.log"]);
    let log = fixture.text(log.trim());
    assert!(log.lines().all(|line| line.split(", ").nth(2) == Some("2")), "{log}");
}

/// fsync(2) and fallocate(2) on a file, through both engines.
#[test]
fn files_are_flushed_and_trimmed() {
    let fixture = Fixture::on_disk();
    for engine in ["psync", "libaio"] {
        let file = format!("data-{engine}");
        fixture.write(
            "file.fio",
            format!(
                "[global]\nfilename={file}\nsize=1m\nioengine={engine}\n[w]\nrw=write\nbs=64k\n\
                 fsync=2\nend_fsync=1\n[t]\nstonewall\nrw=trim\nbs=64k\nsize=512k\n"
            ),
        );
        let run = fixture.json("job --fio file.fio");
        let ios = |path: &str| number(&run, &format!("/runs/0/cells/{path}/ios"));
        assert_eq!(ios("1/flush"), 8.0, "{engine}: seven and one at the end");
        assert_eq!(ios("2/discard"), 8.0, "{engine}");
        let bytes = fixture.read(&file);
        assert!(bytes[..MIB / 2].iter().all(|&b| b == 0), "{engine}: a hole");
        assert!(bytes[MIB / 2..].iter().any(|&b| b != 0), "{engine}");
        fixture.run(&format!("job {file} --rw trim")).refuses(3, &[&format!("--destroy {file}")]);
    }
}

#[test]
fn a_least_rate_is_checked() {
    let fixture = Fixture::on_disk();
    fixture
        .write("slow.fio", "[slow]\nrw=read\nbs=4k\nrate=1m\nrate_min=2m\nruntime=3\ntime_based\n");
    let slow = fixture.run(&format!("job --fio slow.fio {SIM}"));
    assert_eq!(slow.status, 1, "{slow}");
    assert!(slow.stdout.contains("below the least rate"), "{slow}");
}

#[test]
fn a_longest_latency_is_checked() {
    let fixture = Fixture::on_disk();
    let line = "fio --name=a --rw=randread --bs=4k --number_ios=1000 --max_latency";
    let slow = fixture.run(&format!("{line}=50us {SIM}"));
    assert_eq!(slow.status, 1, "{slow}");
    assert!(slow.stdout.contains("above the max_latency of 50"), "{slow}");
    fixture.ok(&format!("{line}=5ms {SIM}"));
}

/// The rate of reads at a fixed depth is steady at once: the rule needs its window after its ramp.
#[test]
fn steadystate_ends_a_job() {
    let fixture = Fixture::on_disk();
    let line = |rule: &str| {
        format!(
            "fio --name=a --rw=randread --bs=4k --ioengine=libaio --iodepth=8 --time_based \
             --runtime=20 --ss={rule} --ss_dur=3 --ss_ramp=2 {SIM}"
        )
    };
    let steady = fixture.json(&line("iops:2%"));
    let value = |run: &serde_json::Value, name: &str| {
        run.pointer(&format!("/jobs/0/values/{name}")).and_then(|v| v.as_f64())
    };
    let settled_s = value(&steady, "settled_s").unwrap();
    assert!((settled_s - 6.0).abs() < 0.01, "{steady}");
    let mean = value(&steady, "steady_iops").unwrap();
    let iops = number(&steady, "/jobs/0/read/iops");
    assert!((mean / iops - 1.0).abs() < 0.02, "{mean} {iops}");
    let unsteady = fixture.json(&line("bw_slope:0.5"));
    assert_eq!(value(&unsteady, "settled_s"), None);
    assert!(unsteady.to_string().contains("not-steady"), "{unsteady}");
}

#[test]
fn steadystate_is_for_a_job_alone() {
    let fixture = Fixture::on_disk();
    let two = "--name=a --rw=randread --runtime=9 --ss=iops:1% --ss_dur=3 --name=b --rw=read";
    fixture.run(&format!("fio {two} {SIM}")).refuses(2, &["runs by itself"]);
    let verified = "--rw write --size 4m --verify --steadystate iops:1% --steadystate_duration 3s";
    fixture.run(&format!("job {SIM} {verified}")).refuses(2, &["nothing is read back"]);
}

/// Lines as vendors, benchmarks and wikis print them, by `assay job` and by `assay fio`.
#[test]
fn command_lines_of_fio_are_taken_as_they_are() {
    let fixture = Fixture::on_disk();
    for line in [
        "--name=w --directory=/tmp --numjobs=16 --size=1G --time_based --runtime=5m --ramp_time=2s \
         --ioengine=libaio --direct=1 --verify=0 --bs=1M --iodepth=64 --rw=write --group_reporting=1 \
         --iodepth_batch_submit=64 --iodepth_batch_complete_max=64",
        "-direct=1 -iodepth=128 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -numjobs=1 \
         -runtime=1000 -group_reporting -name=r -filename=/dev/vdb",
        "--randrepeat=1 --gtod_reduce=1 --name=test --bs=4k --iodepth=64 --ioengine=libaio \
         --readwrite=randrw --rwmixread=75 --size=4G --readonly=0",
        "--name=a --rw=read --bs=4k --lat_percentiles=1 --percentile_list=50:99:99.9 --eta=always",
        "--name=a --rw=randread --ioengine=io_uring --fixedbufs --registerfiles --hipri=0 \
         --sqthread_poll=1 --norandommap --randrepeat=0 --refill_buffers --numjobs 4",
    ] {
        for command in ["job", "fio"] {
            let words = format!("{command} {line} {SIM} --dry-run");
            let shown = fixture.ok(&words.replace("--readonly=0", "")).stdout;
            assert!(shown.contains("--order 'fio") || shown.contains("--order fio"), "{shown}");
        }
    }
    fixture.run(&format!("fio --name=a --rw=write --readonly {SIM}")).refuses(2, &["[a] writes"]);
    let client = fixture.run("fio --client=there a.fio");
    client.refuses(2, &["--client=there is not supported: assay fleet"]);
}

/// fio's document instead of assay's, into a file or on stdout, and what fio calls the logs.
#[test]
fn output_options_of_fio_are_obeyed() {
    let fixture = Fixture::on_disk();
    let line = "--name=j --filename=new --size=2m --rw=randread --bs=4k --ioengine=libaio --iodepth=4 \
                --direct=1 --write_bw_log=p --per_job_logs=0";
    let shown = fixture.ok(&format!("fio {line} --output-format=json --output=o.json"));
    assert_eq!(shown.stdout, "");
    let document: serde_json::Value = serde_json::from_slice(&fixture.read("o.json")).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    // The file was filled first, which is not a job of the line.
    assert_eq!(jobs.len(), 1, "{document}");
    assert_eq!(jobs[0]["read"]["total_ios"], 512);
    assert!(!fixture.read("p_bw.log").is_empty());
    let both = fixture.ok(&format!("fio {line} --output-format=normal,json")).stdout;
    assert!(both.starts_with("Job file j") && both.trim_end().ends_with('}'), "{both}");
    // assay's own document has the job alone, as that of assay job has.
    let own = fixture.json(&format!("job {line}"));
    assert_eq!(own["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(own["jobs"][0]["read"]["ios"], 512);
}

/// What scripts read: the fields of a terse line and the words of the text are where fio has them.
#[test]
fn terse_lines_and_text_are_as_of_fio() {
    let fixture = Fixture::on_disk();
    fixture.noise("t.img", MIB);
    let job = "--name=j --filename=t.img --size=1m --rw=randread --bs=4k --ioengine=libaio \
               --iodepth=4 --numjobs=2 --group_reporting --number_ios=100";
    for (version, fields) in [("2", 161), ("3", 121), ("4", 162), ("5", 180)] {
        let line = fixture.ok(&format!("fio {job} --minimal --terse-version={version}"));
        let own: Vec<&str> = line.stdout.trim_end().split(';').collect();
        assert_eq!(own.len(), fields, "{}", line.stdout);
        assert_eq!(own[0], version);
        let first = if version == "2" { 1 } else { 2 };
        assert_eq!(own[first..first + 4], ["j", "0", "0", "800"]);
    }
    let text = fixture.ok(&format!("fio {job}")).stdout;
    for words in [
        "j: (groupid=0, jobs=2): err= 0: pid=",
        "  read: IOPS=",
        "(800KiB/",
        "     lat (",
        "issued rwts: total=200,0,0,0",
        "Run status group 0 (all jobs):",
        "   READ: bw=",
        "io=800KiB (819kB), run=",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

/// Jobs with `group_reporting` are one entry, clones with files of their own too.
#[test]
fn the_jobs_of_a_group_are_reported_as_one() {
    let fixture = Fixture::on_disk();
    let all = "--size=256k --rw=write --bs=4k --numjobs=3 --direct=0";
    let jobs = |more: &str| {
        let line = format!("fio --name=j {all} {more} --output-format=json");
        let document = fixture.ok(&line).stdout;
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        document["jobs"].as_array().unwrap().clone()
    };
    assert_eq!(jobs("--directory=. --filename_format=a.$jobnum").len(), 3);
    let one = jobs("--directory=. --filename_format=b.$jobnum --group_reporting");
    assert_eq!(one.len(), 1);
    assert_eq!(one[0]["write"]["total_ios"], 3 * 64);
    let sections = "--filename_format=c.$jobnum --group_reporting --name=k --rw=write --size=64k";
    let two = jobs(&format!("{sections} --stonewall --filename=d"));
    assert_eq!((two.len(), &two[1]["groupid"]), (2, &serde_json::json!(1)));
}

/// One queue, and fio's order of the files.
#[test]
fn files_of_a_job_take_turns() {
    let fixture = Fixture::on_disk();
    let line = "--name=a --filename=x:y:z --rw=randrw --bs=16k --size=768k --openfiles=2 \
                --file_service_type=random:3 --fsync=4 --ioengine=psync";
    fixture.ok(&format!("fio {line} --write_iolog=own.log"));
    for name in ["x", "y", "z"] {
        let length = std::fs::metadata(fixture.path(name)).unwrap().len();
        assert_eq!(length, 256 << 10, "{name}");
    }
    let ios = |log: &str| -> Vec<String> {
        let text = fixture.text(log);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let ios = lines.filter(|(_, io)| io.split(' ').count() == 4 && !io.contains("sync"));
        ios.map(|(_, io)| io.to_owned()).collect()
    };
    let own = ios("own.log");
    assert_eq!(own.len(), 48);
    if has(&["fio"]) {
        let arguments = line.split_whitespace();
        let arguments: Vec<&str> = arguments.chain(["--write_iolog=fio.log"]).collect();
        fixture.tool("fio", &arguments);
        assert_eq!(ios("fio.log"), own);
    }
    // Every one of them would be overwritten.
    let refused = fixture.run(&format!("fio {line} --destroy x"));
    refused.refuses(3, &["--destroy y"]);
    let other = fixture.run("job files:x:y --rw randread");
    other.refuses(2, &["--order fio"]);
}
