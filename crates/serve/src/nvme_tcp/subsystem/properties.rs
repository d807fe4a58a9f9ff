//! Property Get and Property Set (Base 6.5, 6.6): the registers CAP, VS, CC and CSTS.

use assay_nvme_spec::fabrics::{FabricsType, Property};
use assay_nvme_spec::register::{
    ACQ, AQA, ASQ, AdminQueueAttributes, CAP, CC, CSTS, Configuration, VS,
};
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry};

use super::{HostConnection, Role, Subsystem, completion};
use crate::nvme_tcp::MAX_QUEUES;
use crate::nvme_tcp::memory::{completion_ring, submission_ring};

impl Subsystem {
    pub(super) fn property(
        &mut self,
        session: &HostConnection,
        entry: &SubmissionEntry,
    ) -> CompletionEntry {
        let property = Property::from_bytes(*entry.as_bytes());
        let value = match session.role {
            // After surprise removal registers read as ones, which a host would take for values.
            _ if self.removed => Err(StatusCode::INTERNAL_ERROR),
            Role::Queue(0) => match FabricsType(property.kind()) {
                FabricsType::PROPERTY_GET => self.get_property(&property),
                FabricsType::PROPERTY_SET => self.set_property(&property).map(|()| 0),
                _ => Err(StatusCode::INVALID_FIELD),
            },
            _ => Err(StatusCode::INVALID_FIELD),
        };
        let status = value.err().unwrap_or(StatusCode::SUCCESS);
        let mut done = completion(entry.cid(), status, true);
        let value = value.unwrap_or(0);
        done.set_dw0(value as u32).set_dw1((value >> 32) as u32);
        done
    }

    fn get_property(&self, property: &Property) -> Result<u64, StatusCode> {
        let (offset, is_wide) = (u64::from(property.offset()), property.is_wide());
        let is_valid = match offset {
            CAP => is_wide,
            VS | CC | CSTS => !is_wide,
            _ => false,
        };
        StatusCode::INVALID_FIELD.fail_if(!is_valid)?;
        let bytes = if is_wide { 8 } else { 4 };
        Ok(self.paced.controller.read_register(offset, bytes))
    }

    fn set_property(&mut self, property: &Property) -> Result<(), StatusCode> {
        let is_valid = u64::from(property.offset()) == CC && !property.is_wide();
        StatusCode::INVALID_FIELD.fail_if(!is_valid)?;
        // Commands that were sent before are submitted before.
        self.ring();
        let value = property.value() as u32;
        let (old, new) = (self.configuration(), Configuration::from_raw(value));
        if new.enable() && !old.enable() {
            self.prepare_admin_queue();
        } else if old.enable() && !new.enable() {
            self.reset_queues();
        }
        self.paced.write_register(CC, 4, value.into());
        self.changed = true;
        Ok(())
    }

    fn prepare_admin_queue(&mut self) {
        let Some(Some(queue)) = self.queues.first_mut() else {
            return;
        };
        (queue.tail, queue.completion_head, queue.rung) = (0, 0, (0, 0));
        let ring = queue.ring;
        let mut attributes = AdminQueueAttributes::default();
        attributes.set_sq_size((ring - 1) as u16).set_cq_size((ring - 1) as u16);
        self.paced.memory.set_ring(0, ring);
        let registers = [
            (AQA, 4, u64::from(attributes.raw())),
            (ASQ, 8, submission_ring(0)),
            (ACQ, 8, completion_ring(0)),
        ];
        for (offset, bytes, value) in registers {
            self.paced.write_register(offset, bytes, value);
        }
    }

    /// A controller reset deletes the I/O queues. Commands of the admin queue are aborted, but
    /// Asynchronous Event Requests, which a reset ends without completion (Base 5.2).
    fn reset_queues(&mut self) {
        for qid in 1..=MAX_QUEUES {
            self.drop_queue(qid);
        }
        self.paced.memory.completed.clear();
        for number in self.outstanding(|qid| qid == 0) {
            let Some(buffer) = self.paced.memory.get(number) else {
                continue;
            };
            if !buffer.is_event_request() {
                self.answer(number, StatusCode::ABORTED_SQ_DELETION, false);
                continue;
            }
            let cid = usize::from(buffer.entry.cid());
            self.release(number);
            if let Some(Some(queue)) = self.queues.first_mut() {
                queue.buffers[cid] = 0;
                queue.outstanding -= 1;
            }
        }
    }
}
