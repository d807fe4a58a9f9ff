use super::*;

#[test]
fn reads_the_command_line_spelling() {
    let mut options = DriveOptions::default();
    for pair in [
        "seed=7",
        "state=fresh",
        "op=25%",
        "ambient=30",
        "ps=2",
        "apst=on",
        "coalescing=100us/4",
        "map_cache=1m",
        "shrink=64",
        "capacity=1TB",
        "data=keep",
        "cycles=1500",
        "retention=90d",
        "fault=drop-write@100",
        "fault=latency-spike@3=50ms",
        "fault=power-loss@9",
        "fault=media-error@1g+64k",
        "fault=wrap:64g",
    ] {
        let (key, value) = pair.split_once('=').unwrap();
        options.set(key, value).unwrap();
    }
    assert_eq!((options.seed, options.shrink), (7, Some(64)));
    assert_eq!(options.capacity_bytes, Some(1_000_000_000_000));
    assert_eq!(options.state, InitialState::Fresh);
    assert_eq!(options.over_provisioning_percent, Some(25));
    assert_eq!(options.ambient_celsius, Some(30.0));
    assert_eq!((options.power_state, options.autonomous_power), (2, Some(true)));
    let setting = |time_100us, threshold| Some(CoalescingSetting { time_100us, threshold });
    assert_eq!(options.coalescing, setting(1, 3));
    options.set("coalescing", "off").unwrap();
    assert_eq!(options.coalescing, setting(0, 0));
    assert_eq!(options.map_cache_bytes, Some(1 << 20));
    options.set("map_cache", "off").unwrap();
    assert_eq!(options.map_cache_bytes, Some(0));
    assert!(options.keep_data && !options.regenerate_data);
    options.set("data", "checksum").unwrap();
    assert!(options.keep_data && options.regenerate_data);
    assert_eq!((options.age.cycles, options.age.retention_hours), (1500, 2160));
    assert_eq!(options.age.retention_celsius, 30);
    options.set("retention", "12h@55C").unwrap();
    let age = options.age;
    assert_eq!((age.retention_hours, age.retention_celsius), (12, 55));
    assert_eq!(
        options.faults,
        [
            Fault { kind: FaultKind::DropWrite, ordinal: 100 },
            Fault { kind: FaultKind::LatencySpike(Nanos::from_millis(50)), ordinal: 3 },
            Fault { kind: FaultKind::PowerLoss, ordinal: 9 },
            Fault {
                kind: FaultKind::MediaError { offset_bytes: 1 << 30, len_bytes: 65_536 },
                ordinal: 0
            },
            Fault { kind: FaultKind::Counterfeit { bytes: 64 << 30 }, ordinal: 0 }
        ]
    );
}

#[test]
fn refusals_name_what_would_be_right() {
    let mut options = DriveOptions::default();
    let error = options.set("sed", "7").unwrap_err();
    assert!(error.to_string().contains("seed, lot, state, op, capacity, shrink"), "{error}");
    for (key, value) in [
        ("seed", "-1"),
        ("state", "half"),
        ("shrink", "0"),
        ("capacity", "1"),
        ("capacity", "1pb"),
        ("capacity", "infTB"),
        ("shrink", "64.5"),
        ("op", "95%"),
        ("op", "lots"),
        ("ambient", "NaN"),
        ("ambient", "900"),
        ("data", "yes"),
        ("ps", "-1"),
        ("ps", "full"),
        ("apst", "yes"),
        ("coalescing", "150us/4"),
        ("coalescing", "100us/0"),
        ("coalescing", "100us/257"),
        ("coalescing", "1s/4"),
        ("coalescing", "100us"),
        ("map_cache", "4095"),
        ("map_cache", "17g"),
        ("map_cache", "none"),
        ("cycles", "-1"),
        ("cycles", "many"),
        ("retention", "old"),
        ("retention", "40000d"),
        ("retention", "90d@"),
        ("retention", "90d@200C"),
        ("fault", "drop-write"),
        ("fault", "drop-write@0"),
        ("fault", "drop-write@x"),
        ("fault", "drop-write@1=5ms"),
        ("fault", "latency-spike@1"),
        ("fault", "latency-spike@1=4000d"),
        ("fault", "media-error@18446744073709547520+8k"),
        ("fault", "explode@1"),
        ("fault", "media-error@4k"),
        ("fault", "media-error@4k+0"),
        ("fault", "wrap:0"),
        ("fault", "wrap:5000"),
        ("fault", "wrap@64g"),
        ("fault", "vanish@1=5ms"),
    ] {
        let error = options.set(key, value).unwrap_err();
        assert!(error.to_string().contains("expected"), "{error}");
    }
    assert_eq!(options, DriveOptions::default());
}

#[test]
fn the_old_spelling_of_a_surprise_removal_is_accepted() {
    for text in ["surprise-removal@3", "vanish@3"] {
        let mut options = DriveOptions::default();
        options.set("fault", text).unwrap();
        assert_eq!(options.faults, [Fault { kind: FaultKind::SurpriseRemoval, ordinal: 3 }]);
    }
}

#[test]
fn hosts_are_named_as_they_are_written() {
    let mut options = DriveOptions::default();
    for text in ["2017", "2025", "bench", "2.3us", "0us"] {
        options.set("host", text).unwrap();
        assert_eq!(options.host.unwrap().to_string(), text);
    }
    options.set("host", "0.01ms").unwrap();
    assert_eq!(options.host, Some(HostChoice::Cost(Nanos(10_000))));
    for text in ["2018", "1.1ms", "mine", "-1us"] {
        let error = options.set("host", text).unwrap_err().to_string();
        assert!(error.contains(text) && error.contains("bench"), "{error}");
    }
}

/// A profile file of an earlier version is refused with the present keys.
#[test]
fn one_host_cost_is_refused_with_the_names_of_both() {
    let text = crate::Profile::builtin_text("samsung-951").unwrap();
    let before = text.replacen("\nsync_io_ns ", "\nhost_overhead_ns ", 1);
    let error = crate::Profile::from_toml(&before).unwrap_err().to_string();
    assert!(error.contains("host_overhead_ns"), "{error}");
    assert!(error.contains("sync_io_ns") && error.contains("async_io_ns"), "{error}");
}
