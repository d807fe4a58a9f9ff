//! Sans-IO: the same code for every target.

use std::num::NonZeroU64;

use assay_integrity::checker::JobChecker;
use assay_integrity::data::Filler;
use assay_integrity::finding::VerifyReport;
use assay_io::page_cache::ReadSource;
use assay_io::{Io, Target};
use assay_units::rng::mix;
use assay_units::{DataClass, Nanos, Op, Rng};

use crate::arrival::Arrivals;
use crate::coverage::CoverageNotes;
use crate::exit::ExitShare;
use crate::flow::FlowShare;
use crate::plan::Workload;
use crate::segments::Segments;

mod backlog;
mod beginning;
mod completions;
mod depth_search;
mod drawing;
mod flushes;
mod phase;
mod read_back;
mod shares;
mod submission;
mod thinking;
mod trace_replay;
mod turn;
mod zones;

use backlog::Backlog;
use depth_search::DepthSearch;
pub use depth_search::{LatencyTarget, Searchers};
use drawing::{Addresses, Draw};
use flushes::Flushes;
pub use phase::{NextIssue, WorkerError};
use phase::{WorkerPhase, arrivals, checker_options};
use thinking::Thinking;
use trace_replay::TraceReplay;
pub use trace_replay::{TraceOutcome, TracePhase};
use turn::Turn;

#[derive(Clone, Copy, Debug)]
struct Pending {
    intended: Nanos,
    submitted: Nanos,
    offset_bytes: u64,
    len_bytes: u32,
    op: Op,
    fua: bool,
    /// Part of a read-back: checked, not recorded.
    read_back: bool,
}

impl Pending {
    const NONE: Pending = Pending {
        intended: Nanos::ZERO,
        submitted: Nanos::ZERO,
        offset_bytes: 0,
        len_bytes: 0,
        op: Op::Read,
        fua: false,
        read_back: false,
    };
}

#[derive(Debug)]
pub struct Worker {
    job: usize,
    first_slot: u32,
    pending: Vec<Pending>,
    free: Vec<u32>,
    access: Addresses,
    /// Offset and length of what it works in, bytes.
    region: (u64, u64),
    read_source: ReadSource,
    read_back_source: ReadSource,
    /// The trace that it replays in place of addresses and arrivals.
    trace: Option<TraceReplay>,
    read_percent: u8,
    choice: Rng,
    arrivals: Arrivals,
    open_loop: bool,
    start: Nanos,
    deadline: Nanos,
    bytes_left: u64,
    ios_left: u64,
    think: Option<Thinking>,
    depth_search: Option<DepthSearch>,
    segments: Option<Segments>,
    flow: Option<FlowShare>,
    exit: Option<ExitShare>,
    /// Its I/Os are recorded as they are submitted.
    logs_ios: bool,
    /// Blocks that the job has written, of all its workers.
    coverage: Option<CoverageNotes>,
    flush: Option<Flushes>,
    /// Files to flush at the end.
    end_flush: usize,
    /// Flushes at the end of the pass that are still to be issued.
    pass_flush: usize,
    fua: bool,
    write_op: Op,
    data: DataClass,
    filler: Option<Filler>,
    checker: Option<JobChecker>,
    serializes_overlap: bool,
    /// Length of the zones that it empties.
    zone_bytes: Option<NonZeroU64>,
    /// The I/O that was drawn is the first of a zone, which is emptied before.
    begins_zone: bool,
    /// A drawn I/O that waits for an overlapping one in flight.
    held: Option<(u64, u32, Op)>,
    backlog: Option<Backlog>,
    phase: WorkerPhase,
    reads_back: bool,
    /// Why it has stopped.
    failure: Option<WorkerError>,
}

