use std::process::Command;

use ratatui_core::style::Style;

use super::*;

/// In its environment, [`a_view_that_panics`] panics with the terminal in raw mode.
const PANICS: &str = "ASSAY_TEST_VIEW_PANICS";

#[test]
fn keys_are_letters_and_no_control_sequences() {
    assert_eq!(keys(b"p"), [Key::Pause]);
    assert_eq!(keys(b"sQx?"), [Key::Skip, Key::Quit, Key::Help]);
    assert_eq!(keys(b"\x1b"), [Key::Escape]);
    // An arrow key, and F2, which ends in Q.
    assert_eq!(keys(b"\x1b[A"), []);
    assert_eq!(keys(b"\x1bOQ"), []);
    assert_eq!(keys(b""), []);
}

fn backend(colour: bool) -> TtyBackend {
    let file = File::open("/dev/null").unwrap();
    TtyBackend { tty: Tty { file }, out: Vec::new(), colour }
}

fn drawn(colour: bool) -> String {
    let mut backend = backend(colour);
    let mut bold = Cell::new("B");
    bold.set_style(Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD));
    let plain = Cell::new("p");
    let cells = [(2, 0, &bold), (3, 0, &plain), (0, 4, &plain)];
    backend.draw(cells.into_iter()).unwrap();
    String::from_utf8(backend.out).unwrap()
}

#[test]
fn cells_are_written_with_as_few_sequences_as_needed() {
    assert_eq!(drawn(true), "\x1b[1;3H\x1b[0;1;36mB\x1b[0mp\x1b[5;1Hp\x1b[0m");
    assert_eq!(drawn(false), "\x1b[1;3H\x1b[0;1mB\x1b[0mp\x1b[5;1Hp\x1b[0m");
}

#[test]
fn a_terminal_without_a_size_counts_as_usual() {
    assert_eq!(backend(true).size().unwrap(), USUAL);
}

#[test]
fn nothing_is_drawn_after_the_terminal_was_restored() {
    let mut backend = backend(true);
    backend.hide_cursor().unwrap();
    assert!(!is_in_use());
    backend.flush().unwrap();
    assert!(backend.out.is_empty());
    restore();
}

/// The second process of [`a_panic_restores_the_terminal`]; nothing by itself.
#[test]
fn a_view_that_panics() {
    if std::env::var_os(PANICS).is_none() {
        return;
    }
    let tty = Tty::open().unwrap();
    let _backend = tty.enter(true).unwrap();
    assert!(is_in_use());
    panic!("with the terminal in raw mode");
}

#[test]
fn a_panic_restores_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("tmux");
    let tmux = |arguments: &[&str]| {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&socket).args(["-f", "/dev/null"]);
        command.args(arguments).env_remove("TMUX").output()
    };
    let test = std::env::current_exe().unwrap();
    let shell = format!(
        "{PANICS}=1 '{}' --exact --nocapture live::tty::tests::a_view_that_panics; echo exit \
         status $?; stty -a; echo end of modes; sleep 1000",
        test.display()
    );
    if tmux(&["new-session", "-d", "-x", "100", "-y", "60", &shell]).is_err() {
        println!("skipped: no tmux");
        return;
    }
    let screen = || {
        let output = tmux(&["capture-pane", "-p"]).unwrap();
        String::from_utf8_lossy(&output.stdout).replace('\n', " ")
    };
    let mut shown = screen();
    for _ in 0..600 {
        if shown.contains("end of modes") {
            break;
        }
        Command::new("sleep").arg("0.1").status().unwrap();
        shown = screen();
    }
    let alternate = tmux(&["display-message", "-p", "#{alternate_on}"]).unwrap();
    tmux(&["kill-server"]).unwrap();
    assert!(shown.contains("exit status 101"), "{shown}");
    assert!(shown.contains("with the terminal in raw mode"), "{shown}");
    assert_eq!(alternate.stdout.trim_ascii(), b"0", "{shown}");
    for mode in [" icanon", " echo ", " iexten", "susp = ^Z", "quit = ^\\"] {
        assert!(shown.contains(mode), "{mode}: {shown}");
    }
}
