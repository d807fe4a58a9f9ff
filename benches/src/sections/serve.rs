use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use assay_io::clock::Clock;
use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{GIB, Nanos, Op, Rng};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::simulation::command;
use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{Figure, Spread, take_turns};
use crate::tools::{Sample, Tool, Variant, on_processor};

/// Of nbdkit's rate.
const GOAL_RATE: f64 = 1.0;
/// Permitted deviation of paced figures from the model's with the round-trip overhead.
const GOAL_AGREEMENT: f64 = 0.05;
/// Area read and written.
const AREA_BYTES: u64 = GIB;
/// Many short ones, because a 99th percentile varies from second to second by more than the goal.
const PACED_ROUNDS: usize = 3;
const PACED_MS: u64 = 1500;
const RAMP_MS: u64 = 250;
/// It wakes a hundred times a second, as often as a 99th percentile of 8,000 reads a second is
/// exceeded, so it must share neither the server's processor nor that of fio's reading thread.
const HOUSEKEEPING_PROCESSOR: &str = "0";
/// Waking an idle processor of a virtual machine takes 15 to 40 us, varying by the minute, so that
/// the overhead measured before would not be that of the reads.
const SHARED_PROCESSOR: &str = "1";
/// How long a server may take until it listens.
const START_TIMEOUT: Nanos = Nanos::from_millis(20_000);
const DRIVES: [(&str, u32); 6] = [
    ("samsung-951", 1),
    ("samsung-951", 4),
    ("intel-600p", 1),
    ("intel-600p", 8),
    ("toshiba-rd400", 1),
    ("toshiba-rd400", 4),
];

struct Serving {
    child: Child,
    uri: String,
    overhead_ns: [f64; 3],
    _folder: tempfile::TempDir,
}

impl Serving {
    fn assay(bench: &Bench, drive: &str, pace: &str, processor: Option<&str>) -> Result<Serving> {
        let folder = tempfile::tempdir()?;
        let address = format!("unix:{}", folder.path().join("s").display());
        let assay = &bench.runner.assay;
        let words = match processor {
            Some(processor) => on_processor(processor, assay).into(),
            None => vec![assay.display().to_string()],
        };
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .args(["serve", drive, "--nbd", &address, "--pace", pace, "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start assay serve")?;
        let stdout = child.stdout.take().context("no pipe")?;
        let parsed = serde_json::Deserializer::from_reader(BufReader::new(stdout));
        let startup: Option<Result<Value, _>> = parsed.into_iter().next();
        let startup = startup.context("assay serve printed nothing")??;
        let overhead = |which: &str| startup["floor_ns"][which].as_f64().unwrap_or(0.0);
        Ok(Serving {
            child,
            uri: startup["uri"].as_str().unwrap_or_default().to_owned(),
            overhead_ns: ["mean", "p50", "p99"].map(overhead),
            _folder: folder,
        })
    }

    fn nbdkit() -> Result<Serving> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("s");
        let child = Command::new("nbdkit")
            .args(["--foreground", "--unix"])
            .arg(&socket)
            .args(["memory", &AREA_BYTES.to_string()])
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start nbdkit (apt-get install nbdkit)")?;
        let clock = Clock::monotonic();
        let until = clock.now() + START_TIMEOUT;
        while UnixStream::connect(&socket).is_err() {
            ensure!(clock.now() <= until, "nbdkit does not listen");
            clock.wait_until(clock.now() + Nanos::from_millis(20));
        }
        Ok(Serving {
            child,
            uri: format!("nbd+unix:///?socket={}", socket.display()),
            overhead_ns: [0.0; 3],
            _folder: folder,
        })
    }

    fn job(&self, label: &str, options: &str, span_ms: u64) -> Variant {
        let all = format!(
            "--ioengine=nbd --uri={} --size={AREA_BYTES} --lat_percentiles=1 {options}",
            self.uri
        );
        Variant::fio(label, None, &all, span_ms)
    }

    /// Write all of the area, so that reads find data.
    fn fill(&self, bench: &Bench) -> Result<()> {
        let words = format!(
            "--name=fill --thread --ioengine=nbd --uri={} --size={AREA_BYTES} --rw=write \
             --bs=128k --iodepth=8 --refill_buffers",
            self.uri
        );
        Variant::new(Tool::Fio, "fill", &words).outcome(&bench.runner)?;
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(pid, Signal::INT);
        }
        let _ = self.child.wait();
    }
}

