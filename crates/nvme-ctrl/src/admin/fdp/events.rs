//! FDP events (Base 2.1, log 23h and feature 1Eh) and updates of reclaim units by the host.
//!
//! Host events: a reclaim unit that the host left before it was full, a write with an unknown
//! placement identifier (written by handle 0). Each is logged where enabled for the handle; none is
//! at power-on. There are no controller events, because garbage collection has a superblock of its
//! own, and handles change only when their unit is full. An update keeps an empty reclaim unit.

use std::collections::VecDeque;

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::fdp::{
    FdpEvent, FdpEventDescriptor, FdpEventType, FdpEventsHead, FdpEventsSelection, HANDLE_UPDATE,
    IoManagementSend,
};
use assay_units::Nanos;

use crate::controller::{Controller, NAMESPACE};

/// The latest events, as many as the log has room for (Base 2.1).
const MAX_EVENTS: usize = 63;
pub(crate) const EVENT_TYPES: [FdpEventType; 2] =
    [FdpEventType::NOT_FULLY_WRITTEN, FdpEventType::INVALID_PLACEMENT_ID];

/// `enabled` has a bit per entry of [`EVENT_TYPES`] for each handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct FdpEvents {
    logged: VecDeque<FdpEvent>,
    enabled: Vec<u8>,
}

impl FdpEvents {
    fn is_enabled(&self, handle: u16, kind: FdpEventType) -> bool {
        let bit = EVENT_TYPES.iter().position(|&known| known == kind);
        let enabled = self.enabled.get(usize::from(handle)).copied().unwrap_or(0);
        bit.is_some_and(|bit| enabled >> bit & 1 == 1)
    }

    fn enable(&mut self, handle: u16, kinds: &[u8], enabled: bool) -> Result<(), StatusCode> {
        let mut mask = 0;
        for &kind in kinds {
            let bit = EVENT_TYPES.iter().position(|known| known.0 == kind);
            mask |= 1 << bit.ok_or(StatusCode::INVALID_FIELD)?;
        }
        let handle = usize::from(handle);
        if self.enabled.len() <= handle {
            self.enabled.resize(handle + 1, 0);
        }
        let bits = &mut self.enabled[handle];
        *bits = if enabled { *bits | mask } else { *bits & !mask };
        Ok(())
    }

    /// The log page of host events, or of controller events (none).
    pub(crate) fn page(&self, host_events: bool) -> Vec<u8> {
        let events = self.logged.iter().filter(|_| host_events);
        let mut head = FdpEventsHead::default();
        head.set_events(events.clone().count() as u32);
        let mut page = head.as_bytes().to_vec();
        for event in events {
            page.extend_from_slice(event.as_bytes());
        }
        page.resize(FdpEventsHead::SIZE + MAX_EVENTS * FdpEvent::SIZE, 0);
        page
    }
}

impl Controller {
    /// Logs an event if it is enabled for `handle`; an unknown `placement_id` names no handle.
    pub(crate) fn log_fdp_event(
        &mut self,
        now_ns: u64,
        kind: FdpEventType,
        (handle, placement_id): (u16, u16),
    ) {
        if !self.fdp_events.is_enabled(handle, kind) {
            return;
        }
        let mut event = FdpEvent::default();
        event
            .set_kind(kind.0)
            .set_has_placement_id(true)
            .set_has_nsid(true)
            .set_has_location(true)
            .set_placement_id(placement_id)
            .set_milliseconds(self.features.timestamp_ms(now_ns))
            .set_nsid(NAMESPACE)
            .set_handle(handle as u8);
        let logged = &mut self.fdp_events.logged;
        if logged.len() == MAX_EVENTS {
            logged.pop_front();
        }
        logged.push_back(event);
    }

    /// The handle that a placement identifier names: for an unknown one handle 0, with an event.
    pub(crate) fn handle_of(&mut self, now_ns: u64, placement_id: u16) -> u16 {
        if placement_id < self.drive.placement_handles() {
            return placement_id;
        }
        let kind = FdpEventType::INVALID_PLACEMENT_ID;
        self.log_fdp_event(now_ns, kind, (0, placement_id));
        0
    }

    /// Number of identifiers in the data of I/O Management Send.
    pub(crate) fn updated_handles(&self, send: IoManagementSend) -> Result<usize, StatusCode> {
        let count = usize::from(send.count()) + 1;
        let is_known = send.operation() == HANDLE_UPDATE;
        let too_many = count > usize::from(self.drive.placement_handles());
        StatusCode::INVALID_FIELD.fail_if(!is_known || too_many)?;
        Ok(count)
    }

    /// Reclaim Unit Handle Update of these identifiers (little-endian), all of which must be known.
    pub(crate) fn update_handles(&mut self, now_ns: u64, list: &[u8]) -> Result<(), StatusCode> {
        let known = self.drive.placement_handles();
        let handles = list.chunks_exact(2).map(|raw| u16::from_le_bytes([raw[0], raw[1]]));
        StatusCode::INVALID_FIELD.fail_if(handles.clone().any(|handle| handle >= known))?;
        for handle in handles {
            let left = self.drive.renew_reclaim_unit(Nanos(now_ns), handle);
            if left.is_some_and(|bytes| bytes > 0) {
                let kind = FdpEventType::NOT_FULLY_WRITTEN;
                self.log_fdp_event(now_ns, kind, (handle, handle));
            }
        }
        Ok(())
    }

    /// Supported event types of a handle, now or at power-on; at most as many as asked for.
    pub(crate) fn event_descriptors(
        &self,
        value: u32,
        is_current: bool,
    ) -> Result<Vec<u8>, StatusCode> {
        let selection = self.event_selection(value)?;
        let mut data = Vec::new();
        for kind in EVENT_TYPES.into_iter().take(selection.types().into()) {
            let mut descriptor = FdpEventDescriptor::default();
            let handle = selection.placement_handle();
            let enabled = is_current && self.fdp_events.is_enabled(handle, kind);
            descriptor.set_kind(kind.0).set_enabled(enabled);
            data.extend_from_slice(descriptor.as_bytes());
        }
        Ok(data)
    }

    /// Dword 11 of Get and Set Features.
    pub(crate) fn event_selection(&self, value: u32) -> Result<FdpEventsSelection, StatusCode> {
        let selection = FdpEventsSelection::from_raw(value);
        let is_there = selection.placement_handle() < self.drive.placement_handles();
        StatusCode::INVALID_FIELD.fail_if(!is_there)?;
        Ok(selection)
    }

    /// Enables (bit 0 of dword 12) or disables the listed types.
    pub(crate) fn set_fdp_events(
        &mut self,
        selection: FdpEventsSelection,
        kinds: &[u8],
        second_value: u32,
    ) -> Result<(), StatusCode> {
        let handle = selection.placement_handle();
        self.fdp_events.enable(handle, kinds, second_value & 1 == 1)
    }
}
