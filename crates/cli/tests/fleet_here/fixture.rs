//! Two hosts with simulated drives, and a shared store.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Model of the simulated drives.
pub const MODEL: &str = "SAMSUNG MZVPV128HDGM-00000 (simulated)";

pub struct Fixture {
    folder: TempDir,
}

impl Fixture {
    /// Hosts `alpha` and `beta` with four drives each, of lots 1 and 2.
    pub fn new() -> Fixture {
        let folder = TempDir::new().unwrap();
        let fixture = Fixture { folder };
        fs::create_dir_all(fixture.path("drives")).unwrap();
        fs::create_dir_all(fixture.path("store")).unwrap();
        fs::create_dir_all(fixture.path("bin")).unwrap();
        for (host, lot) in [("alpha", 1), ("beta", 2)] {
            let drive = |seed: u32| format!("sim:samsung-951,lot={lot},seed={seed}\n");
            let list: String = (1..=4).map(drive).collect();
            fs::write(fixture.path("drives").join(host), list).unwrap();
        }
        fixture
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes a plan with these lines in `[drives]` and `[run]`.
    pub fn plan(&self, drives: &str, run: &str) {
        let store = self.path("store").display().to_string();
        let suites = "[ { suite = \"quick\" } ]";
        let text = format!(
            "name = \"lots\"\nsuites = {suites}\n[drives]\n{drives}\n[run]\n{run}\n[store]\nat = \
             \"{store}\"\n"
        );
        self.write("plan.toml", &text);
    }

    /// A program in the PATH of `assay`, as a shell script.
    pub fn program(&self, name: &str, body: &str) {
        let text = self.path(&format!("{name}.text"));
        fs::write(&text, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{body}\n")).unwrap();
        fs::set_permissions(&text, PermissionsExt::from_mode(0o755)).unwrap();
        // Written by another process: what a process has open for writing cannot be executed.
        let copy = Command::new("cp").arg(&text).arg(self.path("bin").join(name)).status();
        assert!(copy.unwrap().success());
    }

    /// Runs `assay` with these words.
    pub fn run(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(words)
            .current_dir(self.folder.path())
            .env("ASSAY_FLEET_DRIVES", self.path("drives"))
            .env("ASSAY_FLEET_DIR", self.path("work"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            // Without the programs of a real queue.
            .env("PATH", self.path("bin"))
            .env("USER", "operator")
            .env("COLUMNS", "100")
            .env_remove("NO_COLOR")
            .output()
            .unwrap()
    }

    /// Standard output of a command that ends with `status`.
    pub fn text(&self, status: i32, words: &[&str]) -> String {
        let output = self.run(words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The JSON document of a command.
    pub fn json(&self, words: &[&str]) -> Value {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.text(0, &words)).unwrap()
    }

    /// The error message of a command that ends with `status`.
    pub fn error(&self, status: i32, words: &[&str]) -> String {
        let output = self.run(words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {stderr}");
        stderr
    }
}
