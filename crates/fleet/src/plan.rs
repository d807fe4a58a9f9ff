//! Plans. `keys` is the one table of a plan's keys, from which the parser, the canonical text and
//! the JSON schema follow. The [`PlanId`] is a hash of what determines the results: suites with
//! their texts and parameters, selection of drives with the list of serials, and what a drive
//! shares while it is measured. Where and until when jobs run (`place`, `attempts`, `until`,
//! `[store]`, `[slurm]`), and which drives may wear how much, can be changed while a plan runs.

use std::path::{Path, PathBuf};

use assay_device::host::parse_date;
use assay_suite::catalogue;
use assay_suite::expand::{RunSettings, expand};
use assay_suite::schema::{Suite, WriteAccess};
use assay_units::text::hexadecimal;
use assay_units::{Nanos, parse_duration};
use assay_workload::plan::DEFAULT_SEED;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

mod destroy;
mod endurance;
mod error;
mod estimate;
mod keys;
mod read;
mod schema;
mod serials;

pub use destroy::confirm_destroy;
pub use endurance::{EnduranceShare, OverLimit};
pub use error::{DestroyError, PlanError, Problem};
pub use estimate::{Estimate, Estimates};
pub use schema::json_schema;
pub use serials::SerialList;

use crate::PlanId;
use crate::name::PLAN_HASH_DIGITS;

pub const DEFAULT_ATTEMPTS: u32 = 5;
pub const DEFAULT_EVERY: Nanos = Nanos(300 * Nanos::SECOND.0);
pub const DEFAULT_MINIMUM_EFFECT: f64 = 0.02;
/// Capacity of the null target over which suites are expanded to check their parameters.
const STAND_IN_BYTES: u64 = 1 << 44;
/// Unit of rated endurance (JESD218B, TBW).
const TERABYTE: f64 = 1e12;
/// Beside a stored plan.
pub const SERIALS_FILE: &str = "serials.txt";

#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    /// Runs on each drive in this order.
    pub suites: Vec<PlanSuite>,
    pub drives: DriveSelection,
    pub run: RunRules,
    pub store: StoreRules,
    pub compare: CompareRules,
    pub slurm: SlurmRules,
    /// The keys that were given.
    given: Table,
}

