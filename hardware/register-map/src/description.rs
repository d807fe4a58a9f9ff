//! The description of the registers, read and checked.

use anyhow::ensure;
use serde::Deserialize;

/// All registers of the core.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    #[serde(rename = "bank")]
    pub(crate) banks: Vec<Bank>,
    #[serde(rename = "register")]
    pub(crate) registers: Vec<Register>,
}

/// Registers at consecutive addresses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bank {
    pub(crate) name: String,
    pub(crate) offset: u32,
    /// Distance of the copies; 0 for a bank that is there once.
    #[serde(default)]
    pub(crate) stride: u32,
    /// Most copies.
    #[serde(default = "one")]
    pub(crate) copies: u32,
    pub(crate) text: String,
}

/// One register, in one or more banks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    pub(crate) name: String,
    pub(crate) banks: Vec<String>,
    pub(crate) offset: u32,
    pub(crate) bits: u32,
    pub(crate) access: Access,
    #[serde(default)]
    pub(crate) value: u32,
    #[serde(default)]
    pub(crate) reset: u64,
    #[serde(default)]
    pub(crate) mle: String,
    pub(crate) text: String,
    #[serde(rename = "field", default)]
    pub(crate) fields: Vec<Field>,
}

/// What reading and writing do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Access {
    /// Reads as `value`.
    Constant,
    /// Shows what the core does.
    Ro,
    /// Kept.
    Rw,
    /// A written word acts once.
    W1p,
}

/// Bits of a register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// One bit, or the highest and the lowest.
    pub(crate) bits: Vec<u32>,
    pub(crate) text: String,
}

/// Addresses of a bank: bits 7:0.
pub(crate) const BANK_BYTES: u32 = 0x100;
/// Addresses of the core: bits 11:0.
const CORE_BYTES: u32 = 0x1000;

fn one() -> u32 {
    1
}

impl Description {
    pub(crate) fn parse(text: &str) -> anyhow::Result<Description> {
        let description: Description = toml::from_str(text)?;
        description.check()?;
        Ok(description)
    }

    /// The banks that are there once, for streams, and those that are there per drive.
    pub(crate) fn banks_of_streams_and_drives(&self) -> (Vec<&Bank>, Vec<&Bank>) {
        self.banks.iter().partition(|bank| !bank.is_per_drive())
    }

    /// Registers that are in any of these banks, by offset.
    pub(crate) fn registers_of(&self, banks: &[&Bank]) -> Vec<&Register> {
        let inside = |register: &&Register| banks.iter().any(|bank| register.is_in(bank));
        let mut registers: Vec<_> = self.registers.iter().filter(inside).collect();
        registers.sort_by_key(|register| register.offset);
        registers
    }

    fn check(&self) -> anyhow::Result<()> {
        let mut free = 0;
        for bank in &self.banks {
            let name = &bank.name;
            ensure!(
                bank.offset >= free && bank.offset.is_multiple_of(BANK_BYTES),
                "bank {name}: offset {:#x}",
                bank.offset
            );
            ensure!(
                bank.copies == 1 || bank.stride == BANK_BYTES,
                "bank {name}: stride {:#x}",
                bank.stride
            );
            free = bank.offset + bank.copies * BANK_BYTES;
            ensure!(free <= CORE_BYTES, "bank {name} ends at {free:#x}");
            let mut names = Vec::new();
            let mut end = 0;
            for register in self.registers_of(&[bank]) {
                let name = &register.name;
                ensure!(!names.contains(&name), "{}: {name} occurs twice", bank.name);
                names.push(name);
                ensure!(
                    register.offset >= end,
                    "{}: {name} overlaps the register before it",
                    bank.name
                );
                end = register.offset + register.bits / 8;
                ensure!(end <= BANK_BYTES, "{}: {name} ends at {end:#x}", bank.name);
            }
        }
        for register in &self.registers {
            register.check()?;
            for bank in &register.banks {
                ensure!(
                    self.banks.iter().any(|known| known.name == *bank),
                    "{}: no bank \"{bank}\"",
                    register.name
                );
            }
        }
        Ok(())
    }
}

impl Bank {
    /// It is there once per drive.
    pub(crate) fn is_per_drive(&self) -> bool {
        self.copies > 1
    }
}

impl Register {
    pub(crate) fn is_in(&self, bank: &Bank) -> bool {
        self.banks.contains(&bank.name)
    }

    /// Low and high half are read one after the other, and the core may change them meanwhile.
    pub(crate) fn is_held(&self) -> bool {
        self.bits == 64 && self.access == Access::Ro
    }

    fn check(&self) -> anyhow::Result<()> {
        let name = &self.name;
        ensure!(matches!(self.bits, 32 | 64), "{name}: {} bits", self.bits);
        ensure!(
            self.offset.is_multiple_of(self.bits / 8),
            "{name}: offset {:#x} is not a multiple of its size",
            self.offset
        );
        ensure!(
            self.bits == 32 || matches!(self.access, Access::Ro | Access::Rw),
            "{name}: 64 bits with this access"
        );
        ensure!(
            self.reset == 0 || self.access == Access::Rw,
            "{name}: reset value with this access"
        );
        ensure!(self.bits == 64 || self.reset >> 32 == 0, "{name}: reset value exceeds 32 bits");
        ensure!(
            self.value == 0 || self.access == Access::Constant,
            "{name}: value with this access"
        );
        ensure!(!self.banks.is_empty(), "{name}: in no bank");
        let mut free = 0;
        for field in &self.fields {
            ensure!(
                matches!(field.bits.len(), 1 | 2),
                "{name}: {}: bits [bit] or [high, low]",
                field.name
            );
            ensure!(
                field.low() >= free && field.low() <= field.high(),
                "{name}: {}: bits overlap or are out of order",
                field.name
            );
            free = field.high() + 1;
            ensure!(free <= self.bits, "{name}: {}: bit {}", field.name, field.high());
        }
        Ok(())
    }
}

impl Field {
    pub(crate) fn high(&self) -> u32 {
        self.bits[0]
    }

    pub(crate) fn low(&self) -> u32 {
        self.bits[self.bits.len() - 1]
    }

    /// "3", or "7:4".
    pub(crate) fn place(&self) -> String {
        match self.bits[..] {
            [high, low] if high != low => format!("{high}:{low}"),
            _ => self.low().to_string(),
        }
    }
}
