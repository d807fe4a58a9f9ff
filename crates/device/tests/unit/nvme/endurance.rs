//! Logs with counters of media bytes: which is used, and when.

use assay_nvme_spec::fdp::EnduranceGroupLog;
use assay_nvme_spec::identify::ctratt;
use assay_nvme_spec::log::{IntelSmartLog, LogId, OCP_GUID, OcpSmartLog};
use assay_units::endurance::{CounterOrigin, CounterSource, RatedEndurance};

use super::super::commands::Commands;
use super::super::display::facts;
use super::super::endurance::EnduranceLogs;
use super::super::health::{self, Endurance};
use super::super::probe::{ControllerContext, probe};
use super::table_controller;

/// Page C0h counts only with its GUID; write amplification is media over host bytes.
#[test]
fn the_endurance_log_gives_write_amplification() {
    let mut port = table_controller();
    port.smart.set_data_units_written(100);
    let mut log = OcpSmartLog::default();
    log.set_media_bytes_written(128_000_000)
        .set_media_bytes_read(41)
        .set_bad_user_low(42)
        .set_bad_user_high(1)
        .set_free_percent(43)
        .set_min_erases(44)
        .set_max_erases(45)
        .set_throttling_events(46);
    port.ocp = Some(log);
    assert_eq!(port.health().endurance, None);
    log.set_guid(OCP_GUID);
    port.ocp = Some(log);
    let found = port.health();
    let expected = Endurance {
        media: origin(CounterSource::OcpSmart, 1),
        media_written_bytes: 128_000_000,
        host: origin(CounterSource::Smart, 512_000),
        host_written_bytes: 51_200_000,
        media_read_bytes: Some(41),
        bad_blocks: Some((1 << 32) + 42),
        free_blocks_pct: Some(43),
        erases: Some((44, 45)),
        mean_erases: None,
        throttling_events: Some(46),
    };
    assert_eq!(found.endurance, Some(expected));
    // 99 units and a block are 100 units.
    assert_eq!(
        found.write_amplification(),
        Some((2.5, 128_000_000.0 / (51_200_000.0 - 511_999.0)))
    );
    let mut young = found.clone();
    young.endurance.as_mut().unwrap().host_written_bytes = 512_000;
    assert_eq!(young.write_amplification(), None, "perhaps a single block");
    assert_eq!(found.telemetry().nand_bytes_written, Some(128_000_000));
    let reading = found.telemetry();
    assert_eq!(
        (reading.erases_least, reading.erases_most, reading.bad_blocks),
        (Some(44), Some(45), Some((1 << 32) + 42))
    );
    let probed = probe(&mut port, ControllerContext::default()).unwrap();
    assert_eq!(probed.health, found);
    let mut lines = Vec::new();
    facts(&probed, &mut |_, name, value| lines.push(format!("{name}: {value}")));
    let has = |line: &str| lines.iter().any(|found| found == line);
    assert!(
        has("write amplification: 2.50 to 2.53 over its life, by the units of its counters"),
        "{lines:?}"
    );
}

fn origin(source: CounterSource, unit_bytes: u64) -> CounterOrigin {
    CounterOrigin { source, unit_bytes }
}

