//! Options become a workload that fits the drive, or an error that names a valid value.

use assay_device::identity::AtomicWrites;
use assay_device::session::{PassthruSupport, TargetKind, TargetProperties, WriteZones};
use assay_io::Nanos;
use assay_workload::options::JobOptions;
use assay_workload::plan::{Engine, Pacing, PlanError, Workload};

fn facts(kind: TargetKind) -> TargetProperties {
    TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "/dev/test".to_owned(),
        capacity_bytes: 1 << 30,
        files: Vec::new(),
        min_io_bytes: 4096,
        kind,
    }
}

/// Options from `key=value` pairs; the listed keys are numbers or flags, all others texts.
fn options(words: &str) -> JobOptions {
    let mut table = toml::Table::new();
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap();
        let value = match key {
            "iodepth"
            | "numjobs"
            | "rwmixread"
            | "seed"
            | "segments"
            | "iodepth_batch_complete_min" => toml::Value::Integer(value.parse().unwrap()),
            "split" | "atomic" | "direct" | "sqpoll" | "hipri" | "verify" | "zone_append" => {
                toml::Value::Boolean(value.parse().unwrap())
            }
            _ => toml::Value::String(value.to_owned()),
        };
        table.insert(key.to_owned(), value);
    }
    table.try_into().unwrap()
}

fn plan(words: &str) -> Result<Workload, PlanError> {
    Workload::plan(
        &options(words),
        &facts(TargetKind::Block { io_poll: false, passthru: PassthruSupport::No, zones: None }),
    )
}

/// A tenth of 1 MiB is no multiple of 4 KiB: fio begins at the next block.
#[test]
fn an_offset_in_percent_begins_at_a_block() {
    let small = TargetProperties {
        capacity_bytes: 1 << 20,
        files: Vec::new(),
        min_io_bytes: 512,
        ..facts(TargetKind::File)
    };
    for (bs, offset_bytes) in [("4k", 106_496), ("64k", 131_072), ("512", 104_960)] {
        let words = format!("offset=10% size=50% rw=randread bs={bs}");
        let planned = Workload::plan(&options(&words), &small).unwrap();
        assert_eq!(planned.area.offset_bytes, offset_bytes, "{bs}");
    }
    // Rounding leaves less than a block beyond the end.
    let words = options("offset=70% size=30% rw=randread bs=4k");
    let area = Workload::plan(&words, &small).unwrap().area;
    assert_eq!((area.offset_bytes, area.offset_bytes + area.size_bytes), (737_280, 1 << 20));
}

#[test]
fn defaults_are_fios() {
    let w = plan("").unwrap();
    assert_eq!((w.rw.as_str(), w.read_percent), ("read", 100));
    assert_eq!((w.iodepth, w.numjobs, w.direct), (1, 1, true));
    assert_eq!(w.access.block_sizes.max_bytes(), 4096);
    assert_eq!((w.area.offset_bytes, w.area.size_bytes), (0, 1 << 30));
    // Without a runtime: one pass over the area.
    assert_eq!((w.runtime, w.io_bytes), (None, Some(1 << 30)));
    assert_eq!(w.pacing, Pacing::Closed);
}

#[test]
fn the_default_engine_depends_on_depth_and_drive() {
    assert_eq!(plan("iodepth=1").unwrap().engine, Engine::Sync);
    assert_eq!(plan("iodepth=2").unwrap().engine, Engine::Uring);
    assert_eq!(plan("iodepth=1 engine=uring").unwrap().engine, Engine::Uring);
    let simulated = |words: &str| Workload::plan(&options(words), &facts(TargetKind::Simulated));
    // fio's spellings are valid there as on real drives.
    for words in ["sync", "psync", "uring", "io_uring", "auto"] {
        let engine = simulated(&format!("engine={words}")).unwrap().engine;
        assert_eq!(engine, Engine::Sim, "{words}");
    }
    for words in ["sync", "psync"] {
        let refused = simulated(&format!("engine={words} iodepth=2")).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(&format!("--engine {words} has one")), "{text}");
        assert!(text.contains("not 2"), "{text}");
    }
}

#[test]
fn shares_and_parts() {
    let w = plan("size=50% offset=25% bs=64k numjobs=4 split=true").unwrap();
    assert_eq!((w.area.offset_bytes, w.area.size_bytes), (256 << 20, 512 << 20));
    for worker in 0..4 {
        let region = w.region(worker);
        assert_eq!(region.offset_bytes, (256 << 20) + u64::from(worker) * (128 << 20));
        assert_eq!(region.size_bytes, 128 << 20);
    }
    let w = plan("size=100m offset_increment=200m numjobs=4").unwrap();
    assert_eq!(w.region(3).offset_bytes, 600 << 20);
}

