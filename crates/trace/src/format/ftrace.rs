//! Block events of ftrace, as `trace`, `trace-cmd report` and `perf script` print them
//! (include/trace/events/block.h):
//!
//! ```text
//! comm-pid [cpu] flags seconds: block_rq_issue: device RWBS bytes () sector + sectors [process]
//! comm-pid [cpu] flags seconds: block_bio_queue: device RWBS sector + sectors [process]
//! comm-pid [cpu] flags seconds: block_bio_remap: device RWBS sector + sectors <- (device) sector
//! ```
//!
//! Requests are the queued ones; where the head of the file has none, those issued to the driver.

use super::blkparse::{remapped_from, request};
use super::{Parsed, decimal_ns};

#[derive(Clone, Debug)]
pub(crate) struct Ftrace {
    event: &'static str,
}

const QUEUED: &str = "block_bio_queue";
const ISSUED: &str = "block_rq_issue";
const REMAPPED: &str = "block_bio_remap";

/// What stands before the event, its name, and what it says.
fn event(line: &str) -> Option<(&str, &str, &str)> {
    let (head, _) = line.split_once(": block")?;
    // perf script names the event block:block_rq_issue.
    let name_at = head.len() + ": ".len();
    let name = line[name_at..].trim_start_matches("block:");
    let (name, said) = name.split_once(": ")?;
    Some((head, name, said))
}

pub(super) fn is_event(line: &str) -> bool {
    event(line).is_some_and(|(_, name, _)| [QUEUED, ISSUED, REMAPPED].contains(&name))
}

impl Ftrace {
    pub(super) fn new(head: &str) -> Ftrace {
        let has = |wanted: &str| {
            let mut events = head.lines().filter_map(event);
            events.any(|(_, name, _)| name == wanted)
        };
        Ftrace {
            event: match has(ISSUED) && !has(QUEUED) {
                true => ISSUED,
                false => QUEUED,
            },
        }
    }

    pub(super) fn line<'a>(&self, line: &'a str) -> Result<Parsed<'a>, String> {
        let Some((head, name, said)) = event(line) else {
            return Ok(Parsed::NOTHING);
        };
        if name == REMAPPED {
            return Ok(Parsed::remap(remapped_from(said)));
        }
        if name != self.event {
            return Ok(Parsed::NOTHING);
        }
        let seconds = head.split_whitespace().next_back().unwrap_or_default();
        let time_ns = decimal_ns(seconds, 1_000_000_000)
            .ok_or_else(|| format!("the time {seconds:?} is not in seconds"))?;
        let mut fields = said.split_whitespace();
        let (Some(device), Some(kinds)) = (fields.next(), fields.next()) else {
            return Err("ends before its RWBS field".to_owned());
        };
        let (mut sector, mut sectors) = ("0", "0");
        let mut before = "0";
        while let Some(field) = fields.next() {
            if field == "+" {
                (sector, sectors) = (before, fields.next().unwrap_or("0"));
                break;
            }
            before = field;
        }
        request(device, time_ns, kinds, sector, sectors)
    }
}
