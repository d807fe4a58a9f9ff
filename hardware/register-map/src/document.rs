//! The register map in docs/hardware-core.md.

use crate::description::{Access, Bank, Description};
use anyhow::Context as _;
use std::fmt::Write as _;

/// The map stands between these lines.
const BEGIN: &str = "<!-- registers -->\n";
const END: &str = "<!-- /registers -->\n";

pub(crate) fn with_map(document: &str, description: &Description) -> anyhow::Result<String> {
    let (before, rest) = document
        .split_once(BEGIN)
        .with_context(|| format!("the document has no line {}", BEGIN.trim()))?;
    let (_, after) =
        rest.split_once(END).with_context(|| format!("the document has no line {}", END.trim()))?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", map(description)))
}

fn map(description: &Description) -> String {
    let mut out = "\
Made from `hardware/rtl/registers.toml` by `make registers`. Little-endian words of 32 bits at
AXI4-Lite addresses. Reading the low half of a 64-bit `ro` register keeps its high half for the next
read. `rw` registers are kept, and byte strobes count; `w1p` registers act on each bit written as 1,
and read as 0. What is no register reads as 0.
"
    .to_owned();
    let (streams, drives) = description.banks_of_streams_and_drives();
    let place = |bank: &&Bank| {
        format!("`{}` at {:#05x}: {}", bank.name, bank.offset, lower_start(&bank.text))
    };
    let places: Vec<_> = streams.iter().map(place).collect();
    let _ = writeln!(out, "\nStream banks, with the same registers: {}.\n", places.join("; "));
    table(&mut out, description, &streams);
    for bank in drives {
        let _ = writeln!(
            out,
            "\nBank `{}` at {:#05x} + {:#x} x number of the drive (0 to {}).\n",
            bank.name,
            bank.offset,
            bank.stride,
            bank.copies - 1
        );
        table(&mut out, description, &[bank]);
    }
    out
}

/// The registers that are in any of the banks, by offset.
fn table(out: &mut String, description: &Description, banks: &[&Bank]) {
    let registers = description.registers_of(banks);
    *out += "| offset | name | bits | access | reset | what | MLE NVMe Streamer \
             |\n|---|---|---|---|---|---|---|\n";
    for register in &registers {
        let (access, reset) = match register.access {
            Access::Constant => ("ro", format!("{:#x}", register.value)),
            Access::Ro => ("ro", String::new()),
            Access::Rw => ("rw", register.reset.to_string()),
            Access::W1p => ("w1p", String::new()),
        };
        let only = match banks.iter().all(|bank| register.is_in(bank)) {
            true => String::new(),
            false => format!("bank `{}` only: ", register.banks.join("`, `")),
        };
        let _ = writeln!(
            out,
            "| {:#04x} | `{}` | {} | {access} | {reset} | {only}{} | {} |",
            register.offset, register.name, register.bits, register.text, register.mle
        );
    }
    *out += "\n| register | bits | name | what |\n|---|---|---|---|\n";
    for register in &registers {
        for field in &register.fields {
            let _ = writeln!(
                out,
                "| `{}` | {} | `{}` | {} |",
                register.name,
                field.place(),
                field.name,
                field.text
            );
        }
    }
}

/// A sentence as part of another one.
fn lower_start(text: &str) -> String {
    let text = text.trim_end_matches('.');
    match text.split_at_checked(1) {
        Some((first, rest)) => first.to_lowercase() + rest,
        None => text.to_owned(),
    }
}
