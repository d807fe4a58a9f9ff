//! Asynchronous events (Base 5.2): requests that wait, events that wait, and types that are silent until their log is read.

use std::collections::VecDeque;

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::feature::{AsyncEvent, AsyncEventType};
use assay_nvme_spec::log::LogId;

use super::{Answer, Outcome};
use crate::controller::Controller;
use crate::memory::HostMemory;
use crate::slots::{Kind, Slot};

/// Requests that may be outstanding.
pub(crate) const EVENT_REQUESTS: usize = 4;
/// Events kept until somebody asks; further ones are lost.
const KEPT: usize = 16;

/// Requests and events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    requests: VecDeque<u16>,
    pending: VecDeque<AsyncEvent>,
    /// Types that were told of and whose log was not read, a bit each.
    silent: u8,
}

impl Events {
    /// An Asynchronous Event Request.
    pub(crate) fn request(&mut self, cid: u16) -> Answer {
        if self.requests.len() >= EVENT_REQUESTS {
            return Err(StatusCode::AER_LIMIT_EXCEEDED);
        }
        self.requests.push_back(cid);
        Ok(Outcome::Waits)
    }

    /// A request is aborted; was there such a one?
    pub(crate) fn withdraw(&mut self, cid: u16) -> bool {
        let place = self.requests.iter().position(|&waiting| waiting == cid);
        place.and_then(|at| self.requests.remove(at)).is_some()
    }

    /// Something happened.
    pub(crate) fn raise(&mut self, event: AsyncEvent) {
        if self.pending.len() < KEPT && !self.pending.contains(&event) {
            self.pending.push_back(event);
        }
    }

    /// Would an event of this type be told of at once?
    pub(crate) fn is_awaited(&self, kind: AsyncEventType) -> bool {
        !self.requests.is_empty() && self.silent >> kind.0 & 1 == 0
    }

    /// The log page was read without being asked to retain events: its type may speak again.
    pub(crate) fn log_was_read(&mut self, lid: LogId) {
        let kind = match lid {
            LogId::ERROR => AsyncEventType::ERROR,
            LogId::SMART => AsyncEventType::SMART,
            LogId::FIRMWARE_SLOT | LogId::CHANGED_NAMESPACES => AsyncEventType::NOTICE,
            LogId::SANITIZE => AsyncEventType::IO_SPECIFIC,
            _ => return,
        };
        self.silent &= !(1 << kind.0);
        // What happened before the log was read is in it.
        self.pending.retain(|event| event.event_type() != kind.0);
    }

    /// A request and the event that answers it.
    fn next(&mut self) -> Option<(u16, AsyncEvent)> {
        if self.requests.is_empty() {
            return None;
        }
        let speaks = |event: &AsyncEvent| self.silent >> event.event_type() & 1 == 0;
        let at = self.pending.iter().position(speaks)?;
        let event = self.pending.remove(at)?;
        self.silent |= 1 << event.event_type();
        Some((self.requests.pop_front()?, event))
    }

    /// A controller reset.
    pub(crate) fn reset(&mut self) {
        *self = Events::default();
    }

    /// Can anything be told?
    pub(crate) fn has_answer(&self) -> bool {
        let speaks = |event: &AsyncEvent| self.silent >> event.event_type() & 1 == 0;
        !self.requests.is_empty() && self.pending.iter().any(speaks)
    }
}

impl Controller {
    /// Tell of what happened, as far as it was asked for.
    pub(crate) fn tell_events<M: HostMemory>(&mut self, now_ns: u64, memory: &mut M) {
        while self.is_working()
            && let Some((cid, event)) = self.events.next()
        {
            let slot = Slot::new(Kind::Done, 0, cid, 0);
            self.complete(&slot, StatusCode::SUCCESS, event.raw(), now_ns, memory);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/admin/events.rs"]
mod tests;
