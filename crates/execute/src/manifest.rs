use std::collections::BTreeMap;

use assay_calibrate::predictive::{self, FigureKind, PredictiveInterval};
use assay_device::host::{HostInfo, random_id, wall_clock};
use assay_device::identity::{DriveInfo, DriveKind, Zones};
use assay_device::nvme::display;
use assay_device::nvme::probe::Thermal;
use assay_device::session::DriveSession;
use assay_device::spec::{DriveSpec, SpecKind};
use assay_sim_host::host::{NamedHost, SPREAD};
use assay_ssd::profile::lot;
use assay_ssd::{Profile, published};
use assay_store::model::{
    self, BuildRecord, Manifest, ModelledHost, PredictiveFactors, Published, SCHEMA,
};
use assay_units::text::format_size;

use assay_suite::expand::RunPlan;

mod reference_files;

pub fn manifest(
    plan: &RunPlan,
    drives: &[DriveSession],
    tool: BuildRecord,
    command_line: Vec<String>,
) -> Manifest {
    let created = wall_clock();
    let record = |(session, label): (&DriveSession, &String)| model::DriveRecord {
        probe: probe(session),
        power_limits_mw: power_limits(session),
        warning_c: thermal_limit(session, |thermal| thermal.warning_c),
        critical_c: thermal_limit(session, |thermal| thermal.critical_c),
        endurance: session.endurance(),
        ..drive(session.info(), label)
    };
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
        host: host(HostInfo::read()),
        drives: drives.iter().zip(&plan.labels).map(record).collect(),
        cells: plan.cells.iter().map(|cell| cell.plan.clone()).collect(),
        imported: None,
    }
}

/// Sortable; twelve random digits make runs of one second unique on thousands of hosts.
pub fn run_id(created: &str, suite: &str) -> String {
    let stamp = created.chars().filter(char::is_ascii_alphanumeric);
    let stamp: String = stamp.take("20261121T034500".len()).collect();
    let suite = suite.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    format!("{stamp}Z-{suite}-{:012x}", random_id() & 0xffff_ffff_ffff)
}

fn host(info: HostInfo) -> model::HostRecord {
    let unknown = || "unknown".to_owned();
    let details = [
        ("clock source", info.clocksource),
        ("frequency governor", info.cpu_governor),
        ("virtual machine", info.virtualised),
    ];
    model::HostRecord {
        kernel: info.kernel.unwrap_or_else(unknown),
        cpu_model: info.cpu_model.unwrap_or_else(unknown),
        logical_cpus: info.logical_cpus,
        memory_bytes: info.memory_bytes.unwrap_or(0),
        details: known(details),
    }
}

fn probe(session: &DriveSession) -> Vec<model::ProbeProperty> {
    let Some(Ok(probe)) = session.probe() else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    display::facts(probe, &mut |group, name, value| {
        let group = group.to_owned();
        facts.push(model::ProbeProperty { group, name, value });
    });
    facts
}

/// Maximum power of each operational power state, if readable. 0 means not reported (NVMe Base
/// 2.0c, figure 276, MP).
fn power_limits(session: &DriveSession) -> BTreeMap<u8, u64> {
    let Some(Ok(probe)) = session.probe() else {
        return BTreeMap::new();
    };
    let working = probe.power_states.iter().filter(|state| state.operational);
    let limits = working.map(|state| (state.state, state.max_mw.round() as u64));
    limits.filter(|&(_, mw)| mw > 0).collect()
}

fn thermal_limit(session: &DriveSession, of: fn(&Thermal) -> Option<i32>) -> Option<i32> {
    let Some(Ok(probe)) = session.probe() else {
        return None;
    };
    of(&probe.thermal)
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
        published: published(info),
        predictive: predictive(info),
        link_bytes_per_second: info.link_bytes_per_second,
        host: info.host.as_ref().map(modelled_host),
        ..model::DriveRecord::default()
    }
}

fn modelled_host(host: &NamedHost) -> ModelledHost {
    ModelledHost {
        name: host.name.clone(),
        async_io_ns: host.costs.async_io_ns,
        sync_io_ns: host.costs.sync_io_ns,
        wake_ns: host.costs.wake_ns,
        kib_ns: host.costs.kib_ns,
        processors: host.costs.processors,
        spread: SPREAD,
    }
}

