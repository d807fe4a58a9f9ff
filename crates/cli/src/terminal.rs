//! Where output goes: one JSON document or text for people on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style as AnsiStyle};
use assay_report::terminal::Style;

/// How output is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// One JSON document on stdout.
    pub json: bool,
}

/// Columns when the terminal does not say.
const DEFAULT_COLUMNS: usize = 100;

impl Output {
    /// Print a text, or a JSON document in its place.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn show(
        self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> serde_json::Value,
    ) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut stdout, &json())?;
            writeln!(stdout)?;
        } else {
            write!(stdout, "{}", text())?;
        }
        stdout.flush()
    }

    /// As [`Output::show`], on stderr: where stdout belongs to a stream.
    pub fn show_on_stderr(
        self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> serde_json::Value,
    ) {
        let said = if self.json {
            format!("{:#}\n", json())
        } else {
            text()
        };
        // Nobody listening is no reason to fail: the stream is where it should be.
        let _ = write!(io::stderr().lock(), "{said}");
    }

    /// Colour on stdout: on a terminal, unless NO_COLOR or a dumb terminal says otherwise.
    pub fn style(self) -> Style {
        if anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never
            || !io::stdout().is_terminal()
        {
            Style::Plain
        } else {
            Style::Colour
        }
    }

    /// Columns of the terminal.
    pub fn columns(self) -> usize {
        if !io::stdout().is_terminal() {
            return DEFAULT_COLUMNS;
        }
        usize::from(console::Term::stdout().size().1).max(40)
    }

    /// Is somebody watching stderr?
    pub fn shows_progress(self) -> bool {
        io::stderr().is_terminal()
    }

    /// Tell something that must be known beside the result, on stderr.
    pub fn note(self, text: &str) {
        let yellow = AnsiStyle::new().fg_color(Some(AnsiColor::Yellow.into()));
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{yellow}note:{yellow:#} {text}");
    }

    /// Tell an error with its causes, on stderr.
    pub fn error(self, error: &anyhow::Error) {
        let red = AnsiStyle::new()
            .bold()
            .fg_color(Some(AnsiColor::Red.into()));
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{red}error:{red:#} {error}");
        let mut said = error.to_string();
        for cause in error.chain().skip(1) {
            let text = cause.to_string();
            // Many messages already quote their cause.
            if !said.contains(&text) {
                let _ = writeln!(stderr, "  because: {text}");
                said = text;
            }
        }
    }
}
