//! The constants of `assay-stream`: `registers::map`.

use crate::description::{Access, Description, Field, Register};
use std::fmt::Write as _;

/// The file's text.
pub(crate) fn module(description: &Description) -> String {
    let mut out = "\
//! Registers of a streaming core: addresses and bits. Made from `hardware/rtl/registers.toml` by
//! `make registers`; do not edit.
//!
//! An address is that of the bank plus the register's offset. Registers are little-endian; those of
//! 64 bits are read as two 32-bit halves, low half first. [`Registers`](super::Registers) holds
//! those that act on a software stream or change while it runs. docs/hardware-core.md has all as a
//! table.
"
    .to_owned();
    let (streams, drives) = description.banks_of_streams_and_drives();
    let of_streams = description.registers_of(&streams);
    out += "\nuse super::{ControlBits, Register, RegisterField, StatusBits};\n\n";
    for bank in &description.banks {
        let name = bank.name.to_uppercase();
        let _ = writeln!(
            out,
            "/// Address of the bank `{}`. {}\npub const {name}_BANK: u32 = {:#05x};",
            bank.name, bank.text, bank.offset
        );
        if bank.is_per_drive() {
            let _ = writeln!(
                out,
                "/// Distance of the banks of two drives.\npub const {name}_BANK_STRIDE: u32 = \
                 {:#05x};",
                bank.stride
            );
            let _ = writeln!(
                out,
                "/// Most drives of a core.\npub const {name}_BANKS: u32 = {};",
                bank.copies
            );
        }
    }
    constants(
        &mut out,
        "stream",
        "Registers of the stream banks; offsets within the bank.",
        &of_streams,
    );
    for bank in &drives {
        let text = format!("Registers of the bank `{}`; offsets within the bank.", bank.name);
        constants(&mut out, &bank.name, &text, &description.registers_of(&[bank]));
    }
    for register in of_streams.iter().filter(|register| has_type(register)) {
        match register.name.as_str() {
            "CONTROL" => flags(&mut out, "ControlBits", register),
            _ => {
                flags(&mut out, "StatusBits", register);
                names(&mut out, register);
            }
        }
    }
    out
}

fn constants(out: &mut String, module: &str, text: &str, registers: &[&Register]) {
    let _ = writeln!(
        out,
        "\n/// {text}\npub mod {module} {{\n    use super::{{Register, RegisterField}};\n"
    );
    for register in registers {
        let Register { name, offset, bits, text, .. } = register;
        let access = match register.access {
            Access::Constant => format!("constant {:#x}", register.value),
            Access::Ro => "read only".to_owned(),
            Access::Rw => format!("read and write, reset value {}", register.reset),
            Access::W1p => "reads as 0".to_owned(),
        };
        document(out, &format!("{}; {access}.", first_upper(text)));
        let _ =
            writeln!(out, "    pub const {name}: Register = Register::new({offset:#04x}, {bits});");
        if register.access == Access::Constant {
            let _ = writeln!(
                out,
                "    /// Value of `{name}`.\n    pub const {name}_VALUE: u32 = {:#x};",
                register.value
            );
        }
        for field in register.fields.iter().filter(|_| !has_type(register)) {
            document(out, &format!("`{name}`, {}: {}.", places(field), field.text));
            let _ = writeln!(
                out,
                "    pub const {name}_{}: RegisterField = RegisterField::new({}, {});",
                field.name,
                field.high(),
                field.low()
            );
        }
    }
    *out += "}\n";
}

/// A documentation comment in lines of at most 100 columns.
fn document(out: &mut String, text: &str) {
    let mut line = String::new();
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > 92 {
            let _ = writeln!(out, "    ///{line}");
            line.clear();
        }
        line += " ";
        line += word;
    }
    let _ = writeln!(out, "    ///{line}");
}

/// Its bits are constants of a type of their own.
fn has_type(register: &Register) -> bool {
    register.banks.len() > 1 && matches!(register.name.as_str(), "CONTROL" | "STATUS")
}

fn places(field: &Field) -> String {
    let word = if field.high() == field.low() { "bit" } else { "bits" };
    format!("{word} {}", field.place())
}

/// The constants of a type of single bits, and their names by number.
fn flags(out: &mut String, kind: &str, register: &Register) {
    let _ = writeln!(out, "\nimpl {kind} {{");
    for field in &register.fields {
        document(out, &field.text);
        let _ =
            writeln!(out, "    pub const {}: {kind} = {kind}(1 << {});", field.name, field.low());
    }
    *out += "}\n";
}

/// Names of the bits of a register, lower case, by number.
fn names(out: &mut String, register: &Register) {
    let _ = writeln!(out, "\n/// Names of the bits of `{}`: number, name.", register.name);
    let _ = writeln!(
        out,
        "pub(super) const {}_NAMES: [(u32, &str); {}] = [",
        register.name,
        register.fields.len()
    );
    for field in &register.fields {
        let _ = writeln!(out, "    ({}, \"{}\"),", field.low(), field.name.to_lowercase());
    }
    *out += "];\n";
}

fn first_upper(text: &str) -> String {
    match text.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + rest,
        None => text.to_owned(),
    }
}