/// Log 09h belongs to the group of the namespace; the rated endurance is its estimate. C0h precedes
/// it for media bytes.
#[test]
fn the_endurance_group_gives_media_bytes_and_the_rated_endurance() {
    let mut port = table_controller();
    port.smart.set_data_units_written(10_000_000);
    let mut log = EnduranceGroupLog::default();
    log.set_gigabytes_written(5_100)
        .set_media_gigabytes_written(15_300)
        .set_endurance_gigabytes(1_400_000);
    port.group = Some((3, log));
    assert_eq!(port.health().endurance, None, "it has no endurance groups");
    port.controller.set_attributes(ctratt::ENDURANCE_GROUPS);
    assert_eq!(port.health().endurance, None, "its namespace is in none");
    port.namespaces.get_mut(&1).unwrap().set_endurance_group(3);
    // The only group that there can be: host bytes of the health log are about the same flash, in
    // finer steps.
    port.controller.set_endurance_groups(1);
    let alone = port.health();
    let found = alone.endurance.unwrap();
    assert_eq!(found.media, origin(CounterSource::EnduranceGroup, 1_000_000_000));
    assert_eq!(found.media_written_bytes, 15_300_000_000_000);
    assert_eq!(found.host, origin(CounterSource::Smart, 512_000));
    assert_eq!(found.host_written_bytes, 5_120_000_000_000);
    let rated = RatedEndurance {
        source: CounterSource::EnduranceGroup,
        media_bytes: 1_400_000_000_000_000,
    };
    assert_eq!(alone.rated, Some(rated));
    assert_eq!(alone.counters().rated, Some(rated));
    // One of several: its own host counter.
    port.controller.set_endurance_groups(4);
    let found = port.health();
    let endurance = found.endurance.unwrap();
    assert_eq!(endurance.host, endurance.media);
    let (least, most) = found.write_amplification().unwrap();
    assert!(least < 3.0 && 3.0 < most, "{least} {most}");
    assert_eq!(found.telemetry().host_bytes_written, Some(5_100_000_000_000));
    // With C0h, the rated endurance remains.
    port.ocp = Some(*OcpSmartLog::default().set_media_bytes_written(7).set_guid(OCP_GUID));
    let found = port.health();
    assert_eq!(found.endurance.unwrap().media, origin(CounterSource::OcpSmart, 1));
    assert_eq!(found.rated, Some(rated));
    // A group that reports neither.
    (port.ocp, port.group) = (None, Some((3, EnduranceGroupLog::default())));
    let found = port.health();
    assert_eq!((found.endurance, found.rated), (None, None));
}

/// A vendor's page is used only of that vendor, only without a log of a standard, and only if it
/// agrees with the health log.
#[test]
fn a_vendors_log_must_agree_with_the_health_log() {
    let mut port = table_controller();
    let page = |media_units: u32, host_units: u32| {
        let mut log = IntelSmartLog::default();
        let mut items = log.items();
        for (item, (key, units)) in items.iter_mut().zip([
            (IntelSmartLog::MEDIA_WRITTEN, media_units),
            (IntelSmartLog::HOST_WRITTEN, host_units),
        ]) {
            let [a, b, c, d] = units.to_le_bytes();
            item.set_key(key).set_raw([a, b, c, d, 0, 0]);
        }
        log.set_items(items);
        Some(*log.as_bytes())
    };
    // 10,000 units of 32 MiB are 655,360 of 512,000 bytes.
    port.smart.set_data_units_written(655_360);
    port.vendor = page(25_000, 10_000);
    assert_eq!(port.health().endurance, None, "another vendor");
    assert!(!port.logs.contains(&LogId::VENDOR_CA.0), "{:?}", port.logs);
    port.controller.set_vendor_id(0x8086);
    let found = port.health();
    let endurance = found.endurance.unwrap();
    assert_eq!(endurance.media, origin(CounterSource::IntelVendor, 32 << 20));
    assert_eq!(endurance.media_written_bytes, 25_000 << 25);
    let (least, most) = found.write_amplification().unwrap();
    assert!(least < 2.5 && 2.5 < most, "{least} {most}");
    for (media_units, host_units) in [
        // Counters in other units.
        (25_000, 655_360),
        (25_000, 9_000),
        // Less than half of the host's bytes, and more than a thousand times them.
        (4_900, 10_000),
        (u32::MAX, 10_000),
    ] {
        port.vendor = page(media_units, host_units);
        assert_eq!(port.health().endurance, None, "{media_units} {host_units}");
    }
    port.vendor = None;
    port.logs.clear();
    let logs = EnduranceLogs::find(&mut Commands::to(&mut port), None).unwrap();
    for _ in 0..3 {
        health::read(&mut port, &logs).unwrap();
    }
    let requests = |lid: LogId| port.logs.iter().filter(|id| **id == lid.0).count();
    assert_eq!((requests(LogId::VENDOR_CA), requests(LogId::OCP_SMART)), (1, 1));
}
