use crate::command::Status;
use crate::command_slots::CommandSlots;
use crate::link::Route;
use crate::map::UNMAPPED;
use crate::map_unit::{MapUnit, sectors_touched};
use crate::prefetch::PrefetchHit;
use crate::profile::MAP_UNIT_BYTES;

use super::costs::Costs;
use super::execute::{CommandTiming, units_of};
use super::{Drive, SubCommand};

#[derive(Clone, Copy)]
struct ReadStart {
    now_ns: u64,
    begin_ns: u64,
    route: Route,
}

/// Longest read of a page-aligned buffer without a PRP list: PRP entries 1 and 2 point to 4 KiB
/// each (NVM Express Base Specification 1.4, section 4.3).
const PRP_POINTERS_BYTES: u64 = 2 * 4096;

/// Bytes of `offset..end` in `count` units from `first` on, and the sectors that they touch.
#[inline]
fn overlap(unit: MapUnit, offset: u64, end: u64, (first, count): (u32, u32)) -> (u64, u32) {
    let start = unit.start(first);
    let from = offset.max(start);
    let stop = end.min(start + unit.start(count));
    (stop - from, sectors_touched(from, stop))
}

#[inline(always)]
fn read_begun_ns(now_ns: u64, offset: u64, len: u64, costs: &Costs) -> u64 {
    let is_whole = (offset | len).is_multiple_of(MAP_UNIT_BYTES);
    let partial_ns = if is_whole { 0 } else { costs.read_partial_ns };
    now_ns + costs.read_command_ns + partial_ns
}

