//! Text of biosnoop (bcc's `biosnoop.py` and its libbpf version): a line per completed request.
//!
//! ```text
//! TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  [QUE(ms)] LAT(ms)
//! ```
//!
//! TIME is that of the completion; the request begins LAT before it. Names of processes may contain
//! spaces, so columns are counted from the end.

use super::columns::OpCodes;
use super::{Parsed, RawRecord, decimal_ns, whole};
use assay_units::SECTOR_BYTES;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Biosnoop {
    has_queued: bool,
}

pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("TIME(s)") && line.contains(" SECTOR ") && line.contains(" LAT(ms)")
}

/// Without a header too.
pub(super) fn is_request(line: &str) -> bool {
    let parsed = Biosnoop { has_queued: false }.line(line);
    let is_decimal = |text: Option<&str>| text.is_some_and(|text| text.contains('.'));
    let mut fields = line.split_whitespace();
    parsed.is_ok_and(|parsed| parsed != Parsed::NOTHING)
        && is_decimal(fields.next())
        && is_decimal(fields.next_back())
}

impl Biosnoop {
    pub(super) fn new(head: &str) -> Biosnoop {
        let header = head.lines().find(|line| is_header(line));
        Biosnoop { has_queued: header.is_some_and(|line| line.contains("QUE(ms)")) }
    }

    pub(super) fn line<'a>(&self, line: &'a str) -> Result<Parsed<'a>, String> {
        if is_header(line) {
            return Ok(Parsed::NOTHING);
        }
        let mut fields = line.split_whitespace();
        let time = fields.next().unwrap_or_default();
        let latency = fields.next_back().unwrap_or_default();
        if self.has_queued {
            fields.next_back();
        }
        let [Some(bytes), Some(sector), Some(kind), Some(device)] =
            std::array::from_fn(|_| fields.next_back())
        else {
            return Err("a line has TIME, COMM, PID, DISK, T, SECTOR, BYTES, LAT".to_owned());
        };
        let end_ns = decimal_ns(time, 1_000_000_000).ok_or("TIME is not in seconds")?;
        let latency_ns = decimal_ns(latency, 1_000_000).ok_or("LAT is not in milliseconds")?;
        let Some(op) = OpCodes::Letters.operation(kind) else {
            return Ok(Parsed::unknown(device));
        };
        let offset_bytes = whole("SECTOR", sector)?.checked_mul(SECTOR_BYTES);
        Ok(Parsed::one(
            device,
            RawRecord {
                time_ns: end_ns.saturating_sub(latency_ns),
                op,
                offset_bytes: offset_bytes.ok_or("SECTOR is beyond 2^64 bytes")?,
                len_bytes: whole("BYTES", bytes)?,
                response_ns: Some(latency_ns),
                fua: false,
            },
        ))
    }
}
