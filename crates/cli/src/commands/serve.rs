//! `assay serve sim:PROFILE --nbd ADDRESS`: a simulated drive as a block device for others.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use anyhow::Context;
use assay_engine::session::SessionError;
use assay_engine::verify::VerifyBlocks;
use assay_serve::floor::{self, Floor};
use assay_serve::{Address, Listener, Pace, Server, Summary};
use assay_ssd::{Drive, DriveOptions, Fault, FaultKind};
use assay_target::TargetError;
use assay_target::profile;
use assay_target::spec::{DriveSpec, SpecKind};
use serde_json::{Value, json};

use crate::args::serve::ServeArguments;
use crate::exit::{Usage, Verdict};
use crate::terminal::Output;

/// Serve until Ctrl-C or SIGTERM.
pub fn run(arguments: &ServeArguments, output: Output) -> anyhow::Result<Verdict> {
    let address: Address = arguments.nbd.parse()?;
    let pace = match arguments.pace.as_str() {
        "free" => Pace::Free,
        _ => Pace::Real,
    };
    let (name, drive) = switched_on(&arguments.drive, &arguments.fault)?;
    // Bound before anything takes long, so that an address in use is told at once.
    let listener = Listener::bind(&address, arguments.allow_remote)?;
    let (stopped, _flag) = stop_socket()?;
    if listener.is_remote() {
        eprintln!(
            "warning: {address} can be reached from other machines; whoever connects may read and write the simulated drive"
        );
    }
    let floor = floor::measure(drive.profile(), pace)?;
    let mut server = Server::new(drive, pace, &name)?;
    let told = Told {
        spec: &arguments.drive,
        uri: listener.uri(),
        pace,
        floor,
    };
    server.listen(listener)?;
    output.show(|| told.text(&server), || told.json(&server))?;
    let summary = server.run(stopped.as_fd())?;
    output.aside(|| summary_text(&summary), || summary_json(&summary));
    Ok(Verdict::Done)
}

/// The drive that was named, with the profile's name.
fn switched_on(text: &str, faults: &[String]) -> anyhow::Result<(String, Drive)> {
    let spec = DriveSpec::parse(text).map_err(SessionError::from)?;
    let SpecKind::Sim {
        profile: name,
        options: pairs,
    } = spec.kind()
    else {
        let what = format!(
            "{text} is no simulated drive; name one as sim:PROFILE (`assay list` shows the profiles)"
        );
        return Err(Usage(what).into());
    };
    let (_, profile) = profile::load(name).map_err(|source| SessionError::Profile {
        spec: text.to_owned(),
        source,
    })?;
    // What is written is kept unless somebody says otherwise; what can be made again is kept as numbers.
    let mut options = DriveOptions {
        keep_data: true,
        regenerate_data: true,
        ..DriveOptions::default()
    };
    let pairs = pairs
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    for (key, value) in pairs.chain(faults.iter().map(|fault| ("fault", fault.as_str()))) {
        options
            .set(key, value)
            .map_err(|source| SessionError::Option {
                spec: text.to_owned(),
                source,
            })?;
    }
    // Nothing but a fault cuts the power of a served drive.
    let cuts = |fault: &Fault| fault.kind == FaultKind::PowerLoss;
    options.power_stays = !options.faults.iter().any(cuts);
    let name = profile.name.clone();
    let mut drive = Drive::new(profile, options).map_err(|e| {
        SessionError::from(TargetError::Simulation {
            drive: text.to_owned(),
            message: e.to_string(),
        })
    })?;
    drive.set_generator(Arc::new(VerifyBlocks));
    Ok((name, drive))
}

/// A socket that can be read from once Ctrl-C or SIGTERM came; the second one ends the program at once.
fn stop_socket() -> anyhow::Result<(UnixStream, Arc<std::sync::atomic::AtomicBool>)> {
    let flag = super::stop_flag()?;
    let (stopped, stop) = UnixStream::pair().context("no socket pair")?;
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let stop = stop.try_clone().context("no socket")?;
        signal_hook::low_level::pipe::register(signal, stop).context("cannot listen for Ctrl-C")?;
    }
    Ok((stopped, flag))
}

/// What is said once clients can connect.
struct Told<'a> {
    spec: &'a str,
    uri: String,
    pace: Pace,
    floor: Option<Floor>,
}

impl Told<'_> {
    fn text(&self, server: &Server) -> String {
        let identity = server.drive().identity();
        let gb = identity.capacity_bytes as f64 / 1e9;
        let mib = server.drive().resident_bytes() >> 20;
        let us = |ns: u64| ns as f64 / 1000.0;
        let floor = self.floor.map_or_else(
            || "could not be measured".to_owned(),
            |floor| {
                let (p50, p99) = (us(floor.p50_ns), us(floor.p99_ns));
                format!("{p50:.0} us (p99 {p99:.0} us)")
            },
        );
        let pace = match self.pace {
            Pace::Real => format!(
                "Answers come when the model says, by the wall clock; the way there and back adds, measured now: {floor}"
            ),
            Pace::Free => format!(
                "Answers come as soon as possible, the model's time runs free; the way there and back takes, measured now: {floor}"
            ),
        };
        let keeps = match server.drive().keeps_data() {
            true => "what is written comes on top and is gone when this ends",
            false => "what is written is not kept and reads as zeroes",
        };
        format!(
            "{}: {}, {gb:.0} GB\n{}\n{pace}\nMemory: {mib} MiB; {keeps}. Ctrl-C ends it.\n",
            self.spec, identity.model, self.uri
        )
    }

    fn json(&self, server: &Server) -> Value {
        let identity = server.drive().identity();
        json!({
            "drive": self.spec,
            "simulated": true,
            "model": identity.model,
            "serial": identity.serial,
            "capacity_bytes": identity.capacity_bytes,
            "logical_block_bytes": identity.logical_block_bytes,
            "uri": self.uri,
            "pace": if self.pace == Pace::Real { "real" } else { "free" },
            "floor_ns": self.floor.map(|floor| json!({ "p50": floor.p50_ns, "p99": floor.p99_ns })),
            "memory_bytes": server.drive().resident_bytes(),
        })
    }
}

fn summary_text(summary: &Summary) -> String {
    let late = summary.lateness;
    let lateness = if late.count == 0 {
        String::new()
    } else {
        format!(
            "; the model's completions were handed out {:.1} us late on average, {:.0} us at worst",
            late.mean_ns() as f64 / 1000.0,
            late.max_ns as f64 / 1000.0
        )
    };
    format!(
        "served {} requests ({} failed) on {} connections{lateness}\n",
        summary.requests, summary.failed, summary.connections
    )
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "connections": summary.connections,
        "requests": summary.requests,
        "failed": summary.failed,
        "lateness_ns": { "mean": summary.lateness.mean_ns(), "max": summary.lateness.max_ns },
    })
}
