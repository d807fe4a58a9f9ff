use std::collections::BTreeMap;

use super::ShipError;
use crate::claim::Base;
use crate::shared_store::SharedStore;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub attempt: u64,
    /// Start in the journal.
    pub offset: u64,
    pub bytes: u64,
    /// CRC-32C of the journal up to the end of the piece.
    pub crc: u32,
}

impl Piece {
    /// Numbers have leading zeros, so that keys are in the order of the journal.
    pub fn key(&self, prefix: &str) -> String {
        let Piece { attempt, offset, bytes, crc } = self;
        format!("{prefix}/journal/{attempt:06}-{offset:015}-{bytes}-{crc:08x}")
    }

    fn parse(key: &str) -> Option<Piece> {
        let mut parts = key.rsplit_once('/')?.1.split('-');
        let piece = Piece {
            attempt: parts.next()?.parse().ok()?,
            offset: parts.next()?.parse().ok()?,
            bytes: parts.next()?.parse().ok().filter(|bytes| *bytes > 0)?,
            crc: u32::from_str_radix(parts.next()?, 16).ok()?,
        };
        piece.offset.checked_add(piece.bytes)?;
        parts.next().is_none().then_some(piece)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Pieces in order, without gaps.
    pub pieces: Vec<Piece>,
    pub bytes: u64,
    pub crc: u32,
}

/// Pieces that count by the claim's bases. Fails with [`ShipError::Damaged`] when a piece before
/// the last base is missing.
pub fn chain(store: &dyn SharedStore, prefix: &str, bases: &[Base]) -> Result<Chain, ShipError> {
    let keys = store.list(&format!("{prefix}/journal/"))?;
    let pieces: Vec<Piece> = keys.iter().filter_map(|key| Piece::parse(key)).collect();
    let mut chain = Chain::default();
    for (index, base) in bases.iter().enumerate() {
        let next = bases.get(index + 1);
        let own = pieces.iter().filter(|piece| piece.attempt == base.attempt);
        let missing = |at: u64| ShipError::Damaged {
            key: format!("{prefix}/journal"),
            what: format!("incomplete: the piece at byte {at} of the journal is missing"),
        };
        if (chain.bytes, chain.crc) != (base.bytes, base.crc) {
            return Err(missing(chain.bytes));
        }
        let part = path(own.clone().copied(), *base, next.map(|next| next.bytes));
        let reached = part.last().map(|piece| (piece.offset + piece.bytes, piece.crc));
        (chain.bytes, chain.crc) = reached.unwrap_or((chain.bytes, chain.crc));
        chain.pieces.extend(part);
        // An attempt ships in order: what lies beyond a gap was shipped after the missing piece.
        if next.is_none() && own.clone().any(|piece| piece.offset > chain.bytes) {
            return Err(missing(chain.bytes));
        }
        if let Some(next) = next
            && (chain.bytes, chain.crc) != (next.bytes, next.crc)
        {
            return Err(missing(chain.bytes));
        }
    }
    Ok(chain)
}

/// Adjoining pieces from the base to `end`, else as far as they reach.
fn path(pieces: impl Iterator<Item = Piece>, base: Base, end: Option<u64>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = pieces.collect();
    pieces.sort_by_key(|piece| (piece.offset, piece.bytes));
    // Per reached offset, the piece that ends there; a put whose answer was lost can leave two
    // ways.
    let mut reached: BTreeMap<u64, Option<Piece>> = BTreeMap::from([(base.bytes, None)]);
    for piece in pieces {
        let to = piece.offset + piece.bytes;
        if reached.contains_key(&piece.offset) && end.is_none_or(|end| to <= end) {
            reached.insert(to, Some(piece));
        }
    }
    let mut path = Vec::new();
    let mut at = reached.keys().next_back().copied();
    while let Some(Some(piece)) = at.and_then(|at| reached.get(&at)) {
        path.push(*piece);
        at = Some(piece.offset);
    }
    path.reverse();
    path
}
