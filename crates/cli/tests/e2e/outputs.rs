//! Exports, comparisons, help, completions; output to terminals and to pipes.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fixture::{ASSAY, Done, Fixture, MIB, number};

const COMMANDS: [&str; 13] = [
    "list",
    "probe",
    "suites",
    "run",
    "job",
    "fio",
    "report",
    "compare",
    "fit",
    "predict",
    "fidelity",
    "export",
    "completions",
];

#[test]
fn predictive_intervals_are_of_rates_that_the_drive_determines() {
    let fixture = Fixture::on_disk();
    let predictive = |options: &str| {
        let job = "job sim:samsung-951 --rw randread --bs 4k --runtime 100ms";
        let mut document = fixture.json(&format!("{job} {options}"));
        document["jobs"][0]["predictive"].take()
    };
    let own = predictive("");
    let iops = own["iops"].as_array().unwrap();
    assert!(iops[0].as_f64() < iops[1].as_f64(), "{own:#}");
    for limited in ["--rate 1000", "--rate_iops 1000", "--rate_bw 1m"] {
        assert!(predictive(limited).is_null(), "{limited}");
    }
}

#[test]
fn fio_json_has_fios_key_paths() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    fixture.ok(
        "job disk --rw randrw --bs 4k --iodepth 4 --numjobs 2 --io_size 4m --destroy disk --out \
         run",
    );
    fixture.ok("export run --format fio-json -o fio.json");
    let jq = |filter: &str| fixture.tool("jq", &["-e", filter, "fio.json"]);
    jq(".jobs | length == 1");
    for direction in ["read", "write"] {
        for key in ["iops", "bw", "io_bytes", "runtime", "total_ios"] {
            jq(&format!(".jobs[0].{direction}.{key} > 0"));
        }
        for key in ["min", "max", "mean", "stddev", "N"] {
            jq(&format!(".jobs[0].{direction}.clat_ns.{key} | type == \"number\""));
        }
        for percentile in ["50.000000", "99.000000", "99.900000", "99.990000"] {
            jq(&format!(".jobs[0].{direction}.clat_ns.percentile[\"{percentile}\"] > 0"));
        }
    }
    jq(".jobs[0].read.io_bytes + .jobs[0].write.io_bytes == 8388608");
    jq(".jobs[0].\"job options\".rw == \"randrw\"");
    jq(".jobs[0].error == 0 and (.\"fio version\" | startswith(\"fio-\"))");
    jq(".jobs[0].usr_cpu >= 0 and .jobs[0].sys_cpu >= 0");
}

#[test]
fn every_export_format_makes_its_files() {
    let fixture = Fixture::on_disk();
    fixture.ok("run quick sim:samsung-951 --scale 0.01 --out run");
    for format in ["csv", "parquet"] {
        let listed = fixture.ok(&format!("export run --format {format} -o {format}")).stdout;
        for table in ["runs", "cells", "intervals", "telemetry", "host"] {
            let name = format!("{format}/{table}.{format}");
            assert!(listed.contains(&name), "{name} is not named in {listed}");
            let bytes = fixture.read(&name);
            if format == "parquet" {
                assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
            } else {
                assert!(bytes.starts_with(b"run_id,simulated,"), "{name}");
            }
        }
    }
    assert_eq!(
        fixture.text("csv/cells.csv").lines().count(),
        16,
        "a head, and a line for each of fifteen cells"
    );
    // Without -o, files named after the run; to stdout, the same document.
    let named = fixture.ok("export run").stdout;
    let written = fs::read_to_string(fixture.path(named.trim())).unwrap();
    assert_eq!(written.trim(), fixture.ok("export run -o -").stdout.trim());
    fixture.ok("export run --format fio-json");
}

