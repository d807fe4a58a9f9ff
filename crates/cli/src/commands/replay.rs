//! `assay replay DRIVE... > stream`.

use anyhow::Context;
use assay_device::session::SessionOptions;
use assay_integrity::pattern::{Pattern, StreamFindings};
use assay_stream::endpoint::Endpoint;
use assay_stream::index::{DamagedCopy, HeaderCopy, IndexError, Recording, RecordingPart};
use assay_stream::pattern_stream::PatternSink;
use assay_stream::range::StreamRange;
use assay_stream::registers::Registers;
use assay_stream::replay::{ReplayOptions, ReplayOutcome};
use assay_stream::source::{Descriptor, StreamSink};
use assay_stream::status::StreamError;
use assay_stream::streamer::StreamHost;
use assay_units::text::group_digits;
use serde_json::{Value, json};

use super::stream::{self, Lines};
use crate::args::stream::ReplayArguments;
use crate::exit::{CommandOutcome, UsageError, bail_usage};
use crate::terminal::Output;

pub fn run(arguments: &ReplayArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let to_stdout = arguments.check.is_none() && arguments.to == "-";
    let endpoint = Endpoint::parse(&arguments.to).map_err(|e| UsageError(e.to_string()))?;
    let session =
        SessionOptions { keep_data: arguments.check.is_some(), ..SessionOptions::default() };
    let mut streamed = stream::open(&arguments.stream, &arguments.core, &session)?;
    let range = streamed.range;
    let options = ReplayOptions { keep_going: false, min_io_bytes: streamed.min_io_bytes };
    let mut recording = find_recording(streamed.host.as_mut(), &range, arguments)?;
    let mut streamer = streamed.host.streamer()?;
    // For the diagnosis of mismatches.
    let layout =
        recording.as_ref().and_then(|found| Some((found.header()?.layout.chunk_bytes, found.to)));
    let (chunk_bytes, chunks) = layout.unwrap_or((range.chunk_bytes, range.chunks()));
    let mut replay = |sink: &mut dyn StreamSink, registers: &Registers| match &mut recording {
        Some(recording) => streamer.replay_recording(recording, sink, options, registers),
        None => streamer.replay(&range, arguments.length, sink, options, registers),
    };
    let length = arguments.length.unwrap_or(range.bytes());
    let (replayed, finding) = match arguments.check {
        Some(seed) => {
            let registers = stream::listen()?;
            let mut sink = PatternSink::new(Pattern::new(seed), chunk_bytes, chunks);
            let replayed = replay(&mut sink, &registers)?;
            let expected = recording.is_none().then(|| length.min(range.bytes()));
            (replayed, Some(sink.findings(expected)))
        }
        None => {
            // While waiting for a connection, the first signal ends the program.
            let opened = endpoint.open_sink()?;
            let registers = stream::listen()?;
            let sink = Descriptor::new(endpoint.name(true), opened);
            let mut sink = sink.context("cannot write the stream")?;
            let replayed = replay(&mut sink, &registers)?;
            (replayed, None)
        }
    };
    let text = || text(&streamed.names, &replayed, recording.as_ref(), finding.as_ref());
    let document = || document(&replayed, recording.as_ref(), finding.as_ref());
    if to_stdout {
        // stdout carries the stream.
        output.show_on_stderr(text, document);
    } else {
        output.show(text, document)?;
    }
    let wrong = finding.is_some_and(|finding| !finding.is_clean());
    if wrong || !replayed.is_right() {
        return Ok(CommandOutcome::DriveFailed);
    }
    Ok(stream::outcome(&replayed.status))
}

