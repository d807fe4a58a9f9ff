//! `assay probe DRIVE`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use assay_device::identity::{
    DriveInfo, DriveKind, identify_unopened, temperature_celsius, zone_conditions,
};
use assay_device::interlock::{self, Refusal};
use assay_device::nvme::display;
use assay_device::nvme::probe::Probe;
use assay_device::nvme::saved;
use assay_device::session::{SessionError, SessionOptions};
use assay_execute::manifest;
use assay_units::text::{format_size, group_digits, printable};
use serde_json::json;

use crate::args::ProbeArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::terminal::Output;

fn permission(real: bool, refusal: Option<&Refusal>, serial: &str) -> String {
    match refusal {
        None if real => format!("with --destroy {serial}"),
        None => "yes, it is not a real drive".to_owned(),
        Some(refusal) if refusal.can_be_overridden() => {
            let words = refusal.missing_words().into_iter();
            let words: String = words.map(|word| format!(" --destroy {word}")).collect();
            format!("with --destroy {serial}{words}")
        }
        Some(_) => "no".to_owned(),
    }
}

/// Whether a fact, by its group and name, is known.
type Known<'k> = &'k dyn Fn(&str, &str) -> bool;

fn controller_text(probe: Result<&Probe, &SessionError>, known: Known<'_>) -> String {
    let mut text = String::new();
    match probe {
        Ok(probe) => {
            let mut last = "";
            display::facts(probe, &mut |group, name, value| {
                if !known(group, &name) {
                    return;
                }
                if group != last {
                    let _ = writeln!(text, "\n{group}");
                    last = group;
                }
                let _ = writeln!(text, "  {name:<34} {value}");
            });
        }
        Err(error) => {
            let _ = writeln!(text, "\nits controller cannot be read: {error}");
        }
    }
    text
}

/// The drive as identified, without what only its controller says.
fn identity_text(info: &DriveInfo) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<22} {value}");
        }
    };
    let mark = if info.simulated { "  (simulated)" } else { "" };
    line("drive", &format!("{}{mark}", info.spec));
    line("model", info.model.as_deref().unwrap_or(""));
    line("serial", &info.serial);
    line("firmware", info.firmware.as_deref().unwrap_or(""));
    let (size, bytes) = (format_size(info.capacity_bytes), group_digits(info.capacity_bytes));
    line("capacity", &format!("{size} ({bytes} bytes)"));
    line("logical block", &format!("{} B", info.logical_block_bytes));
    for (name, value) in manifest::details(info) {
        line(&name, &value);
    }
    text
}

/// Shows what sysfs has of a drive that cannot be opened; the command fails all the same.
fn unopened(name: &str, error: anyhow::Error, output: Output) -> anyhow::Result<CommandOutcome> {
    if let Some(info) = identify_unopened(Path::new(name)) {
        output.show(
            || {
                let known = identity_text(&info);
                format!("{known}\nIt cannot be opened; this is what the kernel says of it.\n")
            },
            || json!({ "drive": info, "open_error": error.to_string(), "simulated": false }),
        )?;
    }
    Err(error)
}

/// Groups of facts of a running controller, which only `assay probe` saves.
const OF_A_RUNNING_ONE: [&str; 2] = ["registers", "queues and interrupts"];

/// Facts of Identify Controller that smartctl takes from it.
const OF_SMARTCTL: [&str; 8] = [
    "NVMe version",
    "model",
    "serial",
    "firmware",
    "PCI vendor",
    "total capacity",
    "warning temperature",
    "critical temperature",
];

/// What files say of a drive that is not here.
fn saved(paths: &[PathBuf], output: Output) -> anyhow::Result<CommandOutcome> {
    let drive = saved::read(paths).map_err(|error| UsageError(error.to_string()))?;
    let text = || {
        let mut text = String::from("from files; the drive is not asked\n");
        let capacity = match drive.capacity_bytes {
            0 => String::new(),
            bytes => format!("{} ({} bytes)", format_size(bytes), group_digits(bytes)),
        };
        let names = ["model", "serial", "firmware", "capacity"];
        let values = [&drive.model, &drive.serial, &drive.firmware, &capacity];
        for (name, value) in names.into_iter().zip(values).filter(|(_, v)| !v.is_empty()) {
            let _ = writeln!(text, "{name:<22} {}", printable(value));
        }
        let is_of_probe = drive.nvme.as_ref().is_some_and(|of| of.queues_granted.is_some());
        let known = |group: &str, name: &str| match group {
            "health" => drive.has_health,
            "namespaces" => true,
            _ if drive.is_extract => OF_SMARTCTL.contains(&name),
            group => drive.has_identity && (is_of_probe || !OF_A_RUNNING_ONE.contains(&group)),
        };
        let all = drive.nvme.as_ref().map(|probe| controller_text(Ok(probe), &known));
        text + &all.unwrap_or_else(|| "\nNothing of an NVMe controller is in them.\n".to_owned())
    };
    output.show(text, || json!({ "saved": drive }))
}

pub fn run(arguments: &ProbeArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let Some(drive) = &arguments.drive else {
        return saved(&arguments.from, output);
    };
    let names = std::slice::from_ref(drive);
    let mut sessions = match super::open_drives(names, &SessionOptions::looking()) {
        Ok(sessions) => sessions,
        Err(error) => return unopened(drive, error, output),
    };
    let session = &mut sessions[0];
    let telemetry = session.telemetry();
    let info = session.info();
    let probe = session.probe();
    // The telemetry has a timeout; the probe waits for its commands.
    let temperature_c = telemetry
        .as_ref()
        .and_then(|t| t.temperature_c)
        .or_else(|| Some(f64::from(probe?.ok()?.health.composite_c)))
        .or_else(|| temperature_celsius(info));
    let real = matches!(info.kind, DriveKind::Block | DriveKind::File);
    // Refusals that remain when the serial is named.
    let serial = std::slice::from_ref(&info.serial);
    let refusal = if real { interlock::authorise(info, serial).err() } else { None };
    let conditions = zone_conditions(info);
    let text = || {
        let mut text = identity_text(info);
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<22} {value}");
        };
        if let Some(celsius) = temperature_c.filter(|_| probe.is_none()) {
            line("temperature", &format!("{celsius:.0} degrees C"));
        }
        if let Some(conditions) = &conditions {
            let counts = conditions.iter().map(|(name, zones)| format!("{zones} {name}"));
            line("zone conditions", &counts.collect::<Vec<_>>().join(", "));
        }
        line("may be written", &permission(real, refusal.as_ref(), &info.serial));
        if let Some(probe) = probe {
            text.push_str(&controller_text(probe, &|_, _| true));
        }
        if let Some(refusal) = &refusal {
            let _ = write!(text, "\n{refusal}\n");
        }
        text
    };
    let json = || {
        json!({
            "drive": info,
            "temperature_c": temperature_c,
            "zone_conditions": conditions,
            "refusal": refusal,
            "nvme": probe.and_then(Result::ok),
            "nvme_error": probe.and_then(Result::err).map(ToString::to_string),
            "simulated": info.simulated,
        })
    };
    output.show(text, json)
}
