//! The path of each kind of command, computed when its firmware starts; reads: [`super::read`].

use assay_units::{DataClass, Op};

use super::{Drive, SubCommand};
use crate::command::Status;
use crate::map_unit::MapUnit;
use crate::sourced::value_or;
use crate::thermal::core_energy_nj;

/// Core busy until, command done (without completion entry), status.
pub(super) type CommandTiming = (u64, u64, Status);

pub(super) fn units_of(unit: MapUnit, offset: u64, len: u64) -> (u32, u32) {
    (unit.at(offset), unit.at(offset + len - 1))
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

    /// Account a command; `command_nj` excludes the energy of its core time.
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
                let done_ns = if flushes { self.force(now_ns) } else { now_ns };
                (busy_ns, done_ns.max(busy_ns), Status::Ok)
            }
        };
        self.account(now_ns, outcome, costs.command_nj, clock)
    }

    /// Invalid fields fail at once, media errors after the access.
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

    /// Program what is buffered; returns when it is on flash. Data under capacitors is durable
    /// already (Base Specification 2.0c, section 7.1). Force Unit Access does it too, because the
    /// buffer becomes durable in order.
    #[inline(never)]
    fn force(&mut self, now_ns: u64) -> u64 {
        match value_or(&self.profile.buffer.power_loss_protected, false) {
            true => now_ns,
            false => self.medium.flush(now_ns),
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
        // The cores share the units of a long write; their sum keeps one of them busy.
        let mapped_ns = started_ns + costs.write_unit_ns * units.div_ceil(costs.cores);
        let elides = sub.data == DataClass::Zero && costs.elide_zero;
        self.prefetch.invalidate(sub.offset_bytes, len);
        let arrived_ns = self.link.send_to_drive(now_ns, started_ns, len);
        let mut done_ns = mapped_ns.max(arrived_ns);
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
        if sub.fua {
            done_ns = done_ns.max(self.force(now_ns));
        }
        if self.journal.is_some() {
            self.journal_accepted(sub.seq, sub.range(), Some(taken));
        }
        let status = if all { Status::Ok } else { Status::WriteFault };
        (busy_ns, done_ns + ack_ns + ack_unit_ns * units, status)
    }

    /// The drive's last unit may be cut, so a range that ends there is rounded up to whole units.
    #[inline]
    fn end_of_units(&self, end: u64) -> u64 {
        match end == self.identity.capacity_bytes {
            true => end.next_multiple_of(self.unit.bytes()),
            false => end,
        }
    }

    /// Partial units are zeroed, or kept when deallocated (rounding down is permitted).
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
        let (first_whole, end_whole) = (self.unit.from(start), self.unit.at(end));
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
                let forced_ns = if sub.fua { self.force(now_ns) } else { slot_ns };
                if all {
                    done_ns = done_ns.max(slot_ns.max(forced_ns) + costs.ack_ns);
                } else {
                    status = Status::WriteFault;
                }
            }
        }
        (busy_ns, done_ns, status)
    }
}
