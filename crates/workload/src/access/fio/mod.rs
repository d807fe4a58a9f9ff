//! The I/Os of a job of fio 3.33, in its order: the same offsets, lengths and directions from the
//! same random numbers.
//!
//! # Architecture
//! [`FioAccess`] is what a job says, [`FioPart`] the area of one of its threads, [`FioAddresses`]
//! the state of a thread. A pass is one call of fio's `do_io`: [`FioAddresses::next`] follows
//! `io_u.c` (`fill_io_u`, `get_next_offset`, `get_next_buflen`, `get_rw_ddir`), `passes` follows
//! `thread_main` and `keep_running` of `backend.c`. What looks arbitrary is fio's, and a job means
//! it.
//!
//! # Non-goals
//! No time but that of a rate; flushes, pauses and the page cache are the worker's.

mod addresses;
mod draws;
mod files;
mod job;
mod law;
mod lengths;
mod map;
mod passes;
mod priorities;
mod random;
mod rates;
mod read_back;
mod sprandom;
mod zbd;
mod zbd_search;
mod zbd_table;
mod zones;

use std::sync::Arc;

use assay_units::{Nanos, Op};

use draws::Draws;
use files::{FileState, Turns};
pub use files::{FioFile, FioFiles, Service};
pub use job::{Extent, FileSizes, FioAccess, FioArea, FioPart, FioSizes, Generator};
pub use law::Law;
use law::{Hashed, zone_of};
use map::RandomMap;
pub use priorities::{PriorityShare, priority_shares};
use random::SPRANDOM_OFF;
pub use random::Seeds;
use rates::Rates;
use sprandom::Regions;
pub use sprandom::SpRandom;
use zbd::{Adjusted, Place, Stage, ZonePart};
pub use zbd::{ZoneJob, ZoneReport, ZoneTable};
pub use zbd_table::MAX_OPEN_ZONES;

pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const TRIM: usize = 2;
/// Of reads, writes and trims.
pub type PerDirection<T> = [T; 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioIo {
    pub op: Op,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    /// The pass has come to the area's end, and goes on with an empty page cache.
    pub drops_cache: bool,
    /// It is the first of a zone, which is emptied before.
    pub resets_zone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioStep {
    Io(FioIo),
    /// By its rates the next I/O is due so long after the start.
    Due(Nanos),
    /// Other I/Os in its zone, of this thread or of another, have to complete.
    Busy,
    /// What is in flight completes before the next pass.
    PassEnd,
    End,
}

/// The I/Os of one thread.
#[derive(Clone, Debug)]
pub struct FioAddresses {
    access: Arc<FioAccess>,
    /// The current one.
    file: FileState,
    turns: Turns,
    /// Of all files.
    pass_bytes: u64,
    seeds: Seeds,
    draws: Draws,
    regions: Option<Regions>,
    zone_bytes: u64,
    run_left: u32,
    /// The next I/O is not marked in the map; fio forgets that an attempt for it has failed.
    is_unmarked: bool,
    direction: usize,
    /// I/Os up to which the direction of a mix stays.
    direction_until: u64,
    /// Drawn, and waits for its rate.
    waiting: Option<usize>,
    rates: Rates,
    drops_cache: bool,
    zones: Option<ZonePart>,
    /// Waits for its zone.
    held: Option<Drawn>,
    passes: passes::Passes,
    /// Of a pass that is read back.
    pass_start: Option<Box<FioAddresses>>,
}

/// An I/O before its zone is found.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    direction: usize,
    offset_bytes: u64,
    len_bytes: u64,
    stage: Stage,
}

enum Filled {
    Io(FioIo),
    Wait(Drawn),
    End,
}

impl FioAddresses {
    pub fn new(access: &Arc<FioAccess>, part: FioPart, worker: u32) -> FioAddresses {
        let seeds = Seeds {
            // A clone has its seeds when `randseed` has replaced `randrepeat`.
            // fio 3.42 has no fixed seed of offsets any more.
            fixed_offsets: access.seeds.fixed_offsets
                && access.sprandom.is_none()
                && (worker == 0 || access.seeds.seed.is_none()),
            ..access.seeds.of_worker(worker)
        };
        let bytes = part.area_bytes.min(part.capacity_bytes);
        let mut turns = Turns::new(access, seeds, worker);
        let pass_bytes = turns.pass_bytes(access).unwrap_or(part.pass_bytes);
        let first = turns.take_first();
        let mut addresses = FioAddresses {
            draws: Draws::new(access, seeds),
            regions: (access.sprandom.as_ref()).map(|of| {
                let seed = seeds.of_thread()[SPRANDOM_OFF];
                Regions::new(of, bytes, access.sizes[WRITE].least_bytes, seed)
            }),
            file: first.unwrap_or_else(|| FileState::new(access, seeds, part, &access.file)),
            turns,
            pass_bytes,
            zone_bytes: 0,
            run_left: 1,
            is_unmarked: false,
            direction: READ,
            direction_until: 0,
            waiting: None,
            rates: Rates::new(access.rates),
            drops_cache: false,
            zones: None,
            held: None,
            passes: passes::Passes::new(access),
            pass_start: None,
            // Threads that share a counter of references slow each other down.
            access: Arc::new(FioAccess::clone(access)),
            seeds,
        };
        let zoned = access.zoned;
        let imagined = |job: &ZoneJob| ZoneTable::imagined(job, part.capacity_bytes);
        match zoned.as_ref().map(imagined) {
            Some(table) => addresses.share_zones(Arc::new(table)),
            None => addresses.restart(),
        }
        addresses
    }

    /// With zones that other threads have, too.
    pub fn share_zones(&mut self, table: Arc<ZoneTable>) {
        if let Some(job) = self.access.zoned {
            let area = (self.file.part.offset_bytes, self.file.part.area_bytes);
            self.zones = Some(ZonePart::new(table, job, area));
            self.restart();
        }
    }

    /// The current file begins anew.
    fn restart(&mut self) {
        self.file.restart(self.seeds);
        if let Some(zones) = self.zones.as_mut().filter(|_| self.access.writes) {
            zones.begin_pass(self.access.verifies);
        }
    }

    /// Whether each pass begins with an empty page cache.
    pub fn drops_cache(&self) -> bool {
        self.access.drops_cache
    }

    /// No further I/O of the pass is allowed.
    pub fn is_between_passes(&self) -> bool {
        !self.passes.is_running() || self.is_pass_over()
    }

    /// The next I/O of the thread, `since` its start.
    pub fn next(&mut self, since: Nanos) -> FioStep {
        if !self.begin_pass() {
            return FioStep::End;
        }
        if self.is_pass_over() {
            return self.end_pass();
        }
        loop {
            let filled = match self.draw_next(since) {
                Ok(drawn) => drawn.map_or(Filled::End, |drawn| self.fill(drawn)),
                Err(due) => return FioStep::Due(due),
            };
            match filled {
                Filled::Io(mut io) => {
                    self.account(&io);
                    self.turns.issued();
                    io.offset_bytes += self.file_start();
                    return FioStep::Io(io);
                }
                Filled::Wait(held) => {
                    self.held = Some(held);
                    return FioStep::Busy;
                }
                Filled::End => self.passes.area_is_done = self.end_file(),
            }
            if self.turns.are_done() {
                return self.end_pass();
            }
        }
    }

    /// The I/O that waits for its zone, or the next one of the file whose turn it is.
    fn draw_next(&mut self, since: Nanos) -> Result<Option<Drawn>, Nanos> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        if !self.choose_file() {
            return Ok(None);
        }
        let direction = self.choose_direction(since)?;
        Ok(self.draw(direction))
    }

    /// An I/O has completed.
    pub fn completed(&mut self, op: Op, offset_bytes: u64, len_bytes: u32) {
        if let Some(zones) = &mut self.zones {
            zones.completed(op == Op::Write, offset_bytes, len_bytes.into());
        }
    }

    /// `get_rw_ddir` and `rate_ddir`: the direction, or when the next one may be issued.
    fn choose_direction(&mut self, since: Nanos) -> Result<usize, Nanos> {
        let drawn = match self.waiting.take() {
            Some(waiting) => waiting,
            None => self.draw_direction(),
        };
        let access = &self.access;
        let other = (access.mixes() && drawn != TRIM)
            .then_some(drawn ^ 1)
            .filter(|&other| [access.read_percent, 100 - access.read_percent][other] > 0);
        match self.rates.turn(drawn, other, since) {
            Ok(direction) => {
                self.direction = direction;
                let writes_first = direction == READ
                    && self.access.mixes()
                    && (self.zones.as_ref()).is_some_and(ZonePart::has_nothing_to_read);
                let direction = if writes_first { WRITE } else { direction };
                Ok(self.of_trimwrite(direction))
            }
            Err(due) => {
                self.waiting = Some(drawn);
                Err(due)
            }
        }
    }

    fn draw_direction(&mut self) -> usize {
        let access = Arc::clone(&self.access);
        if !access.mixes() {
            return match (access.reads, access.writes) {
                (true, _) => READ,
                (_, true) => WRITE,
                _ => TRIM,
            };
        }
        let last = self.direction.min(WRITE);
        if self.passes.issued[last] >= self.direction_until {
            let drawn = match self.draws.mix.percent() <= access.read_percent {
                true => READ,
                false => WRITE,
            };
            if drawn != last {
                let share = [access.read_percent, 100 - access.read_percent][last ^ 1];
                self.direction_until = self.passes.issued[last] * u64::from(share) / 100;
            }
            self.direction = drawn;
            return drawn;
        }
        last
    }

    /// Each block that was trimmed is written next.
    fn of_trimwrite(&self, direction: usize) -> usize {
        match self.access.trims_and_writes() {
            true if self.file.last_start[WRITE] == self.file.last_start[TRIM] => TRIM,
            true => WRITE,
            false => direction,
        }
    }

    fn draw(&mut self, direction: usize) -> Option<Drawn> {
        self.enter_zone(direction);
        self.enter_drive_zone(direction);
        let (relative_bytes, random) = self.place(direction)?;
        if relative_bytes >= self.file.part.area_bytes {
            return None;
        }
        let offset_bytes = relative_bytes.checked_add(self.file.base_bytes)?;
        if offset_bytes >= self.file.part.capacity_bytes {
            return None;
        }
        if self.access.trims_and_writes()
            && self.access.random
            && direction == TRIM
            && self.file.last_start[TRIM] == Some(offset_bytes)
            && let Some(written) = &mut self.file.last_start[WRITE]
        {
            *written = written.wrapping_sub(1);
        }
        Some(Drawn {
            direction,
            offset_bytes,
            len_bytes: self.length(direction, offset_bytes, random)?,
            stage: Stage::New,
        })
    }

    /// Moves it to its zone, and cuts it by the map.
    fn fill(&mut self, drawn: Drawn) -> Filled {
        let direction = drawn.direction;
        let (mut offset_bytes, mut len_bytes) = (drawn.offset_bytes, drawn.len_bytes);
        let mut resets_zone = false;
        let place = Place {
            base_bytes: self.file.base_bytes,
            area_bytes: self.file.part.area_bytes,
            least_bytes: self.access.sizes[direction].least_bytes,
            random: self.access.random,
            verifies: self.access.verifies,
        };
        if let Some(zones) = &mut self.zones {
            let io = (offset_bytes, len_bytes);
            match zones.adjust(direction == WRITE, io, drawn.stage, &place) {
                Adjusted::Io { offset_bytes: offset, len_bytes: len, resets } => {
                    (offset_bytes, len_bytes, resets_zone) = (offset, len, resets)
                }
                Adjusted::Wait(stage) => return Filled::Wait(Drawn { stage, ..drawn }),
                Adjusted::End => return Filled::End,
            }
        }
        if offset_bytes.saturating_add(len_bytes) > self.file.part.capacity_bytes {
            return Filled::End;
        }
        if let Some(map) = self.file.map.as_mut().filter(|_| !self.is_unmarked) {
            let least = self.access.sizes[direction].least_bytes;
            let block = (drawn.offset_bytes - self.file.base_bytes) / least;
            let marked = map.mark(block, len_bytes.div_ceil(least)).max(1);
            len_bytes = len_bytes.min(marked * least);
        }
        let Ok(len_bytes) = u32::try_from(len_bytes) else {
            return Filled::End;
        };
        Filled::Io(FioIo {
            op: [Op::Read, Op::Write, Op::Discard][direction],
            offset_bytes,
            len_bytes,
            drops_cache: std::mem::take(&mut self.drops_cache),
            resets_zone,
        })
    }

    fn account(&mut self, io: &FioIo) {
        let direction = match io.op {
            Op::Read => READ,
            Op::Write => WRITE,
            _ => TRIM,
        };
        let bytes = u64::from(io.len_bytes);
        if let Some(zones) = &mut self.zones {
            zones.issued(direction == WRITE, io.offset_bytes, bytes);
        }
        self.is_unmarked = false;
        self.zone_bytes += bytes;
        self.file.last_start[direction] = Some(io.offset_bytes);
        self.file.last_end[direction] = io.offset_bytes + bytes;
        self.rates.issued(direction, bytes);
        self.passes.issue(direction, bytes);
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/access/fio.rs"]
mod tests;
