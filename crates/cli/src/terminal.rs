//! Output: text or one JSON document on stdout, messages on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::AnsiColor;
use assay_report::terminal::Style;
use serde_json::Value;

use crate::exit::CommandOutcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct Output {
    /// Print one JSON document on stdout instead of text; progress stays on stderr.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Columns if stdout is no terminal.
const DEFAULT_COLUMNS: usize = 100;

impl Output {
    fn rendered(self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> String {
        if self.json {
            format!("{:#}\n", json())
        } else {
            text()
        }
    }

    /// Print the text, or the JSON document; with that, most commands are done.
    pub fn show(
        self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> anyhow::Result<CommandOutcome> {
        let mut stdout = io::stdout().lock();
        write!(stdout, "{}", self.rendered(text, json))?;
        stdout.flush()?;
        Ok(CommandOutcome::Done)
    }

    /// As [`Output::show`], on stderr, for commands whose stdout is a stream.
    pub fn show_on_stderr(self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
        // A closed stderr is no error: the stream is complete.
        let _ = write!(io::stderr().lock(), "{}", self.rendered(text, json));
    }

    /// Colour on a terminal, unless NO_COLOR or TERM=dumb disable it.
    pub fn style(self) -> Style {
        let choice = anstream::AutoStream::choice(&io::stdout());
        match io::stdout().is_terminal() && choice != anstream::ColorChoice::Never {
            true => Style::Colour,
            false => Style::Plain,
        }
    }

    pub fn columns(self) -> usize {
        if !io::stdout().is_terminal() {
            return DEFAULT_COLUMNS;
        }
        usize::from(console::Term::stdout().size().1).max(40)
    }

    pub fn shows_progress(self) -> bool {
        io::stderr().is_terminal()
    }

    pub fn note(self, text: &str) {
        let yellow = AnsiColor::Yellow.on_default();
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{yellow}note:{yellow:#} {text}");
    }

    /// Print an error with its causes on stderr.
    pub fn error(self, error: &anyhow::Error) {
        let red = AnsiColor::Red.on_default().bold();
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

/// Mark after the name of a simulated drive.
pub fn simulated_mark(simulated: bool) -> &'static str {
    if simulated { " (simulated)" } else { "" }
}
