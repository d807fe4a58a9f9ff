//! A Linux guest for one test: boot, commands, shutdown on drop (also on panic).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::fixture::{ASSAY, Done, Fixture};
use crate::qmp::Qmp;

/// Timeout of output of a guest during boot or a command, after which it counts as hung. Seconds
/// here may be a minute on a busy host.
pub const LIMIT: Duration = Duration::from_secs(240);

/// A guest has as many processors as most test hosts, so guests run one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Command line of QEMU, or the reason for its absence.
static QEMU: OnceLock<Result<Vec<String>, String>> = OnceLock::new();

/// Configuration of a virtual machine.
pub struct Setup {
    pub fixture: Fixture,
    controllers: usize,
    options: Vec<String>,
    tools: Vec<&'static str>,
    kernel: String,
    turn: Option<MutexGuard<'static, ()>>,
}

impl Setup {
    /// `None`, with the reason printed, without QEMU and kernel.
    pub fn new() -> Option<Setup> {
        let qemu = QEMU.get_or_init(|| {
            let output = script(&["--qemu"]);
            if output.status.success() {
                let words = String::from_utf8(output.stdout).unwrap();
                Ok(words.lines().map(str::to_owned).collect())
            } else {
                Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
            }
        });
        if let Err(why) = qemu {
            println!("skipped: NVMe in a guest: {why}");
            return None;
        }
        // A failed test has dropped its guest, so the poisoned lock is usable.
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Setup::in_turn(Some(turn)))
    }

    /// For a second guest while the first one runs.
    pub fn beside(_first: &Guest) -> Setup {
        Setup::in_turn(None)
    }

    fn in_turn(turn: Option<MutexGuard<'static, ()>>) -> Setup {
        Setup {
            fixture: Fixture::on_disk(),
            controllers: 0,
            options: Vec::new(),
            tools: Vec::new(),
            kernel: String::new(),
            turn,
        }
    }

    /// Programs besides assay and busybox: `nvme`, `fio`, `mkfs.ext4`, `fsck.ext4`.
    pub fn tools(mut self, tools: &[&'static str]) -> Setup {
        self.tools.extend(tools);
        self
    }

    /// Arguments of the kernel's command line.
    pub fn kernel(mut self, words: &str) -> Setup {
        words.clone_into(&mut self.kernel);
        self
    }

    /// Options of QEMU, separated by spaces.
    pub fn option(mut self, words: &str) -> Setup {
        let words = words.split_whitespace();
        self.options.extend(words.map(str::to_owned));
        self
    }

    /// An image of zeroes in the fixture's folder, as a block node of QEMU of the same name.
    pub fn image(self, name: &str, bytes: usize) -> Setup {
        let path = self.fixture.path(name);
        let file = File::create(&path).unwrap();
        file.set_len(bytes as u64).unwrap();
        let path = path.to_str().unwrap().to_owned();
        self.option(&format!(
            "-blockdev driver=raw,node-name={name},discard=unmap,file.driver=file,file.\
             filename={path}"
        ))
    }

    /// A controller; `words` are further properties of the device.
    pub fn controller(mut self, id: &str, serial: &str, words: &str) -> Setup {
        self.controllers += 1;
        let comma = if words.is_empty() { "" } else { "," };
        self.option(&format!("-device nvme,id={id},serial={serial}{comma}{words}"))
    }

    /// A controller with one namespace, an image of this name.
    pub fn drive(self, id: &str, serial: &str, image: &str, bytes: usize) -> Setup {
        self.image(image, bytes).controller(id, serial, &format!("drive={image}"))
    }

    /// A controller of QEMU with one namespace, which is served over NBD on this socket.
    pub fn over_nbd(self, id: &str, serial: &str, socket: &Path) -> Setup {
        let socket = socket.display();
        self.option(&format!(
            "-blockdev driver=raw,node-name=served,discard=unmap,file.driver=nbd,file.server.\
             type=unix,file.server.path={socket}"
        ))
        .controller(id, serial, "drive=served")
    }

    /// A drive served over vfio-user. The server accesses the guest's memory, which is therefore
    /// shared.
    pub fn plugged(mut self, socket: &Path) -> Setup {
        self.controllers += 1;
        self.option(
            "-object memory-backend-memfd,id=mem,size=1024M,share=on -machine memory-backend=mem",
        )
        .option(&format!(
            r#"-device {{"driver":"vfio-user-pci","socket":{{"type":"unix","path":"{}"}}}}"#,
            socket.display()
        ))
    }

    pub fn boot(self) -> Guest {
        let initramfs = self.fixture.path("initramfs");
        let mut words = vec!["--initramfs", initramfs.to_str().unwrap(), ASSAY];
        words.extend(&self.tools);
        let packed = script(&words);
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));

        // Socket paths are limited to 107 bytes, and the fixture's folder is deep.
        let sockets = TempDir::new().unwrap();
        let (serial, qmp) = (sockets.path().join("serial"), sockets.path().join("qmp"));
        // QEMU connects to these sockets, so that only the connection has to be awaited.
        let listen = UnixListener::bind(&serial).unwrap();
        let listen_qmp = UnixListener::bind(&qmp).unwrap();
        let console = self.fixture.path("console");
        let errors = self.fixture.path("qemu-stderr");
        let qemu = QEMU.get().unwrap().as_ref().unwrap();
        let mut command = Command::new(&qemu[0]);
        command
            .args(&qemu[1..])
            .arg("-initrd")
            .arg(&initramfs)
            .arg("-append")
            .arg(format!(
                "console=ttyS0 quiet panic=-1 rcupdate.rcu_cpu_stall_suppress=1 \
                 nvme.poll_queues=1 assay_guest=serve assay_drives={} {}",
                self.controllers, self.kernel
            ))
            .arg("-serial")
            .arg(format!("file:{}", console.display()))
            .arg("-chardev")
            .arg(format!("socket,id=serial,path={}", serial.display()))
            .args(["-serial", "chardev:serial", "-qmp"])
            .arg(format!("unix:{}", qmp.display()))
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&errors).unwrap());
        let mut qemu = Qemu { child: command.spawn().unwrap(), console, errors };
        let to = qemu.connection(&listen);
        to.set_read_timeout(Some(LIMIT)).unwrap();
        let monitor = qemu.connection(&listen_qmp);
        let qmp = Qmp::new(monitor).unwrap_or_else(|e| panic!("{e}\n{}", qemu.last_words()));
        let mut guest = Guest {
            from: BufReader::new(to.try_clone().unwrap()),
            to,
            qmp,
            qemu,
            fixture: self.fixture,
            _sockets: sockets,
            _turn: self.turn,
        };
        let line = guest.line("booting").unwrap_or_else(|end| panic!("{end}"));
        assert!(line.trim() == "@ ready", "{line:?}\n{}", guest.qemu.last_words());
        guest
    }
}