#[test]
fn runs_are_compared() {
    let fixture = Fixture::on_disk();
    for drive in ["samsung-951", "intel-600p"] {
        fixture.ok(&format!("run quick sim:{drive} --scale 0.01 --out {drive}"));
    }
    let brief = fixture.ok("compare samsung-951 intel-600p").stdout;
    assert!(brief.lines().count() < 30, "{brief}");
    assert!(brief.contains("of 14 workloads in common"), "{brief}");
    // The answer first, and what it rests on.
    let answer = brief.lines().collect::<Vec<_>>().join(" ");
    assert!(answer.starts_with("intel-600p (simulated): 0."), "{brief}");
    for part in ["times the bandwidth of samsung-951", "at depth 1", "larger than repetition gives"]
    {
        assert!(answer.contains(part), "{part}: {brief}");
    }
    // A gate for scripts: only what is slower fails it.
    let gate = |sides: &str, status: i32| {
        let words = format!("compare {sides} --fail-if slower=5%");
        fixture.json_status(&words, status)["gate"].clone()
    };
    let slower = gate("samsung-951 intel-600p", 1);
    assert!(slower["failed"] == true && !slower["slower"].as_array().unwrap().is_empty());
    let faster = gate("intel-600p samsung-951", 0);
    assert_eq!((&faster["failed"], &faster["workloads"]), (&false.into(), &14.into()));
    let failed = fixture.run("compare samsung-951 intel-600p --fail-if slower").expect(1);
    assert!(failed.stdout.contains("failed: slower in"), "{failed}");
    fixture.run("compare samsung-951 --fail-if slower").expect(1);
    fixture.run("compare samsung-951 intel-600p --fail-if faster").refuses(2, &["slower=5%"]);
    let text = fixture.ok("compare samsung-951 intel-600p --details").stdout;
    for part in ["run 1", "run 2", "samsung-951", "intel-600p", "MiB/s", "simulated"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(
        fixture.json("compare samsung-951 intel-600p")["compared"].as_array().unwrap().len(),
        2
    );
}

/// Two drives measured long enough for intervals; and one drive against itself.
#[test]
fn comparisons_report_faster_slower_or_inconclusive() {
    let fixture = Fixture::on_disk();
    for (drive, out) in [("samsung-951", "a"), ("intel-600p", "b"), ("samsung-951,seed=2", "c")] {
        fixture.ok(&format!(
            "job sim:{drive} --rw randread --bs 4k --iodepth 8 --runtime 60s --out {out}"
        ));
    }
    let one = fixture.json("compare a");
    assert_eq!(one["comparisons"].as_array().map(Vec::len), Some(0));
    let ci = &one["compared"][0]["runs"][0]["cells"][0]["iops_ci"];
    let iops = number(&one, "/compared/0/runs/0/cells/0/iops");
    assert!(number(ci, "/low") <= iops && iops <= number(ci, "/high"), "{ci}");

    let two = fixture.json("compare a b c");
    assert_eq!(
        (&two["by"], &two["groups"][0]["name"]),
        (&Value::from("drive"), &Value::from("samsung-951"))
    );
    assert_eq!(
        two["groups"][0]["runs"].as_array().map(Vec::len),
        Some(2),
        "another seed is the same drive"
    );
    let metrics = &two["comparisons"][0]["workloads"][0]["metrics"];
    assert_eq!(metrics["iops"]["answer"], "slower", "{metrics:#}");
    assert_eq!(metrics["iops"]["basis"].as_str().map(|b| b.ends_with("_runs")), Some(true));
    assert!(number(metrics, "/iops/ratio_low") < number(metrics, "/iops/ratio"));
    assert_eq!(two["comparisons"][0]["simulated"], true);
    // One run of each drive says nothing of the drives, unless the ratio is larger than repetition
    // gives.
    let once = fixture.ok("compare a b").stdout;
    for part in ["0.46 times the bandwidth", "larger than repetition gives", "slower in 1"] {
        assert!(once.contains(part), "{part}: {once}");
    }
    let chance = "if nothing differed, at most about 0.10 of these 2 answers would be a \
                  difference by chance alone";
    assert!(once.replace("\n  ", " ").contains(chance), "{once}");
    let chance = &two["comparisons"][0]["by_chance"];
    assert_eq!(chance["answers"], 2, "{chance}");
    assert_eq!(chance["different"].to_string(), "0.1");
    let p99 = &two["comparisons"][0]["workloads"][0]["metrics"]["latency_p99_ns"];
    // Of two runs and one, a tail percentile has an answer only beyond what repetition gives.
    assert_eq!(
        (&p99["answer"], &p99["basis"]),
        (&"slower".into(), &"repeatability".into()),
        "{p99:#}"
    );

    // The same drive twice: no difference is significant.
    let same = fixture.json("compare a c");
    assert_eq!(same["by"], "run");
    for key in ["mib_per_s", "iops", "latency_mean_ns", "latency_p99_ns"] {
        let answer = same["comparisons"][0]["workloads"][0]["metrics"][key]["answer"].as_str();
        assert!(matches!(answer, Some("runs_agree" | "cannot_tell")), "{key}: {answer:?}");
    }
}

/// The same drive with other seeds, twelve seconds each: within one run on each side nothing is
/// said of the drive, and nothing of tail percentiles. Latencies are of the same operation on both
/// sides, though of an even mix each run may have more of another.
#[test]
fn another_seed_is_not_another_drive() {
    let fixture = Fixture::on_disk();
    for seed in 1..=6 {
        fixture.ok(&format!(
            "job sim:samsung-951,seed={seed} --rw randrw --bs 4k --iodepth 8 --numjobs 4 \
             --runtime 12s --seed {seed} --out r{seed}"
        ));
    }
    for other in 2..=6 {
        let found = fixture.json(&format!("compare r1 r{other}"));
        let metrics = &found["comparisons"][0]["workloads"][0]["metrics"];
        for key in ["mib_per_s", "iops", "latency_mean_ns", "latency_p99_ns"] {
            let metric = &metrics[key];
            assert_eq!(metric["answer"], "cannot_tell", "seed {other}, {key}: {metric:#}");
            let ratio = number(metric, "/ratio");
            assert!((0.9..1.1).contains(&ratio), "seed {other}, {key}: {ratio}");
        }
        let why = metrics["iops"]["why"].as_str().unwrap();
        assert!(why.ends_with("too short: 12 seconds, at least 30 are needed"), "{why}");
    }
    // Three runs on each side.
    let sides = fixture.json("compare --before r1 r2 r3 --after r4 r5 r6");
    assert_eq!(sides["by"], "before_after");
    assert_eq!(sides["groups"][0]["name"], "samsung-951, before");
    let metrics = &sides["comparisons"][0]["workloads"][0]["metrics"];
    for key in ["mib_per_s", "iops", "latency_mean_ns", "latency_p99_ns"] {
        let metric = &metrics[key];
        assert_eq!(metric["runs"], serde_json::json!([3, 3]), "{key}");
        assert_eq!(metric["basis"], "between_runs", "{key}");
        let answer = metric["answer"].as_str();
        assert!(matches!(answer, Some("same" | "cannot_tell")), "{key}: {metric:#}");
    }
    let text = fixture.ok("compare --before r1 r2 r3 --after r4 r5 r6").stdout;
    assert!(
        text.starts_with("samsung-951, after (simulated): ")
            && text.contains(" times the bandwidth of samsung-951, before"),
        "{text}"
    );

    // What cannot be sides.
    fixture.ok(
        "job sim:intel-600p --rw randrw --bs 4k --iodepth 8 --numjobs 4 --runtime 1s --out other",
    );
    for (arguments, expected) in [
        ("--before r1 r2 --after other", "runs before and after a change are of the same drives"),
        ("--before r1 r2 --after r2", "is given twice"),
        ("--before r1", "--after"),
        ("r1 --before r2 --after r3", "cannot be used with"),
        ("", "RUN"),
    ] {
        let done = fixture.run(&format!("compare {arguments}"));
        assert_ne!(done.status, 0, "{arguments}");
        assert!(done.stderr.contains(expected), "{arguments}: {}", done.stderr);
    }
}

/// A short measurement has no interval, and JSON says why.
#[test]
fn a_missing_interval_has_its_reason() {
    let fixture = Fixture::on_disk();
    fixture.ok("job sim:samsung-951 --rw randread --bs 4k --runtime 5s --out run");
    let cell = &fixture.json("compare run")["compared"][0]["runs"][0]["cells"][0];
    for figure in ["mib_per_s", "iops", "latency_mean_ns"] {
        assert_eq!(cell[format!("{figure}_ci")], Value::Null);
        let why = &cell[format!("{figure}_no_ci")];
        assert_eq!(why["reason"], "too_short");
        assert_eq!(why["samples"], 5);
        assert_eq!(why["text"], "too short: 5 seconds, at least 30 are needed");
    }
}

#[test]
fn help_has_examples() {
    let fixture = Fixture::on_disk();
    let top = fixture.ok("--help").stdout;
    for command in COMMANDS {
        assert!(top.contains(&format!("  {command}")), "{command} is not in {top}");
        let help = fixture.ok(&format!("{command} --help"));
        assert!(help.stdout.contains("Usage: assay") && help.stderr.is_empty());
        assert!(
            help.stdout.contains("Examples:"),
            "{command} --help has no example:\n{}",
            help.stdout
        );
        assert!(
            help.stdout.lines().any(|line| line.starts_with(&format!("  assay {command}"))),
            "{}",
            help.stdout
        );
        assert!(help.stdout.contains("--json"));
    }
    assert!(top.contains("Exit status") && top.contains("assay run quick"));
    assert!(fixture.ok("--version").stdout.starts_with("assay "));
    // fio's option names.
    let job = fixture.ok("job --help").stdout;
    for option in [
        "--rw ",
        "--bs ",
        "--iodepth ",
        "--numjobs ",
        "--io_size ",
        "--offset_increment ",
        "--ramp_time ",
        "--rate_iops ",
        "--random_distribution ",
        "--iodepth_batch_complete_min ",
        "--cpus_allowed ",
    ] {
        assert!(job.contains(option), "{option} is not in {job}");
    }
    let bare = fixture.run("");
    assert_eq!(bare.status, 2);
}

#[test]
fn examples_in_help_are_understood() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk.img", MIB);
    fixture.write("jobs.fio", "[reads]\nrw=randread\nsize=1m\nruntime=50ms\n");
    fixture.write("server.csv", "0,R,4096,4096,100\n0,W,8192,4096,200\n");
    let help = ["job", "fio"].map(|command| fixture.ok(&format!("{command} --help")).stdout);
    let examples = help.iter().flat_map(|text| text.lines());
    let examples = examples.filter(|line| line.starts_with("  assay ") && !line.contains("/dev/"));
    for line in examples {
        let words = line.trim().trim_start_matches("assay ");
        // Short, and small enough for the file.
        let done = fixture.run(&words.replace("runtime 10s", "runtime 50ms"));
        assert_eq!(done.status, 0, "{done}");
    }
    let run = fixture.ok("run --help").stdout;
    assert!(run.contains("--resume") && run.contains("--destroy"));
}

