use assay_device::nvme::probe::{AutonomousPower, PowerStateLimits};

use super::*;

fn link(speed: &str, width: u32) -> PcieLink {
    PcieLink {
        address: "0000:01:00.0".to_owned(),
        speed: Some(speed.to_owned()),
        width: Some(width),
        max_speed: Some("8.0 GT/s PCIe".to_owned()),
        max_width: Some(4),
    }
}

#[test]
fn a_link_is_below_its_capability_when_slower_or_narrower() {
    assert_eq!(below_capability(&link("8.0 GT/s PCIe", 4)), None);
    let (now, possible) = below_capability(&link("2.5 GT/s PCIe", 4)).unwrap();
    assert_eq!((now.as_str(), possible.as_str()), ("2.5 GT/s x4", "8 GT/s x4"));
    assert!(below_capability(&link("8.0 GT/s PCIe", 1)).is_some());
    assert_eq!(below_capability(&link("Unknown", 1)), None);
}

/// A block device as sysfs shows it.
fn block_device(scheduler: &str, rotational: &str) -> DriveInfo {
    let tree = tempfile::TempDir::new().unwrap();
    let device = tree.path().join("sys/devices/pci0000:00/nvme0n1");
    let write = |path: &str, text: &str| {
        let path = device.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("dev", "259:0\n");
    write("size", "2048\n");
    write("queue/scheduler", scheduler);
    write("queue/rotational", rotational);
    for link in ["sys/block/nvme0n1", "sys/class/block/nvme0n1", "sys/dev/block/259:0"] {
        let link = tree.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&device, link).unwrap();
    }
    let root = assay_device::identity::SystemRoot::at(tree.path());
    assay_device::identity::list_drives_at(&root).remove(0)
}

#[test]
fn an_active_scheduler_is_warned_of_with_advice() {
    let codes = |scheduler: &str, rotational: &str| -> Vec<String> {
        let warnings = about_info(&block_device(scheduler, rotational));
        warnings.into_iter().map(|w| w.code).collect()
    };
    assert_eq!(codes("none [mq-deadline] kyber\n", "0\n"), ["io-scheduler"]);
    assert!(codes("[none] mq-deadline kyber\n", "0\n").is_empty());
    let warning = about_info(&block_device("[bfq] none\n", "0\n")).remove(0);
    assert!(warning.message.contains("I/O scheduler bfq"), "{}", warning.message);
    assert!(warning.advice.contains("queue/scheduler"), "{}", warning.advice);
}

fn codes(probe: &Probe) -> Vec<String> {
    about_probe(probe).into_iter().map(|w| w.code).collect()
}

#[test]
fn warnings_follow_from_the_probe() {
    let mut probe = Probe::default();
    probe.thermal.warning_c = Some(70);
    probe.health.composite_c = 45;
    probe.write_cache_on = Some(true);
    assert!(codes(&probe).is_empty());
    probe.health.composite_c = 61;
    probe.write_cache_on = Some(false);
    probe.health.critical_warnings = vec!["media read-only".to_owned()];
    probe.power_states =
        vec![PowerStateLimits { state: 4, exit_us: Some(8000), ..PowerStateLimits::default() }];
    let mut asleep = AutonomousPower { enabled: false, transitions: vec![(0, 100, 4)] };
    probe.autonomous_power = Some(asleep.clone());
    assert_eq!(codes(&probe), ["critical-warning", "hot-before-start", "write-cache-off"]);
    asleep.enabled = true;
    probe.autonomous_power = Some(asleep);
    assert_eq!(codes(&probe).last().map(String::as_str), Some("falls-asleep"));
    // The warning appears with and without a reported exit latency.
    let last_message = |probe: &Probe| about_probe(probe).pop().unwrap().message;
    assert!(last_message(&probe).contains("takes up to 8.0 ms to wake"));
    for exit_unknown in [true, false] {
        if exit_unknown {
            probe.power_states[0].exit_us = None;
        } else {
            probe.power_states.clear();
        }
        let message = last_message(&probe);
        assert!(
            message.contains("after 100 ms")
                && message.contains("does not report its exit latency"),
            "{message}"
        );
    }
}
