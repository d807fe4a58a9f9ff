//! `assay record DRIVE... < stream`.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use assay_device::host;
use assay_device::session::SessionOptions;
use assay_integrity::pattern::{Pattern, PatternPages};
use assay_stream::buffer_table::BufferTable;
use assay_stream::endpoint::Endpoint;
use assay_stream::index::{IndexOptions, StreamId};
use assay_stream::record::{RecordOptions, RecordOutcome, SourceRate};
use assay_stream::registers::Registers;
use assay_stream::source::{ReadSource, SizedSource, StreamSource};
use assay_stream::status::{Backlog, Stalls, StreamStatus};
use assay_units::text::{format_size, group_digits};
use serde_json::{Value, json};

use super::stream::{self, Lines, Streamed};
use crate::args::stream::RecordArguments;
use crate::exit::{CommandOutcome, UsageError, bail_usage};
use crate::terminal::Output;

pub fn run(arguments: RecordArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let pages = Arc::new(PatternPages::new());
    let session = SessionOptions {
        destroy: arguments.destroy.clone(),
        will_write: true,
        // A simulated drive ends with this program.
        keep_data: false,
        generator: Some(pages),
        ..SessionOptions::default()
    };
    let mut streamed = stream::open(&arguments.stream, &arguments.core, &session)?;
    let options = options(&arguments, &streamed)?;
    let mut source = source(&arguments, &streamed)?;
    let registers = stream::listen()?;
    let watch = arguments.watch.then(|| Watch::begin(&registers));
    let recorded = {
        let mut streamer = streamed.host.streamer()?;
        streamer.record(&streamed.range, source.as_mut(), &options, &registers)
    };
    streamed.host.close();
    if let Some(watch) = watch {
        watch.end();
    }
    let recorded = recorded.with_context(|| {
        let [bytes, durable] = [registers.bytes(), registers.durable_bytes()].map(group_digits);
        format!(
            "{}: the recording ended after {bytes} bytes, of which {durable} are durable",
            streamed.names
        )
    })?;
    let source_name = source.name();
    output.show(
        || text(&arguments, &streamed, &options, &recorded, &source_name),
        || document(&arguments, &streamed, &options, &recorded),
    )?;
    let status = &recorded.status;
    if let Some(failure) = status.failure.as_ref().filter(|f| f.is_out_of_space()) {
        let [bytes, durable] = [status.bytes, status.durable_bytes].map(group_digits);
        output.error(&anyhow::anyhow!(
            "{failure}: no space left after {bytes} bytes of the stream, of which {durable} are \
             durable: give the file its whole size (fallocate), or free space"
        ));
    }
    if status.source_had_more == Some(true) && arguments.stream.last.is_none() && !arguments.plan {
        let what = "the stream is longer than the drive: the part that fits is recorded, the rest \
                    was not taken; record on a larger drive, on several, or with --ring";
        output.error(&anyhow::anyhow!("{}: {what}", streamed.names));
        return Ok(CommandOutcome::DriveFailed);
    }
    Ok(stream::outcome(status))
}

/// A chunk at the rate of a source may take this long.
const SLOWEST_CHUNK_S: u64 = 10;

fn options(arguments: &RecordArguments, streamed: &Streamed) -> anyhow::Result<RecordOptions> {
    let index = || -> anyhow::Result<_> {
        Ok(IndexOptions {
            stream: StreamId::random()?,
            label: arguments.label.clone(),
            began_unix_s: host::unix_seconds(),
        })
    };
    let index = arguments.index.then(index).transpose()?;
    if arguments.ring && arguments.pattern.is_some() && arguments.length.is_none() {
        bail_usage!("--ring with --pattern needs --length: both are endless");
    }
    let chunk_bytes = u64::from(streamed.range.chunk_bytes);
    let rate = arguments.rate.filter(|_| !arguments.plan);
    if let Some(rate) = rate
        && chunk_bytes > rate.saturating_mul(SLOWEST_CHUNK_S)
    {
        // A chunk is due when its last byte is delivered: the program would appear to hang.
        bail_usage!(
            "--rate {rate} is {rate} bytes per second: a chunk of {chunk_bytes} bytes takes {} s; \
             a rate may have a unit (100MB/s), and a source so slow needs a smaller --chunk",
            chunk_bytes / rate
        );
    }
    Ok(RecordOptions {
        flush_after: arguments.flush_after,
        ring: arguments.ring,
        index,
        checkpoint_bytes: arguments.durable_every,
        source_rate: rate.map(|rate_bytes_per_s| SourceRate {
            rate_bytes_per_s,
            deadline: arguments.lossy_deadline,
        }),
        min_io_bytes: streamed.min_io_bytes,
        // A full range given by --last is a normal end; a full drive is an error.
        ask_for_more: arguments.stream.last.is_none(),
        buffer_table: arguments.plan,
    })
}