/// `None`: a raw range. No byte is delivered unchecked but with `--raw`, and `--check` compares
/// with its pattern what has no index.
fn find_recording(
    host: &mut dyn StreamHost,
    range: &StreamRange,
    arguments: &ReplayArguments,
) -> anyhow::Result<Option<Recording>> {
    use StreamError::{Index, Unsupported};
    let check = arguments.check;
    match arguments.length {
        Some(0) => bail_usage!("--length 0 leaves nothing to replay"),
        Some(_) if !arguments.raw && check.is_none() => {
            bail_usage!("--length is for raw bytes (--raw) and for a pattern (--check)")
        }
        length if arguments.raw || length.is_some() => return Ok(None),
        _ => {}
    }
    match host.find_recording(range) {
        Ok(recording) => Ok(Some(recording)),
        Err(Index(IndexError::None { .. }) | Unsupported { .. }) if check.is_some() => Ok(None),
        Err(error @ (Index(IndexError::None { .. }) | Unsupported { .. })) => {
            let hint = "nothing to check the bytes by; --raw replays them unchecked";
            Err(anyhow::Error::from(error).context(hint))
        }
        Err(error) => Err(error.into()),
    }
}

pub fn add_recording_lines(lines: &mut Lines, recording: &Recording, replayed: &ReplayOutcome) {
    let Some(header) = recording.header() else {
        return;
    };
    let label = match header.label.as_str() {
        "" => String::new(),
        label => format!(" {label:?}"),
    };
    let ring = if header.ring { ", a ring" } else { "" };
    let (stream, drives) = (&header.stream, header.drives);
    lines.line("recording", format!("{stream}{label}{ring}, on {drives} drive(s)"));
    let some_ended = recording.parts.iter().any(|part| part.header.ended);
    let ending = if recording.is_whole() {
        "complete: ended by its recorder"
    } else if recording.is_ended() {
        "NOT complete, though its recorder ended it"
    } else if some_ended {
        "interrupted: not ended by its recorder on all drives"
    } else {
        "interrupted: not ended by its recorder"
    };
    let mut details = ending.to_owned();
    for (drive, copy) in lost_headers(recording) {
        let what = match copy {
            HeaderCopy::Start => "the header at its start is LOST, the copy at the end was used",
            HeaderCopy::End => "the copy of the header at its end is LOST",
        };
        details += &format!("; drive {}: {what}", drive + 1);
    }
    if recording.from > 0 {
        details += &format!("; begins with chunk {}", group_digits(recording.from));
    }
    match replayed.not_durable_chunks {
        0 => {}
        n => details += &format!("; {n} chunks at its end were not durable and are omitted"),
    }
    match replayed.partially_overwritten_chunks {
        0 => {}
        n => {
            let what = "of its oldest chunks were being overwritten and are omitted";
            details += &format!("; {n} {what}");
        }
    }
    lines.line("", details);
    if let Some(text) = damaged_copies_text(recording) {
        lines.line("index", text);
    }
    lines.line("checked", checked_text(recording, replayed));
    if replayed.missing_chunks > 0 {
        let missing = group_digits(replayed.missing_chunks);
        lines.line("missing", format!("{missing} recorded chunks are NOT in the index any more"));
    }
}

/// Drive, from 0, and a copy of an index block that is damaged.
fn damaged_copies(recording: &Recording) -> impl Iterator<Item = (u32, DamagedCopy)> {
    let of = |part: &RecordingPart| part.header.drive;
    let parts = recording.parts.iter();
    parts.flat_map(move |part| part.damaged_copies.iter().map(move |copy| (of(part), *copy)))
}

fn damaged_copies_text(recording: &Recording) -> Option<String> {
    let (drive, first) = damaged_copies(recording).next()?;
    let copies = match damaged_copies(recording).count() {
        1 => "1 copy of a block is DAMAGED,".to_owned(),
        n => format!("{} copies of blocks are DAMAGED, the first", group_digits(n as u64)),
    };
    let state = match (first.unreadable, recording.is_ended()) {
        (true, _) => "unreadable",
        (false, true) => "not what was written",
        (false, false) => "not what was written, or interrupted with the recorder",
    };
    Some(format!(
        "{copies} at address {} of drive {} ({state}); the other copy was used, and nothing is \
         lost. Replay the recording to another drive, or record anew, before that one fails as \
         well",
        group_digits(first.address),
        drive + 1
    ))
}

