//! `assay list`.

use std::fmt::Write;

use assay_calibrate::shipped::fidelity;
use assay_device::identity::{DriveInfo, list_drives};
use assay_ssd::profile::lot;
use assay_ssd::{Profile, Provenance};
use assay_units::text::format_size;
use serde_json::{Value, json};

use crate::exit::CommandOutcome;
use crate::terminal::{Output, READABLE_COLUMNS, wrapped};

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
        || {
            let columns = output.columns().min(READABLE_COLUMNS);
            drives_text(&drives, output.columns()) + &profiles_text(&profiles, columns)
        },
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

/// Columns as wide as their content; the model is cut to the rest of the line.
fn drives_text(drives: &[DriveInfo], columns: usize) -> String {
    let mut text = String::from("Drives on this machine\n");
    if drives.is_empty() {
        text.push_str("  none found (a file can be measured too)\n");
        return text;
    }
    let head = ["drive", "size", "transport", "serial for --destroy", "model"];
    let mut rows = vec![head.map(str::to_owned)];
    for drive in drives {
        let or_none = |field: &Option<String>| field.clone().unwrap_or("-".to_owned());
        let [mut transport, model] = [&drive.transport, &drive.model].map(or_none);
        if drive.zones.is_some() {
            transport.push_str(" zoned");
        }
        let (spec, serial) = (drive.spec.clone(), drive.serial.clone());
        let size = format_size(drive.capacity_bytes);
        rows.push([spec, size, transport, serial, model]);
    }
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(width);
    for [drive, size, transport, serial, model] in &rows {
        let line = format!("  {drive:<a$} {size:>b$}  {transport:<c$} {serial:<d$} ");
        let left = columns.saturating_sub(line.chars().count()).max("model".len());
        let model: String = model.chars().take(left).collect();
        let _ = writeln!(text, "{line}{model}");
    }
    for drive in drives {
        if let Some(why) = &drive.unusable {
            let note = format!("{} cannot be measured: {why}.", drive.spec);
            text.push_str(&wrapped(&note, columns.min(READABLE_COLUMNS), "  "));
        }
    }
    text
}

fn profiles_text(profiles: &Profiles, columns: usize) -> String {
    let mut text = String::from(
        "\nSimulated drives: sim:NAME or sim:FILE.toml, also with options:\n  \
         sim:NAME,seed=N,state=fresh|filled,op=PERCENT,lot=SEED,capacity=SIZE,\n  \
         shrink=N,host=2017|2025|bench|TIME... (docs/model.md)\n",
    );
    let _ = writeln!(
        text,
        "  {:<24} {:>8}  {:<4}  {:<11} {:>10} {:>7} {:>6}",
        "name", "size", "NVMe", "numbers", "met", "median", "worst"
    );
    for (profile, [published, fitted, assumed]) in profiles {
        let numbers = format!("{published}/{fitted}/{assumed}");
        let size = format_size(profile.identity.capacity_bytes.value);
        let version = nvme_version(profile).unwrap_or("SATA");
        let fidelity = match fidelity(&profile.name) {
            None if Profile::is_from_facts_alone(&profile.name) => {
                format!("{:>10}", "facts only")
            }
            None => format!("{:>10}", "-"),
            Some(f) => {
                let met = format!("{} of {}", f.met, f.count);
                format!("{met:>10} {:>5.1} % {:>4.0} %", f.median_pct, f.worst_pct)
            }
        };
        let drive = format!("{:<24} {size:>8}  {version:<4}", profile.name);
        let _ = writeln!(text, "  {drive}  {numbers:<11} {fidelity}");
    }
    let notes = [
        "Numbers: published/fitted/assumed. Met, median, worst: published figures met, and errors \
         against them (docs/fidelity.md lists all figures, and those that were predicted). Facts \
         only: made of hardware facts, fitted to nothing; its figures are predictions."
            .to_owned(),
        format!("With ,lot=SEED drives differ as those of a lot do ({}).", lot::summary()),
        "With ,capacity=SIZE a drive has the dies of that size of its family.".to_owned(),
        "With ,shrink=N a drive is an Nth of its size and reaches its steady state in an Nth of \
         the time; suites are shortened alike (docs/model.md says what else differs)."
            .to_owned(),
    ];
    for note in notes {
        text.push_str(&wrapped(&note, columns, "  "));
    }
    text.push_str(
        "\nnull: measures assay's own overhead. `assay probe DRIVE` shows one in detail.\n",
    );
    text
}
