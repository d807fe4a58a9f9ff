//! Exports a simulated drive over NBD (`--nbd`), over NVMe/TCP (`--nvme-tcp`) or as a PCIe function
//! over vfio-user (`--vfio-user`).

use std::net::SocketAddr;
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
use assay_serve::front::Front;
use assay_serve::nvme_tcp::{self, NVME_TCP_PORT};
use assay_serve::round_trip::{self, RoundTripOverhead};
use assay_serve::vfio::{self, PciFunction};
use assay_serve::{
    Address, Crowd, Lateness, Listener, NbdServer, NvmeTcpServer, Pace, ServeSummary, Server,
};
use assay_sim_host::profile_file;
use assay_ssd::{Drive, DriveError, DriveOptions, Fault, FaultKind, Profile};
use serde_json::{Value, json};

use crate::args::serve::ServeArguments;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Serves until Ctrl-C or SIGTERM.
pub fn run(arguments: &ServeArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let pace = match arguments.pace.as_str() {
        "free" => Pace::Free,
        _ => Pace::Real,
    };
    if arguments.nqn.is_some() && arguments.nvme_tcp.is_none() {
        bail_usage!("--nqn names the subsystem of --nvme-tcp");
    }
    let served = ServedDrive::new(&arguments.drive, &arguments.fault)?;
    match (&arguments.nbd, &arguments.nvme_tcp, &arguments.vfio_user) {
        (_, _, Some(socket)) => serve_vfio_user(served, socket, pace, output),
        (_, Some(address), _) => {
            let address = Address::parse(address, NVME_TCP_PORT)?;
            serve_nvme_tcp(served, arguments, &address, pace, output)
        }
        (Some(address), ..) => serve_nbd(served, arguments, &address.parse()?, pace, output),
        (None, None, None) => bail_usage!("name --nbd, --nvme-tcp or --vfio-user"),
    }
}

fn serve_nbd(
    served: ServedDrive,
    arguments: &ServeArguments,
    address: &Address,
    pace: Pace,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let name = served.profile.name.clone();
    let spec = served.spec.clone();
    let drive = served.create()?;
    // Bound first, so that an address in use is reported at once.
    let listener = Listener::bind(address, arguments.allow_remote)?;
    let round_trip = round_trip::measure(drive.profile(), pace)?;
    let listening =
        Listening { spec: &spec, access: Access::Nbd(listener.uri()), pace, round_trip };
    let server = NbdServer::new(drive, pace, &name)?;
    serve_connections(server, listener, &listening, output)
}

fn serve_nvme_tcp(
    served: ServedDrive,
    arguments: &ServeArguments,
    address: &Address,
    pace: Pace,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    if let Some(nqn) = &arguments.nqn
        && !nvme_tcp::is_subsystem_nqn(nqn)
    {
        bail_usage!(
            "{nqn:?} is not the name of an NVMe subsystem; write one as \
             nqn.2014-08.org.example:NAME"
        );
    }
    if matches!(address, Address::Unix(_)) {
        bail_usage!("{address}: NVMe/TCP has no Unix sockets; write tcp:127.0.0.1:{NVME_TCP_PORT}");
    }
    let spec = served.spec.clone();
    let drive = served.create()?;
    let listener = Listener::bind(address, arguments.allow_remote)?;
    let at = listener.tcp_address().context("no TCP address")?;
    let round_trip = nvme_tcp::round_trip::measure(drive.profile(), pace)?;
    let server = NvmeTcpServer::new(drive, pace, arguments.nqn.clone())?;
    let listening = Listening {
        spec: &spec,
        access: Access::NvmeTcp { at, nqn: server.nqn().to_owned() },
        pace,
        round_trip,
    };
    serve_connections(server, listener, &listening, output)
}

fn serve_connections<F: Front>(
    mut server: Server<F>,
    listener: Listener,
    listening: &Listening<'_>,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let stopped = stop_socket()?;
    if listener.is_remote() {
        eprintln!(
            "warning: {} can be reached from other machines; any client may read and write the \
             simulated drive",
            listening.access.address()
        );
    }
    server.crowd = Crowd::new(|message| eprintln!("{message}"));
    server.listen(listener)?;
    let drive = server.drive();
    output.show(|| listening.text(drive), || listening.json(drive))?;
    let summary = server.run(stopped.as_fd())?;
    output.show_on_stderr(|| summary_text(&summary), || summary_json(&summary));
    Ok(CommandOutcome::Done)
}

