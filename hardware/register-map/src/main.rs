//! Makes five files from the description of the hardware core's registers (`make registers`).
//!
//! # Purpose
//! `hardware/rtl/registers.toml` is the one description of the registers. From it come the register
//! file in RTL, the constants of `assay-stream`, the register map in docs/hardware-core.md, a C
//! header and a SystemRDL description. A test fails while one of them differs from the description.
//!
//! # Architecture
//! - [`description`]: the description, read and checked.
//! - [`rtl`], [`constants`], [`document`], [`c_header`], [`systemrdl`]: one generator per file. The
//!   same description gives the same bytes.
//!
//! # Non-goals
//! No general register generator: the data width is 32 bits, the bus AXI4-Lite.

use anyhow::Context as _;
use std::path::{Path, PathBuf};

mod c_header;
mod constants;
mod description;
mod document;
mod rtl;
mod systemrdl;

use description::Description;

/// Paths within the repository.
const DESCRIPTION: &str = "hardware/rtl/registers.toml";
const RTL: &str = "hardware/rtl/nvs_registers.sv";
const CONSTANTS: &str = "crates/stream/src/registers/map.rs";
const C_HEADER: &str = "hardware/rtl/nvs_registers.h";
const SYSTEMRDL: &str = "hardware/rtl/nvs_registers.rdl";
const DOCUMENT: &str = "docs/hardware-core.md";

fn main() -> anyhow::Result<()> {
    let root = repository();
    for (path, content) in generated(&root)? {
        std::fs::write(root.join(path), content).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(())
}

/// The repository's root.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Path and content of every generated file.
fn generated(root: &Path) -> anyhow::Result<[(&'static str, String); 5]> {
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
    };
    let description =
        Description::parse(&read(DESCRIPTION)?).with_context(|| format!("in {DESCRIPTION}"))?;
    Ok([
        (RTL, rtl::module(&description)),
        (CONSTANTS, constants::module(&description)),
        (C_HEADER, c_header::header(&description)),
        (SYSTEMRDL, systemrdl::address_map(&description)),
        (DOCUMENT, document::with_map(&read(DOCUMENT)?, &description)?),
    ])
}

#[cfg(test)]
#[path = "../tests/unit/generated.rs"]
mod tests;
