//! One table of a plan's keys, for the parser, the canonical text and the JSON schema.

use assay_device::host::parse_date;
use assay_units::parse_duration;
use serde_json::{Value, json};
use toml::Value as Toml;

use crate::name::MAX_PLAN_NAME_BYTES;

/// Section of keys that are in none.
pub(super) const TOP: &str = "";
/// Section of each element of `suites`.
pub(super) const SUITE: &str = "suites";

pub(super) struct Key {
    /// Or [`TOP`] or [`SUITE`].
    pub section: &'static str,
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub help: &'static str,
    /// A value, as TOML.
    pub example: &'static str,
}

/// Type and range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Letters, digits, `.`, `_`, `-`.
    Word,
    /// Without control characters.
    Text,
    /// An absolute path, or an object store.
    Location,
    /// Absolute, on each host.
    Path,
    Flag,
    Integer(u64, u64),
    /// Above 0 and below the limit.
    Fraction(f64),
    Duration,
    /// RFC 3339 with whole seconds and a zone.
    Date,
    OneOf(&'static [&'static str]),
    /// Options, each text, a number or a flag.
    Settings,
    Figures,
    /// Each begins with `-`.
    Options,
}

const fn key(
    section: &'static str,
    name: &'static str,
    kind: Kind,
    help: &'static str,
    example: &'static str,
) -> Key {
    Key { section, name, kind, required: false, help, example }
}

const fn required(key: Key) -> Key {
    Key { required: true, ..key }
}

/// All keys, in canonical order.
pub(super) const KEYS: &[Key] = &[
    required(key(TOP, "name", Kind::Word, "Name of the plan.", "\"m951-firmware\"")),
    required(key(
        SUITE,
        "suite",
        Kind::Text,
        "A suite of `assay suites`, or the path of a suite file, from the plan's folder.",
        "\"bandwidth\"",
    )),
    key(
        SUITE,
        "set",
        Kind::Settings,
        "Parameters of the suite, as --set of `assay run`.",
        "{ area = \"10%\" }",
    ),
    key(
        "drives",
        "model",
        Kind::Text,
        "Model that a drive must report, or its beginning; other drives are left alone.",
        "\"SAMSUNG MZVPV128HDGM\"",
    ),
    key(
        "drives",
        "serials",
        Kind::Text,
        "File with the serials, one per line, from the plan's folder; required by destroy. \
         Without it, all drives of the model in the inventories.",
        "\"serials.txt\"",
    ),
    key(
        "drives",
        "groups",
        Kind::Word,
        "What divides the drives into groups: model, firmware, lot or host, or a column of the \
         list of serials.",
        "\"firmware\"",
    ),
    key(
        "drives",
        "endurance_tb",
        Kind::Fraction(1e6),
        "Rated endurance of a drive, terabytes written by the host (10^12 bytes), as its data \
         sheet says; in place of the drive's own log.",
        "600",
    ),
    key(
        "run",
        "destroy",
        Kind::Flag,
        "Allow writing to the drives, which destroys their data; needs serials, and submit \
         --destroy-count.",
        "true",
    ),
    key(
        "run",
        "share",
        Kind::OneOf(&["alone", "together", "cores"]),
        "alone: one drive of a host at a time; together: all; cores: each with processors of its \
         own NUMA node.",
        "\"alone\"",
    ),
    key(
        "run",
        "place",
        Kind::OneOf(&["host", "drive"]),
        "host: a job per host; drive: a job per drive.",
        "\"host\"",
    ),
    key(
        "run",
        "attempts",
        Kind::Integer(1, 100),
        "Attempts per drive and suite after I/O errors.",
        "5",
    ),
    key(
        "run",
        "endurance_limit_pct",
        Kind::Fraction(100.0),
        "Largest share of its rated endurance that a drive may be written, percent; a drive that \
         could be written more is left out.",
        "1",
    ),
    key(
        "run",
        "until",
        Kind::Date,
        "No cell is begun that could end later.",
        "\"2027-02-01T00:00:00Z\"",
    ),
    key(
        "run",
        "scale",
        Kind::Fraction(100.0),
        "Factor on all durations of the suites, as --scale of `assay run`.",
        "0.1",
    ),
    key(
        "run",
        "seed",
        Kind::Integer(0, i64::MAX as u64),
        "Seed of the random number generators, as --seed of `assay run`.",
        "1",
    ),
    key(
        "run",
        "metrics",
        Kind::Path,
        "Folder of each host in which the task keeps its live figures as OpenMetrics, for the \
         textfile collector of the node exporter.",
        "\"/var/lib/prometheus/node-exporter\"",
    ),
    required(key(
        "store",
        "at",
        Kind::Location,
        "The shared store: an absolute path that all hosts see, or s3://BUCKET/PREFIX.",
        "\"/shared/assay\"",
    )),
    key(
        "store",
        "every",
        Kind::Duration,
        "Longest time for which a journal is on its host only.",
        "\"5m\"",
    ),
    key(
        "compare",
        "primary",
        Kind::Figures,
        "Figures that the plan is about, declared before measuring; all others are exploration.",
        "[\"random-read.iops\"]",
    ),
    key(
        "compare",
        "minimum_effect",
        Kind::Fraction(1.0),
        "Smallest relative difference that matters.",
        "0.02",
    ),
    key(
        "slurm",
        "partition",
        Kind::Text,
        "Partition of the jobs; {rack} is the rack of the host in the inventory.",
        "\"rack-{rack}\"",
    ),
    key(
        "slurm",
        "options",
        Kind::Options,
        "Options of sbatch, passed on as they are.",
        "[\"--account=qual\"]",
    ),
];

