//! Events of all crates as lines on standard error (docs/reliability.md, "Events").
//!
//! A line is one write, so that lines of several threads and processes do not mix.

use std::fmt;

use assay_device::host::wall_clock_ms;
use assay_fleet::LOG_VARIABLE;
use assay_units::text::is_unprintable;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::exit::bail_usage;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct Log {
    /// Write events of this level and of those before it to stderr, a line each [default:
    /// ASSAY_LOG, or off].
    #[arg(
        long = "log",
        global = true,
        value_name = "LEVEL",
        value_parser = PossibleValuesParser::new(LEVELS)
            .try_map(|level| level.parse::<LevelFilter>())
    )]
    level: Option<LevelFilter>,
}

impl Log {
    /// Have the events written from now on. Once per process.
    ///
    /// # Errors
    /// When the environment variable is needed and is no level.
    pub fn begin(self) -> anyhow::Result<()> {
        let level = match self.level {
            Some(level) => level,
            None => level_of_environment()?,
        };
        if level == LevelFilter::OFF {
            return Ok(());
        }
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_timer(Utc)
            .fmt_fields(debug_fn(field).delimited(" "))
            // It would panic where stderr is closed.
            .log_internal_errors(false);
        let own = Targets::new().with_target("assay", level);
        tracing_subscriber::registry().with(own).with(lines).init();
        Ok(())
    }
}

/// That of [`LOG_VARIABLE`]; none if it is not set, or empty.
fn level_of_environment() -> anyhow::Result<LevelFilter> {
    let text = std::env::var_os(LOG_VARIABLE).unwrap_or_default();
    let text = text.to_string_lossy();
    match &*text {
        "" => Ok(LevelFilter::OFF),
        level if LEVELS.contains(&level) => Ok(level.parse()?),
        other => {
            bail_usage!("{LOG_VARIABLE}={other} is no level; use one of {}", LEVELS.join(", "))
        }
    }
}

struct Utc;

impl FormatTime for Utc {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        line.write_str(&wall_clock_ms())
    }
}

/// `key=value`; what would act on a terminal, or begin a line, is escaped.
fn field(line: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(line, "{}=", field.name())?;
    }
    for c in format!("{value:?}").chars() {
        match is_unprintable(c) {
            true => write!(line, "{}", c.escape_default())?,
            false => line.write_char(c)?,
        }
    }
    Ok(())
}
