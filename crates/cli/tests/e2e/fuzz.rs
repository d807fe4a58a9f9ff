//! Random command lines: no panic, a contract status, and with `--json` one document or none.

use std::sync::OnceLock;

use proptest::prelude::*;

use crate::fixture::Fixture;

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(Fixture::on_disk)
}

/// Valid and invalid texts for sizes, rates and durations.
fn quantity() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0_u64..70, prop::sample::select(vec!["", "k", "KiB", "m", "ms", "us", "s", "%", "b"])).prop_map(|(n, u)| format!("{n}{u}")),
        1 => any::<u64>().prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec!["0", "-1", "512", "4096", "1e9", "nan", "inf", "1.5k", "99999999999999999999g", "0x10", ".", "%", "µs", "١٢"]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ]
}

fn word(choices: Vec<&'static str>) -> impl Strategy<Value = String> {
    prop_oneof![9 => prop::sample::select(choices).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

/// One option with its value; without large thread counts, which are slow and tested elsewhere.
fn option() -> impl Strategy<Value = Vec<String>> {
    let valued = prop::sample::select(vec![
        "--bs",
        "--size",
        "--offset",
        "--offset_increment",
        "--blockalign",
        "--zonesize",
        "--zonerange",
        "--zoneskip",
        "--rate",
        "--rate_iops",
        "--rate_bw",
        "--interval",
        "--verify_interval",
        "--verify_seed",
        "--seed",
    ]);
    prop_oneof![
        6 => (valued, quantity()).prop_map(|(name, value)| vec![name.to_owned(), value]),
        3 => word(vec!["read", "write", "randread", "randwrite", "rw", "randrw", "readwrite"]).prop_map(|w| vec!["--rw".to_owned(), w]),
        1 => word(vec!["random", "cover", "zipf:1.1", "zipf:0.5", "zipf:9", "zipf:1"]).prop_map(|w| vec!["--random_distribution".to_owned(), w]),
        1 => word(vec!["sync", "uring", "auto", "passthru"]).prop_map(|w| vec!["--engine".to_owned(), w]),
        1 => word(vec!["incompressible", "zero", "compress=2", "compress=1", "compress=1000", "compress=0.5"]).prop_map(|w| vec!["--data".to_owned(), w]),
        1 => word(vec!["constant", "poisson"]).prop_map(|w| vec!["--arrival".to_owned(), w]),
        1 => word(vec!["4k/50:8k/50", "512/1:4m/99", "4k/0:8k", "4k:", ":", "4k/60:64k/40"]).prop_map(|w| vec!["--bs".to_owned(), w]),
        // No long ramps.
        1 => (0_u32..20).prop_map(|n| vec!["--ramp_time".to_owned(), format!("{n}ms")]),
        1 => (0_u32..40).prop_map(|n| vec!["--iodepth".to_owned(), n.to_string()]),
        1 => (0_u32..12).prop_map(|n| vec!["--numjobs".to_owned(), n.to_string()]),
        1 => (0_u32..120).prop_map(|n| vec!["--rwmixread".to_owned(), n.to_string()]),
        1 => (0_u32..9).prop_map(|n| vec!["--iodepth_batch_complete_min".to_owned(), n.to_string()]),
        1 => word(vec!["0", "0-", "3-1", "0,0", "9999999999"]).prop_map(|w| vec!["--cpus_allowed".to_owned(), w]),
        1 => prop::sample::select(vec!["--verify", "--split", "--hipri", "--sqpoll"]).prop_map(|flag| vec![flag.to_owned()]),
        1 => word(vec!["true", "false"]).prop_map(|w| vec!["--direct".to_owned(), w]),
        1 => word(vec!["null", "x"]).prop_map(|w| vec!["--destroy".to_owned(), w]),
    ]
}

fn drive() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just("null:".to_owned()),
        2 => (0_u64..40).prop_map(|n| format!("null:size={n}k")),
        4 => prop::sample::select(vec![
            "sim:samsung-951", "sim:intel-600p", "sim:samsung-951,state=fresh", "sim:intel-600p,op=90%", "sim:samsung-951,fault=drop-write@3",
            "sim:samsung-951,fault=read-error@1,fault=write-error@1", "sim:intel-600p,fault=latency-spike@2=1s",
        ]).prop_map(str::to_owned),
        1 => "(sim|null):\\PC{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_job_panics(drive in drive(), options in prop::collection::vec(option(), 0..7), io_size in 1_u32..64, json: bool) {
        // Limited by bytes and by time.
        let io_size = format!("{io_size}k");
        let mut command = fixture().command("job");
        command.arg(&drive).args(options.iter().flatten()).args(["--io_size", &io_size, "--runtime", "20ms"]);
        if json {
            command.arg("--json");
        }
        let words = format!("job {drive} {options:?}");
        let done = crate::fixture::Done::new(&words, command.spawn().unwrap());
        prop_assert!([0, 1, 2, 4].contains(&done.status), "{}", done);
        if done.status <= 1 {
            prop_assert!(!done.stdout.is_empty());
            if json {
                done.json();
            }
        } else {
            prop_assert!(done.stdout.is_empty() && done.stderr.contains("error:"), "{}", done);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, max_shrink_iters: 30, ..ProptestConfig::default() })]

    #[test]
    fn no_command_line_panics(words in prop::collection::vec(prop_oneof![
        prop::sample::select(vec!["run", "job", "report", "probe", "list", "compare", "export", "suites", "null:", "--json", "--set",
            "area=1m", "--resume", "--out", "--help", "-o", "--", "-", "--format", "--version", "=", "--scale", "0.001", "completions", "fish"])
            .prop_map(str::to_owned),
        "\\PC{0,10}",
    ], 0..6)) {
        // In a separate folder: some commands write files.
        let fixture = Fixture::on_disk();
        let mut command = fixture.command("");
        command.args(&words);
        let done = crate::fixture::Done::new(&format!("{words:?}"), command.spawn().unwrap());
        prop_assert!([0, 1, 2, 3, 4].contains(&done.status), "{}", done);
    }
}
