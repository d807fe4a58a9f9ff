//! Identify lists (Base 5.17.2.2 and 5.17.2.3).

use super::{DATA_BYTES, NamespaceIdType};
use crate::wire::Wire;

/// Ascending identifiers of a list (CNS 02h, 07h, 10h; Base 5.17.2.2): up to 1,024, ended by zero.
pub fn namespace_list(data: &[u8]) -> impl Iterator<Item = u32> {
    let numbers = data.chunks_exact(4).take(DATA_BYTES / 4).map(u32::load);
    numbers.take_while(|&nsid| nsid != 0)
}

/// One Namespace Identification Descriptor (CNS 03h; Base 5.17.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceDescriptor<'a> {
    /// Type of the identifier.
    pub kind: NamespaceIdType,
    /// The identifier.
    pub id: &'a [u8],
}

/// Descriptors of a list, which ends at a truncated one or one of length 0.
pub fn namespace_descriptors(data: &[u8]) -> impl Iterator<Item = NamespaceDescriptor<'_>> {
    let mut remaining = data;
    std::iter::from_fn(move || {
        let &[kind, len, _, _, ref after @ ..] = remaining else {
            return None;
        };
        if len == 0 {
            return None;
        }
        let (id, next) = after.split_at_checked(usize::from(len))?;
        remaining = next;
        Some(NamespaceDescriptor { kind: NamespaceIdType(kind), id })
    })
}

/// Appends a descriptor to a list.
pub fn push_descriptor(list: &mut Vec<u8>, kind: NamespaceIdType, id: &[u8]) {
    let len = u8::try_from(id.len()).expect("an identifier has at most 255 bytes");
    list.extend([kind.0, len, 0, 0]);
    list.extend(id);
}
