use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use assay_units::text::printable;
use assay_units::{Nanos, Op};

use crate::reader::ReadCounts;
use crate::{TraceError, TraceFormat, TraceReader, TraceSource};

/// Devices that are counted one by one.
const MOST_DEVICES: usize = 4096;
/// Alignments are not distinguished above this.
pub const MOST_ALIGNMENT_BYTES: u64 = 1 << 20;
/// Surveys that are kept within a process: a plan surveys one trace for every cell that replays it.
const MOST_KEPT: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCount {
    pub requests: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSurvey {
    pub format: TraceFormat,
    pub reads: OpCount,
    pub writes: OpCount,
    pub discards: OpCount,
    /// Those of the writes with Force Unit Access.
    pub fua_writes: u64,
    pub flushes: u64,
    /// From the first request to the last.
    pub span: Nanos,
    pub low_bytes: u64,
    pub high_bytes: u64,
    /// Largest power of two that divides all offsets, bytes, and at most [`MOST_ALIGNMENT_BYTES`].
    pub alignment_bytes: u64,
    pub longest_bytes: u64,
    /// In the order in which they appear, each with its requests. Further ones, above a limit, are
    /// counted with the last.
    pub devices: Vec<(String, u64)>,
    /// Those above another one, whose requests are left out.
    pub upper_devices: Vec<String>,
    pub counts: ReadCounts,
}

impl TraceSurvey {
    /// A trace that has not changed since it was last read in this process is not read again.
    pub fn load(source: &TraceSource) -> Result<Arc<TraceSurvey>, TraceError> {
        let state = fs::metadata(&source.path)
            .ok()
            .and_then(|data| Some((data.len(), data.modified().ok()?)));
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = state
            && let Some(found) = kept().iter().find(|k| k.state == state && k.source == *source)
        {
            return Ok(Arc::clone(&found.survey));
        }
        let survey = Arc::new(TraceSurvey::read(TraceReader::open(source)?, source)?);
        if let Some(state) = state {
            let mut kept = kept();
            if kept.len() == MOST_KEPT {
                kept.remove(0);
            }
            kept.push(Kept { source: source.clone(), state, survey: Arc::clone(&survey) });
        }
        Ok(survey)
    }

    fn read(mut reader: TraceReader, source: &TraceSource) -> Result<TraceSurvey, TraceError> {
        let mut survey = TraceSurvey {
            format: reader.format(),
            reads: OpCount::default(),
            writes: OpCount::default(),
            discards: OpCount::default(),
            fua_writes: 0,
            flushes: 0,
            span: Nanos::ZERO,
            low_bytes: u64::MAX,
            high_bytes: 0,
            longest_bytes: 0,
            alignment_bytes: MOST_ALIGNMENT_BYTES,
            devices: Vec::new(),
            upper_devices: reader.upper_devices(),
            counts: ReadCounts::default(),
        };
        let mut offset_bits = MOST_ALIGNMENT_BYTES;
        let mut devices: Vec<(String, u64)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut seen = |device: &str| {
            let place = match places.get(device) {
                Some(place) => *place,
                None if devices.len() < MOST_DEVICES => {
                    places.insert(device.to_owned(), devices.len());
                    devices.push((device.to_owned(), 0));
                    devices.len() - 1
                }
                None => MOST_DEVICES - 1,
            };
            devices[place].1 += 1;
        };
        while let Some(record) = reader.next_seeing(&mut seen)? {
            survey.span = record.time;
            survey.fua_writes += u64::from(record.fua);
            let count = match record.op {
                Op::Read => &mut survey.reads,
                Op::Write => &mut survey.writes,
                Op::Discard | Op::WriteZeroes => &mut survey.discards,
                Op::Flush => {
                    survey.flushes += 1;
                    continue;
                }
            };
            count.requests += 1;
            // Saturates: 2^64 bytes of requests are a hundred years of a fast drive.
            count.bytes = count.bytes.saturating_add(record.len_bytes);
            offset_bits |= record.offset_bytes;
            survey.low_bytes = survey.low_bytes.min(record.offset_bytes);
            survey.high_bytes = survey.high_bytes.max(record.offset_bytes + record.len_bytes);
            survey.longest_bytes = survey.longest_bytes.max(record.len_bytes);
        }
        survey.alignment_bytes = 1 << offset_bits.trailing_zeros();
        survey.low_bytes = survey.low_bytes.min(survey.high_bytes);
        survey.devices = devices;
        survey.counts = reader.counts();
        match survey.requests() {
            0 => Err(survey.has_none(source)),
            _ => Ok(survey),
        }
    }

    fn has_none(&self, source: &TraceSource) -> TraceError {
        let names: Vec<String> = self.devices.iter().map(|(name, _)| printable(name)).collect();
        TraceError::Unfit {
            file: source.name(),
            what: match (&source.device, names.is_empty()) {
                (Some(device), false) => format!(
                    "has no request of the device {device:?}; --trace_device takes one of: {}",
                    names.join(" ")
                ),
                _ => "has no request to replay; record it again, or give its format with \
                      --trace_format"
                    .to_owned(),
            },
        }
    }

    /// Devices that share one address space here: only their names in the trace tell them apart.
    /// None where the requests are of one device.
    pub fn mixed_devices(&self, source: &TraceSource) -> Vec<(&str, u64)> {
        if source.device.is_some() {
            return Vec::new();
        }
        let mixed = self.devices.iter().filter(|(name, _)| !self.upper_devices.contains(name));
        let mixed: Vec<(&str, u64)> = mixed.map(|(name, count)| (name.as_str(), *count)).collect();
        match mixed.len() {
            1 => Vec::new(),
            _ => mixed,
        }
    }

    /// What is said of a trace whose requests are of several devices; `None` of one device.
    pub fn mixed_text(&self, source: &TraceSource) -> Option<String> {
        const SHOWN: usize = 4;
        let mixed = self.mixed_devices(source);
        if mixed.is_empty() {
            return None;
        }
        let shown = mixed.iter().take(SHOWN);
        let mut shown: Vec<String> =
            shown.map(|(name, count)| format!("{}: {count}", printable(name))).collect();
        if mixed.len() > SHOWN {
            shown.push(format!("{} further ones", mixed.len() - SHOWN));
        }
        Some(format!(
            "the trace has requests of {} devices ({}), whose addresses are of different drives \
             and coincide by accident only",
            mixed.len(),
            shown.join(", ")
        ))
    }

    /// What is said of a log of fio whose times begin anew; `None` of another trace.
    pub fn joined_text(&self) -> Option<String> {
        let behind = self.counts.reordered;
        (self.format == TraceFormat::Iolog && behind > 0).then(|| {
            format!(
                "{behind} requests are due at once: their times are before that of an earlier \
                 line, as in logs that were joined"
            )
        })
    }

    pub fn requests(&self) -> u64 {
        self.reads.requests + self.writes.requests + self.discards.requests + self.flushes
    }

    pub fn requests_of(&self, op: Op) -> u64 {
        match op {
            Op::Read => self.reads.requests,
            Op::Write => self.writes.requests,
            Op::Discard | Op::WriteZeroes => self.discards.requests,
            Op::Flush => self.flushes,
        }
    }
}

struct Kept {
    source: TraceSource,
    /// Length of the file, and when it was changed last.
    state: (u64, SystemTime),
    survey: Arc<TraceSurvey>,
}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

#[cfg(test)]
#[path = "../tests/unit/survey.rs"]
mod tests;