fn serve_vfio_user(
    served: ServedDrive,
    socket: &Path,
    pace: Pace,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let profile = served.profile.clone();
    let prepare = |drive: &mut Drive| drive.set_generator(Arc::new(VerifyBlocks));
    let function = PciFunction::new(served.profile, served.options, pace, prepare);
    let function = Arc::new(function.map_err(creation_error(&served.spec))?);
    let listener = Listener::bind(&Address::Unix(socket.to_owned()), false)?;
    let flag = super::stop_flag()?;
    let stopping = Arc::clone(&flag);
    let listening = Listening {
        spec: &served.spec,
        access: Access::Function(socket.display().to_string()),
        pace,
        round_trip: vfio::round_trip::measure(&profile, pace),
    };
    function.with_drive(|drive| output.show(|| listening.text(drive), || listening.json(drive)))?;
    let completing = {
        let function = Arc::clone(&function);
        std::thread::Builder::new().spawn(move || function.complete())?
    };
    // The crate's blocking receive cannot be interrupted: its thread ends with the process, or
    // reports an error here.
    let (result_sender, result) = std::sync::mpsc::channel();
    let shared = listener.shared()?;
    let serving = Arc::clone(&function);
    std::thread::Builder::new().spawn(move || {
        let log = |message: &str| eprintln!("{message}");
        let outcome = vfio::serve(&serving, shared, &stopping, log);
        // The receiver is gone only while the process ends.
        let _ = result_sender.send(outcome);
    })?;
    let outcome = loop {
        match result.recv_timeout(STOP_POLL_INTERVAL) {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Timeout) if !flag.load(Ordering::Acquire) => {}
            Err(_) => break Ok(()),
        }
    };
    function.stop();
    // A panic of the thread was reported on stderr.
    let _ = completing.join();
    let lateness = function.lateness();
    output.show_on_stderr(
        || lateness_text("events of the drive were", lateness, "\n"),
        || json!({ "lateness_ns": lateness_json(lateness) }),
    );
    outcome?;
    Ok(CommandOutcome::Done)
}

struct ServedDrive {
    spec: String,
    profile: Profile,
    options: DriveOptions,
}

impl ServedDrive {
    fn create(self) -> anyhow::Result<Drive> {
        let drive = Drive::new(self.profile, self.options);
        let mut drive = drive.map_err(creation_error(&self.spec))?;
        drive.set_generator(Arc::new(VerifyBlocks));
        Ok(drive)
    }

    fn new(text: &str, faults: &[String]) -> anyhow::Result<ServedDrive> {
        let spec = DriveSpec::parse(text).map_err(SessionError::from)?;
        let SpecKind::Sim { profile: name, options: pairs } = spec.kind() else {
            bail_usage!(
                "{text} is not a simulated drive; name one as sim:PROFILE (`assay list` shows the \
                 profiles)"
            );
        };
        // Written data is kept unless the options say otherwise; blocks that can be regenerated are
        // kept as parameters.
        let mut options =
            DriveOptions { keep_data: true, regenerate_data: true, ..DriveOptions::default() };
        let pairs = pairs.iter().map(|(key, value)| (key.as_str(), value));
        for (key, value) in pairs.chain(faults.iter().map(|fault| ("fault", fault))) {
            let set = options.set(key, value);
            set.map_err(|source| SessionError::Option { spec: text.to_owned(), source })?;
        }
        if options.host.is_some() {
            bail_usage!("{text}: a served drive is used by real hosts; leave host= out");
        }
        let profile = profile_file::load_for(name, &options);
        let profile =
            profile.map_err(|source| SessionError::Profile { spec: text.to_owned(), source })?;
        // Only a planned fault cuts the power of a served drive.
        let cuts = |fault: &Fault| fault.kind == FaultKind::PowerLoss;
        options.no_power_loss = !options.faults.iter().any(cuts);
        Ok(ServedDrive { spec: text.to_owned(), profile, options })
    }
}

fn creation_error(spec: &str) -> impl Fn(DriveError) -> SessionError {
    move |e| {
        SessionError::from(TargetError::Simulation {
            drive: spec.to_owned(),
            message: e.to_string(),
        })
    }
}

/// It becomes readable on Ctrl-C or SIGTERM.
fn stop_socket() -> anyhow::Result<UnixStream> {
    super::stop_flag()?;
    let (stopped, stop) = UnixStream::pair().context("no socket pair")?;
    for signal in super::ending_signals() {
        let stop = stop.try_clone().context("no socket")?;
        signal_hook::low_level::pipe::register(signal, stop).context("cannot listen for Ctrl-C")?;
    }
    Ok(stopped)
}

/// How clients reach the drive.
enum Access {
    /// URI.
    Nbd(String),
    /// Socket path of a PCIe function.
    Function(String),
    NvmeTcp {
        at: SocketAddr,
        nqn: String,
    },
}

impl Access {
    fn address(&self) -> String {
        match self {
            Access::Nbd(uri) => uri.clone(),
            Access::Function(path) => path.clone(),
            Access::NvmeTcp { at, .. } => format!("tcp:{at}"),
        }
    }

    /// Command of a Linux host.
    fn connect_command(&self) -> Option<String> {
        let Access::NvmeTcp { at, nqn } = self else {
            return None;
        };
        let host = match at.ip() {
            ip if ip.is_unspecified() => "HOST".to_owned(),
            ip => ip.to_string(),
        };
        let port = at.port();
        Some(format!("nvme connect -t tcp -a {host} -s {port} -n {nqn}"))
    }
}

