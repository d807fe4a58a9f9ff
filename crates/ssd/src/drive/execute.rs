//! Command execution: the path of each kind of command, computed when its firmware starts.

use assay_units::{DataClass, Op};

use super::{Drive, SubCommand};
use crate::command::Status;
use crate::link::Route;
use crate::map::UNMAPPED;
use crate::map_unit::{MapUnit, sectors_touched};
use crate::prefetch::PrefetchHit;
use crate::profile::{MAP_UNIT_BYTES, Profile};
use crate::sata::CommandSlots;
use crate::sourced::value_or;
use crate::thermal::core_energy_nj;

#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    read_command_ns: u64,
    read_partial_ns: u64,
    read_split_ns: u64,
    /// Longest read served by one die.
    die_read_bytes: u64,
    read_page_ns: u64,
    /// Longest read without `read_page_ns`; 0 if none.
    read_by_hardware_bytes: u64,
    read_kib_ns: u64,
    /// Time of a read beside its core.
    read_latency_ns: u64,
    /// Data path setup time per read of flash, and of one that needs a PRP list.
    path_setup_ns: [u64; 2],
    write_command_ns: u64,
    write_unit_ns: u64,
    other_command_ns: u64,
    ack_ns: u64,
    ack_unit_ns: u64,
    /// Data path and collection time in per cent of unthrottled.
    data_path_percent: u64,
    skip_unmapped: bool,
    elide_zero: bool,
    command_nj: u64,
    transfer_kib_nj: u64,
    /// Power of a busy core at full clock rate.
    core_mw: u64,
}

impl Costs {
    /// At full speed and throttled: a lower clock rate for firmware and data path.
    pub(super) fn new(profile: &Profile) -> [Costs; 2] {
        let throttled = u64::from(profile.thermal.throttle_percent.value);
        [100, throttled].map(|percent| Costs::at_clock_rate(profile, percent))
    }

    fn at_clock_rate(profile: &Profile, percent: u64) -> Costs {
        let firmware = &profile.firmware;
        let scaled = |ns: u64| ns * percent / 100;
        let by_hardware = value_or(&firmware.read_block_by_hardware, false);
        let block_bytes = profile.identity.logical_block_bytes.value;
        Costs {
            read_command_ns: scaled(firmware.read_command_ns.value),
            read_partial_ns: scaled(value_or(&firmware.read_partial_ns, 0)),
            read_split_ns: scaled(value_or(&firmware.read_split_ns, 0)),
            die_read_bytes: value_or(
                &profile.nand.stripe_bytes,
                u64::from(profile.nand.planes.value) * profile.nand.page_bytes.value,
            ),
            read_page_ns: scaled(firmware.read_page_ns.value),
            read_by_hardware_bytes: if by_hardware { block_bytes } else { 0 },
            read_kib_ns: scaled(firmware.read_kib_ns.value),
            read_latency_ns: scaled(value_or(&firmware.read_latency_ns, 0)),
            path_setup_ns: [0, value_or(&profile.data_path.prp_list_ns, 0)]
                .map(|list_ns| scaled(value_or(&profile.data_path.setup_ns, 0) + list_ns)),
            write_command_ns: scaled(firmware.write_command_ns.value),
            write_unit_ns: scaled(firmware.write_unit_ns.value),
            other_command_ns: scaled(firmware.other_command_ns.value),
            ack_ns: profile.buffer.ack_ns.value,
            ack_unit_ns: profile.buffer.ack_unit_ns.value,
            data_path_percent: percent,
            skip_unmapped: profile.ftl.skip_unmapped.value,
            elide_zero: profile.ftl.elide_zero.value,
            command_nj: profile.power.command_nj.value,
            transfer_kib_nj: profile.power.transfer_kib_nj.value,
            core_mw: value_or(&profile.power.core_mw, 0).into(),
        }
    }

    /// Core time for `pages` NAND pages of a read of `len` bytes, in nanoseconds.
    #[inline(always)]
    fn read_pages_ns(&self, pages: u32, len: u64) -> u64 {
        if len <= self.read_by_hardware_bytes {
            return 0;
        }
        self.read_page_ns * u64::from(pages)
    }