/// A running guest, killed on drop.
pub struct Guest {
    // First, so that it is dropped first: the processors are free for the next guest.
    qemu: Qemu,
    pub fixture: Fixture,
    pub qmp: Qmp,
    from: BufReader<UnixStream>,
    to: UnixStream,
    _sockets: TempDir,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Guest {
    /// Runs a shell command line in the guest until it ends.
    #[track_caller]
    pub fn sh(&mut self, line: &str) -> Done {
        self.sh_or_end(line).unwrap_or_else(|end| panic!("no answer to {line:?}: {end}"))
    }

    /// [`Guest::sh`] where QEMU may end: returns its exit status and output. A timeout still fails
    /// the test.
    ///
    /// # Errors
    /// When QEMU has ended.
    #[track_caller]
    pub fn sh_or_end(&mut self, line: &str) -> Result<Done, String> {
        // Longer lines overflow the guest's serial port, which has no flow control.
        assert!(line.len() < 3000 && !line.contains('\n'), "{line}");
        let asked = writeln!(self.to, "{line}");
        self.heard(line, asked)?;
        let head = self.line(line)?;
        let mut fields = head.split_whitespace();
        assert!(fields.next() == Some("@"), "{line}: {head:?}");
        let mut number = || fields.next().unwrap().parse::<usize>().unwrap();
        let (status, out, err) = (number(), number(), number());
        let mut content = vec![0; out + err];
        let read = self.from.read_exact(&mut content);
        self.heard(line, read)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
        let done = Done {
            words: format!("(guest) {line}"),
            status: i32::try_from(status).unwrap(),
            stdout: text(&content[..out]),
            stderr: text(&content[out..]),
        };
        assert!(!done.stderr.contains("panicked"), "{done}");
        Ok(done)
    }

    /// Runs a shell command line that must succeed; returns its stdout.
    #[track_caller]
    pub fn ok(&mut self, line: &str) -> String {
        self.sh(line).expect(0).stdout
    }

    /// assay in the guest.
    #[track_caller]
    pub fn assay(&mut self, words: &str) -> Done {
        self.sh(&format!("assay {words}"))
    }

    /// assay with `--json`, expecting this status, and its document.
    #[track_caller]
    pub fn json_status(&mut self, words: &str, status: i32) -> Value {
        self.assay(&format!("{words} --json")).expect(status).json()
    }

    /// assay with `--json`, expecting status 0.
    #[track_caller]
    pub fn json(&mut self, words: &str) -> Value {
        self.json_status(words, 0)
    }

    /// A threshold of temperature that is crossed reaches the kernel as an event.
    pub fn has_events(&mut self, controller: &str) {
        self.ok("mount -t tracefs none /sys/kernel/tracing");
        self.ok("echo 1 >/sys/kernel/tracing/events/nvme/nvme_async_event/enable");
        self.ok(&format!(
            "nvme set-feature {controller} -f 0xb -V 0x102 && nvme set-feature {controller} -f 4 \
             -V 0x12c"
        ));
        self.ok("until grep -q nvme_async_event: /sys/kernel/tracing/trace; do sleep 0.1; done");
    }

    /// The controller with this serial, as `nvme0`; the numbers are not deterministic.
    #[track_caller]
    pub fn controller(&mut self, serial: &str) -> String {
        let found = self.ok(&format!(
            "for c in /sys/class/nvme/*; do [ $(cat $c/serial) = {serial} ] && basename $c; done; \
             true"
        ));
        assert_eq!(found.lines().count(), 1, "{serial}: {found:?}");
        found.trim().to_owned()
    }

    /// The drive of this namespace of the controller, or subsystem, with this serial, as
    /// `/dev/nvme0n1`. The kernel scans namespaces in parallel, so the numbers are not
    /// deterministic.
    #[track_caller]
    pub fn namespace(&mut self, serial: &str, nsid: u32) -> String {
        let found = self.ok(&format!(
            "for b in /sys/block/nvme*; do [ $(cat $b/hidden) = 0 ] && [ $(cat $b/device/serial) \
             = {serial} ] && [ $(cat $b/nsid) = {nsid} ] && basename $b; done; true"
        ));
        assert_eq!(found.lines().count(), 1, "{serial}, {nsid}: {found:?}");
        format!("/dev/{}", found.trim())
    }

    /// The first namespace of the controller with this serial.
    #[track_caller]
    pub fn device(&mut self, serial: &str) -> String {
        self.namespace(serial, 1)
    }

    /// The current content of an image.
    pub fn content(&self, image: &str) -> Vec<u8> {
        self.fixture.read(image)
    }

    /// Shuts the guest down. A dead guest, or an error report of its kernel, fails the test. Its
    /// kernel does not report RCU stalls: on a loaded host, emulated processors stop for seconds.
    #[track_caller]
    pub fn end(mut self) {
        let kernel = self.ok("dmesg");
        for trouble in ["BUG:", "Oops", "Call Trace", "blocked for more than"] {
            assert!(!kernel.contains(trouble), "the guest's kernel: {kernel}");
        }
        writeln!(self.to, "poweroff -f").unwrap();
        // The port closes when QEMU ends.
        let mut rest = Vec::new();
        if let Err(e) = self.from.read_to_end(&mut rest) {
            panic!("shutting down: {e}\n{}", self.qemu.last_words());
        }
        let status = self.qemu.child.wait().unwrap();
        assert!(status.success(), "{status}\n{}", self.qemu.last_words());
    }

    /// The next line of the port, or the exit status of QEMU.
    #[track_caller]
    fn line(&mut self, during: &str) -> Result<String, String> {
        let mut line = String::new();
        let read = match self.from.read_line(&mut line) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            other => other,
        };
        self.heard(during, read)?;
        Ok(line)
    }

