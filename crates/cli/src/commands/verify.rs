//! `assay verify DRIVE...`: verify a recording by its checksums.

use assay_device::session::SessionOptions;
use assay_stream::replay::ReplayOptions;
use assay_stream::source::DiscardSink;
use serde_json::json;

use super::replay::{add_recording_lines, recording_document};
use super::stream::{self, Lines};
use crate::args::stream::{CoreArguments, VerifyArguments};
use crate::exit::CommandOutcome;
use crate::terminal::Output;

/// Compares every chunk with its checksum.
pub fn run(arguments: &VerifyArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let mut streamed =
        stream::open(&arguments.stream, &CoreArguments::default(), &SessionOptions::default())?;
    let registers = stream::listen()?;
    let mut recording = streamed.host.find_recording(&streamed.range)?;
    streamed.host.check_reads_drive()?;
    let mut streamer = streamed.host.streamer()?;
    let options = ReplayOptions { keep_going: true, min_io_bytes: streamed.min_io_bytes };
    let sink = &mut DiscardSink;
    let replayed = streamer.replay_recording(&mut recording, sink, options, &registers)?;
    let status = &replayed.status;
    output.show(
        || {
            let mut lines = Lines::new("Verified", status, &format!("on {}", streamed.names));
            add_recording_lines(&mut lines, &recording, &replayed);
            stream::add_status_lines(&mut lines, &stream::ending(status), status);
            lines.0
        },
        || {
            let recording = recording_document(Some(&recording), &replayed);
            json!({ "status": status, "recording": recording })
        },
    )?;
    if !replayed.is_right() {
        return Ok(CommandOutcome::DriveFailed);
    }
    Ok(stream::outcome(status))
}