impl Worker {
    pub fn new(
        workload: &Workload,
        index: u32,
        first_slot: u32,
        start: Nanos,
    ) -> Result<Worker, WorkerError> {
        let region = workload.reached_region(index);
        let seed = workload.seed;
        let checker = workload
            .verify_bytes
            .map(|bytes| JobChecker::new(checker_options(workload, region, bytes)))
            .transpose()?;
        let fills = workload.writes() && !workload.trims && checker.is_none();
        let (repeated, data_seed) = (workload.repeated, workload.data_seed);
        let filler = || Filler::new(workload.data, data_seed, index);
        let filler = || filler().with_repeats(repeated, data_seed, index);
        let access = Addresses::new(workload, index)?;
        Ok(Worker {
            job: 0,
            first_slot,
            pending: vec![Pending::NONE; workload.iodepth as usize],
            free: (0..workload.iodepth).rev().collect(),
            region: (region.offset_bytes, region.size_bytes),
            read_source: ReadSource::Drive,
            read_back_source: ReadSource::Drive,
            trace: None,
            read_percent: workload.read_percent,
            choice: Rng::stream(mix(seed, u64::from(index)), "read-or-write"),
            arrivals: arrivals(workload, index),
            open_loop: workload.is_open_loop(),
            start: start + workload.start_delay,
            deadline: start + workload.planned_span().unwrap_or(Nanos::MAX),
            bytes_left: workload.io_bytes.filter(|&bytes| bytes > 0).unwrap_or(u64::MAX),
            ios_left: workload.ios.filter(|&ios| ios > 0).unwrap_or(u64::MAX),
            think: workload.think.map(|think| Thinking::new(think, start + workload.start_delay)),
            depth_search: (workload.latency_target).map(|target| {
                DepthSearch::new(target, workload.iodepth, start + workload.start_delay)
            }),
            segments: workload.segments.clone(),
            flow: None,
            exit: None,
            logs_ios: workload.io_log.is_some(),
            coverage: None,
            flush: (workload.flush_every)
                .map(|flush| Flushes::new(flush.writes.get(), workload.fio.is_some())),
            end_flush: usize::from(workload.end_flush) * access.files(),
            access,
            pass_flush: 0,
            fua: workload.synchronous_writes.is_some(),
            write_op: workload.write_op(),
            data: workload.data.data_class(),
            filler: fills.then(filler),
            checker,
            serializes_overlap: workload.serializes_overlap,
            zone_bytes: zones::emptied_bytes(workload),
            begins_zone: false,
            held: None,
            backlog: workload.verify_backlog.map(Backlog::new),
            phase: WorkerPhase::Main,
            reads_back: false,
            failure: None,
        })
    }

    /// Where the reads of the workload itself come from.
    pub(crate) fn with_read_source(mut self, source: ReadSource) -> Worker {
        self.read_source = source;
        self
    }

    /// What was written is to be read from the drive.
    fn begin_read_back<T: Target>(&mut self, target: &mut T) {
        self.begin_backlog();
        self.read_back_source = self.drop_cached(target);
    }

    fn drop_cached<T: Target>(&self, target: &mut T) -> ReadSource {
        let (offset_bytes, size_bytes) = self.region;
        target.drop_cached(offset_bytes, size_bytes)
    }

    pub(crate) fn exit(&mut self) -> Option<&mut ExitShare> {
        self.exit.as_mut()
    }

    /// Another thread may have ended this one; returns whether it has.
    pub(crate) fn end_if_group_ended(&mut self) -> bool {
        let is_ended = self.exit.as_ref().is_some_and(ExitShare::is_ended);
        let is_over = !matches!(
            self.phase,
            WorkerPhase::Main
                | WorkerPhase::DrainPass
                | WorkerPhase::DrainBacklog
                | WorkerPhase::ReadBacklog
                | WorkerPhase::ReadPass
        );
        if !is_ended || is_over {
            return false;
        }
        self.end_main();
        true
    }

    #[inline]
    pub(crate) fn logs_ios(&self) -> bool {
        self.logs_ios
    }

    pub(crate) fn is_issuing(&self) -> bool {
        self.phase == WorkerPhase::Main
    }

    #[inline]
    pub fn job(&self) -> usize {
        self.job
    }

    #[inline]
    pub fn fills_buffers(&self) -> bool {
        self.filler.is_some() || self.checker.is_some()
    }

    pub(crate) fn verifies(&self) -> bool {
        self.checker.is_some()
    }

    fn in_flight(&self) -> u32 {
        (self.pending.len() - self.free.len()) as u32
    }

    fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    #[inline]
    pub fn has_ended(&self) -> bool {
        self.phase == WorkerPhase::Done && self.is_idle()
    }

    /// The measured I/Os are over, and what was written is being read back.
    #[inline]
    pub fn reads_back(&self) -> bool {
        self.reads_back
    }

    /// Stop issuing, in a read-back too; what is in flight still completes.
    pub fn stop(&mut self) {
        if let Some(flow) = &mut self.flow {
            flow.leave();
        }
        self.phase = WorkerPhase::Done;
    }

    pub fn verify_report(&self) -> Option<VerifyReport> {
        self.checker.as_ref().map(JobChecker::report)
    }

