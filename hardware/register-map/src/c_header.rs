//! The C header: addresses, masks and shifts for a program beside the core.

use crate::description::{Access, Description, Field, Register};
use std::fmt::Write as _;

/// The file's text. Names begin with `NVS_`; those of the stream banks, whose registers have the
/// same offsets, with `NVS_STREAM_`.
pub(crate) fn header(description: &Description) -> String {
    let mut out = "\
/* Registers of the streaming core. Made from hardware/rtl/registers.toml by `make registers`;
 * do not edit.
 *
 * An address is that of the bank plus the register's offset. Words of 32 bits, little-endian. A
 * register of 64 bits is two words, low half first: reading the low half of a read-only one keeps
 * its high half for the next read. Constants of a register's bits: NAME_MASK in place, NAME_SHIFT;
 * of 64 bits where the register has 64.
 */
#ifndef NVS_REGISTERS_H
#define NVS_REGISTERS_H

#include <stdint.h>

"
    .to_owned();
    let (streams, drives) = description.banks_of_streams_and_drives();
    for bank in &description.banks {
        let name = bank.name.to_uppercase();
        let _ = writeln!(out, "/* Bank `{}`: {} */", bank.name, bank.text);
        if bank.is_per_drive() {
            let (offset, stride) = (bank.offset, bank.stride);
            let _ = writeln!(
                out,
                "#define NVS_{name}_BANK(number) (UINT32_C({offset:#x}) + UINT32_C({stride:#x}) * \
                 (number))\n#define NVS_{name}_BANKS {}",
                bank.copies
            );
        } else {
            let _ = writeln!(out, "#define NVS_{name}_BANK UINT32_C({:#05x})", bank.offset);
        }
    }
    out += "\n/* Stream banks: offsets within the bank. */\n";
    for register in description.registers_of(&streams) {
        constants(&mut out, "STREAM", register);
    }
    for bank in drives {
        let _ = writeln!(out, "\n/* Bank `{}`: offsets within the bank. */", bank.name);
        for register in description.registers_of(&[bank]) {
            constants(&mut out, &bank.name.to_uppercase(), register);
        }
    }
    out + "\n#endif\n"
}

fn constants(out: &mut String, prefix: &str, register: &Register) {
    let name = format!("NVS_{prefix}_{}", register.name);
    let access = match register.access {
        Access::Constant | Access::Ro => "read only",
        Access::Rw => "read and write",
        Access::W1p => "reads as 0",
    };
    let only = match (prefix, &register.banks[..]) {
        ("STREAM", [bank]) => format!("bank `{bank}` only: "),
        _ => String::new(),
    };
    let Register { offset, bits, text, .. } = register;
    let _ = writeln!(out, "\n/* {only}{text}; {bits} bits, {access} */");
    let _ = writeln!(out, "#define {name} UINT32_C({offset:#04x})");
    match register.access {
        Access::Constant => {
            let _ = writeln!(out, "#define {name}_VALUE UINT32_C({:#x})", register.value);
        }
        Access::Rw => {
            let _ = writeln!(out, "#define {name}_RESET UINT{bits}_C({:#x})", register.reset);
        }
        Access::Ro | Access::W1p => {}
    }
    for field in &register.fields {
        let _ = writeln!(
            out,
            "#define {name}_{}_MASK UINT{bits}_C({:#x}) /* {} */",
            field.name,
            mask(field),
            field.text
        );
        let _ = writeln!(out, "#define {name}_{}_SHIFT {}", field.name, field.low());
    }
}

/// The bits of a field, in place.
pub(crate) fn mask(field: &Field) -> u64 {
    (u64::MAX >> (63 - field.high() + field.low())) << field.low()
}
