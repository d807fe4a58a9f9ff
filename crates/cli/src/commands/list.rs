//! `assay list`.

use std::fmt::Write;

use assay_calibrate::shipped::fidelity;
use assay_device::identity::{DriveInfo, list_drives};
use assay_ssd::profile::lot;
use assay_ssd::{Profile, Provenance};
use assay_units::text::format_size;
use serde_json::{Value, json};

use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// Counts the published, fitted and assumed numbers of each profile.
fn simulated() -> anyhow::Result<Vec<(Profile, [usize; 3])>> {
    let counted = |name| {
        let numbers = Profile::numbers(Profile::builtin_text(name)?)?;
        let count = |provenance| {
            let of_it = numbers.iter().filter(|n| n.provenance == provenance);
            of_it.count()
        };
        use Provenance::{Assumed, Fitted, Published};
        let counts = [Published, Fitted, Assumed].map(count);
        Ok((Profile::builtin(name)?, counts))
    };
    Profile::names().into_iter().map(counted).collect()
}

/// `None` for Serial ATA.
fn nvme_version(profile: &Profile) -> Option<&str> {
    let on_nvme = profile.link.sata.is_none();
    on_nvme.then_some(&profile.identity.nvme_version)
}

type Profiles = [(Profile, [usize; 3])];

pub fn run(output: Output) -> anyhow::Result<CommandOutcome> {
    let drives = list_drives();
    let profiles = simulated()?;
    output.show(
        || drives_text(&drives) + &profiles_text(&profiles),
        || document(&drives, &profiles),
    )
}

fn document(drives: &[DriveInfo], profiles: &Profiles) -> Value {
    json!({
        "drives": drives,
        "simulated": profiles.iter().map(|(p, [published, fitted, assumed])| json!({
            "spec": format!("sim:{}", p.name),
            "name": p.name,
            "model": p.identity.model,
            "nvme_version": nvme_version(p),
            "capacity_bytes": p.identity.capacity_bytes.value,
            "simulated": true,
            "numbers": { "published": published, "fitted": fitted, "assumed": assumed },
            "facts_only": Profile::is_from_facts_alone(&p.name),
            "fidelity": fidelity(&p.name).map(super::fit::summary),
        })).collect::<Vec<_>>(),
    })
}

fn drives_text(drives: &[DriveInfo]) -> String {
    let mut text = String::from("Drives on this machine\n");
    let mut row = |[drive, size, transport, model, serial]: [&str; 5]| {
        let drive = format!("{drive:<18} {size:>9}  {transport:<10} {model:<28}");
        let _ = writeln!(text, "  {drive} {serial}");
    };
    if !drives.is_empty() {
        let serial = "serial for --destroy";
        row(["drive", "size", "transport", "model", serial]);
    }
    for drive in drives {
        let size = format_size(drive.capacity_bytes);
        let or_none = |field: &Option<String>| field.clone().unwrap_or("-".to_owned());
        let [transport, model] = [&drive.transport, &drive.model].map(or_none);
        row([&drive.spec, &size, &transport, &model, &drive.serial]);
    }
    if drives.is_empty() {
        text.push_str("  none found (a file can be measured too)\n");
    }
    text
}

fn profiles_text(profiles: &Profiles) -> String {
    let mut text = String::from(
        "\nSimulated drives: sim:NAME or sim:FILE.toml, with \
         [,seed=N][,state=fresh|filled][,op=PERCENT]... (docs/model.md)\n",
    );
    let _ = writeln!(
        text,
        "  {:<24} {:>9}  {:<4}  {:<26}  {:>15}  {:>7} {:>6}",
        "name", "size", "NVMe", "published/fitted/assumed", "figures met", "median", "worst"
    );
    for (profile, [published, fitted, assumed]) in profiles {
        let numbers = format!("{published} / {fitted} / {assumed}");
        let size = format_size(profile.identity.capacity_bytes.value);
        let version = nvme_version(profile).unwrap_or("SATA");
        let fidelity = match fidelity(&profile.name) {
            None if Profile::is_from_facts_alone(&profile.name) => {
                format!("{:>15}", "facts only")
            }
            None => format!("{:>15}", "-"),
            Some(f) => {
                let met = format!("{} of {}", f.met, f.count);
                format!("{met:>15}  {:>5.1} % {:>4.0} %", f.median_pct, f.worst_pct)
            }
        };
        let drive = format!("{:<24} {size:>9}  {version:<4}", profile.name);
        let _ = writeln!(text, "  {drive}  {numbers:<26}  {fidelity}");
    }
    text.push_str(
        "  Errors against published figures; docs/fidelity.md lists all figures, and those \
         that were predicted.\n  Facts only: made of hardware facts, fitted to nothing; its \
         figures are predictions.\n",
    );
    let _ = writeln!(
        text,
        "  With ,lot=SEED drives differ as those of a lot do ({}).",
        lot::summary()
    );
    text.push_str(
        "\nnull: measures assay's own overhead. `assay probe DRIVE` shows one drive in \
         detail.\n",
    );
    text
}