#[test]
fn runtime_bytes_and_ramp() {
    let w = plan("runtime=2s ramp_time=500ms").unwrap();
    assert_eq!(w.planned_span(), Some(Nanos::from_millis(2500)));
    assert_eq!(w.io_bytes, None);
    let w = plan("runtime=2s io_size=1m numjobs=3").unwrap();
    assert_eq!(w.planned_bytes(), Some(3 << 20));
}

#[test]
fn verifying_threads_have_disjoint_areas() {
    let w = plan("rw=randwrite verify=true numjobs=2").unwrap();
    assert!(w.split);
    assert_eq!(w.verify_bytes, Some(4096));
    let increment = |text| {
        plan(&format!("rw=randwrite verify=true numjobs=2 size=100m offset_increment={text}"))
    };
    assert!(increment("50m").is_err());
    assert!(increment("100m").is_ok());
}

/// The drive promises 4 KiB.
#[test]
fn atomic_writes_are_within_the_promise_of_kernel_and_drive() {
    let limits = AtomicWrites { min_bytes: 512, max_bytes: 4096 };
    let block = |atomic| TargetProperties {
        min_io_bytes: 512,
        atomic,
        ..facts(TargetKind::Block {
            io_poll: false,
            passthru: PassthruSupport::Possible,
            zones: None,
        })
    };
    let plan = |words: &str, target: &TargetProperties| Workload::plan(&options(words), target);
    let promised = &block(Some(limits));
    for fits in ["rw=write bs=4k", "rw=randwrite bs=512 iodepth=4", "rw=randrw bs=1k"] {
        assert!(plan(&format!("atomic=true {fits}"), promised).unwrap().features.atomic);
    }
    assert!(!plan("rw=write bs=1m", promised).unwrap().features.atomic);
    for kind in [TargetKind::File, TargetKind::Simulated] {
        let promised = TargetProperties { atomic: Some(limits), ..facts(kind) };
        let planned = plan("atomic=true rw=randwrite bs=4k verify=true", &promised).unwrap();
        assert_eq!(planned.verify_bytes, Some(4096));
    }
    for (words, named) in [
        ("rw=randread", "a job that writes"),
        ("rw=write bs=8k", "512 to 4096 bytes"),
        ("rw=write bs=1536", "power of two"),
        ("rw=write bssplit", "power of two"),
        ("rw=randwrite bs=4k offset=512", "multiples of"),
        ("rw=randwrite bs=4k blockalign=512", "multiples of"),
        ("rw=write bs=4k engine=passthru", "--engine passthru"),
        ("rw=write bs=4k direct=false", "--direct"),
    ] {
        let words = words.replace("bssplit", "bs=512/50:1k/50");
        let error = plan(&format!("atomic=true {words}"), promised).unwrap_err();
        assert!(error.to_string().contains(named), "{words}: {error}");
    }
    for none in [&block(None), &facts(TargetKind::File), &facts(TargetKind::Simulated)] {
        let error = plan("atomic=true rw=write", none).unwrap_err().to_string();
        assert!(error.contains("--atomic"), "{error}");
    }
}

#[test]
fn placement_identifiers_are_those_of_the_drive() {
    let placing = |kind, placement_handles| TargetProperties { placement_handles, ..facts(kind) };
    let plan = |words: &str, target: &TargetProperties| Workload::plan(&options(words), target);
    let simulated = &placing(TargetKind::Simulated, 4);
    let planned = plan("rw=randwrite fdp=3", simulated).unwrap();
    assert_eq!(planned.features.placement.unwrap().ids, [3]);
    let taken = |words: &str, of: usize| -> Vec<u16> {
        let planned = plan(words, simulated).unwrap();
        let mut ids = planned.placement_ids(0).unwrap();
        (0..of).map(|_| ids.next_id()).collect()
    };
    assert_eq!(taken("rw=write fdp=2-3,0", 5), [0, 2, 3, 0, 2]);
    let random = taken("rw=write fdp=random:all", 400);
    for id in 0..4 {
        let count = random.iter().filter(|taken| **taken == id).count();
        assert!((60..140).contains(&count), "{id}: {count}");
    }
    let block = &placing(
        TargetKind::Block { io_poll: false, passthru: PassthruSupport::Possible, zones: None },
        4,
    );
    let planned = plan("rw=write fdp=0", block).unwrap();
    assert_eq!(planned.engine, Engine::Passthru);
    for (words, target, named) in [
        ("rw=write fdp=4", simulated, "0 to 3"),
        ("rw=randread fdp=1", simulated, "a job that writes"),
        ("rw=write fdp=1 engine=uring", block, "--engine passthru"),
        ("rw=write fdp=3-2", simulated, "0-2,4, all"),
        ("rw=write fdp=0,4", simulated, "0 to 3"),
        ("rw=write fdp=0", &placing(TargetKind::Simulated, 0), "assay probe"),
    ] {
        let error = plan(words, target).unwrap_err().to_string();
        assert!(error.contains("--fdp") && error.contains(named), "{error}");
    }
}

