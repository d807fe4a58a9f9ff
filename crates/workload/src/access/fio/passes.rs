//! Passes of a thread: `keep_running`, `clear_io_state` and the limits of `do_io` in fio 3.33.

use super::{Draws, FioAccess, FioAddresses, FioStep, PerDirection, READ, TRIM, WRITE};

#[derive(Clone, Debug)]
pub(super) struct Passes {
    is_running: bool,
    has_passed: bool,
    loops_left: u64,
    /// I/Os and bytes of all passes.
    pub(super) issued: PerDirection<u64>,
    bytes: PerDirection<u64>,
    /// Of this pass. fio does not count those of its synchronous engines for the end of a pass.
    pass_bytes: u64,
    has_issued: bool,
    /// I/Os and bytes that are read back, or will be after the pass: they count for its limits.
    read_back: (u64, u64),
    /// Of those that were written in the pass.
    unread: (u64, u64),
    counts_bytes: bool,
    ios_limit: Option<u64>,
    /// The area, or its map, had no place for a further I/O.
    pub(super) area_is_done: bool,
    is_over: bool,
}

impl Passes {
    pub(super) fn new(access: &FioAccess) -> Passes {
        Passes {
            is_running: false,
            has_passed: false,
            loops_left: access.loops,
            issued: [0; 3],
            bytes: [0; 3],
            pass_bytes: 0,
            has_issued: false,
            read_back: (0, 0),
            unread: (0, 0),
            counts_bytes: access.is_async,
            ios_limit: access.ios,
            area_is_done: false,
            is_over: false,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }

    pub(super) fn issue(&mut self, direction: usize, bytes: u64) {
        self.issued[direction] += 1;
        self.bytes[direction] += bytes;
        self.has_issued = true;
        if direction == WRITE {
            self.unread = (self.unread.0 + 1, self.unread.1 + bytes);
        }
        if self.counts_bytes {
            self.pass_bytes += bytes;
        }
    }

    /// A write is read back while its pass goes on.
    pub(super) fn reads_back(&mut self, bytes: u64) {
        self.read_back = (self.read_back.0 + 1, self.read_back.1 + bytes);
        self.unread = (self.unread.0.saturating_sub(1), self.unread.1.saturating_sub(bytes));
    }

    fn all_ios(&self, loops: u64) -> bool {
        let issued: u64 = self.issued.iter().sum::<u64>() + self.read_back.0;
        let limit = self.ios_limit.map(|ios| ios.saturating_mul(loops));
        limit.is_some_and(|limit| issued >= limit)
    }
}

impl FioAddresses {
    /// Begins a pass where none is running; returns whether there is one.
    pub fn begin_pass(&mut self) -> bool {
        if self.passes.is_running {
            return true;
        }
        if self.passes.is_over || !self.passes.has_passed && !self.keeps_running() {
            return false;
        }
        if self.passes.has_passed {
            self.zone_bytes = 0;
            self.direction_until = 0;
            if self.access.repeats {
                self.draws = Draws::new(&self.access, self.seeds);
            }
            self.restart_files();
            self.restart();
        }
        if self.access.trims_and_writes() {
            self.passes.ios_limit = self.passes.ios_limit.map(|ios| ios.saturating_mul(2));
        }
        self.passes.is_running = true;
        self.passes.pass_bytes = 0;
        self.passes.has_issued = false;
        self.passes.area_is_done = false;
        self.passes.unread = (0, 0);
        self.keep_for_read_back();
        true
    }

    /// The limits of the loop in `do_io`.
    pub(super) fn is_pass_over(&self) -> bool {
        let access = &self.access;
        let passes = &self.passes;
        if !access.time_based {
            let bytes = match (access.reads, access.writes) {
                (true, true) => passes.bytes[READ] + passes.bytes[WRITE],
                (false, true) => passes.bytes[WRITE],
                (true, false) => passes.bytes[READ],
                (false, false) => passes.bytes[TRIM],
            };
            let limit = self.limit_bytes().saturating_mul(access.loops);
            if bytes >= limit || passes.all_ios(access.loops) {
                return true;
            }
        }
        let mut most = self.pass_bytes;
        if access.writes && access.random && !access.has_map {
            most = most.max(access.io_bytes);
        }
        if access.verifies && access.writes && access.reads_back_meanwhile {
            most = most.saturating_add(self.pass_bytes);
        }
        if access.trims_and_writes() {
            most = most.saturating_add(self.limit_bytes().saturating_mul(access.loops));
        }
        passes.pass_bytes >= most && (!access.time_based || access.verifies)
    }

    fn limit_bytes(&self) -> u64 {
        match self.access.io_bytes {
            0 => self.pass_bytes,
            bytes => bytes,
        }
    }

    pub(super) fn end_pass(&mut self) -> FioStep {
        self.passes.is_running = false;
        self.passes.has_passed = true;
        if self.access.reads_back {
            let (ios, bytes) = self.passes.unread;
            let (all_ios, all_bytes) = self.passes.read_back;
            self.passes.read_back = (all_ios + ios, all_bytes + bytes);
        }
        let is_at_end = self.passes.area_is_done && self.access.keeps_ends;
        self.passes.is_over = !self.passes.has_issued || is_at_end || !self.keeps_running();
        match self.passes.is_over {
            true => FioStep::End,
            false => FioStep::PassEnd,
        }
    }

    fn keeps_running(&mut self) -> bool {
        let access = &self.access;
        if access.time_based {
            return true;
        }
        if self.passes.loops_left > 0 {
            self.passes.loops_left -= 1;
            return true;
        }
        if self.passes.all_ios(access.loops) {
            return false;
        }
        let done: u64 = self.passes.bytes.iter().sum::<u64>() + self.passes.read_back.1;
        if access.sprandom.is_some() && self.passes.area_is_done {
            return false;
        }
        let left = self.limit_bytes().saturating_sub(done);
        // A read-back makes fio forget that the files are at their ends (`clear_io_state`).
        let has_place = !self.passes.area_is_done || access.reads_back;
        left >= access.most_bytes().max(1) && (access.io_bytes > 0 || has_place)
    }
}
