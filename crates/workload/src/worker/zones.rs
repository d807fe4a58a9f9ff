//! Zones that a worker empties before it writes them anew.

use std::num::NonZeroU64;
use std::sync::Arc;

use assay_io::Target;
use assay_units::{Nanos, Op, limited_event};

use super::Worker;
use super::drawing::Addresses;
use crate::access::fio::ZoneTable;
use crate::plan::Workload;

pub(super) fn emptied_bytes(workload: &Workload) -> Option<NonZeroU64> {
    match &workload.fio {
        Some((access, _)) => NonZeroU64::new(access.zoned?.zone_bytes),
        None => workload.features.zone_resets,
    }
}

impl Worker {
    /// With the zones of its drive, which other threads have, too.
    pub(crate) fn with_zones(mut self, table: Option<Arc<ZoneTable>>) -> Worker {
        if let (Some(table), Addresses::Fio(fio)) = (table, &mut self.access) {
            fio.share_zones(table);
        }
        self
    }

    /// The zone that this write begins anew; in fio's order it was emptied only if it had data.
    fn emptied(&self, op: Op, offset_bytes: u64) -> Option<NonZeroU64> {
        let begins = |zone: &NonZeroU64| match self.access {
            Addresses::Fio(_) => self.begins_zone,
            Addresses::Own(_) => op == Op::Write && offset_bytes % *zone == 0,
        };
        self.zone_bytes.filter(begins)
    }

    /// Writes of the last pass may still be in flight to it.
    #[inline]
    pub(super) fn may_empty_zone(&self, op: Op, offset_bytes: u64) -> bool {
        self.emptied(op, offset_bytes).is_none() || self.is_idle()
    }

    /// A zone that could not be emptied refuses the write, which then is the error.
    #[inline]
    pub(super) fn empty_zone<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        op: Op,
        offset_bytes: u64,
    ) {
        let Some(zone) = self.emptied(op, offset_bytes) else {
            return;
        };
        self.begins_zone = false;
        if let Err(error) = target.reset_zone(offset_bytes, zone.get()) {
            limited_event!(now, WARN, offset_bytes, %error, "a zone could not be reset");
        }
    }
}