/// Shown when clients can connect.
struct Listening<'a> {
    spec: &'a str,
    access: Access,
    pace: Pace,
    round_trip: Option<RoundTripOverhead>,
}

impl Listening<'_> {
    fn text(&self, drive: &Drive) -> String {
        let identity = drive.identity();
        let gb = identity.capacity_bytes as f64 / 1e9;
        let head = format!("{}: {}, {gb:.0} GB", self.spec, identity.model);
        let pace = self.pace_text();
        let mib = drive.resident_bytes() >> 20;
        let keeps = match drive.keeps_data() {
            true => "written data takes additional memory and is discarded at exit",
            false => "written data is not kept and reads as zeroes",
        };
        let memory = format!("Memory: {mib} MiB; {keeps}. Ctrl-C stops the server.");
        match &self.access {
            Access::Function(path) => format!(
                "{head}, an NVMe controller at {path}\n{pace}, without QEMU and the guest\nCtrl-C \
                 stops the server. For QEMU 10.1 or later, with shared memory (-m 1024):\n  \
                 -object memory-backend-memfd,id=mem,size=1024M,share=on -machine \
                 memory-backend=mem \\\n  -device \
                 '{{\"driver\":\"vfio-user-pci\",\"socket\":{{\"type\":\"unix\",\"path\":\"{path}\"\
                 }}}}'\n"
            ),
            Access::Nbd(uri) => format!("{head}\n{uri}\n{pace}\n{memory}\n"),
            Access::NvmeTcp { .. } => format!(
                "{head}, over NVMe/TCP\n{pace}, without the host's initiator\n{memory}\nOn the \
                 host, as root:\n  {}\n",
                self.access.connect_command().unwrap_or_default()
            ),
        }
    }

    fn pace_text(&self) -> String {
        let is_function = matches!(self.access, Access::Function(_));
        let replies = match self.access {
            Access::Nbd(_) => "Replies",
            _ => "Completions",
        };
        let pace = match self.pace {
            Pace::Real => "are paced by the wall clock at the model's completion times",
            Pace::Free => "are sent as soon as possible, model time is not paced",
        };
        let overhead = match self.pace {
            Pace::Free if !is_function => "round trip",
            _ => "round-trip overhead",
        };
        let us = |ns: u64| ns as f64 / 1000.0;
        let measured = match self.round_trip {
            None => "not measurable".to_owned(),
            Some(o) => format!("{:.0} \u{b5}s (p99 {:.0} \u{b5}s)", us(o.p50_ns), us(o.p99_ns)),
        };
        format!("{replies} {pace}; measured {overhead}: {measured}")
    }

    fn json(&self, drive: &Drive) -> Value {
        let identity = drive.identity();
        let nvme_tcp = match &self.access {
            Access::NvmeTcp { nqn, .. } => Some(json!({
                "address": self.access.address(),
                "nqn": nqn,
                "connect": self.access.connect_command(),
            })),
            _ => None,
        };
        json!({
            "drive": self.spec,
            "simulated": true,
            "model": identity.model,
            "serial": identity.serial,
            "capacity_bytes": identity.capacity_bytes,
            "logical_block_bytes": identity.logical_block_bytes,
            "uri": matches!(self.access, Access::Nbd(_)).then(|| self.access.address()),
            "vfio_user": matches!(self.access, Access::Function(_)).then(|| self.access.address()),
            "nvme_tcp": nvme_tcp,
            "pace": if self.pace == Pace::Real { "real" } else { "free" },
            "floor_ns": self.round_trip.map(|overhead| json!({
                "mean": overhead.mean_ns, "p50": overhead.p50_ns, "p99": overhead.p99_ns,
            })),
            "memory_bytes": drive.resident_bytes(),
        })
    }
}

/// Empty if no event was paced.
fn lateness_text(before: &str, late: Lateness, after: &str) -> String {
    let (mean, max) = (late.mean_ns() as f64 / 1000.0, late.max_ns as f64 / 1000.0);
    match late.count {
        0 => String::new(),
        _ => format!(
            "{before} delayed by {mean:.1} \u{b5}s on average, {max:.0} \u{b5}s at most{after}"
        ),
    }
}

fn lateness_json(late: Lateness) -> Value {
    json!({ "mean": late.mean_ns(), "max": late.max_ns })
}

fn summary_text(summary: &ServeSummary) -> String {
    let lateness = lateness_text("; completions were", summary.lateness, "");
    format!(
        "served {} requests ({} failed) on {} connections{lateness}\n",
        summary.requests, summary.failed, summary.connections
    )
}

fn summary_json(summary: &ServeSummary) -> Value {
    json!({
        "connections": summary.connections,
        "requests": summary.requests,
        "failed": summary.failed,
        "lateness_ns": lateness_json(summary.lateness),
    })
}