/// Zones of 2 MiB, of which the first MiB can be written.
#[test]
fn host_managed_zones_are_written_one_after_the_other() {
    let zoned = facts(TargetKind::Block {
        io_poll: false,
        passthru: PassthruSupport::Possible,
        zones: Some(WriteZones {
            zone_bytes: 2 << 20,
            capacity_bytes: 1 << 20,
            conventional_bytes: 0,
            most_at_once: Some(3),
        }),
    });
    let plan = |words: &str| Workload::plan(&options(words), &zoned);
    let two = plan("rw=write bs=512k size=4m").unwrap();
    assert_eq!(two.features.zone_resets.map(u64::from), Some(2 << 20));
    assert_eq!(two.io_bytes, Some(2 << 20), "what can be written of both");
    let mut addresses = two.addresses(0).unwrap();
    let places: Vec<u64> = (0..4).map(|_| addresses.next(true).0).collect();
    assert_eq!(places, [0, 512 << 10, 2 << 20, (2 << 20) + (512 << 10)]);
    for fits in ["numjobs=3 split=true size=6m", "verify=true size=4m", "bs=1m runtime=1s"] {
        plan(&format!("rw=write {fits}")).unwrap();
    }
    // Reads do not write.
    assert_eq!(plan("rw=randread iodepth=8 size=3m").unwrap().features.zone_resets, None);
    let appends = plan("rw=write engine=passthru zone_append=true iodepth=4 size=4m").unwrap();
    assert_eq!(appends.features.zone_append.map(u64::from), Some(2 << 20));
    assert!(plan("rw=write zone_append=true").is_err(), "not by passthrough");
    // A job of fio finds its zones by itself.
    let order = "rw=randwrite order=fio;zonemode=zbd size=8m bs=16k";
    assert!(plan(order).unwrap().open_mode().in_zones);
    for (words, named) in [
        ("rw=randwrite", "--rw randwrite"),
        ("rw=rw", "--rw rw"),
        ("rw=write:4k", "--rw write"),
        ("rw=trim", "assay purge"),
        ("rw=write iodepth=2", "--iodepth 1"),
        ("rw=write engine=passthru zone_append=true verify=true iodepth=2", "--verify"),
        ("rw=write bs=96k", "--bs"),
        ("rw=write zonesize=64k", "--zonesize"),
        ("rw=write size=3m", "multiples of a zone"),
        ("rw=write offset=1m", "multiples of a zone"),
        ("rw=write numjobs=2 split=true size=6m", "multiples of a zone"),
        ("rw=write numjobs=2", "--split"),
        ("rw=write numjobs=4 split=true size=8m", "3 at once"),
        ("rw=write verify=true io_size=200% size=4m", "second pass"),
        ("rw=write order=fio", "--order"),
        ("trace=none.csv", "--trace"),
    ] {
        let error = plan(words).unwrap_err().to_string();
        assert!(error.contains("host-managed") && error.contains(named), "{words}: {error}");
    }
}

#[test]
fn conventional_zones_take_every_order() {
    let partly = facts(TargetKind::Block {
        io_poll: false,
        passthru: PassthruSupport::Possible,
        zones: Some(WriteZones {
            zone_bytes: 2 << 20,
            capacity_bytes: 2 << 20,
            conventional_bytes: 8 << 20,
            most_at_once: None,
        }),
    });
    let plan = |words: &str| Workload::plan(&options(words), &partly);
    for fits in [
        "rw=randwrite size=8m",
        "rw=randwrite order=fio size=8m bs=4k",
        "rw=write offset=8m size=8m",
    ] {
        assert!(plan(fits).unwrap().open_mode().in_zones, "{fits}");
    }
    for (words, named) in [
        ("rw=randwrite size=10m", "--rw randwrite"),
        ("rw=randwrite order=fio size=10m", "zonemode=zbd"),
        ("rw=write size=10m", "conventional zones"),
    ] {
        let error = plan(words).unwrap_err().to_string();
        assert!(error.contains(named), "{words}: {error}");
    }
}

