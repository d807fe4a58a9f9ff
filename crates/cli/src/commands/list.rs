//! `assay list`.

use std::fmt::Write;

use assay_calibrate::residual::ErrorSummary;
use assay_calibrate::shipped::fidelity;
use assay_device::identity::list_drives;
use assay_ssd::{Profile, Provenance};
use assay_units::text::format_size;
use serde_json::json;

use crate::exit::CommandOutcome;
use crate::terminal::Output;

struct Simulated {
    name: &'static str,
    model: String,
    capacity_bytes: u64,
    /// None for Serial ATA.
    nvme_version: Option<String>,
    published: usize,
    fitted: usize,
    assumed: usize,
    fidelity: Option<ErrorSummary>,
}

fn simulated() -> anyhow::Result<Vec<Simulated>> {
    Profile::names()
        .into_iter()
        .map(|name| {
            let profile = Profile::builtin(name)?;
            let identity = profile.identity;
            let numbers = Profile::numbers(Profile::builtin_text(name)?)?;
            let count = |provenance| {
                let of_it = numbers.iter().filter(|n| n.provenance == provenance);
                of_it.count()
            };
            Ok(Simulated {
                name,
                model: identity.model,
                capacity_bytes: identity.capacity_bytes.value,
                nvme_version: profile.link.sata.is_none().then_some(identity.nvme_version),
                published: count(Provenance::Published),
                fitted: count(Provenance::Fitted),
                assumed: count(Provenance::Assumed),
                fidelity: fidelity(name),
            })
        })
        .collect()
}

/// Show the drives of this host and the simulated drives.
pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    let drives = list_drives();
    let profiles = simulated()?;
    let row = |text: &mut String, [drive, size, transport, model, serial]: [&str; 5]| {
        let _ = writeln!(
            text,
            "  {drive:<18} {size:>9}  {transport:<10} {model:<28} {serial}"
        );
    };
    let text = || {
        let mut text = String::from("Drives on this machine\n");
        if drives.is_empty() {
            text.push_str("  none found (a file can be measured too)\n");
        } else {
            row(
                &mut text,
                [
                    "drive",
                    "size",
                    "transport",
                    "model",
                    "serial for --destroy",
                ],
            );
        }
        for drive in &drives {
            let size = format_size(drive.capacity_bytes);
            let transport = drive.transport.as_deref().unwrap_or("-");
            let model = drive.model.as_deref().unwrap_or("-");
            row(
                &mut text,
                [&drive.spec, &size, transport, model, &drive.serial],
            );
        }
        text.push_str(
            "\nSimulated drives: sim:NAME or sim:FILE.toml, with [,seed=N][,state=fresh|filled][,op=PERCENT]... (docs/model.md)\n",
        );
        let _ = writeln!(
            text,
            "  {:<24} {:>9}  {:<4}  {:<26}  {:>15}  {:>7} {:>6}",
            "name", "size", "NVMe", "published/fitted/assumed", "figures met", "median", "worst"
        );
        for p in &profiles {
            let numbers = format!("{} / {} / {}", p.published, p.fitted, p.assumed);
            let size = format_size(p.capacity_bytes);
            let version = p.nvme_version.as_deref().unwrap_or("SATA");
            let fidelity = match p.fidelity {
                None => format!("{:>15}", "-"),
                Some(f) => {
                    let met = format!("{} of {}", f.met, f.count);
                    format!("{met:>15}  {:>5.1} % {:>4.0} %", f.median_pct, f.worst_pct)
                }
            };
            let _ = writeln!(
                text,
                "  {:<24} {size:>9}  {version:<4}  {numbers:<26}  {fidelity}",
                p.name
            );
        }
        text.push_str(
            "  Errors against published figures; docs/fidelity.md lists all figures, and those that were predicted.\n",
        );
        text.push_str("\nnull: measures assay's own overhead. `assay probe DRIVE` shows one drive in detail.\n");
        text
    };
    let json = || {
        json!({
            "drives": drives,
            "simulated": profiles.iter().map(|p| json!({
                "spec": format!("sim:{}", p.name),
                "name": p.name,
                "model": p.model,
                "nvme_version": p.nvme_version,
                "capacity_bytes": p.capacity_bytes,
                "simulated": true,
                "numbers": { "published": p.published, "fitted": p.fitted, "assumed": p.assumed },
                "fidelity": p.fidelity.map(super::fit::summary),
            })).collect::<Vec<_>>(),
        })
    };
    output.show(text, json)
}