/// One with other spare area or faults has nothing to be compared with.
fn published(info: &DriveInfo) -> Vec<Published> {
    let spec = |profile: &&String| info.spec == format!("sim:{profile}");
    let Some(profile) = info.profile.as_ref().filter(spec) else {
        return Vec::new();
    };
    let bandwidths = published::read_bandwidths(profile).into_iter();
    let bandwidths = bandwidths.map(|figure| {
        let rw = if figure.random { "randread" } else { "read" };
        let source = published::BANDWIDTH_SOURCE;
        Published {
            numjobs: figure.threads,
            ..single_thread(source, rw, figure.block_bytes.into(), figure.mib_per_s)
        }
    });
    let streams = published::stream_rates(profile).into_iter().map(|rate| {
        let rw = if rate.write { "write" } else { "read" };
        let source = published::STREAM_SOURCE;
        Published {
            stream_bytes: Some(rate.stream_bytes),
            ..single_thread(source, rw, rate.chunk_bytes.into(), rate.mib_per_s)
        }
    });
    let files = reference_files::published_figures(profile);
    bandwidths.chain(streams).chain(files).collect()
}

/// Options that change neither the drive's numbers nor its state.
const HARMLESS: [&str; 3] = ["seed", "data", "host"];

/// Options such as additional over-provisioning, an age or an ambient temperature change what was
/// measured, so intervals are then those of figures of other kinds.
fn predictive(info: &DriveInfo) -> Vec<PredictiveFactors> {
    let Some(profile) = info.profile.as_ref().filter(|_| info.simulated) else {
        return Vec::new();
    };
    let spec = DriveSpec::parse(&info.spec);
    let altered = match spec.as_ref().map(DriveSpec::kind) {
        Ok(SpecKind::Sim { options, .. }) => {
            !options.iter().all(|(key, _)| HARMLESS.contains(&key.as_str()))
        }
        _ => true,
    };
    let fitted = info.fit_spreads.iter();
    let fitted = fitted.filter_map(|(kind, spread)| Some((FigureKind::parse(kind)?, *spread)));
    let fitted: Vec<(FigureKind, f64)> = fitted.collect();
    let intervals = predictive::of_profile(profile, altered, &fitted)
        .expect("the embedded tables are read in tests");
    let factors = |(in_flight, interval): (Option<u32>, PredictiveInterval)| PredictiveFactors {
        figure: interval.kind.name().to_owned(),
        in_flight,
        situation: interval.situation.name().to_owned(),
        drives: interval.drives,
        low: interval.low,
        high: interval.high,
    };
    intervals.into_iter().map(factors).collect()
}

/// A published rate of incompressible data with one I/O in flight.
fn single_thread(source: &str, rw: &str, bs_bytes: u64, mib_per_s: f64) -> Published {
    Published {
        source: source.to_owned(),
        rw: rw.to_owned(),
        bs_bytes,
        numjobs: 1,
        data: "incompressible".to_owned(),
        iodepth: 1,
        mib_per_s,
        ..Published::default()
    }
}

