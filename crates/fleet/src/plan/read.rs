use assay_units::text::did_you_mean;
use toml::{Table, Value};

use super::error::{PlanError, Problem};
use super::keys::{self, KEYS, SECTIONS, SUITE, TOP};

/// [`PlanError::Invalid`] has every key and value that cannot be used.
pub(super) fn checked_table(file: &str, text: &str) -> Result<Table, PlanError> {
    let table: Table = toml::from_str(text).map_err(|e: toml::de::Error| PlanError::Toml {
        path: file.to_owned(),
        message: e.to_string().trim_end().to_owned(),
    })?;
    let mut problems = Vec::new();
    let top = keys::of_section(TOP).map(|key| key.name);
    let known: Vec<&str> = top.chain(["suites"]).chain(SECTIONS).collect();
    for (name, value) in &table {
        match (name.as_str(), value) {
            ("suites", value) => check_suites(value, &mut problems),
            (section, Value::Table(keys)) if SECTIONS.contains(&section) => {
                check_section(section, section, keys, &mut problems);
            }
            (section, value) if SECTIONS.contains(&section) => {
                let why = format!("{value} is no section; write [{section}]");
                problems.push(problem(section, why));
            }
            (name, value) => match keys::find(TOP, name) {
                Some(key) => check_value(name, key, value, &mut problems),
                None => problems.push(unknown(name, name, &known)),
            },
        }
    }
    for key in KEYS.iter().filter(|key| key.required) {
        let missing = match key.section {
            TOP => !table.contains_key(key.name),
            SUITE => continue,
            section => !table
                .get(section)
                .and_then(Value::as_table)
                .is_some_and(|keys| keys.contains_key(key.name)),
        };
        if missing {
            problems.push(missing_key(key.section, key));
        }
    }
    if !table.contains_key("suites") {
        problems.push(problem("suites", SUITES_FORM.to_owned()));
    }
    match problems.is_empty() {
        true => Ok(table),
        false => Err(PlanError::Invalid { path: file.to_owned(), problems }),
    }
}

const SUITES_FORM: &str =
    "write a list with at least one suite: suites = [ { suite = \"bandwidth\" } ]";

fn problem(key: &str, why: String) -> Problem {
    Problem { key: key.to_owned(), why }
}

fn unknown(path: &str, name: &str, known: &[&str]) -> Problem {
    let known = known.join(", ");
    let similar = did_you_mean(name, &known);
    problem(path, format!("there is no such key{similar}; the keys here are: {known}"))
}

fn missing_key(section: &str, key: &keys::Key) -> Problem {
    let path = path_of(section, key.name);
    let place = match section {
        TOP => String::new(),
        section => format!(" into [{section}]"),
    };
    problem(&path, format!("is missing; write {} = {}{place}", key.name, key.example))
}

fn path_of(section: &str, name: &str) -> String {
    match section {
        TOP => name.to_owned(),
        section => format!("{section}.{name}"),
    }
}

fn check_value(path: &str, key: &keys::Key, value: &Value, problems: &mut Vec<Problem>) {
    if let Some(form) = key.kind.refuse(value) {
        let why = format!("{value} cannot be used; write {form}");
        problems.push(problem(path, why));
    }
}

fn check_section(path: &str, section: &str, table: &Table, problems: &mut Vec<Problem>) {
    for (name, value) in table {
        let path = format!("{path}.{name}");
        match keys::find(section, name) {
            Some(key) => check_value(&path, key, value, problems),
            None => {
                let known: Vec<&str> = keys::of_section(section).map(|key| key.name).collect();
                problems.push(unknown(&path, name, &known));
            }
        }
    }
}

fn check_suites(value: &Value, problems: &mut Vec<Problem>) {
    let suites = value.as_array().filter(|suites| !suites.is_empty());
    let Some(suites) = suites else {
        problems.push(problem("suites", SUITES_FORM.to_owned()));
        return;
    };
    for (index, suite) in suites.iter().enumerate() {
        let path = format!("suites[{index}]");
        let Some(table) = suite.as_table() else {
            let why = format!("{suite} cannot be used; write {{ suite = \"bandwidth\" }}");
            problems.push(problem(&path, why));
            continue;
        };
        check_section(&path, SUITE, table, problems);
        for key in keys::of_section(SUITE).filter(|key| key.required) {
            if !table.contains_key(key.name) {
                let why = format!("is missing; write {} = {}", key.name, key.example);
                problems.push(problem(&format!("{path}.{}", key.name), why));
            }
        }
    }
}

pub(super) fn value<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    debug_assert!(keys::find(section, key).is_some(), "{section}.{key}");
    match section {
        TOP => table.get(key),
        section => table.get(section)?.as_table()?.get(key),
    }
}

pub(super) fn string(table: &Table, section: &str, key: &str) -> Option<String> {
    Some(value(table, section, key)?.as_str()?.to_owned())
}

pub(super) fn number(table: &Table, section: &str, key: &str) -> Option<f64> {
    let value = value(table, section, key)?;
    value.as_float().or(value.as_integer().map(|n| n as f64))
}

pub(super) fn strings(table: &Table, section: &str, key: &str) -> Vec<String> {
    let all = value(table, section, key).and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_str);
    all.map(str::to_owned).collect()
}

/// The `kept` keys, in the order of the table of keys.
pub(super) fn canonical(table: &Table, kept: &dyn Fn(&str, &str) -> bool) -> String {
    let line = |section: &str, key: &keys::Key| {
        let value = value(table, section, key.name).filter(|_| kept(section, key.name))?;
        Some(format!("{} = {}\n", key.name, plain(value)))
    };
    let mut text: String = keys::of_section(TOP).filter_map(|key| line(TOP, key)).collect();
    let suites = table.get("suites").and_then(Value::as_array);
    for suite in suites.into_iter().flatten().filter_map(Value::as_table) {
        text.push_str("\n[[suites]]\n");
        for key in keys::of_section(SUITE).filter(|key| kept(SUITE, key.name)) {
            if let Some(value) = suite.get(key.name) {
                text.push_str(&format!("{} = {}\n", key.name, plain(value)));
            }
        }
    }
    for section in SECTIONS {
        let lines: String =
            keys::of_section(section).filter_map(|key| line(section, key)).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n[{section}]\n{lines}"));
        }
    }
    text
}

/// The value on one line; the keys of tables are sorted.
fn plain(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let mut keys: Vec<&String> = table.keys().collect();
            keys.sort();
            let one = |key: &String| {
                format!("{} = {}", Value::String(key.clone()), plain(&table[key.as_str()]))
            };
            let all: Vec<String> = keys.into_iter().map(one).collect();
            format!("{{ {} }}", all.join(", "))
        }
        other => other.to_string(),
    }
}
