//! Manifest of a run: plan, drives and host, recorded before the first measurement.

use std::collections::BTreeMap;

use assay_device::host::{HostInfo, wall_clock};
use assay_device::identity::{DriveInfo, DriveKind};
use assay_device::nvme::display;
use assay_device::session::DriveSession;
use assay_ssd::published;
use assay_store::model::{self, BuildRecord, Manifest, SCHEMA};

use crate::expand::RunPlan;

mod reference_files;

/// The manifest of a plan.
pub fn manifest(
    plan: &RunPlan,
    drives: &[DriveSession],
    tool: BuildRecord,
    command_line: Vec<String>,
) -> Manifest {
    let created = wall_clock();
    Manifest {
        schema: SCHEMA,
        run_id: run_id(&created, &plan.suite.name),
        created,
        tool,
        command_line,
        suite: model::SuiteRecord {
            name: plan.suite.name.clone(),
            title: plan.suite.title.clone(),
            summary: plan.suite.summary.clone(),
            source: plan.suite.source.clone(),
            text: plan.suite.text.clone(),
        },
        parameters: plan.parameters.clone(),
        scale: plan.scale,
        seed: plan.seed,
        host: host(&HostInfo::read()),
        drives: drives
            .iter()
            .zip(&plan.labels)
            .map(|(session, label)| model::DriveRecord {
                probe: probe(session),
                power_limits_mw: power_limits(session),
                ..drive(session.info(), label)
            })
            .collect(),
        cells: plan.cells.iter().map(|cell| cell.plan.clone()).collect(),
    }
}

/// `20261121T034500Z-bandwidth-1a2b`: sortable; the process id makes runs of one second unique.
fn run_id(created: &str, suite: &str) -> String {
    let stamp: String = created
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .take("20261121T034500".len())
        .collect();
    let suite: String = suite
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("{stamp}Z-{suite}-{:04x}", std::process::id() & 0xffff)
}

fn host(info: &HostInfo) -> model::HostRecord {
    let mut details = BTreeMap::new();
    for (name, value) in [
        ("clock source", &info.clocksource),
        ("frequency governor", &info.cpu_governor),
        ("virtual machine", &info.virtualised),
    ] {
        if let Some(value) = value {
            details.insert(name.to_owned(), value.clone());
        }
    }
    model::HostRecord {
        kernel: info.kernel.clone().unwrap_or_else(|| "unknown".to_owned()),
        cpu_model: info
            .cpu_model
            .clone()
            .unwrap_or_else(|| "unknown".to_owned()),
        logical_cpus: info.logical_cpus,
        memory_bytes: info.memory_bytes.unwrap_or(0),
        details,
    }
}

/// The controller's identify and log data, if readable.
fn probe(session: &DriveSession) -> Vec<model::ProbeProperty> {
    let Some(Ok(probe)) = session.probe() else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    display::facts(probe, &mut |group, name, value| {
        facts.push(model::ProbeProperty {
            group: group.to_owned(),
            name,
            value,
        });
    });
    facts
}

/// Maximum power of each operational power state, if readable. 0 means not reported (NVMe Base 2.0c, figure 276, MP).
fn power_limits(session: &DriveSession) -> BTreeMap<u8, u64> {
    let Some(Ok(probe)) = session.probe() else {
        return BTreeMap::new();
    };
    let working = probe.power_states.iter().filter(|state| state.operational);
    let limits = working.map(|state| (state.state, state.max_mw.round() as u64));
    limits.filter(|&(_, mw)| mw > 0).collect()
}

/// The recorded form of a drive.
pub fn drive(info: &DriveInfo, label: &str) -> model::DriveRecord {
    model::DriveRecord {
        spec: info.spec.clone(),
        label: label.to_owned(),
        kind: match info.kind {
            DriveKind::Block => "block",
            DriveKind::File => "file",
            DriveKind::Null => "null",
            DriveKind::Simulated => "simulated",
        }
        .to_owned(),
        model: info.model.clone().unwrap_or_default(),
        serial: info.serial.clone(),
        firmware: info.firmware.clone().unwrap_or_default(),
        capacity_bytes: info.capacity_bytes,
        logical_block_bytes: info.logical_block_bytes,
        simulated: info.simulated,
        profile: info.profile.clone(),
        details: details(info),
        probe: Vec::new(),
        power_limits_mw: BTreeMap::new(),
        published: published(info),
    }
}