pub fn details(info: &DriveInfo) -> BTreeMap<String, String> {
    let number = |n: Option<u32>| n.map(|n| n.to_string());
    let yes_no = |yes: Option<bool>| yes.map(|yes| if yes { "yes" } else { "no" }.to_owned());
    let bytes = |bytes: u32| Some(format!("{bytes} B"));
    let link = info.pcie.as_ref();
    let link_text = |speed: &Option<String>, width: Option<u32>| {
        let speed = speed.as_deref().unwrap_or("unknown speed");
        format!("{speed} x{}", number(width).unwrap_or("?".to_owned()))
    };
    let fs = info.filesystem.as_ref();
    let details = [
        // Absolute, so that the run can be resumed from another directory.
        ("path", info.path.as_ref().map(|path| path.display().to_string())),
        (model::LAYERS, Some(info.layers.join(", on ")).filter(|text| !text.is_empty())),
        ("transport", info.transport.clone()),
        ("physical block", bytes(info.physical_block_bytes)),
        ("smallest direct I/O", bytes(info.min_io_bytes)),
        ("largest request", info.max_io_bytes.map(format_size)),
        ("scheduler", info.scheduler.clone()),
        ("hardware queues", number(info.hardware_queues)),
        ("requests per queue", number(info.nr_requests)),
        ("queue pairs", number(info.queue_pairs.map(u32::from))),
        ("zones", info.zones.map(zones)),
        (
            "atomic writes",
            info.atomic_writes.map(|limits| {
                let [least, most] =
                    [limits.min_bytes, limits.max_bytes].map(|b| format_size(b.into()));
                format!("of {least} to {most} (--atomic)")
            }),
        ),
        ("polling queues", yes_no(info.io_poll)),
        ("write cache", info.write_cache.clone()),
        ("rotational", yes_no(info.rotational)),
        ("profile", facts_alone(info)),
        ("lot", lot_of(info)),
        (model::SHRINK, info.shrunk.map(|shrunk| shrunk.times.to_string())),
        ("NUMA node", number(info.numa_node)),
        ("partition of", info.partition_of.clone()),
        ("namespace", namespace(info)),
        ("PCIe address", link.map(|link| link.address.clone())),
        ("PCIe link now", link.map(|link| link_text(&link.speed, link.width))),
        ("PCIe link possible", link.map(|link| link_text(&link.max_speed, link.max_width))),
        ("file system", fs.map(|fs| fs.fs_type.clone())),
        ("on device", fs.and_then(|fs| fs.backing.clone())),
        ("model of that device", fs.and_then(|fs| fs.backing_model.clone())),
    ];
    known(details)
}

/// The lot of a simulated drive, and how far its numbers spread.
fn lot_of(info: &DriveInfo) -> Option<String> {
    let spec = DriveSpec::parse(&info.spec).ok()?;
    let SpecKind::Sim { options, .. } = spec.kind() else {
        return None;
    };
    let (_, lot) = options.iter().find(|(key, _)| key == "lot")?;
    Some(format!("{lot}; its numbers differ from the profile's: {}", lot::summary()))
}

/// That a simulated drive's profile was fitted to nothing; none of other drives.
fn facts_alone(info: &DriveInfo) -> Option<String> {
    let profile = info.profile.as_deref()?;
    let text = "from hardware facts alone, fitted to no figure: every figure is a prediction";
    Profile::is_from_facts_alone(profile).then(|| text.to_owned())
}

fn known<const N: usize>(details: [(&str, Option<String>); N]) -> BTreeMap<String, String> {
    let known = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
    details.into_iter().filter_map(known).collect()
}

fn zones(zones: Zones) -> String {
    let kind = match zones.host_managed {
        true => "host-managed: written at their write pointers only",
        false => "host-aware",
    };
    let written = match zones.capacity_bytes {
        Some(bytes) if bytes < zones.zone_bytes => {
            format!(", {} of each can be written", format_size(bytes))
        }
        _ => String::new(),
    };
    let limits = [("open", zones.max_open), ("active", zones.max_active)];
    let limits = limits.into_iter().filter_map(|(name, most)| Some((name, most?)));
    let limits: String = limits.map(|(name, most)| format!(", at most {most} {name}")).collect();
    let conventional = match zones.conventional {
        0 => String::new(),
        count => format!(", {count} conventional"),
    };
    let size = format_size(zones.zone_bytes);
    format!("{} of {size}{conventional}{written}{limits}; {kind}", zones.count)
}

fn namespace(info: &DriveInfo) -> Option<String> {
    let location = info.nvme.as_ref()?;
    let others = location.namespaces.iter().filter(|name| **name != info.name);
    let others: Vec<&str> = others.map(String::as_str).collect();
    let beside = match others.as_slice() {
        [] => String::new(),
        others => format!(", beside {}", others.join(", ")),
    };
    let controller = location.controller.display();
    Some(format!("{} of {controller}{beside}", location.nsid))
}

#[cfg(test)]
#[path = "../tests/unit/manifest.rs"]
mod tests;
