//! Common parts of the stream commands: drives, ranges, signals, status text.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::Context;
use assay_device::session::{DriveSession, SessionOptions};
use assay_stream::drives::{Drives, QueueOptions, media};
use assay_stream::index::{Recording, find};
use assay_stream::queue::StreamQueue;
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::registers::{ControlBits, Registers};
use assay_stream::status::StreamStatus;
use assay_units::text::{format_size, group_digits};

use crate::args::stream::StreamArguments;
use crate::exit::{CommandOutcome, UsageError};

/// Open drives and checked range of a stream.
pub struct Streamed {
    /// The drives.
    pub sessions: Vec<DriveSession>,
    /// The range on each drive.
    pub range: StreamRange,
    /// How they are opened.
    pub queue_options: QueueOptions,
    /// A short last chunk is padded to a multiple of this, bytes.
    pub min_io_bytes: u32,
}

/// Open the drives. The range is checked before the interlock asks for permission to write.
pub fn open(
    arguments: &StreamArguments,
    session: &SessionOptions,
    writes: bool,
) -> anyhow::Result<Streamed> {
    let read_only = SessionOptions {
        will_write: false,
        destroy: Vec::new(),
        ..session.clone()
    };
    let probed = super::open_drives(&arguments.drives, &read_only)?;
    let range = range_on(arguments, &probed)?;
    let sessions = if writes {
        drop(probed);
        super::open_drives(&arguments.drives, session)?
    } else {
        probed
    };
    let min_io_bytes = sessions.iter().map(|s| s.info().min_io_bytes).max();
    Ok(Streamed {
        queue_options: QueueOptions {
            writes,
            depth: arguments.iodepth,
            chunk_bytes: range.chunk_bytes,
            direct: arguments.direct.unwrap_or(true),
            calls: arguments.engine,
        },
        range,
        sessions,
        min_io_bytes: min_io_bytes.unwrap_or(1),
    })
}

fn range_on(arguments: &StreamArguments, sessions: &[DriveSession]) -> anyhow::Result<StreamRange> {
    let chunk_bytes = u32::try_from(arguments.chunk).unwrap_or(u32::MAX);
    let request = RangeRequest {
        first: arguments.first,
        last: arguments.last,
        chunk_bytes,
    };
    let media: Vec<_> = sessions.iter().map(|s| media(s.info())).collect();
    StreamRange::new(&request, &media).map_err(|error| UsageError(error.to_string()).into())
}

/// SIGINT and SIGHUP abort, SIGTERM stops, SIGUSR1 flushes; a second ending signal terminates the program.
pub fn listen(registers: &Arc<Registers>) -> anyhow::Result<()> {
    use signal_hook::consts::{SIGTERM, SIGUSR1};
    let ending = Arc::new(AtomicBool::new(false));
    let mut watched = super::ending_signals();
    for &signal in &watched {
        // The flag is tested before it is set: only the second signal terminates.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&ending))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&ending)))
            .context("cannot listen for signals")?;
    }
    watched.push(SIGUSR1);
    let mut signals =
        signal_hook::iterator::Signals::new(watched).context("cannot listen for signals")?;
    let registers = Arc::clone(registers);
    let work = move || {
        for signal in signals.forever() {
            registers.command(match signal {
                SIGTERM => ControlBits::STOP,
                SIGUSR1 => ControlBits::FLUSH_NOW,
                _ => ControlBits::ABORT,
            });
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(work)
        .context("cannot start a thread that listens for signals")?;
    Ok(())
}

/// Find a recording on all drives, and the order of its drives. Queues are then created for its chunk size.
pub fn recording(
    drives: &mut Drives<'_>,
    first: u64,
    capacities: &[u64],
) -> anyhow::Result<(Recording, Vec<usize>)> {
    let mut found = Vec::new();
    for (queue, &capacity) in drives.queues()?.iter_mut().zip(capacities) {
        let part = find(queue, first, capacity)?;
        found.push((queue.name().to_owned(), part));
    }
    let (recording, order) = Recording::assemble(found)?;
    if let Some(header) = recording.header() {
        drives.set_chunk_bytes(header.layout.chunk_bytes);
    }
    Ok((recording, order))
}

/// Queues over the drives in this order.
pub fn queues<'d>(
    drives: &'d mut Drives<'_>,
    order: &[usize],
) -> anyhow::Result<Vec<StreamQueue<'d>>> {
    let mut slots: Vec<Option<StreamQueue<'_>>> = drives.queues()?.into_iter().map(Some).collect();
    let taken = order.iter().filter_map(|&at| slots.get_mut(at)?.take());
    Ok(taken.collect())
}

