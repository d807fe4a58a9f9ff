//! `assay fleet inventory`.

use std::fmt::Write;

use assay_fleet::inventory::{self, HostInventory};
use assay_fleet::{FleetError, shared_store};
use assay_units::text::format_size;
use serde_json::json;

use crate::args::fleet::InventoryArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &InventoryArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let host = super::host(arguments.host.as_ref())?;
    if let Some(at) = arguments.store.as_ref().filter(|_| arguments.remove) {
        let store = shared_store::open(at).map_err(FleetError::from)?;
        let removed = inventory::remove(store.as_ref(), &host)?;
        let text = || match removed {
            true => format!("The inventory of host {host} is removed\n"),
            false => format!("There is no inventory of host {host}\n"),
        };
        return output.show(text, || json!({ "host": host, "removed": removed }));
    }
    let mut inventory = inventory::of_this_host(&host)?;
    inventory.read_wear();
    inventory.rack.clone_from(&arguments.rack);
    if let Some(at) = &arguments.store {
        let store = shared_store::open(at).map_err(FleetError::from)?;
        inventory::publish(store.as_ref(), &inventory)?;
    }
    if arguments.slurm {
        let line = inventory.slurm_node();
        return output.show(|| format!("{line}\n"), || json!({ "node": line }));
    }
    output.show(|| text(&inventory), || json!(inventory))
}

fn text(inventory: &HostInventory) -> String {
    let mut text = format!("Drives of host {} ({})\n", inventory.host, inventory.taken);
    let mut row = |[serial, model, firmware, size, used, slot, link, node]: [&str; 8]| {
        let line = format!(
            "  {serial:<24} {model:<32} {firmware:<9} {size:>9} {used:>5}  {slot:<13} {link:<18} \
             {node}"
        );
        let _ = writeln!(text, "{}", line.trim_end());
    };
    if !inventory.drives.is_empty() {
        row(["serial", "model", "firmware", "size", "used", "slot", "link", "NUMA"]);
    }
    for drive in &inventory.drives {
        let or_none = |field: &Option<String>| field.clone().unwrap_or("-".to_owned());
        let size = format_size(drive.capacity_bytes);
        let node = drive.numa_node.map(|node| node.to_string());
        let used = drive.wear.map(|wear| format!("{} %", wear.percentage_used));
        let [used, slot, link, node] = [&used, &drive.slot, &drive.link, &node].map(or_none);
        let serial = drive.serial.as_str();
        row([serial, &drive.model, &drive.firmware, &size, &used, &slot, &link, &node]);
    }
    if inventory.drives.is_empty() {
        text.push_str("  none with a serial\n");
    }
    for unusable in &inventory.unusable {
        let _ = writeln!(text, "left out: {}: {}", unusable.spec, unusable.why);
    }
    text
}
