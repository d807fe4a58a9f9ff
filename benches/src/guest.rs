//! The processor is emulated: only the ratio of two programs' figures has a meaning.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use assay_io::clock::Clock;
use assay_units::{Nanos, text::format_size};

use crate::Bench;
use crate::child::Outcome;

/// Longest time without output from the guest, in a boot or in a command.
const GUEST_TIMEOUT: Duration = Duration::from_secs(240);
/// How long QEMU may take to connect, which it does first.
const CONNECT_TIMEOUT: Nanos = Nanos::from_millis(20_000);
pub const DRIVE_BYTES: u64 = 1 << 30;

pub struct Guest {
    _qemu: Qemu,
    from: BufReader<UnixStream>,
    to: UnixStream,
    _folder: tempfile::TempDir,
}

fn script(words: &[&str]) -> Result<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/guest-vm");
    let output = Command::new(path)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {path}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", said.trim());
    Ok(String::from_utf8(output.stdout)?)
}

impl Guest {
    /// Fails when QEMU and the kernel are not there (scripts/guest-vm fetches them), or the guest
    /// does not boot.
    pub fn boot(bench: &Bench, polled: u32) -> Result<Guest> {
        let qemu = script(&["--qemu"])?;
        let mut qemu = qemu.lines();
        let program = qemu.next().context("scripts/guest-vm names no QEMU")?;
        let folder = tempfile::tempdir()?;
        let initramfs = folder.path().join("initramfs");
        let text = |path: &std::path::Path| path.display().to_string();
        let assay = text(&bench.runner.assay);
        script(&["--initramfs", &text(&initramfs), &assay, "fio"])?;
        let socket = folder.path().join("serial");
        let listen = UnixListener::bind(&socket)?;
        let errors = folder.path().join("errors");
        let child = Command::new(program)
            .args(qemu)
            .arg("-initrd")
            .arg(&initramfs)
            .arg("-append")
            .arg(format!(
                "console=ttyS0 quiet panic=-1 nvme.poll_queues={polled} assay_guest=serve \
                 assay_drives=1"
            ))
            .args(["-serial", "null", "-chardev"])
            .arg(format!("socket,id=serial,path={}", socket.display()))
            .args(["-serial", "chardev:serial", "-blockdev"])
            .arg(format!("driver=null-co,node-name=nothing,size={DRIVE_BYTES}"))
            .args(["-device", "nvme,serial=BENCH,drive=nothing"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&errors)?)
            .spawn()
            .context("cannot start QEMU")?;
        let mut qemu = Qemu(child);
        let to = qemu.connection(&listen).with_context(|| {
            let said = std::fs::read_to_string(&errors).unwrap_or_default();
            format!("QEMU does not come up: {}", said.trim())
        })?;
        to.set_read_timeout(Some(GUEST_TIMEOUT))?;
        let mut guest =
            Guest { from: BufReader::new(to.try_clone()?), to, _qemu: qemu, _folder: folder };
        let line = guest.line()?;
        let is_ready = line.trim() == "@ ready";
        ensure!(is_ready, "unexpected line from the guest: {line:?}");
        Ok(guest)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.from.read_line(&mut line);
        let read = read.context("cannot read from the guest")?;
        ensure!(read > 0, "QEMU has ended");
        Ok(line)
    }

    /// Processor time is the guest kernel's, in hundredths of a second; memory is not measured.
    pub fn run(&mut self, command: &str) -> Result<Outcome> {
        let clock = Clock::monotonic();
        let begin = clock.now();
        writeln!(self.to, "time -f '@ %U %S' {command}")?;
        let head = self.line()?;
        let numbers = head.split_whitespace().filter_map(|word| word.parse().ok());
        let [status, out, err] = numbers.collect::<Vec<usize>>()[..] else {
            bail!("unexpected reply from the guest: {head:?}");
        };
        let mut stdout = vec![0; out];
        let mut stderr = vec![0; err];
        self.from.read_exact(&mut stdout)?;
        self.from.read_exact(&mut stderr)?;
        let stderr = String::from_utf8(stderr)?;
        ensure!(status == 0, "in the guest: {command}: {}", stderr.trim());
        let cost = stderr.lines().rev().find_map(|line| {
            let (user, system) = line.strip_prefix("@ ")?.split_once(' ')?;
            Some((user.parse().ok()?, system.parse().ok()?))
        });
        let (user_s, system_s) = cost.with_context(|| format!("no times of {command}"))?;
        Ok(Outcome {
            stdout: String::from_utf8(stdout)?,
            user_s,
            system_s,
            max_rss_bytes: 0,
            wall_s: (clock.now() - begin).as_secs_f64(),
        })
    }

    pub fn description(&mut self) -> Result<String> {
        let version = self.run("fio --version")?.stdout;
        let kernel = self.run("uname -r")?.stdout;
        let qemu = script(&["--qemu"])?;
        let memory = qemu.lines().skip_while(|word| *word != "-smp").nth(1);
        Ok(format!(
            "{} emulated processors, Linux {}, {} on a drive of {}",
            memory.unwrap_or("?"),
            kernel.trim(),
            version.trim(),
            format_size(DRIVE_BYTES)
        ))
    }
}

struct Qemu(Child);

impl Qemu {
    fn connection(&mut self, listen: &UnixListener) -> Result<UnixStream> {
        listen.set_nonblocking(true)?;
        let clock = Clock::monotonic();
        let until = clock.now() + CONNECT_TIMEOUT;
        loop {
            if let Ok((stream, _)) = listen.accept() {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            if let Some(status) = self.0.try_wait()? {
                bail!("{status}");
            }
            ensure!(clock.now() < until, "it does not connect");
            clock.wait_until(clock.now() + Nanos::from_millis(20));
        }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
