//! `assay serve sim:PROFILE`: a simulated drive for others, as a block device (`--nbd`) or as a virtual machine's NVMe drive (`--vfio-user`).

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use anyhow::Context;
use assay_device::session::SessionError;
use assay_device::spec::{DriveSpec, SpecKind};
use assay_integrity::blocks::VerifyBlocks;
use assay_io::TargetError;
use assay_serve::floor::{self, Floor};
use assay_serve::vfio::{self, Function};
use assay_serve::{Address, Lateness, Listener, Pace, Server, Summary};
use assay_sim_host::profile_file;
use assay_ssd::{Drive, DriveError, DriveOptions, Fault, FaultKind, Profile};
use serde_json::{Value, json};

use crate::args::serve::ServeArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::terminal::Output;

/// How often a server that cannot be woken looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Serve until Ctrl-C or SIGTERM.
pub fn run(arguments: &ServeArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let pace = match arguments.pace.as_str() {
        "free" => Pace::Free,
        _ => Pace::Real,
    };
    let named = Named::new(&arguments.drive, &arguments.fault)?;
    match (&arguments.nbd, &arguments.vfio_user) {
        (_, Some(socket)) => serve_function(named, socket, pace, output),
        (Some(address), None) => serve_blocks(named, arguments, &address.parse()?, pace, output),
        (None, None) => Err(UsageError("name --nbd or --vfio-user".to_owned()).into()),
    }
}

/// Over NBD.
fn serve_blocks(
    named: Named,
    arguments: &ServeArguments,
    address: &Address,
    pace: Pace,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let name = named.profile.name.clone();
    let mut drive = Drive::new(named.profile, named.options).map_err(refused(&named.spec))?;
    drive.set_generator(Arc::new(VerifyBlocks));
    // Bound before anything takes long, so that an address in use is told at once.
    let listener = Listener::bind(address, arguments.allow_remote)?;
    let (stopped, _flag) = stop_socket()?;
    if listener.is_remote() {
        eprintln!(
            "warning: {address} can be reached from other machines; whoever connects may read and write the simulated drive"
        );
    }
    let floor = floor::measure(drive.profile(), pace)?;
    let mut server = Server::new(drive, pace, &name)?;
    let told = Told {
        spec: &named.spec,
        uri: listener.uri(),
        function: false,
        pace,
        floor,
    };
    server.listen(listener)?;
    output.show(|| told.text(server.drive()), || told.json(server.drive()))?;
    let summary = server.run(stopped.as_fd())?;
    output.show_on_stderr(|| summary_text(&summary), || summary_json(&summary));
    Ok(CommandOutcome::Done)
}

/// Over vfio-user.
fn serve_function(
    named: Named,
    socket: &Path,
    pace: Pace,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let profile = named.profile.clone();
    let prepare = |drive: &mut Drive| drive.set_generator(Arc::new(VerifyBlocks));
    let function = Function::new(named.profile, named.options, pace, prepare);
    let function = Arc::new(function.map_err(refused(&named.spec))?);
    let listener = Listener::bind(&Address::Unix(socket.to_owned()), false)?;
    let flag = super::stop_flag()?;
    let stopping = Arc::clone(&flag);
    let told = Told {
        spec: &named.spec,
        uri: socket.display().to_string(),
        function: true,
        pace,
        floor: vfio::floor::measure(&profile, pace),
    };
    function.with_drive(|drive| output.show(|| told.function_text(drive), || told.json(drive)))?;
    let completing = {
        let function = Arc::clone(&function);
        std::thread::Builder::new().spawn(move || function.complete())?
    };
    // The crate waits for messages with no way to stop it: its thread ends with the program, and says here if it ends before.
    let (failed, failing) = std::sync::mpsc::channel();
    let shared = listener.shared()?;
    let serving = Arc::clone(&function);
    std::thread::Builder::new().spawn(move || {
        let tell = |what: &str| eprintln!("{what}");
        let outcome = vfio::serve(&serving, shared, &stopping, tell);
        // Who no longer listens is ending anyway.
        let _ = failed.send(outcome);
    })?;
    let outcome = loop {
        match failing.recv_timeout(LOOK) {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Timeout) if !flag.load(Ordering::Acquire) => {}
            // Told to end; or the thread is gone, which it has said.
            Err(_) => break Ok(()),
        }
    };
    function.stop();
    // It only sleeps and completes; a panic in it would have been told.
    let _ = completing.join();
    let lateness = function.lateness();
    output.show_on_stderr(
        || function_summary_text(lateness),
        || json!({ "lateness_ns": lateness_json(lateness) }),
    );
    outcome?;
    Ok(CommandOutcome::Done)
}

/// What was named, and how it is to be switched on.
struct Named {
    spec: String,
    profile: Profile,
    options: DriveOptions,
}

