//! A trace as I/Os of a drive: which requests, at which addresses, when, and in which phase.

mod feed;
mod map;
mod stream;

use std::sync::Arc;

use assay_units::{Nanos, Op, parse_duration, parse_size};

use crate::{TraceError, TraceReader, TraceSource, TraceSurvey};
pub use feed::ReplayFeed;
pub use map::AddressMap;
pub use stream::{ReplayCounts, ReplayIo, ReplayStream};

pub const MAX_PHASES: u32 = 100;
const DEFAULT_PHASES: u32 = 10;
/// Largest factor on the times of a trace, and the inverse of the smallest.
const MAX_TIME_SCALE: f64 = 1e6;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedOps {
    read: bool,
    write: bool,
    trim: bool,
    sync: bool,
}

impl SkippedOps {
    const WORDS: &'static str = "read, write, trim, sync";

    pub fn parse(text: &str) -> Result<SkippedOps, TraceError> {
        let mut skipped = SkippedOps::default();
        for word in text.split(',').map(str::trim) {
            match word {
                "read" => skipped.read = true,
                "write" => skipped.write = true,
                "trim" => skipped.trim = true,
                "sync" => skipped.sync = true,
                _ => {
                    return Err(TraceError::Option {
                        option: "trace_skip",
                        given: text.to_owned(),
                        expected: format!("one or more of: {}, separated by commas", Self::WORDS),
                    });
                }
            }
        }
        Ok(skipped)
    }

    pub fn has(self, op: Op) -> bool {
        match op {
            Op::Read => self.read,
            Op::Write => self.write,
            Op::Discard | Op::WriteZeroes => self.trim,
            Op::Flush => self.sync,
        }
    }

    /// Nothing that is left changes what a drive holds.
    pub fn leaves_reads_only(self) -> bool {
        self.write && self.trim
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// In order, each as soon as there is a free slot.
    Closed,
    Timed {
        scale: f64,
        /// Longest time between two requests, after scaling; what is above is cut.
        idle_limit: Option<Nanos>,
    },
}

impl Timing {
    pub fn parse(
        timing: Option<&str>,
        scale: Option<&str>,
        idle_limit: Option<&str>,
    ) -> Result<Timing, TraceError> {
        let wrong = |option, given: &str, expected: &str| TraceError::Option {
            option,
            given: given.to_owned(),
            expected: expected.to_owned(),
        };
        match timing {
            None | Some("timed") => {}
            Some("closed") => {
                let needless = [("trace_time_scale", scale), ("trace_idle_limit", idle_limit)];
                if let Some((option, Some(given))) = needless.iter().find(|(_, o)| o.is_some()) {
                    return Err(wrong(
                        option,
                        given,
                        "a closed loop has no times; remove it, or --trace_timing closed",
                    ));
                }
                return Ok(Timing::Closed);
            }
            Some(other) => {
                return Err(wrong("trace_timing", other, "not one of: timed, closed"));
            }
        }
        let factor = |text: &str| {
            let factor: f64 = text.trim().parse().ok()?;
            (1.0 / MAX_TIME_SCALE..=MAX_TIME_SCALE).contains(&factor).then_some(factor)
        };
        let scale = match scale {
            None => 1.0,
            Some(text) => factor(text).ok_or_else(|| {
                wrong(
                    "trace_time_scale",
                    text,
                    "a factor on the times of the trace, from 0.000001 to 1000000; 0.5 replays \
                     twice as fast",
                )
            })?,
        };
        let limit = |text: &str| {
            let limit = parse_duration(text)
                .map_err(|e| wrong("trace_idle_limit", text, &e.to_string()))?;
            match limit > Nanos::ZERO {
                true => Ok(limit),
                false => Err(wrong(
                    "trace_idle_limit",
                    text,
                    "longer than nothing; a closed loop has no idle time: --trace_timing closed",
                )),
            }
        };
        Ok(Timing::Timed { scale, idle_limit: idle_limit.map(limit).transpose()? })
    }

    pub fn text(self) -> String {
        match self {
            Timing::Closed => "closed loop".to_owned(),
            Timing::Timed { scale, idle_limit } => {
                let mut text = match scale == 1.0 {
                    true => "times of the trace".to_owned(),
                    false => format!("times of the trace \u{d7} {scale}"),
                };
                if let Some(limit) = idle_limit {
                    text.push_str(&format!(", idle time up to {limit}"));
                }
                text
            }
        }
    }
}

/// How a trace is divided into phases, each with figures of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseRule {
    /// So many phases with equally many requests.
    Shares(u32),
    /// A phase ends where the trace has no request for so long.
    Gap(Nanos),
}