#[test]
fn completions_are_accepted_by_their_shells() {
    let fixture = Fixture::on_disk();
    for shell in ["bash", "zsh", "fish"] {
        let script = fixture.ok(&format!("completions {shell}")).stdout;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("iodepth"), "{shell}");
        fixture.write(shell, &script);
        let there = Command::new(shell)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok();
        if there {
            fixture.tool(shell, &["-n", shell]);
        } else {
            assert_ne!(shell, "bash", "every machine these tests run on has a bash");
        }
    }
}

#[test]
fn output_for_programs_has_no_escape_codes() {
    let fixture = Fixture::on_disk();
    fixture.ok("run quick sim:samsung-951 --scale 0.005 --out run");
    for words in [
        "list",
        "suites",
        "probe sim:samsung-951",
        "job sim:samsung-951 --size 1m",
        "compare run",
        "--help",
        "job nosuch",
        "job --nonsense",
    ] {
        let done = fixture.run(words);
        assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'), "{done}");
    }
}

/// Output on a terminal of this kind.
fn on_a_terminal(fixture: &Fixture, words: &str, environment: &[(&str, &str)]) -> String {
    let output = Command::new("script")
        .args(["-qec", &format!("{ASSAY} {words}"), "/dev/null"])
        .current_dir(fixture.path("."))
        .env_remove("NO_COLOR")
        .env("TERM", "xterm-256color")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_terminal_gets_colour_and_progress_with_the_time_left() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    let seen = on_a_terminal(&fixture, "job disk --rw randread --runtime 3s", &[]);
    assert!(
        seen.contains('\u{1b}')
            && seen.contains("left")
            && seen.contains('%')
            && seen.contains("IOPS"),
        "{seen:?}"
    );
    let plain = on_a_terminal(&fixture, "suites", &[("NO_COLOR", "1")]);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    fixture.ok("job disk --out run");
    let plain = on_a_terminal(&fixture, "compare run", &[("NO_COLOR", "1")]);
    assert!(!plain.contains("\u{1b}["), "{plain:?}");
}

