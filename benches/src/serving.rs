//! Servers of drives as child processes, and fio's command lines for them.

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use assay_io::clock::Clock;
use assay_units::{GIB, Nanos};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Bench;
use crate::hosts::{self, Association, NbdHost, Work};
use crate::tools::{Sample, Tool, Variant, on_processor};

/// Area read and written.
pub const AREA_BYTES: u64 = GIB;
/// How long a server may take until it listens.
const START_TIMEOUT: Nanos = Nanos::from_millis(20_000);

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    NbdUnix,
    NbdTcp,
    NvmeTcp,
}

pub struct Serving {
    child: Child,
    /// Of NBD.
    pub uri: String,
    /// Of a front over TCP.
    address: Option<SocketAddr>,
    /// Of NVMe/TCP.
    nqn: Option<String>,
    /// Mean, median, 99th percentile.
    pub overhead_ns: [f64; 3],
    _folder: tempfile::TempDir,
}

impl Serving {
    pub fn assay(
        bench: &Bench,
        front: Front,
        drive: &str,
        pace: &str,
        processor: Option<&str>,
    ) -> Result<Serving> {
        let folder = tempfile::tempdir()?;
        let (option, address) = match front {
            Front::NbdUnix => ("--nbd", format!("unix:{}", folder.path().join("s").display())),
            Front::NbdTcp => ("--nbd", String::from("tcp:127.0.0.1:0")),
            Front::NvmeTcp => ("--nvme-tcp", String::from("tcp:127.0.0.1:0")),
        };
        let assay = &bench.runner.assay;
        let words = match processor {
            Some(processor) => on_processor(processor, assay).into(),
            None => vec![assay.display().to_string()],
        };
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .args(["serve", drive, option, &address, "--pace", pace, "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start assay serve")?;
        let stdout = child.stdout.take().context("no pipe")?;
        let parsed = serde_json::Deserializer::from_reader(BufReader::new(stdout));
        let startup: Option<Result<Value, _>> = parsed.into_iter().next();
        let startup = startup.context("assay serve printed nothing")??;
        let text = |pointer: &str| startup.pointer(pointer).and_then(Value::as_str);
        let tcp = match front {
            Front::NbdUnix => None,
            Front::NbdTcp => text("/uri").and_then(|uri| uri.strip_prefix("nbd://")),
            Front::NvmeTcp => text("/nvme_tcp/address").and_then(|at| at.strip_prefix("tcp:")),
        };
        let overhead = |which: &str| startup["floor_ns"][which].as_f64().unwrap_or(0.0);
        Ok(Serving {
            child,
            uri: text("/uri").unwrap_or_default().to_owned(),
            address: tcp.map(str::parse).transpose()?,
            nqn: text("/nvme_tcp/nqn").map(str::to_owned),
            overhead_ns: ["mean", "p50", "p99"].map(overhead),
            _folder: folder,
        })
    }

    /// nbdkit's memory plugin, over NBD.
    pub fn nbdkit(front: Front) -> Result<Serving> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("s");
        let mut command = Command::new("nbdkit");
        command.arg("--foreground");
        let address = match front {
            Front::NbdUnix => {
                command.arg("--unix").arg(&socket);
                None
            }
            _ => {
                // A port that is free now.
                let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
                let port = free.port().to_string();
                command.args(["--ipaddr", "127.0.0.1", "--port", &port]);
                Some(free)
            }
        };
        let child = command
            .args(["memory", &AREA_BYTES.to_string()])
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start nbdkit (apt-get install nbdkit)")?;
        let clock = Clock::monotonic();
        let until = clock.now() + START_TIMEOUT;
        let listens = || match address {
            Some(address) => TcpStream::connect(address).is_ok(),
            None => UnixStream::connect(&socket).is_ok(),
        };
        while !listens() {
            ensure!(clock.now() <= until, "nbdkit does not listen");
            clock.wait_until(clock.now() + Nanos::from_millis(20));
        }
        Ok(Serving {
            child,
            uri: match address {
                Some(address) => format!("nbd://{address}"),
                None => format!("nbd+unix:///?socket={}", socket.display()),
            },
            address,
            nqn: None,
            overhead_ns: [0.0; 3],
            _folder: folder,
        })
    }

    /// fio's job over NBD.
    pub fn job(&self, label: &str, options: &str, span_ms: u64) -> Variant {
        let all = format!(
            "--ioengine=nbd --uri={} --size={AREA_BYTES} --lat_percentiles=1 {options}",
            self.uri
        );
        Variant::fio(label, None, &all, span_ms)
    }

    /// Write all of the area, so that reads find data.
    pub fn fill(&self, bench: &Bench) -> Result<()> {
        if self.nqn.is_some() {
            let mut association = self.associate(1)?;
            return hosts::fill(&mut association.queues[0], AREA_BYTES, 8);
        }
        let words = format!(
            "--name=fill --thread --ioengine=nbd --uri={} --size={AREA_BYTES} --rw=write \
             --bs=128k --iodepth=8 --refill_buffers",
            self.uri
        );
        Variant::new(Tool::Fio, "fill", &words).outcome(&bench.runner)?;
        Ok(())
    }

    /// The work on so many connections, with the hosts of this program.
    pub fn work(&self, connections: u16, work: Work) -> Result<Sample> {
        let Some(address) = self.address else { bail!("the server does not listen on a port") };
        if self.nqn.is_some() {
            return hosts::run(&mut self.associate(connections)?.queues, work);
        }
        let connect = |_| NbdHost::connect(address);
        let mut hosts: Vec<NbdHost> = (0..connections).map(connect).collect::<Result<_>>()?;
        hosts::run(&mut hosts, work)
    }

    fn associate(&self, queues: u16) -> Result<Association> {
        let (address, nqn) = self.address.zip(self.nqn.as_deref()).context("no NVMe/TCP")?;
        Association::connect(address, nqn, queues)
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