impl PhaseRule {
    pub fn parse(text: Option<&str>) -> Result<PhaseRule, TraceError> {
        let Some(text) = text else {
            return Ok(PhaseRule::Shares(DEFAULT_PHASES));
        };
        let wrong = || TraceError::Option {
            option: "trace_phases",
            given: text.to_owned(),
            expected: format!(
                "a number of phases up to {MAX_PHASES}, or gap:TIME for a new phase after so long \
                 without a request, e.g. gap:10s"
            ),
        };
        if let Some(gap) = text.strip_prefix("gap:") {
            let gap = parse_duration(gap).map_err(|_| wrong())?;
            return match gap > Nanos::ZERO {
                true => Ok(PhaseRule::Gap(gap)),
                false => Err(wrong()),
            };
        }
        let shares = text.trim().parse().ok();
        let shares = shares.filter(|shares| (1..=MAX_PHASES).contains(shares));
        shares.map(PhaseRule::Shares).ok_or_else(wrong)
    }
}

/// How a trace is replayed, before it is known on which drive.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    pub source: TraceSource,
    pub skipped: SkippedOps,
    pub timing: Timing,
    pub map: AddressMap,
    pub phases: PhaseRule,
    /// Only where that is more than the drive's logical block.
    pub align_bytes: Option<u64>,
    /// Replays of the whole trace, one after the other.
    pub passes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayArea {
    pub offset_bytes: u64,
    pub size_bytes: u64,
    /// I/Os begin and end at multiples of it, bytes.
    pub unit_bytes: u64,
    /// Longest I/O, bytes; longer requests are split.
    pub most_bytes: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReplayPlan {
    pub options: ReplayOptions,
    pub area: ReplayArea,
    pub survey: Arc<TraceSurvey>,
    /// Where requests are: never [`AddressMap::Auto`].
    pub map: AddressMap,
    pub align_bytes: u64,
    /// Requests that are replayed, before any is found to be outside of the area.
    pub requests: u64,
}

impl ReplayPlan {
    /// Reads the whole trace.
    pub fn new(options: &ReplayOptions, area: ReplayArea) -> Result<ReplayPlan, TraceError> {
        let survey = TraceSurvey::load(&options.source)?;
        let unfit = |what: String| TraceError::Unfit { file: options.source.name(), what };
        let ops = [Op::Read, Op::Write, Op::Discard, Op::Flush];
        let kept = ops.into_iter().filter(|op| !options.skipped.has(*op));
        let requests: u64 = kept.map(|op| survey.requests_of(op)).sum();
        let requests = requests.saturating_mul(u64::from(options.passes));
        if requests == 0 {
            return Err(unfit(
                "nothing is left to replay: --trace_skip leaves all of its requests out".to_owned(),
            ));
        }
        let align_bytes = options.align_bytes.unwrap_or(1).max(area.unit_bytes);
        if !align_bytes.is_multiple_of(area.unit_bytes) || align_bytes > area.size_bytes {
            return Err(TraceError::Option {
                option: "trace_align",
                given: align_bytes.to_string(),
                expected: format!(
                    "a multiple of the drive's logical block of {} bytes, and at most the area of \
                     {} bytes",
                    area.unit_bytes, area.size_bytes
                ),
            });
        }
        let map = options.map.resolve(&survey, area.size_bytes);
        if map.begins_beyond(&survey, area.size_bytes) {
            return Err(unfit(format!(
                "all of its requests are beyond the area of {} bytes: the first one is at {}; use \
                 --trace_map modulo or linear",
                area.size_bytes, survey.low_bytes
            )));
        }
        let plan =
            ReplayPlan { options: options.clone(), area, survey, map, align_bytes, requests };
        plan.check_phases()?;
        Ok(plan)
    }

    fn check_phases(&self) -> Result<(), TraceError> {
        let PhaseRule::Gap(gap) = self.options.phases else {
            return Ok(());
        };
        let mut reader = TraceReader::open_surveyed(&self.options.source, &self.survey)?;
        let (mut phases, mut last) = (1_u64, Nanos::ZERO);
        while let Some(record) = reader.next_record()? {
            if self.options.skipped.has(record.op) {
                continue;
            }
            phases += u64::from(record.time - last >= gap);
            last = record.time;
        }
        phases = phases.saturating_mul(u64::from(self.options.passes));
        if phases > u64::from(MAX_PHASES) {
            return Err(TraceError::Option {
                option: "trace_phases",
                given: format!("gap:{gap}"),
                expected: format!(
                    "{phases} phases are more than {MAX_PHASES}; use a longer gap, or a number of \
                     phases"
                ),
            });
        }
        Ok(())
    }

    /// 100 only where nothing is written, 0 only where nothing is read.
    pub fn read_percent(&self) -> u8 {
        let count = |op| match self.options.skipped.has(op) {
            true => 0,
            false => self.survey.requests_of(op),
        };
        let (reads, writes) = (count(Op::Read), count(Op::Write) + count(Op::Discard));
        match (reads, writes) {
            (_, 0) => 100,
            (0, _) => 0,
            _ => ((reads as f64 / (reads + writes) as f64 * 100.0).round() as u8).clamp(1, 99),
        }
    }

    pub fn only_trims(&self) -> bool {
        let count = |op| match self.options.skipped.has(op) {
            true => 0,
            false => self.survey.requests_of(op),
        };
        count(Op::Write) == 0 && count(Op::Discard) > 0
    }

    pub fn bytes(&self) -> u64 {
        let survey = &self.survey;
        let counts =
            [(Op::Read, survey.reads), (Op::Write, survey.writes), (Op::Discard, survey.discards)];
        let kept = counts.iter().filter(|(op, _)| !self.options.skipped.has(*op));
        // Saturates: for progress only.
        let bytes = kept.fold(0, |sum: u64, (_, count)| sum.saturating_add(count.bytes));
        bytes.saturating_mul(u64::from(self.options.passes))
    }

    /// What is said where the requests are of several devices.
    pub fn mixed_devices(&self) -> Option<String> {
        self.survey.mixed_text(&self.options.source)
    }

    /// What is said of a log of fio whose times begin anew.
    pub fn joined_logs(&self) -> Option<String> {
        self.survey.joined_text()
    }

    /// Time between two passes: the mean time between two requests, so that a repeated trace keeps
    /// its rate.
    pub fn pause_between_passes(&self) -> Nanos {
        Nanos(self.survey.span.0 / self.survey.requests().saturating_sub(1).max(1))
    }

    /// Without the limit of idle time; `None` in a closed loop.
    pub fn span(&self) -> Option<Nanos> {
        match self.options.timing {
            Timing::Closed => None,
            Timing::Timed { scale, .. } => {
                // `as` saturates.
                let span_ns = self.survey.span.0 as f64 * f64::from(self.options.passes);
                Some(Nanos((span_ns * scale) as u64))
            }
        }
    }

    pub fn flushes(&self) -> bool {
        self.survey.flushes > 0 && !self.options.skipped.has(Op::Flush)
    }

    pub fn longest_io_bytes(&self) -> u32 {
        let unit = self.area.unit_bytes;
        // Rounded outwards at both ends, unless every request begins at a block.
        let begins_anywhere = !self.survey.alignment_bytes.is_multiple_of(unit);
        let beyond = u64::from(self.map.keeps_offsets() && begins_anywhere);
        let longest = self.survey.longest_bytes.div_ceil(unit);
        let longest = longest.saturating_add(beyond);
        let longest = longest.saturating_mul(unit);
        let area_bytes = self.area.size_bytes / unit * unit;
        // `as` keeps it: it is not above `most_bytes`.
        longest.min(area_bytes).min(u64::from(self.area.most_bytes)).max(unit) as u32
    }

    pub fn is_timed(&self) -> bool {
        matches!(self.options.timing, Timing::Timed { .. })
    }
}

/// Most replays of one trace.
const MAX_PASSES: u32 = 1_000_000;

/// Of the option `trace_repeat`.
pub fn parse_passes(passes: u32) -> Result<u32, TraceError> {
    match (1..=MAX_PASSES).contains(&passes) {
        true => Ok(passes),
        false => Err(TraceError::Option {
            option: "trace_repeat",
            given: passes.to_string(),
            expected: format!("1 to {MAX_PASSES}"),
        }),
    }
}

pub fn parse_align(text: &str) -> Result<u64, TraceError> {
    let wrong = |expected: String| TraceError::Option {
        option: "trace_align",
        given: text.to_owned(),
        expected,
    };
    match parse_size(text) {
        Ok(0) => Err(wrong("at least the drive's logical block".to_owned())),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(wrong(error.to_string())),
    }
}

#[cfg(test)]
#[path = "../tests/unit/replay.rs"]
mod tests;
