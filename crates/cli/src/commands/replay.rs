//! `assay replay DRIVE... > stream`.

use anyhow::Context;
use assay_device::session::SessionOptions;
use assay_integrity::pattern::{Pattern, StreamFindings};
use assay_stream::endpoint::Endpoint;
use assay_stream::index::{IndexError, Recording};
use assay_stream::pattern_stream::PatternSink;
use assay_stream::registers::Registers;
use assay_stream::replay::{ReplayOptions, ReplayOutcome};
use assay_stream::source::{Descriptor, StreamSink};
use assay_stream::status::StreamError;
use assay_stream::streamer::StreamHost;
use assay_units::text::group_digits;
use serde_json::{Value, json};

use super::stream::{self, Lines};
use crate::args::stream::ReplayArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::terminal::Output;

pub fn run(arguments: &ReplayArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let to_stdout = arguments.check.is_none() && arguments.to == "-";
    let endpoint = Endpoint::parse(&arguments.to).map_err(|e| UsageError(e.to_string()))?;
    let session = SessionOptions {
        keep_data: arguments.check.is_some(),
        ..SessionOptions::default()
    };
    let mut streamed = stream::open(&arguments.stream, &arguments.core, &session)?;
    let range = streamed.range;
    let options = ReplayOptions {
        keep_going: false,
        min_io_bytes: streamed.min_io_bytes,
    };
    // --length applies to a raw range.
    let mut recording = match arguments.raw || arguments.length.is_some() {
        true => None,
        false => find_recording(streamed.host.as_mut(), range.first)?,
    };
    let mut streamer = streamed.host.streamer()?;
    // For the diagnosis of mismatches.
    let layout = recording
        .as_ref()
        .and_then(|found| Some((found.header()?.layout.chunk_bytes, found.to)));
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
    let text = || {
        text(
            &streamed.names,
            &replayed,
            recording.as_ref(),
            finding.as_ref(),
        )
    };
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

/// `None` where there is no index, or the streamer knows none: a raw range.
fn find_recording(host: &mut dyn StreamHost, first: u64) -> Result<Option<Recording>, StreamError> {
    use StreamError::{Index, Unsupported};
    match host.find_recording(first) {
        Ok(recording) => Ok(Some(recording)),
        Err(Index(IndexError::None { .. }) | Unsupported { .. }) => Ok(None),
        Err(error) => Err(error),
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
    lines.line(
        "recording",
        format!("{stream}{label}{ring}, on {drives} drive(s)"),
    );
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
    let checked = group_digits(replayed.checked_chunks);
    let checked = match replayed.first_bad {
        None if replayed.checked_chunks == 0 && replayed.missing_chunks > 0 => {
            "nothing: none of its chunks is in the index".to_owned()
        }
        None => format!("{checked} chunks checked, all match"),
        Some(bad) => {
            let numbers = [replayed.bad_chunks, bad.chunk, bad.address];
            let ([count, chunk, address], drive) = (numbers.map(group_digits), bad.drive + 1);
            format!(
                "{count} of {checked} chunks do NOT match, the first is chunk {chunk} at address \
                 {address} of drive {drive}"
            )
        }
    };
    lines.line("checked", checked);
    if replayed.missing_chunks > 0 {
        let missing = group_digits(replayed.missing_chunks);
        lines.line(
            "missing",
            format!("{missing} recorded chunks are NOT in the index any more"),
        );
    }
}

pub fn recording_document(recording: Option<&Recording>, replayed: &ReplayOutcome) -> Value {
    let Some(recording) = recording else {
        return Value::Null;
    };
    json!({
        "header": recording.header(),
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
    let mut lines = Lines::of("Replayed", status, &format!("of {names}"));
    stream::add_status_lines(&mut lines, status);
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
        "bytes_per_s": replayed.status.rate_bytes_per_s(),
        "recording": recording_document(recording, replayed),
        "pattern": checked,
    })
}