    /// Evaluates I/O with the guest: a closed connection returns QEMU's exit status, a timeout
    /// fails the test.
    #[track_caller]
    fn heard<T>(&mut self, during: &str, outcome: io::Result<T>) -> Result<T, String> {
        outcome.map_err(|error| {
            let silent = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            let words = self.qemu.last_words();
            assert!(!silent, "no answer to {during:?} ({error})\n{words}");
            let status = self.qemu.child.wait().unwrap();
            format!("QEMU ended ({error}; {status})\n{words}")
        })
    }
}

/// QEMU's process.
struct Qemu {
    child: Child,
    console: PathBuf,
    errors: PathBuf,
}

impl Qemu {
    /// QEMU's connection to one of its sockets.
    #[track_caller]
    fn connection(&mut self, listen: &UnixListener) -> UnixStream {
        listen.set_nonblocking(true).unwrap();
        let mut connection = None;
        crate::fixture::wait_until("QEMU connects", || {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("QEMU: {status}\n{}", self.last_words());
            }
            connection = listen.accept().ok();
            connection.is_some()
        });
        let (stream, _) = connection.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    }

    /// The last output of QEMU and of the guest's kernel, for failure messages.
    fn last_words(&self) -> String {
        let console = fs::read(&self.console).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let lines: Vec<&str> = console.lines().collect();
        format!(
            "QEMU: {}\nconsole:\n{}",
            fs::read_to_string(&self.errors).unwrap_or_default(),
            lines[lines.len().saturating_sub(60)..].join("\n")
        )
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn script(words: &[&str]) -> Output {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/guest-vm"))
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