impl Drive {
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        now_ns: u64,
        offset: u64,
        len: u64,
        clock: usize,
    ) -> CommandTiming {
        self.medium.apply_map_updates();
        self.host.host_bytes_read += len;
        let start = self.read_start(now_ns, len);
        let hit = self.prefetch.lookup(offset, len);
        let (first, last) = units_of(self.unit, offset, len.max(1));
        let outcome = if hit.is_none() && first == last && len > 0 {
            self.read_unit(start, offset, len, clock)
        } else {
            self.read_units::<false>(start, offset, len, clock, hit)
        };
        if let Some(cache) = &mut self.read_cache {
            cache.end(outcome.1, len);
        }
        if let Some(slots) = self.slots_for(len) {
            slots.hold(outcome.1);
        }
        outcome
    }

    #[inline(always)]
    fn slots_for(&mut self, len: u64) -> Option<&mut CommandSlots> {
        let by_hardware = len <= self.costs[0].read_by_hardware_bytes;
        self.read_slots.as_mut().filter(|_| !by_hardware)
    }

    #[inline(always)]
    fn read_start(&mut self, now_ns: u64, len: u64) -> ReadStart {
        let mut begin_ns = now_ns;
        if let Some(slots) = self.slots_for(len) {
            begin_ns = slots.admit(now_ns);
            self.slot_wait_ns = begin_ns - now_ns;
        }
        ReadStart { now_ns, begin_ns, route: self.route(begin_ns, len) }
    }

    /// Route of a read, whose fast memory is taken here.
    #[inline(always)]
    fn route(&mut self, now_ns: u64, len: u64) -> Route {
        if let Some(cache) = &mut self.read_cache
            && cache.begin(now_ns, len)
        {
            return Route::Exceeded;
        }
        self.link.route(len)
    }

    /// [`Drive::execute`] of a Verify: flash and data path without the link.
    pub(super) fn verify(&mut self, now_ns: u64, sub: &SubCommand, clock: usize) -> CommandTiming {
        let len = u64::from(sub.len_bytes);
        self.medium.apply_map_updates();
        self.host.host_bytes_read += len;
        let start = ReadStart { now_ns, begin_ns: now_ns, route: self.link.route(len) };
        self.read_units::<true>(start, sub.offset_bytes, len, clock, None)
    }

    #[inline(never)]
    fn read_units<const VERIFY: bool>(
        &mut self,
        start: ReadStart,
        offset: u64,
        len: u64,
        clock: usize,
        hit: Option<PrefetchHit>,
    ) -> CommandTiming {
        let ReadStart { now_ns, route, .. } = start;
        let costs = self.costs[clock];
        let mut from = offset;
        let end = from + len;
        let mut busy_ns = read_begun_ns(start.begin_ns, offset, len, &costs);
        let mut done_ns = busy_ns;
        let mut sent_bytes = 0;
        if let Some(hit) = hit
            && hit.bytes > 0
        {
            sent_bytes = hit.bytes;
            busy_ns += (hit.bytes * costs.read_kib_ns) >> 10;
            from += hit.bytes;
            let ready_ns = (busy_ns + costs.read_latency_ns).max(hit.ready_ns);
            done_ns = self.link.send_to_host(now_ns, ready_ns, hit.bytes);
        }
        if from < end {
            if end - from > costs.die_read_bytes {
                busy_ns += costs.read_split_ns;
            }
            let (first, last) = units_of(self.unit, from, end - from);
            let known_ns = self.lookup_map(now_ns, busy_ns, first, last);
            let needs_list = !VERIFY && len > PRP_POINTERS_BYTES;
            let mut setup_ns = costs.path_setup_ns[usize::from(needs_list)];
            let mut unit = first;
            while unit <= last {
                let (count, physical) = self.next_run::<false>(unit, last - unit + 1);
                let (bytes, sectors) = overlap(self.unit, from, end, (unit, count));
                let pages = self.pages_of(physical, count, sectors);
                busy_ns += costs.read_pages_ns(pages, len) + ((bytes * costs.read_kib_ns) >> 10);
                let issue_ns = (busy_ns + costs.read_latency_ns).max(known_ns);
                let extent = (count, sectors);
                let end_ns = if pages > 0 {
                    let ready_ns = self.medium.read(now_ns, issue_ns, physical, extent);
                    let data_path_bytes = bytes * costs.data_path_percent / 100;
                    let path = (data_path_bytes, std::mem::take(&mut setup_ns));
                    if VERIFY {
                        self.link.through_data_path(now_ns, ready_ns, path, route)
                    } else {
                        self.link.deliver(now_ns, ready_ns, bytes, path, route)
                    }
                } else if VERIFY {
                    issue_ns
                } else {
                    self.link.send_to_host(now_ns, issue_ns, bytes)
                };
                let lead_ns = if VERIFY { 0 } else { self.link.lead_ns(sent_bytes) };
                done_ns = done_ns.max(end_ns.saturating_sub(lead_ns));
                sent_bytes += bytes;
                unit += count;
            }
        }
        if let Some(hit) = hit {
            let percent = costs.data_path_percent;
            self.read_ahead(now_ns, busy_ns, hit.stream, hit.ahead, route, percent);
        }
        (busy_ns, done_ns, Status::Ok)
    }

    #[inline(always)]
    fn read_unit(
        &mut self,
        start: ReadStart,
        offset: u64,
        bytes: u64,
        clock: usize,
    ) -> CommandTiming {
        let ReadStart { now_ns, route, .. } = start;
        let costs = &self.costs[clock];
        let unit = self.unit.at(offset);
        let mut busy_ns = read_begun_ns(start.begin_ns, offset, bytes, costs);
        let known_ns = self.lookup_map(now_ns, busy_ns, unit, unit);
        let costs = &self.costs[clock];
        busy_ns += (bytes * costs.read_kib_ns) >> 10;
        let mut physical = self.medium.locate(unit);
        if physical == UNMAPPED {
            if self.costs[0].skip_unmapped {
                let issue_ns = (busy_ns + costs.read_latency_ns).max(known_ns);
                let done_ns = self.link.send_to_host(now_ns, issue_ns, bytes);
                return (busy_ns, done_ns, Status::Ok);
            }
            physical = self.medium.sequential(unit);
        }
        let sectors = sectors_touched(offset, offset + bytes);
        let pages = self.medium.pages_touched(physical, 1, sectors);
        busy_ns += costs.read_pages_ns(pages, bytes);
        let needs_list = bytes > PRP_POINTERS_BYTES;
        let setup_ns = costs.path_setup_ns[usize::from(needs_list)];
        let data_path_bytes =
            if clock == 0 { bytes } else { bytes * costs.data_path_percent / 100 };
        let issue_ns = (busy_ns + costs.read_latency_ns).max(known_ns);
        let ready_ns = self.medium.read(now_ns, issue_ns, physical, (1, sectors));
        let path = (data_path_bytes, setup_ns);
        let done_ns = self.link.deliver(now_ns, ready_ns, bytes, path, route);
        (busy_ns, done_ns, Status::Ok)
    }

    #[inline]
    fn pages_of(&self, physical: u32, count: u32, sectors: u32) -> u32 {
        match physical {
            UNMAPPED => 0,
            _ => self.medium.pages_touched(physical, count, sectors),
        }
    }

    /// Longest run from `unit` that one sense, or the map alone ([`UNMAPPED`]), answers.
    #[inline]
    fn next_run<const AHEAD: bool>(&self, unit: u32, limit: u32) -> (u32, u32) {
        let mut physical = self.medium.locate(unit);
        if physical == UNMAPPED {
            if self.costs[0].skip_unmapped {
                let mut count = 1;
                while count < limit && self.medium.locate(unit + count) == UNMAPPED {
                    count += 1;
                }
                return (count, UNMAPPED);
            }
            physical = self.medium.sequential(unit);
            return (1, physical);
        }
        let count = if AHEAD {
            self.medium.run_ahead(unit, physical, limit)
        } else {
            self.medium.run(unit, physical, limit)
        };
        (count, physical)
    }

    /// Read whole pages ahead into the buffer, without per-page firmware time.
    fn read_ahead(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
        stream: usize,
        ahead: (u64, u64),
        route: Route,
        data_path_percent: u64,
    ) {
        let end = ahead.1.min(self.identity.capacity_bytes);
        if ahead.0 >= end {
            return;
        }
        let (first, last) = units_of(self.unit, ahead.0, end - ahead.0);
        let issue_ns = self.lookup_map(now_ns, issue_ns, first, last);
        let mut unit = first;
        while unit <= last {
            let (count, physical) = self.next_run::<true>(unit, last - unit + 1);
            let mut ready_ns = issue_ns;
            if physical != UNMAPPED {
                let bytes = self.unit.start(count) * data_path_percent / 100;
                let extent = (count, count * self.unit.sectors());
                ready_ns = self.medium.read_ahead(now_ns, issue_ns, physical, extent);
                ready_ns = self.link.through_data_path(now_ns, ready_ns, (bytes, 0), route);
            }
            unit += count;
            let piece_end = self.unit.start(unit).min(end);
            self.prefetch.add(stream, piece_end, ready_ns);
        }
    }
}