impl Named {
    fn new(text: &str, faults: &[String]) -> anyhow::Result<Named> {
        let spec = DriveSpec::parse(text).map_err(SessionError::from)?;
        let SpecKind::Sim {
            profile: name,
            options: pairs,
        } = spec.kind()
        else {
            let what = format!(
                "{text} is no simulated drive; name one as sim:PROFILE (`assay list` shows the profiles)"
            );
            return Err(UsageError(what).into());
        };
        let (_, profile) = profile_file::load(name).map_err(|source| SessionError::Profile {
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
        Ok(Named {
            spec: text.to_owned(),
            profile,
            options,
        })
    }
}

/// The model could not be made.
fn refused(spec: &str) -> impl Fn(DriveError) -> SessionError {
    move |e| {
        SessionError::from(TargetError::Simulation {
            drive: spec.to_owned(),
            message: e.to_string(),
        })
    }
}

/// A socket that can be read from once Ctrl-C or SIGTERM came; the second one ends the program at once.
fn stop_socket() -> anyhow::Result<(UnixStream, Arc<std::sync::atomic::AtomicBool>)> {
    let flag = super::stop_flag()?;
    let (stopped, stop) = UnixStream::pair().context("no socket pair")?;
    for signal in super::ending_signals() {
        let stop = stop.try_clone().context("no socket")?;
        signal_hook::low_level::pipe::register(signal, stop).context("cannot listen for Ctrl-C")?;
    }
    Ok((stopped, flag))
}

/// What is said once clients can connect.
struct Told<'a> {
    spec: &'a str,
    /// Of an NBD server; of a virtual machine's drive its socket.
    uri: String,
    function: bool,
    pace: Pace,
    floor: Option<Floor>,
}

impl Told<'_> {
    fn text(&self, drive: &Drive) -> String {
        let identity = drive.identity();
        let gb = identity.capacity_bytes as f64 / 1e9;
        let mib = drive.resident_bytes() >> 20;
        let floor = self.floor_text();
        let pace = match self.pace {
            Pace::Real => format!(
                "Answers come when the model says, by the wall clock; the way there and back adds, measured now: {floor}"
            ),
            Pace::Free => format!(
                "Answers come as soon as possible, the model's time runs free; the way there and back takes, measured now: {floor}"
            ),
        };
        let keeps = match drive.keeps_data() {
            true => "what is written comes on top and is gone when this ends",
            false => "what is written is not kept and reads as zeroes",
        };
        format!(
            "{}: {}, {gb:.0} GB\n{}\n{pace}\nMemory: {mib} MiB; {keeps}. Ctrl-C ends it.\n",
            self.spec, identity.model, self.uri
        )
    }

    fn floor_text(&self) -> String {
        let us = |ns: u64| ns as f64 / 1000.0;
        self.floor.map_or_else(
            || "could not be measured".to_owned(),
            |floor| {
                let (p50, p99) = (us(floor.p50_ns), us(floor.p99_ns));
                format!("{p50:.0} us (p99 {p99:.0} us)")
            },
        )
    }

    fn function_text(&self, drive: &Drive) -> String {
        let identity = drive.identity();
        let gb = identity.capacity_bytes as f64 / 1e9;
        let pace = match self.pace {
            Pace::Real => "Completions come when the model says, by the wall clock",
            Pace::Free => "Completions come as soon as possible, the model's time runs free",
        };
        let floor = self.floor_text();
        let uri = &self.uri;
        format!(
            "{}: {}, {gb:.0} GB, an NVMe controller at {uri}\n{pace}; the way there and back adds, measured now: {floor}, and \
             QEMU and the guest come on top\nCtrl-C ends it. For QEMU 10.1 or later, with shared memory (-m 1024):\n  \
             -object memory-backend-memfd,id=mem,size=1024M,share=on -machine memory-backend=mem \\\n  \
             -device '{{\"driver\":\"vfio-user-pci\",\"socket\":{{\"type\":\"unix\",\"path\":\"{uri}\"}}}}'\n",
            self.spec, identity.model
        )
    }

    fn json(&self, drive: &Drive) -> Value {
        let identity = drive.identity();
        json!({
            "drive": self.spec,
            "simulated": true,
            "model": identity.model,
            "serial": identity.serial,
            "capacity_bytes": identity.capacity_bytes,
            "logical_block_bytes": identity.logical_block_bytes,
            "uri": (!self.function).then_some(&self.uri),
            "vfio_user": self.function.then_some(&self.uri),
            "pace": if self.pace == Pace::Real { "real" } else { "free" },
            "floor_ns": self.floor.map(|floor| json!({ "mean": floor.mean_ns, "p50": floor.p50_ns, "p99": floor.p99_ns })),
            "memory_bytes": drive.resident_bytes(),
        })
    }
}

fn lateness_text(late: Lateness) -> String {
    format!(
        "{:.1} us late on average, {:.0} us at worst",
        late.mean_ns() as f64 / 1000.0,
        late.max_ns as f64 / 1000.0
    )
}

fn lateness_json(late: Lateness) -> Value {
    json!({ "mean": late.mean_ns(), "max": late.max_ns })
}

fn summary_text(summary: &Summary) -> String {
    let late = summary.lateness;
    let lateness = if late.count == 0 {
        String::new()
    } else {
        format!(
            "; the model's completions were handed out {}",
            lateness_text(late)
        )
    };
    format!(
        "served {} requests ({} failed) on {} connections{lateness}\n",
        summary.requests, summary.failed, summary.connections
    )
}

/// Of a virtual machine's drive; nothing where nobody used it or time ran free.
fn function_summary_text(late: Lateness) -> String {
    match late.count {
        0 => String::new(),
        _ => format!(
            "the model's events were dealt with {}\n",
            lateness_text(late)
        ),
    }
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "connections": summary.connections,
        "requests": summary.requests,
        "failed": summary.failed,
        "lateness_ns": lateness_json(summary.lateness),
    })
}