/// Published figures of the drive modelled, if the simulated one is as its profile has it: one with other spare area or faults
/// has nothing to be compared with.
fn published(info: &DriveInfo) -> Vec<model::Published> {
    let Some(profile) = &info.profile else {
        return Vec::new();
    };
    if info.spec != format!("sim:{profile}") {
        return Vec::new();
    }
    let streams = published::stream_rates(profile)
        .into_iter()
        .map(|rate| model::Published {
            source: published::STREAM_SOURCE.to_owned(),
            rw: if rate.write { "write" } else { "read" }.to_owned(),
            bs_bytes: u64::from(rate.chunk_bytes),
            numjobs: 1,
            data: "incompressible".to_owned(),
            stream_bytes: Some(rate.stream_bytes),
            iodepth: 1,
            mib_per_s: rate.mib_per_s,
            latency_us: BTreeMap::new(),
        });
    published::read_bandwidths(profile)
        .into_iter()
        .map(|figure| model::Published {
            source: published::BANDWIDTH_SOURCE.to_owned(),
            rw: if figure.random { "randread" } else { "read" }.to_owned(),
            bs_bytes: u64::from(figure.block_bytes),
            numjobs: figure.threads,
            data: "incompressible".to_owned(),
            stream_bytes: None,
            iodepth: 1,
            mib_per_s: figure.mib_per_s,
            latency_us: BTreeMap::new(),
        })
        .chain(streams)
        .chain(reference_files::of(profile))
        .collect()
}

/// Further properties of a drive, by name.
pub fn details(info: &DriveInfo) -> BTreeMap<String, String> {
    let mut details = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            details.insert(name.to_owned(), value);
        }
    };
    // Absolute, so that the run can be resumed from another directory.
    add(
        "path",
        info.path.as_ref().map(|path| path.display().to_string()),
    );
    add("transport", info.transport.clone());
    add(
        "physical block",
        Some(format!("{} B", info.physical_block_bytes)),
    );
    add(
        "smallest direct I/O",
        Some(format!("{} B", info.min_io_bytes)),
    );
    add(
        "largest request",
        info.max_io_bytes.map(assay_units::text::format_size),
    );
    add("scheduler", info.scheduler.clone());
    add(
        "hardware queues",
        info.hardware_queues.map(|n| n.to_string()),
    );
    add(
        "requests per queue",
        info.nr_requests.map(|n| n.to_string()),
    );
    add("queue pairs", info.queue_pairs.map(|n| n.to_string()));
    add(
        "polling queues",
        info.io_poll
            .map(|yes| if yes { "yes" } else { "no" }.to_owned()),
    );
    add("write cache", info.write_cache.clone());
    add(
        "rotational",
        info.rotational
            .map(|yes| if yes { "yes" } else { "no" }.to_owned()),
    );
    add("NUMA node", info.numa_node.map(|n| n.to_string()));
    add("partition of", info.partition_of.clone());
    // Namespaces of one controller share its serial, and the number in a device name need not be the namespace id.
    add(
        "namespace",
        info.nvme.as_ref().map(|place| {
            let others = place.namespaces.iter().filter(|name| **name != info.name);
            let others: Vec<&str> = others.map(String::as_str).collect();
            let beside = if others.is_empty() {
                String::new()
            } else {
                format!(", beside {}", others.join(", "))
            };
            format!("{} of {}{beside}", place.nsid, place.controller.display())
        }),
    );
    if let Some(link) = &info.pcie {
        let text = |speed: &Option<String>, width: Option<u32>| {
            format!(
                "{} x{}",
                speed.as_deref().unwrap_or("unknown speed"),
                width.map_or_else(|| "?".to_owned(), |w| w.to_string())
            )
        };
        add("PCIe address", Some(link.address.clone()));
        add("PCIe link now", Some(text(&link.speed, link.width)));
        add(
            "PCIe link possible",
            Some(text(&link.max_speed, link.max_width)),
        );
    }
    if let Some(fs) = &info.filesystem {
        add("file system", Some(fs.fs_type.clone()));
        add("on device", fs.backing.clone());
        add("model of that device", fs.backing_model.clone());
    }
    details
}
