#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Die {
    pub free_ns: u64,
    pub reads_free_ns: u64,
    pub program_ns: u64,
    pub program_start_ns: u64,
    pub erase_end_ns: u64,
    /// Last programmed group and its end: until then its data is in the buffer.
    pub last_program: u32,
    pub last_program_end_ns: u64,
}

impl Die {
    #[inline]
    pub fn read_start_ns(&self, issue_ns: u64, erase_ns: u64) -> u64 {
        let after_reads_ns = issue_ns.max(self.reads_free_ns);
        // A read need not wait behind reads under way, on an idle die, or on one whose program
        // waits for data. A single comparison, because both halves are unpredictable branches.
        let begun_ns = self.reads_free_ns.max(self.program_start_ns);
        // Saturates to 0 when the die is idle before `begun_ns`.
        if issue_ns.wrapping_sub(begun_ns) >= self.free_ns.saturating_sub(begun_ns) {
            return after_reads_ns;
        }
        if self.erase_end_ns > issue_ns && self.erase_end_ns - issue_ns <= erase_ns {
            return self.erase_end_ns;
        }
        let left_ns = self.free_ns - issue_ns;
        issue_ns + left_ns.checked_rem(self.program_ns).unwrap_or(left_ns)
    }

    pub fn program(&mut self, data_ns: u64, program_ns: u64) -> u64 {
        if self.free_ns < data_ns {
            self.program_start_ns = data_ns;
        }
        self.free_ns = self.free_ns.max(data_ns) + program_ns;
        self.program_ns = program_ns;
        self.free_ns
    }

    #[inline]
    pub fn occupy_for_read(&mut self, start_ns: u64, end_ns: u64) {
        self.reads_free_ns = end_ns;
        self.free_ns =
            if self.free_ns > start_ns { self.free_ns + (end_ns - start_ns) } else { end_ns };
    }
}