    pub(super) fn min_ns(&self) -> u64 {
        let writes_ns = self.write_command_ns.min(self.other_command_ns);
        self.read_command_ns.min(writes_ns)
    }
}

/// A read when a core takes it.
#[derive(Clone, Copy)]
struct ReadStart {
    now_ns: u64,
    /// When it has a slot.
    begin_ns: u64,
    route: Route,
}

/// Longest read of a page-aligned buffer whose memory pages of 4 KiB the command itself points to, by PRP entries 1 and 2; a longer one
/// has a PRP list in host memory (NVM Express Base Specification 1.4, section 4.3).
const PRP_POINTERS_BYTES: u64 = 2 * 4096;

/// Core busy until, command done (without completion entry), status.
type CommandTiming = (u64, u64, Status);

fn units_of(unit: MapUnit, offset: u64, len: u64) -> (u32, u32) {
    (unit.of(offset), unit.of(offset + len - 1))
}

/// Bytes from `offset` to `end` that lie in `count` units from `first` on, and the sectors that they touch.
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
    pub(super) fn execute_fast<const WRITE: bool>(
        &mut self,
        now_ns: u64,
        number: u32,
    ) -> CommandTiming {
        self.thermal.advance(now_ns);
        let clock = usize::from(self.thermal.throttled);
        let sub = self.in_flight.get(number);
        let (offset, len) = (sub.offset_bytes, u64::from(sub.len_bytes));
        let costs = &self.costs[clock];
        let energy_nj = costs.command_nj + ((len * costs.transfer_kib_nj) >> 10);
        let outcome = if WRITE {
            let sub = *sub;
            self.write(now_ns, &sub, clock)
        } else {
            self.read(now_ns, offset, len, clock)
        };
        self.account(now_ns, outcome, energy_nj, clock)
    }

    /// Account core time and energy of a command; `command_nj` without its core time.
    #[inline(always)]
    fn account(
        &mut self,
        now_ns: u64,
        mut outcome: CommandTiming,
        command_nj: u64,
        clock: usize,
    ) -> CommandTiming {
        let waited_ns = std::mem::take(&mut self.slot_wait_ns);
        let costs = &self.costs[clock];
        let (percent, mut core_ns) = (costs.data_path_percent, outcome.0 - now_ns - waited_ns);
        if clock > 0 {
            // A slower clock stretches the work; its energy stays.
            core_ns = core_ns * 100 / percent;
        }
        let core_nj = core_energy_nj(core_ns, costs.core_mw);
        // Collection occupies the core whose command set it off, without delaying that command.
        self.update_moved_pages(now_ns);
        let collection_ns = self.medium.take_firmware_ns();
        if collection_ns > 0 {
            outcome.0 += collection_ns * percent / 100;
        }
        let mut energy = self.medium.take_energy();
        energy.controller_nj += command_nj + core_nj;
        self.thermal.add_energy(energy);
        if self.power.is_governed() {
            let governed_ns = self.power.spend(now_ns, energy.total_nj());
            outcome.0 = outcome.0.max(governed_ns);
        }
        outcome
    }

    #[inline]
    pub(super) fn execute(&mut self, now_ns: u64, number: u32, sub: &SubCommand) -> CommandTiming {
        if sub.status.is_ok() {
            match sub.op {
                Op::Read if sub.verifies => {}
                Op::Read => return self.execute_fast::<false>(now_ns, number),
                Op::Write => return self.execute_fast::<true>(now_ns, number),
                _ => {}
            }
        }
        self.thermal.advance(now_ns);
        let clock = usize::from(self.thermal.throttled);
        let costs = self.costs[clock];
        let outcome = match sub.op {
            _ if !sub.status.is_ok() => self.reject(now_ns, sub, clock),
            Op::Read => self.verify(now_ns, sub, clock),
            Op::Discard => self.deallocate(now_ns, sub, clock, false),
            Op::WriteZeroes => self.deallocate(now_ns, sub, clock, true),
            _ => {
                let busy_ns = now_ns + costs.other_command_ns;
                let flushes = sub.op == Op::Flush && !sub.dropped;
                let flushed_ns = flushes.then(|| self.medium.flush(now_ns));
                (busy_ns, flushed_ns.unwrap_or(0).max(busy_ns), Status::Ok)
            }
        };
        self.account(now_ns, outcome, costs.command_nj, clock)
    }

    /// Execute a failing command: invalid fields at once, media errors after the access.
    fn reject(&mut self, now_ns: u64, sub: &SubCommand, clock: usize) -> CommandTiming {
        if sub.status != Status::UnrecoveredReadError {
            let busy_ns = now_ns + self.costs[clock].other_command_ns;
            return (busy_ns, busy_ns, sub.status);
        }
        let len = u64::from(sub.len_bytes);
        let (busy_ns, done_ns, _) = if sub.verifies {
            self.verify(now_ns, sub, clock)
        } else {
            self.read(now_ns, sub.offset_bytes, len, clock)
        };
        self.host.host_bytes_read -= len;
        (busy_ns, done_ns, sub.status)
    }

    #[inline(always)]
    fn read(&mut self, now_ns: u64, offset: u64, len: u64, clock: usize) -> CommandTiming {
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

    /// The slots of which a read of `len` bytes takes one, if any.
    #[inline(always)]
    fn slots_for(&mut self, len: u64) -> Option<&mut CommandSlots> {
        let by_hardware = len <= self.costs[0].read_by_hardware_bytes;
        self.read_slots.as_mut().filter(|_| !by_hardware)
    }

    /// Start of a read of `len` bytes that a core takes at `now_ns`; its core waits for a slot.
    #[inline(always)]
    fn read_start(&mut self, now_ns: u64, len: u64) -> ReadStart {
        let mut begin_ns = now_ns;
        if let Some(slots) = self.slots_for(len) {
            begin_ns = slots.admit(now_ns);
            self.slot_wait_ns = begin_ns - now_ns;
        }
        ReadStart {
            now_ns,
            begin_ns,
            route: self.route(begin_ns, len),
        }
    }

    /// Route of a read of `len` bytes, whose buffer is taken.
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
    fn verify(&mut self, now_ns: u64, sub: &SubCommand, clock: usize) -> CommandTiming {
        let len = u64::from(sub.len_bytes);
        self.medium.apply_map_updates();
        self.host.host_bytes_read += len;
        let start = ReadStart {
            now_ns,
            begin_ns: now_ns,
            route: self.link.route(len),
        };
        self.read_units::<true>(start, sub.offset_bytes, len, clock, None)
    }

    /// [`Drive::read`] of several units, or with read-ahead; or [`Drive::verify`].
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
                let end_ns = if pages > 0 {
                    let ready_ns = self
                        .medium
                        .read(now_ns, issue_ns, physical, (count, sectors));
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
                let lead_ns = if VERIFY {
                    0
                } else {
                    self.link.lead_ns(sent_bytes)
                };
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

    /// [`Drive::read`] within one unit without read-ahead.
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
        let unit = self.unit.of(offset);
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
        let data_path_bytes = if clock == 0 {
            bytes
        } else {
            bytes * costs.data_path_percent / 100
        };
        let issue_ns = (busy_ns + costs.read_latency_ns).max(known_ns);
        let ready_ns = self.medium.read(now_ns, issue_ns, physical, (1, sectors));
        let path = (data_path_bytes, setup_ns);
        let done_ns = self.link.deliver(now_ns, ready_ns, bytes, path, route);
        (busy_ns, done_ns, Status::Ok)
    }

    /// NAND pages of `sectors` sectors of a run; 0 where no flash is read.
    #[inline]
    fn pages_of(&self, physical: u32, count: u32, sectors: u32) -> u32 {
        match physical {
            UNMAPPED => 0,
            _ => self.medium.pages_touched(physical, count, sectors),
        }
    }

    /// Longest run from `unit` that one sense, or the map alone ([`UNMAPPED`]), answers: units and address.
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

    /// Read a byte range ahead into the buffer, whole pages at once and without per-page firmware time.
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
                ready_ns = self
                    .link
                    .through_data_path(now_ns, ready_ns, (bytes, 0), route);
            }
            unit += count;
            let piece_end = self.unit.start(unit).min(end);
            self.prefetch.add(stream, piece_end, ready_ns);
        }
    }

    #[inline(always)]
    fn write(&mut self, now_ns: u64, sub: &SubCommand, clock: usize) -> CommandTiming {
        let costs = &self.costs[clock];
        let (ack_ns, ack_unit_ns) = (costs.ack_ns, costs.ack_unit_ns);
        let len = u64::from(sub.len_bytes);
        let (first, last) = units_of(self.unit, sub.offset_bytes, len);
        let units = u64::from(last - first) + 1;
        self.host.host_bytes_written += len;
        let started_ns = now_ns + costs.write_command_ns;
        let busy_ns = started_ns + costs.write_unit_ns * units;
        let elides = sub.data == DataClass::Zero && costs.elide_zero;
        self.prefetch.invalidate(sub.offset_bytes, len);
        let arrived_ns = self.link.send_to_drive(now_ns, started_ns, len);
        let mut done_ns = busy_ns.max(arrived_ns);
        self.update_map_pages(now_ns, started_ns, first, last);
        let end = self.end_of_units(sub.offset_bytes + len);
        if elides && self.unit.is_aligned(sub.offset_bytes | end) {
            self.medium.unmap(first, last + 1);
            self.journal_accepted(sub.seq, sub.range(), None);
            return (busy_ns, done_ns + ack_ns, Status::Ok);
        }
        if self.handles > 0 {
            self.medium.select_handle(now_ns, sub.handle);
        }
        let (taken, unit_ns) = (self.medium.accepted_units(), self.link.unit_ns());
        let (medium, offset) = (&mut self.medium, sub.offset_bytes);
        let (stored_ns, all) = medium.write(now_ns, offset, end, arrived_ns, unit_ns);
        done_ns = done_ns.max(stored_ns);
        if self.journal.is_some() {
            self.journal_accepted(sub.seq, sub.range(), Some(taken));
        }
        let status = if all { Status::Ok } else { Status::WriteFault };
        (busy_ns, done_ns + ack_ns + ack_unit_ns * units, status)
    }

    /// The end of a range in whole units if it is that of the drive, whose last unit may be cut.
    #[inline]
    fn end_of_units(&self, end: u64) -> u64 {
        match end == self.identity.capacity_bytes {
            true => end.next_multiple_of(self.unit.bytes()),
            false => end,
        }
    }

    /// Deallocate or zero a range. Partial units are written with zeroes, or kept (rounding down is permitted).
    fn deallocate(
        &mut self,
        now_ns: u64,
        sub: &SubCommand,
        clock: usize,
        zero: bool,
    ) -> CommandTiming {
        let costs = self.costs[clock];
        let start = sub.offset_bytes;
        let end = self.end_of_units(start + u64::from(sub.len_bytes));
        let (first_whole, end_whole) = (self.unit.from(start), self.unit.of(end));
        let busy_ns = now_ns + costs.other_command_ns;
        let mut done_ns = busy_ns;
        let mut status = Status::Ok;
        self.prefetch.invalidate(start, end - start);
        if first_whole < end_whole {
            self.unmap_map_pages(now_ns, busy_ns, first_whole, end_whole);
            self.medium.unmap(first_whole, end_whole);
        }
        if zero {
            let (first, last) = units_of(self.unit, start, end - start);
            let ends = [Some(first), (last > first).then_some(last)];
            let is_part = |unit: &u32| !(first_whole..end_whole).contains(unit);
            for unit in ends.into_iter().flatten().filter(is_part) {
                let unit_start = self.unit.start(unit);
                self.update_map_pages(now_ns, busy_ns, unit, unit);
                let (from, to) = (start.max(unit_start), end.min(self.unit.start(unit + 1)));
                let taken = self.medium.accepted_units();
                let (slot_ns, all) = self.medium.write(now_ns, from, to, busy_ns, 0);
                if !self.unit.is_sector() {
                    self.journal_accepted(sub.seq, from..to, Some(taken));
                }
                if all {
                    done_ns = done_ns.max(slot_ns + costs.ack_ns);
                } else {
                    status = Status::WriteFault;
                }
            }
        }
        (busy_ns, done_ns, status)
    }
}
