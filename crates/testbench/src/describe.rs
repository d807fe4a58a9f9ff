//! Text of a mismatch: what happened to which chunk, and whose data it holds.

use assay_integrity::pattern::{
    DataOrigin, Diagnosis, ExpectedData, MismatchedChunk, StreamFindings,
};
use assay_stream::range::StreamRange;

/// A stream written by the bench.
#[derive(Clone, Debug)]
struct LoggedStream {
    seed: u64,
    what: String,
}

/// The streams written, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamLog {
    written: Vec<LoggedStream>,
}

impl StreamLog {
    /// Add a stream, before it is written.
    pub fn add(&mut self, seed: u64, what: String) {
        self.written.push(LoggedStream { seed, what });
    }

    fn find(&self, seed: u64) -> Option<(usize, &str)> {
        let mut written = self.written.iter().enumerate();
        written
            .find(|(_, stream)| stream.seed == seed)
            .map(|(at, stream)| (at, stream.what.as_str()))
    }

    /// The stream with this seed, and whether it was written after the expected one.
    fn owner_text(&self, seed: u64, expected: ExpectedData) -> (String, bool) {
        let expected = match expected {
            ExpectedData::Stream(pattern, _) => self.find(pattern.seed()).map(|(at, _)| at),
            ExpectedData::Zeroes | ExpectedData::Anything => None,
        };
        match self.find(seed) {
            Some((at, what)) => (format!("{what} wrote"), expected.is_some_and(|e| at > e)),
            None => (format!("an earlier run wrote with seed {seed:#x}"), false),
        }
    }
}

/// Mismatch of a chunk: a term and a sentence.
fn describe(log: &StreamLog, wrong: &MismatchedChunk, range: &StreamRange) -> (String, String) {
    let chunk_beats = u64::from(range.chunk_bytes) / assay_stream::registers::BEAT_BYTES;
    let chunk_of = |beat: u64| beat / chunk_beats.max(1);
    let (word, text) = match &wrong.diagnosis {
        None => ("overrun", "bytes that should be zeroes are not".to_owned()),
        Some(Diagnosis::Stale { seed } | Diagnosis::WrongSeed { seed }) => {
            let (owner_text, later) = log.owner_text(*seed, wrong.expected);
            if later {
                (
                    "overwritten",
                    format!("the chunk holds what {owner_text}, later"),
                )
            } else {
                (
                    "lost write",
                    format!("the chunk still holds what {owner_text}"),
                )
            }
        }
        Some(Diagnosis::StaleElsewhere { seed, beat }) => {
            let (owner_text, later) = log.owner_text(*seed, wrong.expected);
            let text = format!(
                "the chunk holds chunk {} of what {owner_text}",
                chunk_of(*beat)
            );
            if later {
                ("misdirected write", text + ", later and elsewhere")
            } else {
                ("lost write", text + ", elsewhere")
            }
        }
        Some(Diagnosis::Misplaced { beat }) => (
            "misplaced",
            format!(
                "the chunk holds chunk {} of the same stream",
                chunk_of(*beat)
            ),
        ),
        Some(Diagnosis::Torn {
            first_beat,
            end_beat,
            origin,
        }) => torn(log, wrong, (*first_beat, *end_beat), *origin),
        Some(diagnosis @ Diagnosis::BitFlip { .. }) => ("flipped bits", after_colon(diagnosis)),
        Some(diagnosis @ (Diagnosis::Zero | Diagnosis::Ones)) => {
            ("lost write", after_colon(diagnosis))
        }
        Some(Diagnosis::Corrupt { beats, .. }) if *beats >= chunk_beats => (
            "unknown data",
            "the chunk holds data of no known stream: older than this run, or corrupt".to_owned(),
        ),
        Some(diagnosis) => ("wrong data", diagnosis.to_string()),
    };
    (word.to_owned(), text)
}

fn torn(
    log: &StreamLog,
    wrong: &MismatchedChunk,
    (first, end): (u64, u64),
    origin: DataOrigin,
) -> (&'static str, String) {
    let beats = format!("beats {first} to {}", end - 1);
    let (seed, location) = match origin {
        DataOrigin::Seed { seed } => (Some(seed), ""),
        DataOrigin::SeedElsewhere { seed, .. } => (Some(seed), ", elsewhere"),
        _ => (None, ""),
    };
    let Some(seed) = seed else {
        return (
            "torn write",
            format!("{beats} are {origin}, the rest is right"),
        );
    };
    let (owner_text, later) = log.owner_text(seed, wrong.expected);
    if later {
        (
            "overrun",
            format!("{beats} are what {owner_text}, later{location}; the rest is untouched"),
        )
    } else {
        (
            "torn write",
            format!("{beats} are what {owner_text}{location}, the rest is right"),
        )
    }
}

/// The text of a diagnosis after its first words.
fn after_colon(diagnosis: &Diagnosis) -> String {
    let text = diagnosis.to_string();
    match text.split_once(": ") {
        Some((_, rest)) => rest.to_owned(),
        None => text,
    }
}

/// The text of a comparison. `again`: whether a second read of the first wrong chunk was right; `None` without one.
pub(super) fn sentence(
    log: &StreamLog,
    found: &StreamFindings,
    range: &StreamRange,
    again: Option<bool>,
) -> String {
    let Some(first) = found.chunks.first() else {
        return "nothing is wrong".to_owned();
    };
    let chunk = first.at_byte / u64::from(range.chunk_bytes);
    let (_, address) = range.locate(chunk);
    let (mut word, text) = describe(log, first, range);
    // A misplaced chunk whose own location was not written: one misdirected write.
    let astray = found
        .chunks
        .iter()
        .any(|wrong| match (&wrong.diagnosis, wrong.expected) {
            (Some(Diagnosis::Misplaced { .. }), ExpectedData::Stream(..)) => true,
            (Some(Diagnosis::StaleElsewhere { seed, .. }), holds) => log.owner_text(*seed, holds).1,
            _ => false,
        });
    if astray && (word == "misplaced" || word == "lost write") {
        word = "misdirected write".to_owned();
    }
    let mut out = if again == Some(true) {
        format!(
            "wrong read: chunk {chunk} (address {address}) was read wrong once, from beat {} on: {text}; read again it is right",
            first.beat
        )
    } else {
        format!(
            "{word}: chunk {chunk} (address {address}) is wrong from beat {} on: {text}",
            first.beat
        )
    };
    for wrong in found.chunks.iter().skip(1).take(2) {
        let chunk = wrong.at_byte / u64::from(range.chunk_bytes);
        let (_, text) = describe(log, wrong, range);
        out += &format!("; chunk {chunk}: {text}");
    }
    let beats = found.wrong_beats;
    let plural = if beats == 1 { "beat is" } else { "beats are" };
    out + &format!("; {beats} {plural} wrong in all")
}
