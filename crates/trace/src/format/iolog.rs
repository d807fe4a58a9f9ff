//! fio's iolog, versions 2 and 3 (fio 3.42's HOWTO.rst, "Trace file format"; `iolog.c`):
//!
//! ```text
//! fio version 2 iolog              fio version 3 iolog
//! file add                         microseconds file add
//! file read offset bytes           microseconds file read offset bytes
//! file wait microseconds
//! ```
//!
//! Actions on files (add, open, close) are no requests. In version 2, time passes in `wait` only,
//! each relative to the one before; waits below 100 microseconds are discarded, as HOWTO.rst says.
//!
//! Jobs of fio append to a log of their name, each with a first line of its own and times that
//! begin anew. fio replays such a log in the order of its lines: a request whose time has passed is
//! due at once. So here no time is before that of an earlier line.

use assay_units::Op;

use super::{Parsed, RawRecord, whole};

/// Waits of version 2 below this many microseconds are discarded (HOWTO.rst).
const LEAST_WAIT_US: u64 = 100;

#[derive(Clone, Debug, Default)]
pub(crate) struct Iolog {
    has_times: bool,
    /// Sum of the waits of version 2.
    waited_ns: u64,
    /// The greatest time of version 3 up to here.
    latest_ns: u64,
}

impl Iolog {
    pub(super) fn line<'a>(&mut self, line: &'a str, number: u64) -> Result<Parsed<'a>, String> {
        let has_times = match line.trim_end() {
            "fio version 2 iolog" => Some(false),
            "fio version 3 iolog" => Some(true),
            _ => None,
        };
        if let Some(has_times) = has_times {
            self.has_times = has_times;
            return Ok(Parsed::NOTHING);
        }
        if number == 1 {
            let wrong = "the first line is not \"fio version 2 iolog\" or \"fio version 3 iolog\"";
            return Err(wrong.to_owned());
        }
        let mut fields = line.split_whitespace();
        let mut is_behind = false;
        let time_ns = match self.has_times {
            true => {
                let own_ns = micros_ns("time", fields.next().unwrap_or_default())?;
                is_behind = own_ns < self.latest_ns;
                self.latest_ns = own_ns.max(self.latest_ns);
                self.latest_ns
            }
            false => self.waited_ns,
        };
        let (Some(file), Some(action)) = (fields.next(), fields.next()) else {
            return Err("ends before its action".to_owned());
        };
        let op = match action {
            "add" | "open" | "close" | "unlink" => return Ok(Parsed::NOTHING),
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Discard,
            "sync" | "datasync" => return Ok(Parsed::one(file, RawRecord::flush(time_ns))),
            "wait" if !self.has_times => {
                let span = fields.next().ok_or("a wait without its microseconds")?;
                let micros = whole("wait", span)?;
                if micros >= LEAST_WAIT_US {
                    let waited = micros.checked_mul(1000);
                    let waited = waited.and_then(|span_ns| self.waited_ns.checked_add(span_ns));
                    self.waited_ns = waited.ok_or("the waits sum up to over 584 years")?;
                }
                return Ok(Parsed::NOTHING);
            }
            _ => return Err(format!("the action {action:?} is unknown")),
        };
        let (Some(offset), Some(length)) = (fields.next(), fields.next()) else {
            return Err(format!("a {action} needs an offset and a length"));
        };
        let record = RawRecord {
            time_ns,
            op,
            offset_bytes: whole("offset", offset)?,
            len_bytes: whole("length", length)?,
            response_ns: None,
            fua: false,
        };
        Ok(Parsed { is_behind, ..Parsed::one(file, record) })
    }
}

fn micros_ns(field: &str, text: &str) -> Result<u64, String> {
    let micros = whole(field, text)?;
    let nanos = micros.checked_mul(1000);
    nanos.ok_or_else(|| format!("the {field} {text} is beyond 584 years"))
}
