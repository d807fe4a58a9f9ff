//! Ensembles: sets of parameters that explain the figures of one drive about equally well
//! (`profiles/ensembles/NAME.csv`, embedded).
//!
//! A profile is the central member. The first line of an ensemble is `weight` and the paths of its
//! numbers, one of a list with its place (`nand.read_ns[1]`); each further line is a member: its
//! weight (all add up to 1) and the numbers. Other numbers are the profile's. The spread of the
//! members' figures shows what fits leave undetermined (docs/fit.md).

use super::{Profile, ProfileError};

macro_rules! ensembles {
    ($($name:literal,)*) => {
        /// Names and texts, by profile.
        const ENSEMBLES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../../profiles/ensembles/", $name, ".csv"))),)*
        ];
    };
}

// Written by `make predictions`.
ensembles! {
    "samsung-951",
    "intel-600p",
    "samsung-960-evo",
    "toshiba-rd400",
    "wd-black",
    "mydigitalssd-bpx",
    "plextor-m8pe-g",
}

/// Members of a profile and their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    /// Paths of the numbers, one of a list with its place.
    pub paths: Vec<String>,
    /// The members, most probable first.
    pub members: Vec<Member>,
}

/// One set of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its share of the probability; those of an ensemble add up to 1.
    pub weight: f64,
    /// One per path: an integer, a float or a boolean.
    pub values: Vec<toml::Value>,
}

fn invalid(line: usize, what: impl std::fmt::Display) -> ProfileError {
    ProfileError::Syntax(format!("ensemble, line {line}: {what}"))
}

/// `path[place]`, or a path.
fn split(path: &str) -> Option<(&str, Option<usize>)> {
    match path.strip_suffix(']') {
        None => Some((path, None)),
        Some(listed) => {
            let (path, place) = listed.split_once('[')?;
            Some((path, Some(place.parse().ok()?)))
        }
    }
}

impl Ensemble {
    /// The ensemble of a built-in profile; `None` where it has none.
    pub fn builtin(name: &str) -> Result<Option<Ensemble>, ProfileError> {
        let found = ENSEMBLES.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| Ensemble::parse(text)).transpose()
    }

    /// Parse a file; [`ProfileError::Syntax`] with the line where it is not of the form above.
    pub fn parse(text: &str) -> Result<Ensemble, ProfileError> {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let mut columns = head.split(',');
        if columns.next() != Some("weight") {
            return Err(invalid(1, "the first column is the weight"));
        }
        let paths: Vec<String> = columns.map(str::to_owned).collect();
        if let Some(bad) = paths.iter().find(|path| split(path).is_none()) {
            return Err(invalid(1, format!("{bad:?} is no path of a number")));
        }
        let member = |(index, line): (usize, &str)| {
            let number = index + 2;
            let mut fields = line.split(',');
            let weight = fields.next().and_then(|w| w.parse().ok());
            let weight: f64 = weight
                .filter(|w| (0.0..=1.0).contains(w))
                .ok_or_else(|| invalid(number, "a weight is from 0 to 1"))?;
            let values = fields.map(|field| {
                let table: toml::Table = toml::from_str(&format!("v = {field}"))
                    .map_err(|_| invalid(number, format!("{field:?} is no value")))?;
                let value = table.get("v").filter(|v| !v.is_table() && !v.is_array());
                value
                    .cloned()
                    .ok_or_else(|| invalid(number, format!("{field:?} is no number")))
            });
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if values.len() != paths.len() {
                let what = format!("{} values for {} paths", values.len(), paths.len());
                return Err(invalid(number, what));
            }
            Ok(Member { weight, values })
        };
        let members = lines
            .enumerate()
            .map(member)
            .collect::<Result<Vec<_>, _>>()?;
        let total: f64 = members.iter().map(|m| m.weight).sum();
        if (total - 1.0).abs() > 1e-3 {
            return Err(invalid(1, format!("the weights add up to {total}, not 1")));
        }
        Ok(Ensemble { paths, members })
    }

    /// The ensemble in the form of its file.
    pub fn to_csv(&self) -> String {
        let mut out = format!("weight,{}\n", self.paths.join(","));
        for member in &self.members {
            let values = member.values.iter().map(toml::Value::to_string);
            let values: Vec<String> = values.collect();
            out.push_str(&format!("{:.6},{}\n", member.weight, values.join(",")));
        }
        out
    }

    /// A profile's text with the numbers of member `k`, from 0; without the comments.
    /// [`ProfileError::Unknown`] names the members.
    pub fn text_of(&self, profile: &str, k: usize) -> Result<String, ProfileError> {
        let member = self.members.get(k).ok_or_else(|| ProfileError::Unknown {
            name: format!("member={k}"),
            known: format!(
                "member=0 to member={}",
                self.members.len().saturating_sub(1)
            ),
        })?;
        let mut table: toml::Table = toml::from_str(profile)?;
        for (path, value) in self.paths.iter().zip(&member.values) {
            set(&mut table, path, value)
                .ok_or_else(|| invalid(1, format!("the profile has no place for {path}")))?;
        }
        toml::to_string(&table).map_err(|error| ProfileError::Syntax(error.to_string()))
    }
}

/// Set a number; one that the profile leaves at its default is added with its provenance. `None`
/// where the path leads to no number.
fn set(table: &mut toml::Table, path: &str, value: &toml::Value) -> Option<()> {
    let (path, place) = split(path)?;
    let (section, key) = path.rsplit_once('.')?;
    let mut at = table;
    for step in section.split('.') {
        at = at.get_mut(step)?.as_table_mut()?;
    }
    let Some(number) = at.get_mut(key) else {
        let mut number = toml::Table::new();
        number.insert("value".to_owned(), value.clone());
        number.insert("fitted".to_owned(), "member of the ensemble".into());
        at.insert(key.to_owned(), number.into());
        return place.is_none().then_some(());
    };
    let old = number.as_table_mut()?.get_mut("value")?;
    let old = match place {
        Some(place) => old.as_array_mut()?.get_mut(place)?,
        None if old.is_array() => return None,
        None => old,
    };
    *old = match (&*old, value) {
        (toml::Value::Float(_), toml::Value::Integer(whole)) => toml::Value::Float(*whole as f64),
        (old, value) if old.same_type(value) => value.clone(),
        _ => return None,
    };
    Some(())
}

impl Profile {
    /// The text of a built-in profile with the numbers of member `k` of its ensemble, from 0, for
    /// [`Profile::from_toml`]. [`ProfileError::Unknown`] where there is no such profile, ensemble
    /// or member.
    pub fn member(name: &str, k: usize) -> Result<String, ProfileError> {
        let text = Profile::builtin_text(name)?;
        let ensemble = Ensemble::builtin(name)?.ok_or_else(|| ProfileError::Unknown {
            name: format!("{name},member={k}"),
            known: ENSEMBLES
                .iter()
                .map(|(n, _)| *n)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        ensemble.text_of(text, k)
    }

    /// Members in the ensemble of a built-in profile; 0 where it has none.
    pub fn members(name: &str) -> usize {
        match Ensemble::builtin(name) {
            Ok(Some(ensemble)) => ensemble.members.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/profile/ensemble.rs"]
mod tests;