#[derive(Clone, Debug)]
pub struct PlanSuite {
    /// A built-in suite, or the path of a suite file as given.
    pub name: String,
    /// Name without folder and extension: for keys and folders.
    pub label: String,
    pub suite: Suite,
    /// Text of a suite file; `None` for a built-in suite.
    pub text: Option<String>,
    /// Parameters, as `--set` takes them.
    pub set: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveSelection {
    /// Beginning of the model that a drive must report.
    pub model: Option<String>,
    /// `None`: all drives of the model.
    pub serials: Option<SerialList>,
    pub groups: Option<String>,
    /// Bytes written by the host.
    pub endurance_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Share {
    #[default]
    Alone,
    Together,
    /// All, each with processors of its own NUMA node.
    Cores,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    Host,
    Drive,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunRules {
    pub destroy: bool,
    pub share: Share,
    pub place: Place,
    /// Attempts per drive and suite after I/O errors.
    pub attempts: u32,
    /// Largest share of its rated endurance that a drive may be written.
    pub endurance_limit_pct: Option<f64>,
    /// No cell is begun that could end later: the text, and seconds since 1970.
    pub until: Option<(String, u64)>,
    /// Factor on durations.
    pub scale: f64,
    pub seed: u64,
    /// Folder of each host for the live figures of its task.
    pub metrics: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoreRules {
    pub at: String,
    /// Longest time for which a journal is on its host only.
    pub every: Nanos,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CompareRules {
    /// Declared before measuring.
    pub primary: Vec<String>,
    /// Smallest relative difference that matters.
    pub minimum_effect: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmRules {
    /// `{rack}` stands for the rack of the host.
    pub partition: Option<String>,
    pub options: Vec<String>,
}

impl RunRules {
    fn new(given: &Table) -> RunRules {
        let string = |key: &str| read::string(given, "run", key);
        let number = |key: &str| read::number(given, "run", key);
        let value = |key: &str| read::value(given, "run", key);
        let integer = |key: &str| value(key)?.as_integer()?.try_into().ok();
        let attempts = value("attempts").and_then(Value::as_integer);
        let attempts = attempts.and_then(|n| u32::try_from(n).ok());
        RunRules {
            destroy: value("destroy").and_then(Value::as_bool) == Some(true),
            share: match string("share").as_deref() {
                Some("together") => Share::Together,
                Some("cores") => Share::Cores,
                _ => Share::Alone,
            },
            place: match string("place").as_deref() {
                Some("drive") => Place::Drive,
                _ => Place::Host,
            },
            attempts: attempts.unwrap_or(DEFAULT_ATTEMPTS),
            endurance_limit_pct: number("endurance_limit_pct"),
            until: string("until").map(|text| {
                let unix_s = parse_date(&text).unwrap_or(0);
                (text, unix_s)
            }),
            scale: number("scale").unwrap_or(1.0),
            seed: integer("seed").unwrap_or(DEFAULT_SEED),
            metrics: string("metrics").map(PathBuf::from),
        }
    }
}

impl Plan {
    /// The group of a drive by the list of serials; none without a column of groups.
    pub fn group_of(&self, serial: &str) -> Option<String> {
        let column = self.drives.groups.as_ref()?;
        let list = self.drives.serials.as_ref()?;
        let own = list.drives.keys().find(|known| known.as_str() == serial)?;
        list.value(own, column).map(str::to_owned)
    }

    /// Paths of the list of serials and of suite files are relative to the plan's folder.
    pub fn load(path: &Path) -> Result<Plan, PlanError> {
        let name = path.display().to_string();
        let text = assay_output::read_text(path)
            .map_err(|source| PlanError::File { path: name.clone(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Plan::parse(&name, &text, &|file| assay_output::read_text(&folder.join(file)))
    }

    /// `file` is the plan's name in errors, `read` reads the files that it names.
    pub fn parse(
        file: &str,
        text: &str,
        read: &dyn Fn(&str) -> std::io::Result<String>,
    ) -> Result<Plan, PlanError> {
        let given = read::checked_table(file, text)?;
        let string = |section: &str, key: &str| read::string(&given, section, key);
        let number = |section: &str, key: &str| read::number(&given, section, key);
        let strings = |section: &str, key: &str| read::strings(&given, section, key);
        let suites = given.get("suites").and_then(Value::as_array);
        let suites = suites.into_iter().flatten().filter_map(Value::as_table);
        let suites = suites.map(|table| suite(file, table, read));
        let suites = suites.collect::<Result<Vec<PlanSuite>, PlanError>>()?;
        let serials = string("drives", "serials").map(|list| {
            let text = read(&list).map_err(|source| PlanError::SerialsFile {
                path: file.to_owned(),
                list: list.clone(),
                source,
            })?;
            SerialList::parse(&list, &text)
        });
        let every = string("store", "every").and_then(|text| parse_duration(&text).ok());
        let plan = Plan {
            name: string(keys::TOP, "name").unwrap_or_default(),
            suites,
            drives: DriveSelection {
                model: string("drives", "model"),
                serials: serials.transpose()?,
                groups: string("drives", "groups"),
                endurance_bytes: number("drives", "endurance_tb").map(|tb| (tb * TERABYTE) as u64),
            },
            run: RunRules::new(&given),
            store: StoreRules {
                at: string("store", "at").unwrap_or_default(),
                every: every.unwrap_or(DEFAULT_EVERY),
            },
            compare: CompareRules {
                primary: strings("compare", "primary"),
                minimum_effect: number("compare", "minimum_effect")
                    .unwrap_or(DEFAULT_MINIMUM_EFFECT),
            },
            slurm: SlurmRules {
                partition: string("slurm", "partition"),
                options: strings("slurm", "options"),
            },
            given,
        };
        plan.check(file)?;
        Ok(plan)
    }

    fn check(&self, file: &str) -> Result<(), PlanError> {
        let problem = |key: &str, why: String| PlanError::Invalid {
            path: file.to_owned(),
            problems: vec![Problem { key: key.to_owned(), why }],
        };
        for (index, suite) in self.suites.iter().enumerate() {
            let is_file = suite.text.is_some();
            let same = |other: &PlanSuite| other.label == suite.label && other.text != suite.text;
            // Suite files are stored beside the plan, by their names.
            if is_file && (suite.label == "plan" || self.suites[..index].iter().any(same)) {
                let name = &suite.name;
                let why = format!("{name:?} has the name of another file of this plan; rename it");
                return Err(problem(&format!("suites[{index}].suite"), why));
            }
            // A large stand-in: whether a drive is large enough is said per drive.
            let checked = estimate::stand_in(STAND_IN_BYTES)
                .and_then(|drive| expand(&suite.suite, &self.settings(suite), &[drive]));
            checked.map_err(|source| PlanError::Suite {
                path: file.to_owned(),
                source: Box::new(source),
            })?;
            if suite.suite.writes() == WriteAccess::Always && !self.run.destroy {
                return Err(DestroyError::NotAllowed(suite.name.clone()).into());
            }
        }
        let selection = &self.drives;
        if self.run.destroy && selection.serials.is_none() {
            return Err(DestroyError::NoSerials.into());
        }
        if selection.model.is_none() && selection.serials.is_none() {
            let why = "select drives: write model = \"MODEL\", or serials = \"FILE\", or both";
            return Err(problem("drives", why.to_owned()));
        }
        if let Some(groups) = &selection.groups {
            let columns = selection.serials.iter().flat_map(|list| &list.columns);
            let known = ["model", "firmware", "lot", "host"].into_iter();
            let known: Vec<&str> = known.chain(columns.map(String::as_str)).collect();
            if !known.contains(&groups.as_str()) {
                return Err(problem(
                    "drives.groups",
                    format!(
                        "{groups:?} is no column of the list of serials; write one of: {}",
                        known.join(", ")
                    ),
                ));
            }
        }
        Ok(())
    }

    pub fn settings(&self, suite: &PlanSuite) -> RunSettings {
        RunSettings { set: suite.set.clone(), scale: self.run.scale, seed: self.run.seed }
    }

    /// The given keys in the order of the schema, without comments. Parsing it gives the same plan.
    pub fn canonical(&self) -> String {
        read::canonical(&self.given, &|_, _| true)
    }

    /// `plan.toml` in the shared store: as [`Plan::canonical`], with the list of serials and suite
    /// files beside it.
    pub fn stored_text(&self) -> String {
        let mut given = self.given.clone();
        let drives = given.get_mut("drives").and_then(Value::as_table_mut);
        if let Some(serials) = drives.and_then(|drives| drives.get_mut("serials")) {
            *serials = SERIALS_FILE.into();
        }
        let suites = given.get_mut("suites").and_then(Value::as_array_mut);
        let tables = suites.into_iter().flatten().filter_map(Value::as_table_mut);
        for (suite, table) in self.suites.iter().zip(tables) {
            if suite.text.is_some() {
                table.insert("suite".to_owned(), suite_file(suite).into());
            }
        }
        read::canonical(&given, &|_, _| true)
    }

    /// Names and texts of the suite files.
    pub fn stored_suites(&self) -> Vec<(String, String)> {
        let file = |suite: &PlanSuite| Some((suite_file(suite), suite.text.clone()?));
        self.suites.iter().filter_map(file).collect()
    }

    /// Never fails: the name was checked.
    pub fn id(&self) -> Result<PlanId, PlanError> {
        // Results depend on the contents of list and suites, not on their file names.
        let mut text = read::canonical(&self.given, &|section, key| match section {
            keys::TOP | keys::SUITE | "compare" => key != "suite",
            "drives" => !["serials", "endurance_tb"].contains(&key),
            "run" => ["destroy", "share", "scale", "seed"].contains(&key),
            _ => false,
        });
        for suite in &self.suites {
            text.push_str(&format!("suite {}\n", suite.label));
            text.push_str(suite.text.as_deref().unwrap_or_default());
        }
        if let Some(list) = &self.drives.serials {
            text.push_str(&list.text());
        }
        let hash = hexadecimal(&Sha256::digest(text.as_bytes()));
        let id = format!("{}-{}", self.name, &hash[..PLAN_HASH_DIGITS]);
        Ok(PlanId::parse(&id)?)
    }
}

/// The label stays the file's, as it is part of the plan id.
fn suite_file(suite: &PlanSuite) -> String {
    format!("{}.toml", suite.label)
}

fn suite(
    file: &str,
    table: &Table,
    read: &dyn Fn(&str) -> std::io::Result<String>,
) -> Result<PlanSuite, PlanError> {
    let error = |source| PlanError::Suite { path: file.to_owned(), source: Box::new(source) };
    let name = table.get("suite").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let path = Path::new(&name);
    let (suite, text) = match path.extension().is_some_and(|e| e == "toml") {
        false => (catalogue::load(&name).map_err(error)?, None),
        true => {
            let text = read(&name).map_err(|source| {
                error(assay_suite::SuiteError::File { path: name.clone(), source })
            })?;
            (Suite::parse(&name, &text).map_err(error)?, Some(text))
        }
    };
    let label = path.file_stem().unwrap_or_default().to_string_lossy();
    // The label is part of keys and folders.
    crate::name::check_word("name of a suite file", &label, 64)?;
    let set = table.get("set").and_then(Value::as_table);
    let set = set.into_iter().flatten().map(|(key, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (key.clone(), value)
    });
    Ok(PlanSuite { label: label.into_owned(), set: set.collect(), name, suite, text })
}

#[cfg(test)]
#[path = "../tests/unit/plan.rs"]
mod tests;