    #[inline]
    pub fn issue<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        batch: &mut Vec<Io>,
    ) -> NextIssue {
        loop {
            match self.phase {
                WorkerPhase::Main => {
                    let next = self.issue_main(now, target, batch);
                    if self.phase == WorkerPhase::Main {
                        return next;
                    }
                }
                WorkerPhase::DrainPass => {
                    if !self.is_idle() {
                        return NextIssue::Completion;
                    }
                    if self.ends_pass(now, target, batch) {
                        return NextIssue::Completion;
                    }
                }
                WorkerPhase::DrainBacklog => {
                    if !self.is_idle() {
                        return NextIssue::Completion;
                    }
                    self.begin_read_back(target);
                    self.phase = WorkerPhase::ReadBacklog;
                }
                WorkerPhase::ReadBacklog => {
                    if self.issue_read_back(now, batch) {
                        self.phase = WorkerPhase::Main;
                    } else {
                        return NextIssue::Completion;
                    }
                }
                WorkerPhase::ReadPass => {
                    if !self.reads_pass(now, target, batch) {
                        return NextIssue::Completion;
                    }
                }
                WorkerPhase::Drain => {
                    if !self.is_idle() {
                        return NextIssue::Completion;
                    }
                    if self.end_flush > 0 {
                        self.end_flush -= 1;
                        let place = self.access.file_start(self.end_flush);
                        self.push_flush(now, place, batch);
                        return NextIssue::Completion;
                    }
                    self.reads_back = self.checker.as_ref().is_some_and(JobChecker::reads_back);
                    if self.reads_back {
                        self.begin_read_back(target);
                    }
                    self.phase = match self.reads_back {
                        true => WorkerPhase::ReadBack,
                        false => WorkerPhase::Done,
                    };
                }
                WorkerPhase::ReadBack => {
                    if self.issue_read_back(now, batch) {
                        self.phase = WorkerPhase::Done;
                    }
                    return NextIssue::Completion;
                }
                WorkerPhase::Done => return NextIssue::Completion,
            }
        }
    }

    /// Ends where the deadline comes first.
    fn wait_until(&mut self, until: Nanos) -> NextIssue {
        if until < self.deadline {
            return NextIssue::Due(until);
        }
        self.end_main();
        NextIssue::Completion
    }

    /// Whether what was written has to be read back now.
    #[inline]
    fn wrote<T: Target>(
        &mut self,
        target: &mut T,
        slot: u32,
        offset_bytes: u64,
        len_bytes: u32,
    ) -> bool {
        self.fill(target, slot, offset_bytes, len_bytes);
        let backlog = self.backlog.as_mut();
        backlog.is_some_and(|backlog| backlog.wrote(offset_bytes, len_bytes))
    }

    #[inline]
    fn issue_main<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        batch: &mut Vec<Io>,
    ) -> NextIssue {
        let is_found = self.depth_search.as_ref().is_some_and(DepthSearch::is_done);
        if now >= self.deadline || self.bytes_left == 0 || is_found {
            self.end_main();
            return NextIssue::Completion;
        }
        if now < self.start {
            return NextIssue::Due(self.start);
        }
        if self.trace.is_some() {
            return self.issue_trace(now, target, batch);
        }
        let issues_freely = self.issues_freely();
        while let Some(&slot) = self.free.last() {
            let turn = match issues_freely {
                true => Turn::Now(now),
                false => self.turn(now, batch),
            };
            let intended = match turn {
                Turn::Now(intended) => intended,
                Turn::Flushed => continue,
                Turn::Wait(next) => return next,
            };
            let (offset_bytes, len_bytes, op) = match self.draw(now, target) {
                Draw::Io(io) => io,
                other => return self.wait_for(other),
            };
            if !self.may_begin(op, offset_bytes, len_bytes) {
                self.held = Some((offset_bytes, len_bytes, op));
                return NextIssue::Completion;
            }
            self.empty_zone(now, target, op, offset_bytes);
            self.free.pop();
            // Saturates: the last block may be longer than what is left.
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(len_bytes));
            let pending = Pending {
                submitted: now,
                ..self.pending_io(intended, offset_bytes, len_bytes, op)
            };
            self.push(pending, slot, batch);
            if !issues_freely {
                self.took_turn(op);
            }
            let is_backlog_full =
                op == Op::Write && self.wrote(target, slot, offset_bytes, len_bytes);
            self.ios_left -= 1;
            if self.bytes_left == 0 || self.ios_left == 0 {
                self.end_main();
                break;
            }
            if is_backlog_full {
                self.phase = WorkerPhase::DrainBacklog;
                break;
            }
        }
        NextIssue::Completion
    }

    fn end_main(&mut self) {
        self.held = None;
        if let Some(flow) = &mut self.flow {
            flow.leave();
        }
        let reads_back = self.checker.as_ref().is_some_and(JobChecker::reads_back);
        self.phase = match reads_back || self.end_flush > 0 {
            true => WorkerPhase::Drain,
            false => WorkerPhase::Done,
        };
    }
}
