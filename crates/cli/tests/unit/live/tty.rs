use ratatui_core::style::Style;

use super::*;

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
    TtyBackend {
        tty: Tty { file },
        out: Vec::new(),
        colour,
    }
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
    assert_eq!(
        drawn(true),
        "\x1b[1;3H\x1b[0;1;36mB\x1b[0mp\x1b[5;1Hp\x1b[0m"
    );
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