/// What a terminal of 60 columns shows at once fits it.
#[test]
fn progress_fits_sixty_columns_and_columns_is_respected() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    let output = Command::new("script")
        .args([
            "-qec",
            &format!("stty cols 60 rows 24; {ASSAY} job disk --rw randread --runtime 3s"),
            "/dev/null",
        ])
        .current_dir(fixture.path("."))
        .env("TERM", "xterm-256color")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&output.stdout);
    let drawn = console::strip_ansi_codes(&seen);
    let lines = drawn.split(['\r', '\n']).filter(|line| !line.is_empty());
    let mut has_progress = false;
    for line in lines {
        // The path of the temporary run folder is one word.
        if !line.starts_with("writing to ") {
            assert!(line.chars().count() <= 60, "{line:?}");
        }
        has_progress |= line.contains("left") && line.contains("IOPS, ");
    }
    assert!(has_progress, "{drawn:?}");
}

/// A terminal of 80 columns: no line is broken, whatever the drives of this host are called.
#[test]
fn lists_fit_eighty_columns_and_a_suite_is_explained() {
    let fixture = Fixture::on_disk();
    let shown = |words: &str, columns: usize| {
        let mut command = fixture.command(words);
        let done = command.env("COLUMNS", columns.to_string()).output().unwrap();
        assert!(done.status.success(), "{words}");
        let text = String::from_utf8(done.stdout).unwrap();
        for line in text.lines() {
            assert!(line.chars().count() <= columns, "{words}: {line:?}");
        }
        text
    };
    assert!(shown("list", 80).contains("samsung-951"));
    let suites = shown("suites", 80);
    assert!(suites.lines().count() < 60, "{suites}");
    assert!(suites.contains("`assay suites SUITE`"), "{suites}");
    for suite in fixture.json("suites")["suites"].as_array().unwrap() {
        let name = suite["name"].as_str().unwrap();
        assert!(suites.contains(&format!("\n{name} ")) || suites.starts_with(name), "{suites}");
        let explained = shown(&format!("suites {name}"), 80);
        let own = fixture.json(&format!("suites {name}"));
        assert_eq!(own["suites"], serde_json::json!([suite]));
        for parameter in suite["parameters"].as_array().unwrap() {
            let key = parameter["key"].as_str().unwrap();
            assert!(explained.contains(&format!("  {key}=")), "{explained}");
        }
    }
    fixture.run("suites bandwith").refuses(2, &["bandwidth"]);
}

