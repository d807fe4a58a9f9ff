//! What a terminal and a shell get: help, completions, colour, progress, and JSON.

use std::process::{Command, Stdio};

use crate::fixture::{ASSAY, Fixture, MIB};

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
