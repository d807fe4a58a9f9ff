//! The live view on real terminals (tmux) of several sizes, its keys, the terminal afterwards;
//! metrics in a file and over HTTP.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::fixture::{ASSAY, Done, Fixture, send, text_so_far, wait_until};

/// A terminal of tmux, with a server of its own.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Run a shell command in a terminal of this size; `None` without tmux.
    fn run(fixture: &Fixture, columns: u16, rows: u16, command: &str) -> Option<Terminal> {
        let socket = fixture.path(&format!("tmux-{columns}-{rows}")).display().to_string();
        let (width, height) = (columns.to_string(), rows.to_string());
        let shell = format!("{command}; echo exit status $?; stty -a; sleep 1000");
        let folder = fixture.path(".").display().to_string();
        let state = format!("ASSAY_STATE_DIR={}", fixture.path(".state").display());
        let arguments = [
            "-S",
            &socket,
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &width,
            "-y",
            &height,
            "-c",
            &folder,
            "-e",
            &state,
            &shell,
        ];
        let tmux = Command::new("tmux")
            .args(arguments)
            .env_remove("TMUX")
            .env_remove("NO_COLOR")
            .env("LC_ALL", "C.UTF-8")
            .status();
        match tmux {
            Ok(status) => assert!(status.success()),
            Err(_) => {
                println!("skipped: no tmux");
                return None;
            }
        }
        Some(Terminal { socket })
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-S", &self.socket]).args(arguments);
        let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    fn is_full_screen(&self) -> bool {
        self.tmux(&["display-message", "-p", "#{alternate_on}"]).trim() == "1"
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        wait_until(text, || self.screen().contains(text));
        self.screen()
    }

    /// The command has ended, and the terminal is as it was.
    #[track_caller]
    fn wait_for_end(&self, status: i32) -> String {
        let screen = self.wait_for("speed 38400");
        let all = || self.tmux(&["capture-pane", "-p", "-J", "-S", "-200"]);
        wait_until("stty has named its last mode", || all().contains("extproc"));
        let all = all();
        assert!(!self.is_full_screen(), "{screen}");
        assert!(all.contains(&format!("exit status {status}")), "{all}");
        for mode in ["icanon", " echo ", "isig", "susp = ^Z", "quit = ^\\"] {
            let stty = all.replace('\n', " ");
            assert!(stty.contains(mode) && !stty.contains("-icanon"), "{mode}: {all}");
        }
        all
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn the_view_fits_terminals_of_any_size() {
    let fixture = Fixture::in_memory();
    for (columns, rows) in [(60, 15), (80, 24), (100, 30), (160, 50)] {
        let job = format!("{ASSAY} job null: --rw randread --bs 4k --runtime 1h --live");
        let Some(terminal) = Terminal::run(&fixture, columns, rows, &job) else {
            return;
        };
        terminal.wait_for("measuring");
        let screen = terminal.wait_for("MiB/s");
        assert!(terminal.is_full_screen());
        let lines: Vec<&str> = screen.lines().collect();
        assert_eq!(lines.len(), usize::from(rows), "{screen}");
        assert!(lines[0].contains("assay job") && lines[0].contains("left"), "{screen}");
        assert!(lines[usize::from(rows) - 1].contains("q quit"), "{screen}");
        terminal.press("?");
        terminal.wait_for("only in suites");
        terminal.press("Escape");
        terminal.wait_for("measuring");
        terminal.press("q");
        terminal.wait_for_end(130);
    }
}

#[test]
fn keys_pause_skip_and_quit_and_the_run_can_be_resumed() {
    let fixture = Fixture::in_memory();
    let run = format!("{ASSAY} run quick null: --set runtime=3s --out run");
    let Some(terminal) = Terminal::run(&fixture, 110, 32, &run) else {
        return;
    };
    // It opens by itself.
    terminal.wait_for("cell 1 of");
    assert!(terminal.is_full_screen());
    terminal.wait_for("measuring");
    terminal.press("s");
    terminal.wait_for("1 skipped");
    terminal.wait_for("measuring");
    terminal.press("p");
    terminal.wait_for("pausing after this cell");
    terminal.wait_for("paused: p continues");
    terminal.press("p");
    terminal.wait_for("the run was paused for");
    terminal.press("q");
    let text = terminal.wait_for_end(130);
    assert!(text.contains("run --resume run"), "{text}");
    let exported = fixture.json("export run --format json -o -");
    let text = exported.to_string();
    assert!(text.contains("skipped by the user while it ran"), "{text}");
    assert!(text.contains("\"paused\""), "{text}");
}

#[test]
fn the_terminal_is_restored_after_signals() {
    let fixture = Fixture::in_memory();
    for (columns, signals) in [(100, 1), (101, 2)] {
        let job =
            format!("{ASSAY} job null: --rw randread --runtime 1h --live & echo $! > pid; fg");
        let job = format!("bash -mc '{job}'");
        let Some(terminal) = Terminal::run(&fixture, columns, 30, &job) else {
            return;
        };
        terminal.wait_for("measuring");
        let pid: i32 = fixture.text("pid").trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        for _ in 0..signals {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        // The second signal can come after the end.
        let screen = terminal.wait_for("speed 38400");
        assert!(!terminal.is_full_screen(), "{screen}");
        assert!(!screen.contains("-icanon"), "{screen}");
    }
}

#[test]
fn small_terminals_pipes_and_no_color_keep_lines() {
    let fixture = Fixture::in_memory();
    let run = |out: &str| format!("{ASSAY} run quick null: --set runtime=3s --out {out}");
    for (columns, rows, command) in [
        (99, 30, run("99")),
        (100, 29, run("100")),
        (120, 40, format!("{} --no-live", run("120"))),
        (121, 40, format!("NO_COLOR=1 {}", run("121"))),
        (122, 40, format!("TERM=dumb {}", run("122"))),
        (123, 40, format!("{} 2>&1 | cat", run("123"))),
    ] {
        let Some(terminal) = Terminal::run(&fixture, columns, rows, &command) else {
            return;
        };
        let journal = fixture.path(&format!("{columns}/journal.log"));
        wait_until("an interval", || text_so_far(&journal).contains("\"interval\""));
        assert!(!terminal.is_full_screen(), "{command}");
    }
}

#[test]
fn without_a_terminal_live_is_a_note() {
    let fixture = Fixture::in_memory();
    let done = fixture.ok("job null: --rw randread --runtime 200ms --live --json");
    assert!(done.stderr.contains("--live needs a terminal"), "{done}");
    assert!(!done.stderr.contains('\u{1b}') && !done.stdout.contains('\u{1b}'));
    fixture.run("job null: --rw randread --live --no-live").expect(2);
}

#[test]
fn metrics_are_written_into_a_file_that_stays() {
    let fixture = Fixture::in_memory();
    fixture.ok("run quick sim:samsung-951 --scale 0.1 --out run --metrics assay.prom");
    let text = fixture.text("assay.prom");
    assert!(text.ends_with("# EOF\n"), "{text}");
    let sample = |name: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.unwrap_or_else(|| panic!("no {name} in {text}"));
        value.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(sample("assay_run_ended "), 1.0);
    assert_eq!(sample("assay_cells{status=\"left\"}"), 0.0);
    // The inspection of a simulated drive is skipped.
    assert_eq!(sample("assay_cells{status=\"done\"}"), 14.0);
    let drive = "{drive=\"samsung-951\"}";
    let exported = fixture.json("export run --format json -o -").to_string();
    assert!(!exported.is_empty());
    assert!(sample(&format!("assay_reads_total{drive}")) > 1000.0);
    assert_eq!(sample(&format!("assay_writes_total{drive}")), 0.0);
    assert!(sample(&format!("assay_temperature_celsius{drive}")) > 15.0);
    assert!(sample(&format!("assay_drive_time_seconds_total{drive}")) > 1.0);
    // The folder holds no temporary file.
    let names = std::fs::read_dir(fixture.path(".")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with(".tmp")), "{names:?}");
    // An earlier output is replaced, another file is not.
    fixture.ok("job null: --rw randread --runtime 100ms --metrics assay.prom");
    fixture.write("image", "data");
    fixture.run("job null: --rw randread --runtime 100ms --metrics image").expect(2);
    assert_eq!(fixture.text("image"), "data");
}

#[test]
fn metrics_are_served_on_a_loopback_address_only() {
    let fixture = Fixture::in_memory();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let words =
        format!("job null: --rw randread --runtime 1h --interval 100ms --metrics {address}");
    let child = fixture.command(&words).stderr(Stdio::null()).spawn().unwrap();
    let get = || -> std::io::Result<String> {
        let mut client = TcpStream::connect(address)?;
        client.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        let mut answer = String::new();
        client.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let reads = |answer: &str| -> Option<f64> {
        let line = answer.lines().find(|l| l.starts_with("assay_reads_total"))?;
        line.rsplit(' ').next()?.parse().ok()
    };
    let first = || get().ok().and_then(|answer| reads(&answer)).unwrap_or(0.0);
    wait_until("figures", || first() > 0.0);
    let before = first();
    wait_until("more of them", || first() > before);
    // The address is in use.
    fixture.run(&words).expect(4);
    send(&child, Signal::INT);
    Done::new(&words, child).expect(130);
    for remote in ["0.0.0.0:9100", "example.org:80"] {
        let words = format!("job null: --rw randread --runtime 1s --metrics {remote}");
        let done = fixture.run(&words).expect(2);
        assert!(done.stderr.contains("loopback"), "{done}");
    }
}