/// What bash offers at the end of a line.
fn completed(fixture: &Fixture, line: &str) -> Vec<String> {
    fixture.write("complete.bash", fixture.ok("completions bash").stdout);
    let program =
        "source complete.bash; COMP_LINE=$1 COMP_POINT=${#1}; read -ra COMP_WORDS <<<\"$1\"
         [[ $1 == *' ' ]] && COMP_WORDS+=('')
         COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
         _assay_with_values assay \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\" 2>&1
         printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = fixture.tool("bash", &["-c", program, "bash", line]);
    output.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_suites_drives_and_values() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk.img", MIB);
    for (line, offered) in [
        ("assay run ban", vec!["bandwidth"]),
        ("assay suites ban", vec!["bandwidth"]),
        // The part up to the colon stays on the line.
        ("assay run quick sim:samsung-95", vec!["samsung-951"]),
        ("assay probe sim:wd", vec!["wd-black"]),
        ("assay run quick disk", vec!["disk.img"]),
        ("assay run quick --set ru", vec!["runtime="]),
        ("assay run --set ar", vec![""]),
        ("assay job sim:wd-black --rw rand", vec!["randread", "randwrite", "randrw", "randtrim"]),
        ("assay export run --format fio", vec!["fio-json", "fio-logs"]),
        ("assay exp", vec!["export"]),
    ] {
        assert_eq!(completed(&fixture, line), offered, "{line}");
    }
    let listed = fixture.json("list");
    let drives = completed(&fixture, "assay run quick /dev/");
    for drive in listed["drives"].as_array().unwrap() {
        let spec = drive["spec"].as_str().unwrap();
        let has_node = std::path::Path::new(spec).exists();
        assert!(!has_node || drives.iter().any(|d| d == spec), "{spec}: {drives:?}");
    }
}

