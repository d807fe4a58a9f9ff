use assay_integrity::mismatch::MismatchRun;
use assay_integrity::pattern::{
    DataOrigin, Diagnosis, ExpectedData, MismatchedChunk, StreamFindings,
};
use assay_stream::range::StreamRange;

#[derive(Clone, Debug, Default)]
pub(super) struct StreamLog(Vec<(u64, String)>);

impl StreamLog {
    pub fn add(&mut self, seed: u64, what: String) {
        self.0.push((seed, what));
    }

    fn find(&self, seed: u64) -> Option<usize> {
        self.0.iter().position(|(written, _)| *written == seed)
    }

    /// The stream with this seed, and whether it was written after the expected one.
    fn owner_text(&self, seed: u64, expected: ExpectedData) -> (String, bool) {
        let expected = match expected {
            ExpectedData::Stream(pattern, _) => self.find(pattern.seed()),
            ExpectedData::Zeroes | ExpectedData::Anything => None,
        };
        match self.find(seed) {
            Some(at) => (format!("{} wrote", self.0[at].1), expected.is_some_and(|e| at > e)),
            None => (format!("an earlier run wrote with seed {seed:#x}"), false),
        }
    }
}

/// Mismatch of a chunk: a term and a sentence.
fn describe(
    log: &StreamLog,
    wrong: &MismatchedChunk,
    range: &StreamRange,
) -> (&'static str, String) {
    let chunk_beats = u64::from(range.chunk_bytes) / assay_stream::registers::BEAT_BYTES;
    let chunk_of = |beat: &u64| beat / chunk_beats.max(1);
    let owner = |seed: &u64| log.owner_text(*seed, wrong.expected);
    let Some(diagnosis) = &wrong.diagnosis else {
        return ("overrun", "bytes that should be zeroes are not".to_owned());
    };
    match diagnosis {
        Diagnosis::Whole(DataOrigin::Seed(seed)) | Diagnosis::WrongSeed(seed) => {
            match owner(seed) {
                (who, true) => ("overwritten", format!("the chunk holds what {who}, later")),
                (who, false) => ("lost write", format!("the chunk still holds what {who}")),
            }
        }
        Diagnosis::Whole(DataOrigin::SeedElsewhere { seed, beat }) => {
            let (who, later) = owner(seed);
            let text = format!("the chunk holds chunk {} of what {who}", chunk_of(beat));
            if later {
                ("misdirected write", text + ", later and elsewhere")
            } else {
                ("lost write", text + ", elsewhere")
            }
        }
        Diagnosis::Whole(DataOrigin::Place(beat)) => {
            let chunk = chunk_of(beat);
            ("misplaced", format!("the chunk holds chunk {chunk} of the same stream"))
        }
        Diagnosis::Torn(run) => torn(log, wrong, run),
        Diagnosis::BitFlip { .. } => ("flipped bits", after_colon(diagnosis)),
        Diagnosis::Whole(DataOrigin::Zero | DataOrigin::Ones) => {
            ("lost write", after_colon(diagnosis))
        }
        Diagnosis::Corrupt { beats, .. } if *beats >= chunk_beats => (
            "unknown data",
            "the chunk holds data of no known stream: older than this run, or corrupt".to_owned(),
        ),
        _ => ("wrong data", diagnosis.to_string()),
    }
}

fn torn(
    log: &StreamLog,
    wrong: &MismatchedChunk,
    run: &MismatchRun<DataOrigin>,
) -> (&'static str, String) {
    let beats = format!("beats {} to {}", run.granules.start, run.granules.end - 1);
    let (seed, location) = match run.origin {
        DataOrigin::Seed(seed) => (seed, ""),
        DataOrigin::SeedElsewhere { seed, .. } => (seed, ", elsewhere"),
        origin => {
            return ("torn write", format!("{beats} are {origin}, the rest is right"));
        }
    };
    match log.owner_text(seed, wrong.expected) {
        (who, true) => {
            ("overrun", format!("{beats} are what {who}, later{location}; the rest is untouched"))
        }
        (who, false) => {
            ("torn write", format!("{beats} are what {who}{location}, the rest is right"))
        }
    }
}

fn after_colon(diagnosis: &Diagnosis) -> String {
    let text = diagnosis.to_string();
    match text.split_once(": ") {
        Some((_, rest)) => rest.to_owned(),
        None => text,
    }
}

/// `again`: whether a second read of the first wrong chunk was right; `None` without one.
pub(super) fn sentence(
    log: &StreamLog,
    first: &MismatchedChunk,
    found: &StreamFindings,
    range: &StreamRange,
    again: Option<bool>,
) -> String {
    let chunk = first.at_byte / u64::from(range.chunk_bytes);
    let (_, address) = range.locate(chunk);
    let (mut word, text) = describe(log, first, range);
    // A misplaced chunk whose own location was not written: one misdirected write.
    let is_astray = |wrong: &MismatchedChunk| match (&wrong.diagnosis, wrong.expected) {
        (Some(Diagnosis::Whole(DataOrigin::Place(_))), ExpectedData::Stream(..)) => true,
        (Some(Diagnosis::Whole(DataOrigin::SeedElsewhere { seed, .. })), expected) => {
            log.owner_text(*seed, expected).1
        }
        _ => false,
    };
    if (word == "misplaced" || word == "lost write") && found.chunks.iter().any(is_astray) {
        word = "misdirected write";
    }
    let (at, beat) = (format!("chunk {chunk} (address {address})"), first.beat);
    let mut out = if again == Some(true) {
        format!(
            "wrong read: {at} was read wrong once, from beat {beat} on: {text}; read again it is \
             right"
        )
    } else {
        format!("{word}: {at} is wrong from beat {beat} on: {text}")
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