/// Sections, in canonical order.
pub(super) const SECTIONS: [&str; 5] = ["drives", "run", "store", "compare", "slurm"];

pub(super) fn find(section: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.section == section && key.name == name)
}

pub(super) fn of_section(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section == section)
}

const TEXT_PATTERN: &str = "^[^\\x00-\\x1f\\x7f]+$";

impl Kind {
    /// `None` if the value can be used.
    pub(super) fn refuse(self, value: &Toml) -> Option<String> {
        let good = match (self, value) {
            (Kind::Word, Toml::String(text)) => is_word(text),
            (Kind::Text, Toml::String(text)) => is_text(text),
            (Kind::Location, Toml::String(text)) => {
                is_text(text) && (text.starts_with('/') || text.starts_with("s3://"))
            }
            (Kind::Path, Toml::String(text)) => is_text(text) && text.starts_with('/'),
            (Kind::Flag, Toml::Boolean(_)) => true,
            (Kind::Integer(least, most), Toml::Integer(number)) => {
                u64::try_from(*number).is_ok_and(|n| (least..=most).contains(&n))
            }
            (Kind::Fraction(limit), Toml::Float(number)) => *number > 0.0 && *number < limit,
            (Kind::Fraction(limit), Toml::Integer(number)) => {
                *number > 0 && (*number as f64) < limit
            }
            (Kind::Duration, Toml::String(text)) => is_duration(text),
            (Kind::Date, Toml::String(text)) => is_date(text),
            (Kind::OneOf(words), Toml::String(text)) => words.contains(&text.as_str()),
            (Kind::Settings, Toml::Table(table)) => table.iter().all(|(key, value)| {
                is_text(key)
                    && match value {
                        Toml::String(text) => is_text(text),
                        Toml::Float(number) => number.is_finite(),
                        Toml::Integer(_) | Toml::Boolean(_) => true,
                        _ => false,
                    }
            }),
            (Kind::Figures, Toml::Array(all)) => {
                !all.is_empty() && all.iter().all(|one| one.as_str().is_some_and(is_figure))
            }
            (Kind::Options, Toml::Array(all)) => {
                let is_option = |text: &str| is_text(text) && text.starts_with('-');
                all.iter().all(|one| one.as_str().is_some_and(is_option))
            }
            _ => false,
        };
        (!good).then(|| self.form())
    }