#[test]
fn zsh_and_fish_complete_suites_drives_and_values() {
    let fixture = Fixture::on_disk();
    fixture.write("_assay", fixture.ok("completions zsh").stdout);
    fixture.write("assay.fish", fixture.ok("completions fish").stdout);
    let offers = |shell: &str, program: &str, line: &str, expected: &[&str]| {
        if !std::path::Path::new(&format!("/usr/bin/{shell}")).exists() {
            println!("skipped: {shell} is not installed");
            return;
        }
        let output = fixture.tool(shell, &["-c", program, line]);
        let mut words = output.lines().map(|l| l.split('\t').next().unwrap());
        for word in expected {
            assert!(words.any(|offered| offered == *word), "{word}: {output}");
        }
    };
    // What the functions of the script offer, which clap's part calls.
    let zsh = "autoload -U compinit; compinit -u -d dump; source ./_assay; \
               compadd() { print -l -- $@ }; _files() { }; words=(${=0}); \
               [[ $words[-1] == --set ]] && _assay_keys_of_suite || _assay_drives_or_files";
    offers("zsh", zsh, "run quick --set", &["runtime="]);
    offers("zsh", zsh, "run quick", &["sim:samsung-951", "null:"]);
    let script = fixture.text("_assay");
    for part in [
        ":KEY=VALUE:_assay_keys_of_suite'",
        ":_assay_drives_or_files'",
        ":(read write randread",
        ":(bandwidth quick",
        ":(parquet json csv",
    ] {
        assert!(script.contains(part), "{part}");
    }
    let fish = "source ./assay.fish; complete -C $argv[1]";
    for (line, expected) in [
        ("assay run ban", "bandwidth"),
        ("assay suites ban", "bandwidth"),
        ("assay run quick sim:samsung-95", "sim:samsung-951"),
        ("assay probe sim:wd", "sim:wd-black"),
        ("assay run quick --set ru", "runtime="),
        ("assay job sim:wd-black --rw rand", "randread"),
        ("assay export run --format fio", "fio-json"),
    ] {
        offers("fish", fish, line, &[expected]);
    }
}

