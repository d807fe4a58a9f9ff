//! A suite as TOML. `docs/suites.md` explains it to people who write their own.

use std::collections::BTreeMap;

use assay_engine::options::JobOptions;
use assay_store::model::CellKind;
use serde::Deserialize;

use crate::SuiteError;

/// A suite as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Short name, as on the command line.
    pub name: String,
    /// Title.
    pub title: String,
    /// What it does, in a paragraph.
    pub summary: String,
    /// Where the procedure comes from.
    pub source: String,
    /// How long it takes on one drive at scale 1, for people.
    pub duration: String,
    /// What can be set with `--set key=value`.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// What is done, in order.
    #[serde(default, rename = "step")]
    pub steps: Vec<Step>,
    /// Rules for the verdict; without them there is none.
    #[serde(default)]
    pub verdict: Option<VerdictRules>,
    /// The text this was read from.
    #[serde(skip)]
    pub text: String,
}

/// One parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its value unless set.
    pub default: String,
    /// What it is, for people.
    pub help: String,
    /// `size`, `duration`, `list` or `text`: how its value is checked.
    #[serde(default)]
    pub kind: ParameterKind,
}

/// How a parameter's value is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// A size; cut to what the drive has room for.
    Size,
    /// A duration; multiplied by `--scale`.
    Duration,
    /// Values separated by commas.
    List,
    /// Anything.
    #[default]
    Text,
}

/// What a step needs, or its cells are skipped with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Leave to write: `--destroy`, or a drive that holds nobody's data.
    Write,
    /// A regular file (a file system to read through).
    File,
    /// More than one drive.
    SeveralDrives,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Short name, unique in the suite.
    pub id: String,
    /// Title for tables.
    pub title: String,
    /// What its cells are for.
    pub kind: CellKind,
    /// What it needs.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// The workload, in `assay job`'s words (the fields of [`JobOptions`]); `{parameter}` is replaced by its value.
    pub job: toml::Table,
    /// Options that take several values: one cell per combination, the first named varies slowest.
    #[serde(default)]
    pub matrix: toml::Table,
    /// Drop the area from the page cache first.
    #[serde(default)]
    pub drop_cache: bool,
    /// Give the ratio of each cell's rate to that of the same cell of this earlier step.
    #[serde(default)]
    pub compare_with: Option<String>,
}

/// Rules for the verdict: a figure that is missing takes no part.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRules {
    /// The rules, each about one figure.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is about, for people.
    pub about: String,
    /// Which figure.
    pub figure: Figure,
    /// Of which step; every figure but `errors` needs one.
    #[serde(default)]
    pub step: Option<String>,
    /// At or above (below, with `lower_is_better`) speaks for the drive.
    pub good: f64,
    /// Below (above, with `lower_is_better`) speaks against it; between the two is a condition.
    pub bad: f64,
    /// Smaller figures are better.
    #[serde(default)]
    pub lower_is_better: bool,
    /// What a condition or an objection means, for people.
    pub advice: String,
}

/// A figure a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// MiB/s of the step's best cell.
    BestRate,
    /// MiB/s of the step's best cell with one thread.
    SingleRate,
    /// MiB/s of the slowest second as a share of the mean, percent: how steady it is.
    SteadinessPct,
    /// Rate of the last fifth as a share of the first fifth, percent: what a long run loses.
    EnduringPct,
    /// p99 latency in microseconds of the step's first cell.
    P99Us,
    /// Rate of the cell with most threads as a share of that with fewest at the same block size, percent, best block size.
    ScalingPct,
    /// Highest temperature seen, degrees Celsius.
    HottestC,
    /// Failed I/Os in all steps.
    Errors,
}

impl Suite {
    /// Read a suite.
    ///
    /// # Errors
    /// When the TOML is malformed, a key is unknown, or steps do not fit together; the message says where.
    pub fn parse(name: &str, text: &str) -> Result<Suite, SuiteError> {
        let failed = |message: String| SuiteError::Text {
            name: name.to_owned(),
            message,
        };
        let mut suite: Suite =
            toml::from_str(text).map_err(|e| failed(e.to_string().trim_end().to_owned()))?;
        suite.text = text.to_owned();
        if suite.steps.is_empty() {
            return Err(failed("has no [[step]]".to_owned()));
        }
        for (i, step) in suite.steps.iter().enumerate() {
            if suite.steps[..i].iter().any(|s| s.id == step.id) {
                return Err(failed(format!("two steps are called {:?}", step.id)));
            }
            if step.id.is_empty()
                || !step
                    .id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-')
            {
                return Err(failed(format!(
                    "step {:?}: a step's id is made of letters, digits and hyphens",
                    step.id
                )));
            }
            if let Some(key) = step
                .job
                .keys()
                .chain(step.matrix.keys())
                .find(|key| !known_option(key))
            {
                return Err(failed(format!(
                    "step {:?}: {key:?} is not an option of a job; `assay job --help` lists them",
                    step.id
                )));
            }
            if let Some(other) = &step.compare_with
                && !suite.steps[..i].iter().any(|s| s.id == *other)
            {
                return Err(failed(format!(
                    "step {:?} is compared with {other:?}, which is no earlier step",
                    step.id
                )));
            }
        }
        if let Some(verdict) = &suite.verdict {
            for rule in &verdict.rules {
                match &rule.step {
                    Some(step) if !suite.steps.iter().any(|s| s.id == *step) => {
                        return Err(failed(format!(
                            "the verdict rule about {:?} names step {step:?}, which there is not",
                            rule.about
                        )));
                    }
                    None if rule.figure != Figure::Errors => {
                        return Err(failed(format!(
                            "the verdict rule about {:?} must say of which step",
                            rule.about
                        )));
                    }
                    _ => {}
                }
            }
        }
        Ok(suite)
    }

    /// Does any step write?
    pub fn writes(&self) -> Writes {
        let writing = self.steps.iter().filter(|s| s.writes()).count();
        match writing {
            0 => Writes::Never,
            _ if self.steps.iter().all(|s| s.needs.contains(&Need::Write)) => Writes::Always,
            _ => Writes::IfAllowed,
        }
    }
}

/// Is this a field of [`JobOptions`]? Asked of the type itself: an unknown one does not deserialise.
fn known_option(key: &str) -> bool {
    let mut table = toml::Table::new();
    table.insert(key.to_owned(), toml::Value::Array(Vec::new()));
    // An array fits no option: the complaint about a known one is its type, about another that it is unknown.
    match table.try_into::<JobOptions>() {
        Ok(_) => true,
        Err(error) => !error.to_string().contains("unknown field"),
    }
}

/// Whether a suite destroys data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Read-only.
    Never,
    /// Writes where `--destroy` allows it, and skips those cells otherwise.
    IfAllowed,
    /// Does nothing without leave to write.
    Always,
}

impl Writes {
    /// In words, for listings.
    pub fn words(self) -> &'static str {
        match self {
            Writes::Never => "read-only",
            Writes::IfAllowed => "read-only unless --destroy names the drive",
            Writes::Always => "destroys data: needs --destroy",
        }
    }
}

impl Step {
    /// Does its workload write?
    pub fn writes(&self) -> bool {
        self.kind != CellKind::Inspect
            && !matches!(
                self.job.get("rw").and_then(toml::Value::as_str),
                None | Some("read" | "randread")
            )
    }
}