#[test]
fn errors_name_a_valid_value() {
    for (words, expected) in [
        ("rw=trimwrite", "read, write, randread"),
        ("bs=1000", "use 4096"),
        ("bs=512", "use 4096"),
        ("offset=1k", "use 4096"),
        ("size=2g", "lower --offset"),
        ("offset=1g", "lower --offset"),
        ("bs=8m", "4 MiB"),
        ("size=8k bs=64k", "smaller --bs"),
        ("size=64k numjobs=8 split=true bs=16k", "each thread's part"),
        ("numjobs=0", "from 1 to"),
        ("iodepth=0", "from 1 to"),
        ("iodepth=99999", "from 1 to"),
        ("numjobs=4096 iodepth=32768", "lower one of them"),
        ("iodepth=8 engine=sync", "--engine uring"),
        ("engine=libaio", "auto, sync, uring, threads, passthru"),
        ("engine=passthru", "uring"),
        ("hipri=true iodepth=4", "polling queues"),
        ("sqpoll=true", "--engine uring"),
        ("rate=10 rate_iops=10", "exclude"),
        ("arrival=poisson", "--rate"),
        ("rate=10 arrival=burst", "constant, poisson"),
        ("rate=0", "at least 1"),
        ("rate=100m", "--rate_bw 100m"),
        ("rate=64KiB", "bytes per second"),
        ("rate_iops=1g", "--rate_bw 1g"),
        ("rate=100MB/s", "--rate_bw 100m (fio's --rate)"),
        ("rate_iops=1.5GiB/s", "--rate_bw 1.5g (fio's --rate)"),
        ("rate=fast", "--rate_bw 100m, say (fio's --rate)"),
        ("random_distribution=cover", "random --rw"),
        ("rw=randread random_distribution=zipf:x", "zipf:THETA"),
        ("rw=randread random_distribution=zipf:-1", "outside (0, 10]"),
        ("rw=randread random_distribution=zoned:50/5", "accesses add up to 50"),
        ("rw=randread size=64k random_distribution=zoned:50/99:50/1", "zone 2 has no room"),
        ("rw=rw:8k bs=4k,8k", "one --bs for reads and writes"),
        ("rw=randrw bs=4k,", "block sizes"),
        ("rw=randread random_distribution=pareto:1", "between 0 and 1"),
        ("rw=randread random_distribution=normal:0", "below 100"),
        (
            "rw=randwrite order=fio;norandommap=1;random_generator=lfsr;sprandom=1;spr_num_regions=4000000000",
            "spr_num_regions",
        ),
        (
            "rw=randwrite size=1m order=fio;norandommap=1;random_generator=lfsr;sprandom=1;spr_num_regions=1000",
            "no whole block in a region",
        ),
        ("runtime=0", "longer than nothing"),
        ("runtime=soon", "5s"),
        ("interval=1us", "at least 1ms"),
        ("verify_interval=4k", "--verify"),
        ("verify=true verify_interval=3000", "power of two"),
        ("data=random", "incompressible"),
        ("zoneskip=4k", "--zonesize"),
        ("segments=0", "at least 1"),
        ("segments=4 size=1m bs=4k/50:8k/50", "blocks of one size"),
        ("segments=3 size=1m", "not so many segments"),
        ("segments=4 size=100%", "gap between its segments"),
        ("segments=64 size=1m bs=64k", "not a multiple of the block size"),
        ("segments=4 size=1m verify=true rw=write", "--verify"),
        ("thinktime_iotime=5s", "--thinktime_iotime needs --thinktime"),
        ("thinktime=1s thinktime_iotime=0", "longer than nothing"),
        ("rwmixread=101", "from 0 to 100"),
        ("size=120%", "percentage"),
        ("split=true offset_increment=1m size=10m numjobs=2", "use one"),
        ("iodepth=4 iodepth_batch_complete_min=5", "from 1 to 4"),
    ] {
        let Err(error) = plan(words) else {
            panic!("{words} was accepted");
        };
        let text = error.to_string();
        assert!(text.contains(expected), "{words}: {text:?} lacks {expected:?}");
    }
    let null = Workload::plan(&options("rw=write verify=true"), &facts(TargetKind::Null));
    assert!(null.unwrap_err().to_string().contains("keeps no data"));
}

/// fio's `size=2z` without `zonesize`.
#[test]
fn lengths_in_zones_are_those_of_the_drive() {
    let options = JobOptions {
        rw: Some("write".to_owned()),
        order: Some("fio;zonemode=zbd".to_owned()),
        size: Some("2z".to_owned()),
        offset: Some("1z".to_owned()),
        ..JobOptions::default()
    };
    let zones = WriteZones {
        zone_bytes: 1 << 20,
        capacity_bytes: 1 << 20,
        conventional_bytes: 0,
        most_at_once: None,
    };
    let kind = |zones| TargetKind::Block { io_poll: false, passthru: PassthruSupport::No, zones };
    let workload = Workload::plan(&options, &facts(kind(Some(zones)))).unwrap();
    assert_eq!(workload.area.offset_bytes, 1 << 20);
    assert_eq!(workload.area.size_bytes, 2 << 20);
    let error = Workload::plan(&options, &facts(kind(None))).unwrap_err();
    assert!(error.to_string().contains("of a zoned drive"), "{error}");
}