/// A report or log that cannot be written: refused before the run where that can be seen, and
/// otherwise an error after the result.
#[test]
fn no_report_hides_the_result() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    let quick = "run quick sim:samsung-951 --scale 0.005";
    let refused = fixture.run(&format!("{quick} --report nowhere/page.html --out early"));
    refused.refuses(4, &["nowhere/page.html"]);
    assert!(!fixture.path("early").exists());
    fixture.write(
        "logs.fio",
        "[job]\nfilename=disk\nrw=randread\nsize=64k\nwrite_bw_log=nowhere/log\n",
    );
    let refused = fixture.run("run logs.fio --out early");
    refused.refuses(4, &["nowhere/log_bw.1.log"]);
    assert!(!fixture.path("early").exists());

    // The folder of the page disappears while the run is measured: its power meter removes it.
    fs::create_dir(fixture.path("pages")).unwrap();
    let mut late = fixture.command("");
    let done = late
        .args(["run", "quick", "disk", "--scale", "0.01", "--out", "late"])
        .args(["--report", "pages/page.html"])
        .args(["--power-meter", "rmdir pages; while :; do echo 1; sleep 1; done"])
        .output()
        .unwrap();
    let (result, error) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(4), "{error}");
    assert!(result.contains("Run folder: late"), "{result}");
    assert!(result.contains("assay report late"), "the command that writes it: {result}");
    assert!(error.contains("pages/page.html"), "{error}");
}

/// What a user of fio types first: accepted, or answered with the equivalent.
#[test]
fn fios_flags_are_accepted_or_answered() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", MIB);
    let job = fixture.json(
        "job --name=test --filename=disk --ioengine=psync --rw=randread --bs=4k --size=1m \
         --runtime=100ms --time_based --group_reporting --direct=0 --thread --norandommap",
    );
    assert_eq!(job["jobs"][0]["workload"]["engine"], "sync");
    assert_eq!(job["drive"]["spec"], "disk");
    let verified = fixture.json("job disk --rw=write --bs=4k --verify=crc32c --destroy disk");
    assert_eq!(verified["jobs"][0]["verify"]["blocks_checked"], 256);
    for (words, answer) in [
        ("job disk --ioengine=rbd", "ioengine=rbd is not supported"),
        ("job disk --ioengine=libaio --interval=1s", "interval=1s is an option of assay job"),
        ("job disk --verify=md5", "--verify=crc32c"),
        ("job disk --rate 100m", "--rate_bw 100m"),
        ("job disk --rw ranread", "did you mean \"randread\"?"),
        ("job sim:samsng-951", "did you mean \"samsung-951\"?"),
        ("job samsung-951", "did you mean \"sim:samsung-951\"?"),
        ("run quik disk", "did you mean \"quick\"?"),
    ] {
        fixture.run(words).refuses(2, &[answer]);
    }
    assert!(fixture.ok("help job").stdout.contains("--iodepth"));
    assert!(fixture.ok("version").stdout.starts_with("assay "));
}

#[test]
fn json_on_a_terminal_is_json() {
    let fixture = Fixture::on_disk();
    // Progress is on stderr: with that elsewhere, the terminal holds one document.
    let seen = on_a_terminal(
        &fixture,
        "job sim:samsung-951 --rw randread --runtime 2s --json 2>/dev/null",
        &[],
    );
    serde_json::from_str::<serde_json::Value>(&seen).unwrap_or_else(|e| panic!("{e}: {seen:?}"));
}