/// Capacities, bytes.
pub fn capacities(sessions: &[DriveSession]) -> Vec<u64> {
    sessions.iter().map(|s| s.info().capacity_bytes).collect()
}

/// Names of the drives, with "(simulated)".
pub fn named(sessions: &[DriveSession]) -> String {
    let name = |session: &DriveSession| {
        let info = session.info();
        let word = if info.simulated { " (simulated)" } else { "" };
        format!("{}{word}", info.spec)
    };
    sessions.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The I/O path.
pub fn path(sessions: &[DriveSession], queue_options: &QueueOptions) -> String {
    let real: Vec<_> = sessions
        .iter()
        .map(DriveSession::info)
        .filter(|info| !info.simulated && info.path.is_some())
        .collect();
    if real.is_empty() {
        return "no bytes leave this program".to_owned();
    }
    let blocking = real
        .iter()
        .filter(|info| queue_options.calls.block_on(info))
        .count();
    let calls = match blocking {
        0 => "io_uring, registered buffers",
        some if some == real.len() => "blocking calls, one chunk at a time",
        _ => "blocking calls on drives in memory, io_uring with registered buffers on the others",
    };
    let cache = if queue_options.direct {
        "O_DIRECT"
    } else {
        "through the page cache"
    };
    format!("{calls}, {cache}")
}

/// Text of a rate.
pub fn rate(bytes_per_s: f64) -> String {
    if bytes_per_s >= 1e9 {
        format!("{:.2} GB/s", bytes_per_s / 1e9)
    } else {
        format!("{:.1} MB/s", bytes_per_s / 1e6)
    }
}

/// Text of a duration.
pub fn span(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// Text lines with labels in one column.
#[derive(Default)]
pub struct Lines(String);

impl Lines {
    /// A line without a label.
    pub fn head(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// A labelled line.
    pub fn line(&mut self, label: &str, text: impl AsRef<str>) {
        self.0
            .push_str(&format!("  {label:<14}{}\n", text.as_ref()));
    }

    /// The text.
    pub fn text(self) -> String {
        self.0
    }
}

/// Text lines about a stream.
pub fn add_status_lines(lines: &mut Lines, status: &StreamStatus) {
    lines.line("status", status.status.names().join(", "));
    let last = match status.last_address_written {
        Some(last) => format!("; last completed {}", group_digits(last)),
        None => String::new(),
    };
    lines.line(
        "addresses",
        format!(
            "{} to {} in chunks of {}{last}",
            group_digits(status.first_address),
            group_digits(status.last_address),
            format_size(u64::from(status.chunk_bytes))
        ),
    );
    lines.line(
        "amount",
        format!(
            "{} bytes, {} beats, {} chunks",
            group_digits(status.bytes),
            group_digits(status.beats),
            group_digits(status.chunks)
        ),
    );
    let stalls = &status.stalls;
    let waited = if stalls.count == 0 {
        "none".to_owned()
    } else {
        format!(
            "{} waits for the drive, longest {}, total {} ({:.0} % of the time)",
            group_digits(stalls.count),
            span(stalls.longest_ns),
            span(stalls.total_ns),
            100.0 * stalls.total_ns as f64 / status.elapsed_ns.max(1) as f64
        )
    };
    lines.line("stalls", waited);
    if let Some(failure) = &status.failure {
        lines.line("failed", failure.to_string());
    }
}

/// Exit status of a stream.
pub fn verdict(status: &StreamStatus) -> CommandOutcome {
    use assay_stream::registers::StatusBits;
    if !status.is_clean() {
        CommandOutcome::DriveFailed
    } else if status.status.has(StatusBits::ABORTED) || status.status.has(StatusBits::STOPPED) {
        CommandOutcome::Interrupted
    } else {
        CommandOutcome::Done
    }
}
