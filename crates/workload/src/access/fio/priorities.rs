//! I/Os with a priority of their own: `engines/cmdprio.c` of fio 3.33.

use assay_units::Op;

use super::{FioAddresses, READ, WRITE};

/// So many of the I/Os of a length have this priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// 0: of any length.
    len_bytes: u64,
    percent: u32,
    /// As the kernel packs it.
    priority: u16,
}

/// `BYTES/PERCENT/PRIORITY:...` of one direction, the priority as the kernel packs it.
pub fn priority_shares(text: &str) -> Option<Vec<PriorityShare>> {
    let share = |text: &str| {
        let mut numbers = text.split('/');
        let share = PriorityShare {
            len_bytes: numbers.next()?.parse().ok()?,
            percent: numbers.next()?.parse().ok()?,
            priority: numbers.next()?.parse().ok()?,
        };
        (numbers.next().is_none() && share.percent <= 100).then_some(share)
    };
    text.split(':').filter(|text| !text.is_empty()).map(share).collect()
}

impl FioAddresses {
    /// Of the I/O that is issued now, which may be part of a read-back; 0: that of the thread.
    #[inline]
    pub fn priority(&mut self, op: Op, len_bytes: u32) -> u16 {
        let shares = match op {
            Op::Read => &self.access.priorities[READ],
            Op::Write => &self.access.priorities[WRITE],
            _ => return 0,
        };
        let is_of = |share: &&PriorityShare| [0, len_bytes.into()].contains(&share.len_bytes);
        let mut own = shares.iter().filter(is_of).peekable();
        if own.peek().is_none() {
            return 0;
        }
        let drawn = self.draws.priority.percent();
        let mut sum = 0;
        let is_drawn = |share: &&PriorityShare| {
            sum += share.percent;
            drawn <= sum
        };
        own.find(is_drawn).map_or(0, |share| share.priority)
    }
}
