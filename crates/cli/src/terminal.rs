//! Output: text or one JSON document on stdout, messages on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style as AnsiStyle};
use assay_report::terminal::Style;

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// One JSON document on stdout.
    pub json: bool,
}

/// Columns if stdout is no terminal.
const DEFAULT_COLUMNS: usize = 100;

impl Output {
    /// Print the text, or the JSON document.
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

    /// As [`Output::show`], on stderr, for commands whose stdout is a stream.
    pub fn show_on_stderr(
        self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> serde_json::Value,
    ) {
        let text = if self.json {
            format!("{:#}\n", json())
        } else {
            text()
        };
        // A closed stderr is no error: the stream is complete.
        let _ = write!(io::stderr().lock(), "{text}");
    }

    /// Colour on a terminal, unless NO_COLOR or TERM=dumb disable it.
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

    /// Whether stderr is a terminal.
    pub fn shows_progress(self) -> bool {
        io::stderr().is_terminal()
    }

    /// Print a note on stderr.
    pub fn note(self, text: &str) {
        let yellow = AnsiStyle::new().fg_color(Some(AnsiColor::Yellow.into()));
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{yellow}note:{yellow:#} {text}");
    }

    /// Print an error with its causes on stderr.
    pub fn error(self, error: &anyhow::Error) {
        let red = AnsiStyle::new()
            .bold()
            .fg_color(Some(AnsiColor::Red.into()));
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{red}error:{red:#} {error}");
        let mut printed = error.to_string();
        for cause in error.chain().skip(1) {
            let text = cause.to_string();
            // Many messages quote their cause.
            if !printed.contains(&text) {
                let _ = writeln!(stderr, "  because: {text}");
                printed = text;
            }
        }
    }
}
