//! Formats whose blocks have metadata (NVM 5.2): which of them commands can use that transfer data
//! only. Metadata is a buffer of its own, or follows the data of its block (extended LBA). Guards
//! of 32 and 64 bits have 16 bytes of protection information, and are not supported.

use assay_io::drive_handle::Protection;
use assay_nvme_spec::identify::IdentifyNamespace;

use super::CommandError;
use super::commands::Commands;

/// Size of protection information with a guard of 16 bits.
const PROTECTION_BYTES: u16 = 8;

#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(
        "its blocks of {block_bytes} bytes have {metadata_bytes} bytes of metadata{what}, which \
         these commands would not write, so that the blocks could not be read any more; nothing \
         was sent. Use the block device, where the kernel has one, or a format without metadata \
         (`nvme format --lbaf=N`, of which `nvme id-ns` lists the numbers)"
    )]
    Metadata {
        block_bytes: u64,
        metadata_bytes: u16,
        /// What it holds beside.
        what: &'static str,
    },
}

/// `None` without metadata. Fails where a command that transfers data only would leave metadata
/// undefined.
pub(crate) fn protection(
    commands: &mut Commands<'_>,
    nsid: u32,
) -> Result<Option<Protection>, FormatError> {
    protection_of(&commands.identify_namespace(nsid)?)
}

fn protection_of(namespace: &IdentifyNamespace) -> Result<Option<Protection>, FormatError> {
    let format = namespace.format();
    match (format.metadata_bytes(), namespace.protection_type()) {
        (0, _) => Ok(None),
        (PROTECTION_BYTES, kind @ 1..=3) => Ok(Some(Protection { has_reference: kind != 3 })),
        (metadata_bytes, kind) => Err(FormatError::Metadata {
            block_bytes: format.block_bytes().unwrap_or(0),
            metadata_bytes,
            what: match kind {
                0 => "",
                _ => " around protection information, or a long guard",
            },
        }),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/nvme/metadata.rs"]
mod tests;