fn checked_text(recording: &Recording, replayed: &ReplayOutcome) -> String {
    let checked = group_digits(replayed.checked_chunks);
    match replayed.first_bad {
        None if replayed.nothing_checked => {
            "NOTHING: none of its chunks is in the index and whole".to_owned()
        }
        None if recording.from == recording.to => "nothing: it has no bytes".to_owned(),
        None => format!("{checked} chunks checked, all match"),
        Some(bad) => {
            let numbers = [replayed.bad_chunks, bad.chunk, bad.address];
            let ([count, chunk, address], drive) = (numbers.map(group_digits), bad.drive + 1);
            format!(
                "{count} of {checked} chunks do NOT match, the first is chunk {chunk} at address \
                 {address} of drive {drive}"
            )
        }
    }
}

/// Drive, from 0, and the copy of its header that is gone.
fn lost_headers(recording: &Recording) -> impl Iterator<Item = (u32, HeaderCopy)> {
    let parts = recording.parts.iter();
    parts.filter_map(|part| Some((part.header.drive, part.lost_header?)))
}

pub fn recording_document(recording: Option<&Recording>, replayed: &ReplayOutcome) -> Value {
    let Some(recording) = recording else {
        return Value::Null;
    };
    json!({
        "header": recording.header(),
        "lost_headers": lost_headers(recording)
            .map(|(lane, copy)| json!({ "lane": lane, "copy": copy }))
            .collect::<Vec<_>>(),
        "damaged_copies": damaged_copies(recording).count(),
        "first_damaged_copy": damaged_copies(recording).next().map(|(lane, copy)| {
            json!({ "lane": lane, "address": copy.address, "unreadable": copy.unreadable })
        }),
        "whole": recording.is_whole(),
        "first_chunk": recording.from,
        "end_chunk": recording.to,
        "durable_chunks": recording.durable,
        "checked_chunks": replayed.checked_chunks,
        "bad_chunks": replayed.bad_chunks,
        "first_bad": replayed.first_bad,
        "missing_chunks": replayed.missing_chunks,
        "not_durable_chunks": replayed.not_durable_chunks,
        "frayed_chunks": replayed.partially_overwritten_chunks,
    })
}

fn text(
    names: &str,
    replayed: &ReplayOutcome,
    recording: Option<&Recording>,
    finding: Option<&StreamFindings>,
) -> String {
    let status = &replayed.status;
    let mut lines = Lines::new("Replayed", status, &format!("of {names}"));
    let ending = match (recording, finding) {
        (None, None) => {
            let bits = status.status.names().into_iter();
            let bits = bits.filter(|name| *name != "finished");
            let words = ["raw bytes, nothing checked"].into_iter().chain(bits);
            words.collect::<Vec<_>>().join(", ")
        }
        _ => stream::ending(status),
    };
    stream::add_status_lines(&mut lines, &ending, status);
    if let Some(recording) = recording {
        add_recording_lines(&mut lines, recording, replayed);
    }
    if let Some(finding) = finding {
        let numbers = [finding.beats, finding.wrong_beats, finding.wrong_chunks];
        let [beats, wrong, chunks] = numbers.map(group_digits);
        let words = match finding.is_clean() {
            true => format!("{beats} beats, all match"),
            false => format!("{wrong} of {beats} beats are WRONG, in {chunks} chunks"),
        };
        lines.line("pattern", words);
        if let Some(first) = &finding.first {
            lines.line("first wrong", first);
        }
        if let Some(diagnosis) = finding.diagnosis() {
            lines.line("diagnosis", diagnosis);
        }
    }
    lines.0
}

fn document(
    replayed: &ReplayOutcome,
    recording: Option<&Recording>,
    finding: Option<&StreamFindings>,
) -> Value {
    let checked = finding.map(|finding| {
        json!({
            "beats": finding.beats,
            "wrong_beats": finding.wrong_beats,
            "wrong_chunks": finding.wrong_chunks,
            "first_wrong_beat": finding.first.map(|first| first.beat),
            "diagnosis": finding.diagnosis().map(ToString::to_string),
        })
    });
    json!({
        "status": replayed.status,
        "checked_by": match (recording, finding) {
            (_, Some(_)) => "pattern",
            (Some(_), _) => "checksums",
            _ => "nothing",
        },
        "bytes_per_s": replayed.status.rate_bytes_per_s(),
        "recording": recording_document(recording, replayed),
        "pattern": checked,
    })
}