fn source(
    arguments: &RecordArguments,
    streamed: &Streamed,
) -> anyhow::Result<Box<dyn StreamSource>> {
    let length = arguments.length.unwrap_or(streamed.range.bytes());
    if arguments.plan {
        return Ok(Box::new(SizedSource::uninit(length)));
    }
    if let Some(seed) = arguments.pattern {
        return Ok(Box::new(SizedSource::pattern(Pattern::new(seed), length)));
    }
    if arguments.length.is_some() {
        bail_usage!(
            "--length is for --pattern and --plan; for other sources, --last limits what is \
             recorded"
        );
    }
    let endpoint = Endpoint::parse(&arguments.from).map_err(|e| UsageError(e.to_string()))?;
    let opened = endpoint.open_source()?;
    for info in &streamed.infos {
        if info.shares_data_with(&opened)? {
            bail_usage!(
                "--from {}: that is {} itself, which the recording would overwrite; name another \
                 source or another drive",
                arguments.from,
                info.spec
            );
        }
    }
    Ok(Box::new(ReadSource::new(endpoint.name(false), opened)?))
}

/// Lines of JSON on stderr.
struct Watch {
    ended: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watch {
    fn begin(registers: &Arc<Registers>) -> Watch {
        let ended = Arc::new(AtomicBool::new(false));
        let (registers, over) = (Arc::clone(registers), Arc::clone(&ended));
        let work = move || {
            let mut reported = 0;
            loop {
                let last_poll = over.load(Ordering::SeqCst);
                let durable_bytes = registers.durable_bytes();
                if durable_bytes > reported {
                    reported = durable_bytes;
                    let line = json!({
                        "durable_bytes": durable_bytes,
                        "bytes": registers.bytes(),
                        "stalls": registers.stalls(),
                    });
                    // A closed stderr does not end a recording.
                    let _ = writeln!(std::io::stderr().lock(), "{line}");
                }
                if last_poll {
                    return;
                }
                thread::park_timeout(Duration::from_millis(20));
            }
        };
        let builder = thread::Builder::new().name("watch".to_owned());
        let thread = builder.spawn(work).ok();
        Watch { ended, thread }
    }

    fn end(self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread {
            thread.thread().unpark();
            // A panic of the printing thread does not affect the recording.
            let _ = thread.join();
        }
    }
}

/// JSON has more.
const STALLS_SHOWN: usize = 5;

const BUFFER_HEADING: &str = "
  Buffer needed by a source that cannot wait, for the amount written here:

      rate         share    buffer
";

/// Percentages of the mean rate.
const SHARES_PERCENT: [u64; 8] = [50, 60, 70, 80, 90, 95, 98, 99];

fn needs(arguments: &RecordArguments, buffer_table: &BufferTable) -> Vec<(u64, Option<u64>)> {
    let mean = buffer_table.mean_rate();
    let shares = SHARES_PERCENT.iter().map(|share| (mean * *share as f64 / 100.0) as u64);
    let mut rates: Vec<u64> = shares.chain(arguments.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let need = |rate: u64| (rate, buffer_table.buffer_for(rate as f64));
    rates.into_iter().map(need).collect()
}

fn text(
    arguments: &RecordArguments,
    streamed: &Streamed,
    options: &RecordOptions,
    recorded: &RecordOutcome,
    source_name: &str,
) -> String {
    let status = &recorded.status;
    let drives = format!("on {}", streamed.names);
    let verb = match arguments.plan {
        true => "Measured",
        false => "Recorded",
    };
    let mut lines = Lines::new(verb, status, &drives);
    stream::add_status_lines(&mut lines, &stream::ending(status), status);
    if !arguments.plan {
        let [durable, bytes] = [status.durable_bytes, status.bytes].map(format_size);
        lines.line("durable", format!("{durable} of {bytes}"));
        let copies = match (streamed.is_core, arguments.pattern) {
            (true, Some(_)) => "generated by this program, on the core's stream port",
            (true, None) => "read by this program, on the core's stream port",
            (false, Some(_)) => "generated in the ring",
            (false, None) => "one copy, from the kernel into the ring",
        };
        let path = streamed.host.data_path();
        lines.line("path", format!("{source_name}, {copies}; {path}"));
    }
    if let Some(index) = &options.index {
        let stream = &index.stream;
        lines.line("recording", format!("{stream} (assay replay, assay verify)"));
    }
    if let Some(backlog) = &status.backlog {
        add_backlog(&mut lines, backlog, status, arguments);
    }
    if let Some(buffer_table) = recorded.buffer_table.as_ref().filter(|_| arguments.plan) {
        add_buffer_table(&mut lines, buffer_table, arguments);
    }
    if options.source_rate.is_some() {
        add_stalls(&mut lines, &status.stalls);
    }
    lines.0
}

fn add_backlog(
    lines: &mut Lines,
    backlog: &Backlog,
    status: &StreamStatus,
    arguments: &RecordArguments,
) {
    let (offered, sustainable) =
        (backlog.rate_bytes_per_s as f64, backlog.sustainable_bytes_per_s as f64);
    let [backlog, ring] = [backlog.high_water_bytes, backlog.buffer_bytes].map(format_size);
    let rate = stream::rate(offered);
    lines.line("source", format!("{rate} offered; backlog at most {backlog}, ring {ring}"));
    let rate = stream::rate(sustainable);
    let words = match sustainable >= 0.99 * offered {
        true => format!("at least {rate} with this ring (the offered rate)"),
        false => format!("{rate} at most with this ring"),
    };
    lines.line("sustainable", words);
    if let Some(deadline) = arguments.lossy_deadline {
        let [latest, limit] = [status.stalls.latest_ns, deadline.0].map(stream::span);
        let words = match status.stalls.over_deadline {
            0 => format!("met: maximum delay {latest}"),
            over => format!(
                "MISSED in {over} stalls: data were taken up to {latest} late, the limit is \
                 {limit}; the source would have lost data"
            ),
        };
        lines.line("deadline", words);
    }
}

fn add_buffer_table(lines: &mut Lines, buffer_table: &BufferTable, arguments: &RecordArguments) {
    lines.0.push_str(BUFFER_HEADING);
    for (rate, buffer) in needs(arguments, buffer_table) {
        let share = 100.0 * rate as f64 / buffer_table.mean_rate().max(1.0);
        let buffer = match buffer {
            // The source of a stream of known length ends; what it needs is for that length.
            Some(_) if share > 100.0 && arguments.length.is_none() => {
                "insufficient at any size".to_owned()
            }
            Some(bytes) => format_size(bytes),
            None => "beyond the table".to_owned(),
        };
        let asked = match arguments.rate == Some(rate) {
            true => "   <- requested",
            false => "",
        };
        let rate = stream::rate(rate as f64);
        let row = format!("  {rate:>12} {share:>7.0} %    {buffer}{asked}\n");
        lines.0.push_str(&row);
    }
}

fn add_stalls(lines: &mut Lines, stalls: &Stalls) {
    let mut longest = stalls.longest.clone();
    longest.sort_by_key(|stall| std::cmp::Reverse(stall.duration_ns));
    for stall in longest.iter().take(STALLS_SHOWN) {
        let times = [stall.duration_ns, stall.at_ns, stall.late_ns];
        let ([length, at, late], chunk) = (times.map(stream::span), stall.chunk);
        let words = format!("{length} from {at} on, at chunk {chunk}; data up to {late} late");
        lines.line("stall", words);
    }
    if longest.len() > STALLS_SHOWN {
        lines.line("", "more with --json");
    }
}

fn document(
    arguments: &RecordArguments,
    streamed: &Streamed,
    options: &RecordOptions,
    recorded: &RecordOutcome,
) -> Value {
    let drives = &streamed.infos;
    let mut document = json!({
        "drives": drives,
        "simulated": drives.iter().any(|d| d.simulated),
        "status": recorded.status,
        "bytes_per_s": recorded.status.rate_bytes_per_s(),
        "path": streamed.host.data_path(),
        "recording": options.index.as_ref().map(|index| index.stream),
    });
    if let Some(buffer_table) = recorded.buffer_table.as_ref().filter(|_| arguments.plan) {
        let row = |(rate, buffer)| json!({ "rate_bytes_per_s": rate, "buffer_bytes": buffer });
        let rows = needs(arguments, buffer_table).into_iter().map(row);
        let rows: Vec<Value> = rows.collect();
        document["plan"] = json!({ "mean_bytes_per_s": buffer_table.mean_rate(), "needs": rows });
    }
    document
}
