//! Fixture of the end-to-end tests: a separate folder, files with known bytes, commands of the real
//! binary, and checks that hold for every command (no panic, one JSON document on stdout and
//! nothing else when `--json` is given).

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary under test.
pub const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

pub const KIB: usize = 1 << 10;
pub const MIB: usize = 1 << 20;

/// A folder for one test; commands run in it, so drives and run folders have short names.
pub struct Fixture {
    dir: TempDir,
}

impl Fixture {
    /// On the disk that holds the build.
    pub fn on_disk() -> Fixture {
        Fixture { dir: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    /// On a tmpfs.
    pub fn in_memory() -> Fixture {
        Fixture { dir: TempDir::new_in("/dev/shm").unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file of incompressible bytes, the same for the same name and length.
    pub fn noise(&self, name: &str, bytes: usize) -> Vec<u8> {
        let content = noise(name.len() as u64 + 1, bytes);
        fs::write(self.path(name), &content).unwrap();
        content
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command with these arguments, separated by spaces, without a terminal.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(ASSAY);
        command
            .args(words.split_whitespace())
            .current_dir(self.dir.path())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            // The drive state cache is separate for each test and from the user's.
            .env("ASSAY_STATE_DIR", self.path(".state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Run to the end.
    #[track_caller]
    pub fn run(&self, words: &str) -> Done {
        Done::new(words, self.command(words).spawn().unwrap())
    }

    /// Run, expecting status 0.
    #[track_caller]
    pub fn ok(&self, words: &str) -> Done {
        self.run(words).expect(0)
    }

    /// Run with `--json`, expecting this status, and give the document.
    #[track_caller]
    pub fn json_status(&self, words: &str, status: i32) -> Value {
        self.run(&format!("{words} --json")).expect(status).json()
    }

    /// Run with `--json`, expecting status 0.
    #[track_caller]
    pub fn json(&self, words: &str) -> Value {
        self.json_status(words, 0)
    }

    /// Run another program in the folder, expecting status 0, and give its stdout.
    #[track_caller]
    pub fn tool(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new("timeout")
            .args(["-k", "5", "600", program])
            .args(arguments)
            .current_dir(self.dir.path())
            .env("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .output()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {stdout}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        stdout
    }
}

/// Whether these programs are installed; reports a skipped test.
pub fn has(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .stdout(Stdio::null())
            .status();
        !found.is_ok_and(|status| status.success())
    });
    if let Some(program) = missing {
        println!("skipped: {program} is not installed");
    }
    missing.is_none()
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct Done {
    pub words: String,
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// Waits for the end; a panic fails the test.
    #[track_caller]
    pub fn new(words: &str, child: Child) -> Done {
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        let status = match output.status.signal() {
            Some(signal) => 1000 + signal,
            None => output.status.code().unwrap(),
        };
        let done = Done {
            words: words.to_owned(),
            status,
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(!done.stderr.contains("panicked"), "{done}");
        done
    }

    #[track_caller]
    pub fn expect(self, status: i32) -> Done {
        assert!(self.status == status, "expected status {status}: {self}");
        self
    }

    /// Stdout as the one JSON document it must be.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("stdout is not one JSON document ({e}): {self}"))
    }

    /// Checks the status, an empty stdout, and these texts on stderr.
    #[track_caller]
    pub fn refuses(&self, status: i32, message: &[&str]) {
        assert!(self.status == status, "expected status {status}: {self}");
        assert!(self.stdout.is_empty(), "an error belongs on stderr: {self}");
        assert!(self.stderr.contains("error:"), "stderr has no error: {self}");
        for part in message {
            assert!(self.stderr.contains(part), "stderr lacks {part:?}: {self}");
        }
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head = |text: &str| text.chars().take(4000).collect::<String>();
        write!(
            f,
            "assay {}\nstatus {}\nstdout: {}\nstderr: {}",
            self.words,
            self.status,
            head(&self.stdout),
            head(&self.stderr)
        )
    }
}

/// Incompressible bytes (splitmix64, the generator of Steele, Lea and Flood 2014), written anew for
/// the tests so that a fault of the program's own generator cannot hide.
pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let words = std::iter::from_fn(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some((z ^ (z >> 31)).to_le_bytes())
    });
    words.flatten().take(bytes).collect()
}

/// Which blocks of this length differ between two contents.
#[track_caller]
pub fn changed_blocks(before: &[u8], after: &[u8], block: usize) -> Vec<usize> {
    assert_eq!(before.len(), after.len(), "the length changed");
    let pairs = before.chunks(block).zip(after.chunks(block)).enumerate();
    pairs.filter(|(_, (b, a))| b != a).map(|(i, _)| i).collect()
}

/// Compression ratio of zstd.
pub fn zstd_ratio(bytes: &[u8]) -> f64 {
    bytes.len() as f64 / zstd::encode_all(bytes, 3).unwrap().len() as f64
}

/// A number in a document, by JSON pointer.
#[track_caller]
pub fn number(document: &Value, pointer: &str) -> f64 {
    let value = document.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no number at {pointer} in {document:#}"))
}

/// The keys of an object, sorted.
#[track_caller]
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Send a signal to a child that still runs.
pub fn send(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Whether child processes receive this signal; an ignored signal, such as SIGHUP under nohup, is
/// inherited.
pub fn is_heard(signal: rustix::process::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
    let received = mask >> (signal.as_raw() - 1) & 1 == 0;
    if !received {
        println!("skipped: {signal:?} is ignored by the parent process (nohup?)");
    }
    received
}

/// Sleeps while the program under test runs.
#[allow(
    clippy::disallowed_methods,
    reason = "the program under test runs meanwhile; nothing is measured here"
)]
pub fn pause(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

/// Wait until a condition holds.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if condition() {
            return;
        }
        pause(10);
    }
    panic!("after two minutes still not: {what}");
}

/// A file's text, empty while it is not there.
pub fn text_so_far(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = fs::File::open(path) {
        file.read_to_end(&mut bytes).unwrap();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
