use assay_units::{Nanos, Op};

use super::{AddressMap, PhaseRule, ReplayPlan, Timing};
use crate::reader::ReadCounts;
use crate::{TraceError, TraceReader, TraceRecord};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayIo {
    /// When it is due, since the start of the replay; zero in a closed loop.
    pub due: Nanos,
    pub op: Op,
    pub offset_bytes: u64,
    /// Length, bytes; 0 of a flush.
    pub len_bytes: u32,
    pub phase: u32,
    /// Of a write: Force Unit Access.
    pub fua: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    /// Requests of the trace so far, without those that are left out by option.
    pub requests: u64,
    /// Widened to whole blocks of the drive or moved to a multiple of the alignment.
    pub aligned: u64,
    pub clipped: u64,
    /// Not replayed: outside of the area.
    pub outside: u64,
    /// Continued at the start of the area.
    pub wrapped: u64,
    /// Longer than the longest I/O, and made several.
    pub split: u64,
    pub read: ReadCounts,
}

pub struct ReplayStream {
    reader: TraceReader,
    /// Replays that begin after this one.
    passes_left: u32,
    begins_pass: bool,
    plan: ReplayPlan,
    counts: ReplayCounts,
    /// Of the passes before this one.
    read_before: ReadCounts,
    /// Time of the last request in the trace.
    last: Nanos,
    /// Time up to it, without what the limit of idle time cut.
    kept: Nanos,
    phase: u32,
    /// What is left of the present request: up to two extents.
    rest: [Option<Extent>; 2],
    io: ReplayIo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    offset_bytes: u64,
    len_bytes: u64,
}

impl ReplayStream {
    pub fn open(plan: &ReplayPlan) -> Result<ReplayStream, TraceError> {
        Ok(ReplayStream {
            reader: TraceReader::open_surveyed(&plan.options.source, &plan.survey)?,
            passes_left: plan.options.passes - 1,
            begins_pass: false,
            plan: plan.clone(),
            counts: ReplayCounts::default(),
            read_before: ReadCounts::default(),
            last: Nanos::ZERO,
            kept: Nanos::ZERO,
            phase: 0,
            rest: [None; 2],
            io: ReplayIo {
                due: Nanos::ZERO,
                op: Op::Read,
                offset_bytes: 0,
                len_bytes: 0,
                phase: 0,
                fua: false,
            },
        })
    }

    pub fn counts(&self) -> ReplayCounts {
        ReplayCounts {
            read: {
                let mut read = self.read_before;
                read.add(self.reader.counts());
                read
            },
            ..self.counts
        }
    }

    pub fn next_io(&mut self) -> Result<Option<ReplayIo>, TraceError> {
        loop {
            if let Some(io) = self.next_piece() {
                return Ok(Some(io));
            }
            let Some(record) = self.reader.next_record()? else {
                if self.passes_left == 0 {
                    return Ok(None);
                }
                self.passes_left -= 1;
                self.begins_pass = true;
                self.read_before.add(self.reader.counts());
                self.reader =
                    TraceReader::open_surveyed(&self.plan.options.source, &self.plan.survey)?;
                continue;
            };
            if self.plan.options.skipped.has(record.op) {
                continue;
            }
            self.begin(record);
            if record.op == Op::Flush {
                return Ok(Some(self.io));
            }
        }
    }

    fn next_piece(&mut self) -> Option<ReplayIo> {
        let extent = match &mut self.rest {
            [Some(first), _] => first,
            [None, Some(second)] => second,
            [None, None] => return None,
        };
        let most = u64::from(self.plan.longest_io_bytes());
        let len_bytes = extent.len_bytes.min(most);
        let io = ReplayIo {
            offset_bytes: self.plan.area.offset_bytes + extent.offset_bytes,
            // `as` keeps it: it is at most `most`.
            len_bytes: len_bytes as u32,
            ..self.io
        };
        extent.offset_bytes += len_bytes;
        extent.len_bytes -= len_bytes;
        for extent in &mut self.rest {
            *extent = extent.filter(|extent| extent.len_bytes > 0);
        }
        Some(io)
    }

    fn begin(&mut self, record: TraceRecord) {
        let gap = match std::mem::take(&mut self.begins_pass) {
            true => self.plan.pause_between_passes(),
            false => record.time - self.last,
        };
        self.last = record.time;
        let index = self.counts.requests;
        self.counts.requests += 1;
        self.phase = match self.plan.options.phases {
            PhaseRule::Gap(least) => self.phase + u32::from(gap >= least),
            PhaseRule::Shares(shares) => {
                let of = u128::from(self.plan.requests.max(1));
                let share = u128::from(index) * u128::from(shares) / of;
                // A trace that has grown since it was surveyed stays in the last phase.
                (share as u32).min(shares - 1)
            }
        };
        let due = match self.plan.options.timing {
            Timing::Closed => Nanos::ZERO,
            Timing::Timed { scale, idle_limit } => {
                let limit = idle_limit.map_or(Nanos::MAX, |limit| scaled(limit, 1.0 / scale));
                self.kept += gap.min(limit);
                scaled(self.kept, scale)
            }
        };
        self.io = ReplayIo {
            due,
            op: record.op,
            offset_bytes: 0,
            len_bytes: 0,
            phase: self.phase,
            fua: record.fua && !self.plan.options.skipped.has(Op::Flush),
        };
        if record.op != Op::Flush {
            self.rest = self.extents(record);
        }
    }

    fn extents(&mut self, record: TraceRecord) -> [Option<Extent>; 2] {
        let plan = &self.plan;
        let (unit, align) = (plan.area.unit_bytes, plan.align_bytes);
        let area_bytes = plan.area.size_bytes / unit * unit;
        let at = plan.map.place(record.offset_bytes, &plan.survey, area_bytes);
        let start = at / align * align;
        // Where its address is not that of the trace, or is aligned to more than a block, it moves
        // as a whole.
        let touches = plan.map.keeps_offsets() && align == unit;
        let before = if touches { at - start } else { 0 };
        let len_bytes = record.len_bytes.saturating_add(before);
        let len_bytes = len_bytes.div_ceil(unit).saturating_mul(unit);
        let is_moved = plan.map.keeps_offsets() && start != at;
        self.counts.aligned += u64::from(is_moved || len_bytes != record.len_bytes);
        if start >= area_bytes {
            self.counts.outside += 1;
            return [None; 2];
        }
        let room = area_bytes - start;
        let longest = u64::from(plan.longest_io_bytes());
        self.counts.split += u64::from(len_bytes > longest);
        let extent = |offset_bytes, len_bytes| Extent { offset_bytes, len_bytes };
        if len_bytes <= room {
            return [Some(extent(start, len_bytes)), None];
        }
        match plan.map {
            AddressMap::Modulo => {
                self.counts.wrapped += 1;
                // A request longer than the area covers it once.
                let rest = (len_bytes - room).min(start);
                [Some(extent(start, room)), (rest > 0).then(|| extent(0, rest))]
            }
            AddressMap::Linear => {
                let len_bytes = len_bytes.min(area_bytes);
                self.counts.clipped += u64::from(len_bytes == area_bytes);
                [Some(extent(area_bytes - len_bytes, len_bytes)), None]
            }
            AddressMap::Auto | AddressMap::Offset | AddressMap::Divide(_) => {
                self.counts.clipped += 1;
                [Some(extent(start, room)), None]
            }
        }
    }
}

fn scaled(span: Nanos, factor: f64) -> Nanos {
    match factor == 1.0 {
        true => span,
        // `as` saturates, and is never negative.
        false => Nanos((span.0 as f64 * factor).round() as u64),
    }
}
