//! The SystemRDL 2.0 description, from which other tools make documents, models and drivers.

use crate::description::{Access, Bank, Description, Field, Register};
use std::fmt::Write as _;

/// The file's text: one address map, a register file per bank.
pub(crate) fn address_map(description: &Description) -> String {
    let mut out = "\
// Registers of the streaming core. Made from hardware/rtl/registers.toml by `make registers`;
// do not edit.

addrmap nvs_core {
  name = \"NVMe streaming core\";
  desc = \"Words of 32 bits, little-endian. Reading the low half of a read-only register of 64 \
     bits keeps its high half for the next read.\";
  default accesswidth = 32;
  default regwidth = 32;
"
    .to_owned();
    for bank in &description.banks {
        let _ = writeln!(out, "\n  regfile {{\n    desc = {};", quoted(&bank.text));
        for register in description.registers_of(&[bank]) {
            register_of(&mut out, register);
        }
        let _ = writeln!(out, "  }} {};", place(bank));
    }
    out + "};\n"
}

fn place(bank: &Bank) -> String {
    let Bank { name, offset, stride, copies, .. } = bank;
    match bank.is_per_drive() {
        true => format!("{name}[{copies}] @ {offset:#05x} += {stride:#x}"),
        false => format!("{name} @ {offset:#05x}"),
    }
}

fn register_of(out: &mut String, register: &Register) {
    let _ = writeln!(out, "    reg {{\n      desc = {};", quoted(&register.text));
    if register.bits != 32 {
        let _ = writeln!(out, "      regwidth = {};", register.bits);
    }
    let behaviour = match register.access {
        Access::Constant => "sw = r; hw = na;",
        Access::Ro => "sw = r; hw = w;",
        Access::Rw => "sw = rw; hw = r;",
        Access::W1p => "sw = w; hw = r;",
    };
    let _ = writeln!(out, "      default {}", behaviour.replace("; ", ";\n      default "));
    for field in &register.fields {
        field_of(out, register, field);
    }
    if register.fields.is_empty() {
        let high = register.bits - 1;
        let reset = match register.access {
            Access::Constant => format!(" = {:#x}", register.value),
            Access::Rw => format!(" = {:#x}", register.reset),
            Access::Ro | Access::W1p => String::new(),
        };
        let _ = writeln!(out, "      field {{}} VALUE[{high}:0]{reset};");
    }
    let _ = writeln!(out, "    }} {} @ {:#04x};", register.name, register.offset);
}

/// Bits of a register that acts are pulses, where it has no field of several bits: that is a value.
fn field_of(out: &mut String, register: &Register, field: &Field) {
    let mut fields = register.fields.iter();
    let acts = register.access == Access::W1p && fields.all(|f| f.high() == f.low());
    let (pulse, reset) = match acts {
        true => (" singlepulse;", " = 0"),
        false => ("", ""),
    };
    let _ = writeln!(
        out,
        "      field {{ desc = {};{pulse} }} {}[{}:{}]{reset};",
        quoted(&field.text),
        field.name,
        field.high(),
        field.low()
    );
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
