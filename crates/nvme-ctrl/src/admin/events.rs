//! Asynchronous events (Base 5.2): requests, pending events, and event types masked until their log
//! page is read.

use std::collections::VecDeque;

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::AsyncEventRequest;
use assay_nvme_spec::feature::{AsyncEvent, AsyncEventType, event};
use assay_nvme_spec::identify::DATA_BYTES;
use assay_nvme_spec::log::LogId;

use super::{AdminCommand, AdminOutcome, AdminResult};
use crate::controller::{Controller, NAMESPACE};
use crate::memory::HostMemory;
use crate::slots::{CommandSlot, SlotState};

pub(crate) const EVENT_REQUESTS: usize = 4;
/// Most pending events; further ones are dropped.
const MAX_PENDING: usize = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct AsyncEvents {
    requests: VecDeque<u16>,
    pending: VecDeque<AsyncEvent>,
    /// Reported types whose log page was not read since, one bit each.
    masked: u8,
    /// Attributes of the namespace changed since the list of changed namespaces was read.
    namespace_changed: bool,
}

impl AsyncEvents {
    pub(crate) fn request(&mut self, cid: u16) -> AdminResult {
        StatusCode::AER_LIMIT_EXCEEDED.fail_if(self.requests.len() >= EVENT_REQUESTS)?;
        self.requests.push_back(cid);
        Ok(AdminOutcome::Outstanding)
    }

    pub(crate) fn withdraw(&mut self, cid: u16) -> bool {
        let index = self.requests.iter().position(|&request| request == cid);
        index.and_then(|index| self.requests.remove(index)).is_some()
    }

    /// Adds an event unless the same one is pending.
    pub(crate) fn raise(&mut self, event_type: AsyncEventType, information: u8, lid: LogId) {
        let mut event = AsyncEvent::default();
        event.set_event_type(event_type.0).set_information(information).set_lid(lid.0);
        if self.pending.len() < MAX_PENDING && !self.pending.contains(&event) {
            self.pending.push_back(event);
        }
    }

    /// Namespace Attribute Changed.
    pub(crate) fn namespace_changed(&mut self) {
        self.namespace_changed = true;
        let changed = event::NAMESPACE_ATTRIBUTE;
        self.raise(AsyncEventType::NOTICE, changed, LogId::CHANGED_NAMESPACES);
    }

    /// Changed Namespace List (Base 5.16.1.5), which reading clears.
    pub(crate) fn changed_namespaces(&mut self, clear: bool) -> Vec<u8> {
        let mut page = vec![0; DATA_BYTES];
        if self.namespace_changed {
            page[..4].copy_from_slice(&NAMESPACE.to_le_bytes());
        }
        self.namespace_changed &= !clear;
        page
    }

    pub(crate) fn is_awaited(&self, event_type: AsyncEventType) -> bool {
        !self.requests.is_empty() && self.is_unmasked(event_type.0)
    }

    fn is_unmasked(&self, event_type: u8) -> bool {
        self.masked >> event_type & 1 == 0
    }

    /// A log page was read without Retain Asynchronous Event: unmasks its event type.
    pub(crate) fn log_was_read(&mut self, lid: LogId) {
        let event_type = match lid {
            LogId::ERROR => AsyncEventType::ERROR,
            LogId::SMART => AsyncEventType::SMART,
            LogId::FIRMWARE_SLOT | LogId::CHANGED_NAMESPACES => AsyncEventType::NOTICE,
            LogId::SANITIZE => AsyncEventType::IO_SPECIFIC,
            _ => return,
        };
        self.masked &= !(1 << event_type.0);
        // The log page included them.
        self.pending.retain(|event| event.event_type() != event_type.0);
    }

    fn next_unmasked(&self) -> Option<usize> {
        let mut pending = self.pending.iter();
        pending.position(|event| self.is_unmasked(event.event_type()))
    }

    fn next(&mut self) -> Option<(u16, AsyncEvent)> {
        let index = self.next_unmasked()?;
        let cid = self.requests.pop_front()?;
        let event = self.pending.remove(index)?;
        self.masked |= 1 << event.event_type();
        Some((cid, event))
    }

    pub(crate) fn has_completion(&self) -> bool {
        !self.requests.is_empty() && self.next_unmasked().is_some()
    }
}

pub(super) fn request_slot(cid: u16) -> CommandSlot {
    let mut request = AsyncEventRequest::new();
    request.set_cid(cid);
    CommandSlot::new(SlotState::Scheduled, 0, &request.entry())
}

impl Controller {
    pub(super) fn request_event(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        self.events.request(command.entry.cid())
    }

    pub(crate) fn post_events<M: HostMemory>(&mut self, now_ns: u64, memory: &mut M) {
        while self.is_operational()
            && let Some((cid, event)) = self.events.next()
        {
            let slot = request_slot(cid);
            self.complete(&slot, StatusCode::SUCCESS, event.raw(), now_ns, memory);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/admin/events.rs"]
mod tests;