/// Each completion takes `overhead_ns` to be seen, which counts as latency; the next command
/// follows `between_ns` later, which does not.
fn in_process(
    profile: &str,
    depth: u32,
    (overhead_ns, between_ns): (f64, f64),
    span: Nanos,
) -> Result<Sample> {
    let profile = Profile::builtin(profile).with_context(|| format!("no profile {profile}"))?;
    let mut drive = Drive::new(profile, DriveOptions::default())?;
    let mut rng = Rng::new(3);
    let mut sent = vec![Nanos::ZERO; depth as usize];
    let mut times = Vec::new();
    let mut done = Vec::new();
    let mut read = |drive: &mut Drive, tag: u32, at: Nanos| {
        let offset_bytes = rng.below(AREA_BYTES / 4096) * 4096;
        drive.submit(at, command(tag, 0, Op::Read, offset_bytes, 4096));
    };
    // One delay for all keeps that order.
    let mut waiting: std::collections::VecDeque<(Nanos, u32)> =
        (0..depth).map(|tag| (Nanos::ZERO, tag)).collect();
    let mut now = Nanos::ZERO;
    while now < span {
        let due = waiting.front().map_or(Nanos::MAX, |&(at, _)| at);
        now = due.min(drive.next_event().unwrap_or(Nanos::MAX));
        ensure!(now < Nanos::MAX, "the model has nothing to do");
        while let Some(&(at, tag)) = waiting.front()
            && at <= now
        {
            waiting.pop_front();
            sent[tag as usize] = at;
            read(&mut drive, tag, at);
        }
        drive.advance(now, &mut done);
        for completion in done.drain(..) {
            let at = completion.at + Nanos(overhead_ns as u64);
            times.push((at - sent[completion.tag as usize]).0);
            waiting.push_back((at + Nanos(between_ns as u64), completion.tag));
        }
    }
    times.sort_unstable();
    let at = |share: usize| {
        let at_share = times.get(times.len() * share / 100);
        at_share.map_or(0.0, |&ns| ns as f64)
    };
    Ok(Sample {
        ios: times.len() as f64,
        iops: times.len() as f64 / span.as_secs_f64(),
        p50_ns: at(50),
        p99_ns: at(99),
        ..Sample::default()
    })
}

fn unpaced(bench: &Bench, section: &mut Section) -> Result<()> {
    let ours = Serving::assay(bench, "sim:samsung-951", "free", None)?;
    let theirs = Serving::nbdkit()?;
    ours.fill(bench)?;
    theirs.fill(bench)?;
    let mut table = Table::new(&["work", "server", "IOPS", "p50 us", "p99 us"]);
    for (work, options) in [
        ("random reads, depth 32", "--iodepth=32"),
        ("random writes, depth 32", "--iodepth=32 --rw=randwrite"),
        ("random reads, depth 1", "--iodepth=1"),
    ] {
        let span_ms = bench.span_ms(4000);
        let variants = vec![
            ours.job("assay serve --pace free", options, span_ms),
            theirs.job("nbdkit memory", options, span_ms),
        ];
        let all = take_turns(bench, work, variants)?;
        for series in &all {
            table.row([
                &work,
                &series.variant.label,
                &series.spread(|s| s.iops).show(0),
                &series.spread(|s| s.p50_ns / 1e3).show(1),
                &series.spread(|s| s.p99_ns / 1e3).show(1),
            ]);
            section.commands.push(series.variant.command());
        }
        let ratio = all[0].ratio(&all[1], |s| s.iops);
        section.goal(
            format!("{work}: at least {GOAL_RATE} times nbdkit's memory plugin, round by round"),
            format!("{} x", ratio.show(2)),
            ratio.median >= GOAL_RATE,
        );
    }
    section.tables.push(table);
    Ok(())
}

const FIGURES: [(&str, Figure); 3] = [
    ("IOPS", |s| s.iops),
    ("p50 us", |s| s.p50_ns / 1e3),
    ("p99 us", |s| s.p99_ns / 1e3),
];

struct Paced {
    overhead_ns: [f64; 3],
    between_ns: f64,
    seen: Sample,
    model: Sample,
    slowest: Sample,
}

impl Paced {
    /// With a server of its own, because the overhead varies by the minute.
    fn measure(bench: &Bench, profile: &str, depth: u32) -> Result<Paced> {
        let drive = format!("sim:{profile}");
        let serving = Serving::assay(bench, &drive, "real", Some(SHARED_PROCESSOR))?;
        let overhead_ns @ [mean_ns, p50_ns, p99_ns] = serving.overhead_ns;
        // As the measurement of the round-trip overhead, which warms up first.
        let options =
            format!("--iodepth={depth} --ramp_time={RAMP_MS}ms --cpus_allowed={SHARED_PROCESSOR}");
        let job = serving.job("paced", &options, bench.span_ms(PACED_MS));
        let seen = job.run_on(&bench.runner, HOUSEKEEPING_PROCESSOR)?;
        // By Little's law, from fio's own rate and mean latency.
        let between_ns = (f64::from(depth) * 1e9 / seen.iops - seen.mean_ns).max(0.0);
        let span = Nanos::from_millis(2000);
        let model = in_process(profile, depth, (0.0, 0.0), span)?;
        let mut slowest = in_process(profile, depth, (p50_ns, 0.0), span)?;
        slowest.p99_ns += p99_ns - p50_ns;
        slowest.iops = in_process(profile, depth, (mean_ns, between_ns), span)?.iops;
        Ok(Paced {
            overhead_ns,
            between_ns,
            seen,
            model,
            slowest,
        })
    }

