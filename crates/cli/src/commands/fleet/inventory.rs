//! `assay fleet inventory`.

use std::fmt::Write;

use assay_fleet::inventory::{self, HostInventory};
use assay_units::text::format_size;
use serde_json::json;

use crate::args::fleet::InventoryArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &InventoryArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let host = super::host(arguments.host.as_ref())?;
    let inventory = inventory::of_this_host(&host)?;
    output.show(|| text(&inventory), || json!(inventory))
}

fn text(inventory: &HostInventory) -> String {
    let mut text = format!("Drives of host {} ({})\n", inventory.host, inventory.taken);
    let mut row = |[serial, model, firmware, size, slot, link, node]: [&str; 7]| {
        let line = format!(
            "  {serial:<24} {model:<32} {firmware:<9} {size:>9}  {slot:<13} {link:<18} {node}"
        );
        let _ = writeln!(text, "{}", line.trim_end());
    };
    if !inventory.drives.is_empty() {
        row([
            "serial", "model", "firmware", "size", "slot", "link", "NUMA",
        ]);
    }
    for drive in &inventory.drives {
        let or_none = |field: &Option<String>| field.clone().unwrap_or("-".to_owned());
        let size = format_size(drive.capacity_bytes);
        let node = drive.numa_node.map(|node| node.to_string());
        let [slot, link, node] = [&drive.slot, &drive.link, &node].map(or_none);
        let serial = drive.serial.as_str();
        row([
            serial,
            &drive.model,
            &drive.firmware,
            &size,
            &slot,
            &link,
            &node,
        ]);
    }
    if inventory.drives.is_empty() {
        text.push_str("  none with a serial\n");
    }
    for unusable in &inventory.unusable {
        let _ = writeln!(text, "left out: {}: {}", unusable.spec, unusable.why);
    }
    text
}