#[test]
fn outputs_of_root_through_sudo_belong_to_the_caller() {
    use std::os::unix::fs::MetadataExt;
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root");
        return;
    }
    let fixture = Fixture::in_memory();
    let run = |words: &str| {
        let mut command = fixture.command(words);
        command.env("SUDO_UID", "1234").env("SUDO_GID", "1235");
        Done::new(words, command.spawn().unwrap()).expect(0);
    };
    run("run quick sim:samsung-951 --scale 0.01 --out runs/mine --report page.html");
    run("export runs/mine --format csv -o tables");
    run("export runs/mine --format json -o run.json");
    let outputs = [
        "runs",
        "runs/mine",
        "runs/mine/journal.log",
        "runs/mine/manifest.json",
        "runs/mine/SHA256SUMS",
    ];
    for name in outputs.into_iter().chain(["page.html", "tables", "tables/cells.csv", "run.json"]) {
        let found = std::fs::metadata(fixture.path(name)).unwrap();
        assert_eq!((found.uid(), found.gid()), (1234, 1235), "{name}");
    }
}

/// A mean of nothing is no number in any format; counts and rates of 0 are.
#[test]
fn intervals_without_samples_have_no_latency() {
    let fixture = Fixture::in_memory();
    fixture
        .ok("job sim:samsung-951 --rw randread --bs 4k --thinktime 2500ms --runtime 10s --out run");
    fixture.ok("export run --format csv -o tables");
    let table = fixture.text("tables/intervals.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let idle: Vec<bool> = rows.iter().map(|row| row[column("ios")] == "0").collect();
    assert!(idle.contains(&true) && idle.contains(&false), "{table}");
    for (row, idle) in rows.iter().zip(&idle) {
        for key in ["mean", "stddev", "min", "p99", "max"] {
            assert_eq!(row[column(&format!("latency_{key}_ns"))].is_empty(), *idle, "{row:?}");
        }
        assert_eq!(
            (row[column("latency_samples")] == "0", row[column("iops")] == "0"),
            (*idle, *idle)
        );
    }
    fixture.ok("export run --format json -o run.json");
    let run: Value = serde_json::from_str(&fixture.text("run.json")).unwrap();
    let series = run["cells"][0]["results"][0]["series"].as_array().unwrap();
    let unknown: Vec<bool> = series.iter().map(|row| row["latency_ns"].is_null()).collect();
    assert_eq!(unknown, idle);
}

/// Of I/Os that all failed, logs of latencies have no line; they had one of 0.
#[test]
fn logs_of_latencies_have_no_mean_of_nothing() {
    let fixture = Fixture::in_memory();
    let failing = "job sim:samsung-951,fault=media-error@0+1g --size 1g --rw read --bs 128k \
                   --runtime 2s --out run";
    fixture.run(failing).expect(1);
    fixture.ok("export run --format fio-logs -o logs");
    let of = |log: &str| {
        let name = format!("read-iodepth-1-numjobs-1_{log}.1.log");
        fixture.text(&format!("logs/samsung-951/job/128k/{name}"))
    };
    assert_eq!(of("bw"), "1000, 0, 0, 0, 0\n2000, 0, 0, 0, 0\n");
    assert_eq!((of("lat"), of("clat")), (String::new(), String::new()));
}

/// What the link carries is no estimate: neither less than what was measured, nor more.
#[test]
fn rates_end_at_what_the_link_carries() {
    let fixture = Fixture::on_disk();
    for (drive, mib_per_s) in [("samsung-951", "3,163"), ("samsung-960-evo", "3,205")] {
        let job = format!(
            "job sim:{drive},state=fresh --rw read --bs 128k --iodepth 32 --runtime 1s --out {drive}"
        );
        let line = fixture.ok(&job).stdout;
        assert!(line.contains(&format!(" IOPS, {mib_per_s} MiB/s, ")), "{line}");
        assert!(line.contains(&format!(" to {mib_per_s} MiB/s (")), "{line}");
        fixture.ok(&format!("report {drive} -o {drive}.html"));
        let page = fixture.text(&format!("{drive}.html"));
        assert!(page.contains(&format!("at most the {mib_per_s} MiB/s of its link")));
    }
}
