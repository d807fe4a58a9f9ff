use std::fmt::Display;
use std::sync::Arc;

use assay_device::identity::DriveInfo;
use assay_device::session::SessionOptions;
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::registers::{ControlBits, Registers, StatusBits};
use assay_stream::status::StreamStatus;
use assay_stream::streamer::StreamHost;
use assay_units::text::{format_size, group_digits};

use super::streamer::{self, OpenStreamer, StreamerRequest};
use crate::args::stream::{CoreArguments, StreamArguments};
use crate::exit::CommandOutcome;
use crate::terminal::simulated_mark;

pub struct Streamed {
    pub host: Box<dyn StreamHost>,
    pub infos: Vec<DriveInfo>,
    pub range: StreamRange,
    /// A short last chunk is padded to a multiple of this.
    pub min_io_bytes: u32,
    /// Names with "(simulated)".
    pub names: String,
    /// The stream goes through the co-simulated core.
    pub is_core: bool,
}

pub fn open(
    arguments: &StreamArguments,
    core: &CoreArguments,
    session: &SessionOptions,
) -> anyhow::Result<Streamed> {
    let OpenStreamer { host, infos, range, is_core, .. } = streamer::open(StreamerRequest {
        names: &arguments.drives,
        range: range_request(arguments.first, arguments.last, arguments.chunk),
        session: session.clone(),
        simulated_unpermitted: false,
        pages: None,
        depth: arguments.iodepth,
        direct: arguments.direct,
        direct_if_supported: false,
        calls: arguments.engine,
        core,
    })?;
    let mark = |info: &DriveInfo| format!("{}{}", info.spec, simulated_mark(info.simulated));
    let names: Vec<String> = infos.iter().map(mark).collect();
    let min_io_bytes = infos.iter().map(|info| info.min_io_bytes).max();
    Ok(Streamed {
        host,
        range,
        min_io_bytes: min_io_bytes.unwrap_or(1),
        names: names.join(", "),
        infos,
        is_core,
    })
}

/// A chunk beyond 32 bits is refused with the range.
pub fn range_request(first: Option<u64>, last: Option<u64>, chunk: u64) -> RangeRequest {
    RangeRequest { first, last, chunk_bytes: u32::try_from(chunk).unwrap_or(u32::MAX) }
}

/// SIGINT and SIGHUP abort, SIGTERM stops, SIGUSR1 flushes; a second ending signal ends the program
/// at once, and says what of a recording is durable.
pub fn listen() -> anyhow::Result<Arc<Registers>> {
    use signal_hook::consts::{SIGTERM, SIGUSR1};
    let registers = Arc::new(Registers::default());
    let commanded = Arc::clone(&registers);
    let mut watched = super::ending_signals();
    watched.push(SIGUSR1);
    let mut is_ending = false;
    super::on_signals(&watched, move |signal, at_once| {
        if signal == SIGUSR1 {
            commanded.command(ControlBits::FLUSH_NOW);
            return;
        }
        if std::mem::replace(&mut is_ending, true) || at_once {
            eprintln!("{}", ended_at_once(&commanded));
            signal_hook::low_level::exit(128 + signal);
        }
        commanded.command(match signal {
            SIGTERM => ControlBits::STOP,
            _ => ControlBits::ABORT,
        });
    })?;
    Ok(registers)
}

fn ended_at_once(registers: &Registers) -> String {
    let [bytes, durable] = [registers.bytes(), registers.durable_bytes()].map(group_digits);
    let at = registers.last_address_written().map(group_digits);
    let at = at.map_or_else(String::new, |at| format!(", to the chunk at address {at}"));
    format!(
        "ended at once by a second signal: {bytes} bytes completed{at}; durable by a flush: \
         {durable} bytes"
    )
}

pub fn rate(bytes_per_s: f64) -> String {
    match bytes_per_s >= 1e9 {
        true => format!("{:.2} GB/s", bytes_per_s / 1e9),
        false => format!("{:.1} MB/s", bytes_per_s / 1e6),
    }
}

pub fn span(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} \u{b5}s", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// The labels are in one column.
pub struct Lines(pub String);

impl Lines {
    /// The head has amount, time and rate.
    pub fn new(verb: &str, status: &StreamStatus, drives: &str) -> Lines {
        let (size, time) = (format_size(status.bytes), span(status.elapsed_ns));
        let rate = rate(status.rate_bytes_per_s());
        Lines(format!("{verb} {size} {drives} in {time}: {rate}\n"))
    }

    pub fn line(&mut self, label: &str, text: impl Display) {
        self.0.push_str(&format!("  {label:<14}{text}\n"));
    }
}

/// How a stream ended, in words.
pub fn ending(status: &StreamStatus) -> String {
    let bits = status.status.names().join(", ");
    let ended =
        [StatusBits::FINISHED, StatusBits::STOPPED, StatusBits::ABORTED, StatusBits::DEVICE_ERROR];
    match ended.into_iter().any(|bit| status.status.has(bit)) {
        true => bits,
        false if bits.is_empty() => "NOT finished".to_owned(),
        false => format!("NOT finished, {bits}"),
    }
}

pub fn add_status_lines(lines: &mut Lines, ending: &str, status: &StreamStatus) {
    lines.line("status", ending);
    let [first, last] = [status.first_address, status.last_address].map(group_digits);
    let chunk = format_size(u64::from(status.chunk_bytes));
    let completed = status.last_address_written.map(group_digits);
    let completed = completed.map_or_else(String::new, |at| format!("; last completed {at}"));
    lines.line("addresses", format!("{first} to {last} in chunks of {chunk}{completed}"));
    let [bytes, beats, chunks] = [status.bytes, status.beats, status.chunks].map(group_digits);
    lines.line("amount", format!("{bytes} bytes, {beats} beats, {chunks} chunks"));
    let stalls = &status.stalls;
    let waited = match group_digits(stalls.count) {
        _ if stalls.count == 0 => "none".to_owned(),
        count => {
            let [longest, total] = [stalls.longest_ns, stalls.total_ns].map(span);
            let percent = 100.0 * stalls.total_ns as f64 / status.elapsed_ns.max(1) as f64;
            format!(
                "{count} waits for the drive, longest {longest}, total {total} ({percent:.0} % of \
                 the time)"
            )
        }
    };
    lines.line("stalls", waited);
    if let Some(failure) = &status.failure {
        lines.line("failed", failure);
    }
}

pub fn outcome(status: &StreamStatus) -> CommandOutcome {
    let has = |bit| status.status.has(bit);
    let interrupted = has(StatusBits::ABORTED) || has(StatusBits::STOPPED);
    CommandOutcome::from_flags(!status.is_clean(), interrupted)
}
