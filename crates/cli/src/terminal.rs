//! Output: text or one JSON document on stdout, messages on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::AnsiColor;
use assay_report::terminal::Style;
use assay_units::text::{printable_lines, word_lines};
use serde_json::Value;

use crate::exit::CommandOutcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct Output {
    /// Print one JSON document on stdout instead of text; progress stays on stderr.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Columns if stdout is no terminal and COLUMNS is not set.
const DEFAULT_COLUMNS: usize = 100;
/// Width of paragraphs, on a wider terminal too.
pub const READABLE_COLUMNS: usize = 80;
/// Narrower output would break words.
const LEAST_COLUMNS: usize = 40;

/// The environment variable COLUMNS (POSIX: the user's preferred width), if it is a positive
/// number.
fn preferred_columns() -> Option<usize> {
    let columns: usize = std::env::var("COLUMNS").ok()?.trim().parse().ok()?;
    (columns > 0).then_some(columns)
}

impl Output {
    fn rendered(self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> String {
        if self.json {
            format!("{:#}\n", json())
        } else {
            // Names of drives, files and folders come from elsewhere: none may act on the terminal.
            printable_lines(&text())
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

    /// Width of text on stdout: COLUMNS, else that of the terminal.
    pub fn columns(self) -> usize {
        let of_terminal = || match io::stdout().is_terminal() {
            true => usize::from(console::Term::stdout().size().1),
            false => DEFAULT_COLUMNS,
        };
        let columns = preferred_columns().unwrap_or_else(of_terminal);
        columns.max(LEAST_COLUMNS)
    }

    /// Width of progress on stderr. A wider COLUMNS than the terminal would break the line.
    pub fn progress_columns(self) -> usize {
        let terminal = usize::from(console::Term::stderr().size().1);
        preferred_columns().map_or(terminal, |columns| columns.min(terminal))
    }

    pub fn shows_progress(self) -> bool {
        io::stderr().is_terminal()
    }

    pub fn note(self, text: &str) {
        let yellow = AnsiColor::Yellow.on_default();
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{yellow}note:{yellow:#} {}", printable_lines(text));
    }

    /// Print an error with its causes on stderr.
    pub fn error(self, error: &anyhow::Error) {
        let red = AnsiColor::Red.on_default().bold();
        let mut stderr = anstream::stderr().lock();
        let mut printed = error.to_string();
        let message = printable_lines(&printed);
        let _ = writeln!(stderr, "{red}error:{red:#} {message}");
        for cause in error.chain().skip(1) {
            let text = cause.to_string();
            // Many messages quote their cause.
            if !printed.contains(&text) {
                let _ = writeln!(stderr, "  because: {}", printable_lines(&text));
                printed = text;
            }
        }
    }
}

/// The paragraph in lines of at most `columns`, each after this indentation.
pub fn wrapped(text: &str, columns: usize, indentation: &str) -> String {
    let lines = word_lines(text, columns.saturating_sub(indentation.chars().count()));
    lines.iter().map(|line| format!("{indentation}{line}").trim_end().to_owned() + "\n").collect()
}

/// Mark after the name of a simulated drive.
pub fn simulated_mark(simulated: bool) -> &'static str {
    if simulated { " (simulated)" } else { "" }
}