    fn beyond(&self, figure: Figure) -> f64 {
        let (here, there) = (figure(&self.model), figure(&self.slowest));
        let (least, most) = (here.min(there), here.max(there));
        match figure(&self.seen) {
            seen if seen < least => 100.0 * (seen / least - 1.0),
            seen if seen > most => 100.0 * (seen / most - 1.0),
            _ => 0.0,
        }
    }
}

fn paced(bench: &Bench, section: &mut Section) -> Result<()> {
    let mut rounds: Vec<Vec<Paced>> = DRIVES.iter().map(|_| Vec::new()).collect();
    bench.repeat("paced", PACED_ROUNDS * bench.rounds(), |_| {
        for ((profile, depth), samples) in DRIVES.into_iter().zip(&mut rounds) {
            bench.runner.check_stopped()?;
            samples.push(Paced::measure(bench, profile, depth)?);
        }
        Ok(())
    })?;
    let mut overheads = Table::new(&[
        "drive, depth",
        "round trip p50, us",
        "round trip mean, us",
        "round trip p99, us",
        "fio between I/Os, us",
    ]);
    let mut table = Table::new(&[
        "drive, depth",
        "figure",
        "model",
        "model + round trip",
        "fio over NBD",
        "outside this range, %",
    ]);
    let mut worst: [f64; 3] = [0.0; 3];
    for ((profile, depth), samples) in DRIVES.into_iter().zip(&rounds) {
        let title = format!("{profile}, depth {depth}");
        let spread = |of: &dyn Fn(&Paced) -> f64| Spread::of(samples.iter().map(of));
        let us = |of: &dyn Fn(&Paced) -> f64| spread(&|s| of(s) / 1e3).show(1);
        overheads.row([
            &title,
            &us(&|s| s.overhead_ns[1]),
            &us(&|s| s.overhead_ns[0]),
            &us(&|s| s.overhead_ns[2]),
            &us(&|s| s.between_ns),
        ]);
        for ((name, figure), worst) in FIGURES.into_iter().zip(&mut worst) {
            let beyond = spread(&|s| s.beyond(figure));
            if beyond.median.abs() > worst.abs() {
                *worst = beyond.median;
            }
            table.row([
                &title,
                &name,
                &spread(&|s| figure(&s.model)).show(1),
                &spread(&|s| figure(&s.slowest)).show(1),
                &spread(&|s| figure(&s.seen)).show(1),
                &beyond.show(1),
            ]);
        }
    }
    for ((name, _), worst) in FIGURES.into_iter().zip(worst) {
        let name = name.trim_end_matches(" us");
        section.goal(
            format!(
                "paced {name} over NBD at most {:.0} % outside the range from the model's to the \
                 model's with the round-trip overhead",
                100.0 * GOAL_AGREEMENT
            ),
            format!("worst {worst:+.1} %"),
            worst.abs() <= 100.0 * GOAL_AGREEMENT,
        );
    }
    section.tables.extend([overheads, table]);
    Ok(())
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "serve",
        "A simulated drive over NBD",
        "fio's nbd engine on a Unix socket, random 4 KiB blocks of a previously written 1 GiB. \
         *Unpaced*: virtual time runs as fast as it can, against nbdkit's memory plugin, which \
         has no model. *Paced*: filled simulated drives in real time. *Model* is a closed loop on \
         the model in this process; *model + round trip* adds to every I/O the round-trip \
         overhead that the server measured at its start (its 99th percentile with that of the \
         overhead; its rate with the mean overhead and with fio's time between a reply and the \
         next request, from fio's own figures). Every round starts a new server, so the overhead \
         is measured just before fio runs; there are three times as many paced rounds, each \
         short. The paced server and fio's reading thread share one processor, so that no reply \
         has to wake another processor; fio's main thread, which wakes a hundred times a second, \
         has the other. With several I/Os in flight one wake-up serves several, and fio lies \
         between the two. Unpaced, the kernel places server and fio.",
    );
    unpaced(bench, &mut section)?;
    paced(bench, &mut section)?;
    Ok(section)
}