    /// A text that follows the word "write".
    fn form(self) -> String {
        match self {
            Kind::Word => format!(
                "1 to {MAX_PLAN_NAME_BYTES} letters, digits, `.`, `_` or `-`, the first of them a \
                 letter or digit"
            ),
            Kind::Text => "text in quotes, not empty".to_owned(),
            Kind::Location => {
                "an absolute path that all hosts see, or s3://BUCKET/PREFIX".to_owned()
            }
            Kind::Path => "an absolute path on each host".to_owned(),
            Kind::Flag => "true or false, without quotes".to_owned(),
            Kind::Integer(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Fraction(limit) => format!("a number above 0 and below {limit}"),
            Kind::Duration => "a duration in quotes, such as \"30s\", \"5m\" or \"1h\"".to_owned(),
            Kind::Date => {
                "a date in quotes with its zone, such as \"2027-02-01T00:00:00Z\"".to_owned()
            }
            Kind::OneOf(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                quoted.join(" or ")
            }
            Kind::Settings => {
                "a table of parameters, such as { area = \"10%\", rounds = 3 }".to_owned()
            }
            Kind::Figures => {
                "a list of figures as STEP.FIGURE, such as [\"random-read.iops\"]".to_owned()
            }
            Kind::Options => "a list of options, each beginning with `-`, such as \
                              [\"--account=qual\"]"
                .to_owned(),
        }
    }

    pub(super) fn schema(self) -> Value {
        let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
        match self {
            Kind::Word => {
                text(&format!("^[A-Za-z0-9][A-Za-z0-9._-]{{0,{}}}$", MAX_PLAN_NAME_BYTES - 1))
            }
            Kind::Text => text(TEXT_PATTERN),
            Kind::Location => text("^(/|s3://)[^\\x00-\\x1f\\x7f]*$"),
            Kind::Path => text("^/[^\\x00-\\x1f\\x7f]*$"),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Integer(least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Kind::Fraction(limit) => {
                json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": limit })
            }
            Kind::Duration => text("^(?=.*[1-9])[0-9]{1,9}(ms|s|m|h|d)$"),
            Kind::Date => text(
                "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:\
                 [0-5][0-9](Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
            ),
            Kind::OneOf(words) => json!({ "enum": words }),
            Kind::Settings => json!({
                "type": "object",
                "propertyNames": { "pattern": TEXT_PATTERN },
                "additionalProperties": {
                    "type": ["string", "number", "boolean"],
                    "pattern": TEXT_PATTERN,
                },
            }),
            Kind::Figures => json!({
                "type": "array", "minItems": 1, "items": text("^[!-~]*[!--/-~][.][!-~]+$"),
            }),
            Kind::Options => json!({
                "type": "array", "items": text("^-[^\\x00-\\x1f\\x7f]*$"),
            }),
        }
    }
}

fn is_word(text: &str) -> bool {
    crate::name::check_word("name", text, MAX_PLAN_NAME_BYTES).is_ok()
}

fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.bytes().any(|byte| byte < 0x20 || byte == 0x7f)
}

/// `STEP.FIGURE`, printable ASCII without blanks.
fn is_figure(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
        && (text.char_indices())
            .any(|(at, c)| c == '.' && at > 0 && !text[..at].ends_with('.') && at + 1 < text.len())
}

fn is_duration(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=9).contains(&digits)
        && ["ms", "s", "m", "h", "d"].contains(&&text[digits..])
        && parse_duration(text).is_ok_and(|span| span.0 > 0)
}

fn is_date(text: &str) -> bool {
    // Of RFC 3339's forms, the one with `T`, whole seconds and a zone: 20 or 25 characters.
    let form = text.as_bytes();
    let shape = matches!(form.len(), 20 | 25) && form[10] == b'T' && form[16] == b':';
    let zone = form.last() == Some(&b'Z') || form.len() == 25;
    let whole = !form.contains(&b'.') && !form.contains(&b',');
    shape && zone && whole && parse_date(text).is_ok()
}
