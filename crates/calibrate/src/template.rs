//! Profiles whose numbers vary: a table, the paths of its free numbers, and their priors.

use assay_ssd::Profile;
use assay_ssd::profile::ProfileNumber;
use toml::Table;

use crate::CalibrateError;
use crate::inference::posterior::Prior;
use crate::numbers::{get, leader, put, scaled};
use crate::structures::{Structure, apply};

const SECTIONS: [&str; 4] = ["firmware.", "data_path.", "nand.", "prefetch."];
/// Numbers of the flash on which reads do not depend.
const WRITES: [&str; 3] = ["nand.program_", "nand.erase_", "firmware.write_"];

/// A drive of whose kind figures are published.
#[derive(Clone, Debug)]
pub struct ReferenceDrive {
    pub name: String,
    pub table: Table,
    pub numbers: Vec<ProfileNumber>,
}

impl ReferenceDrive {
    pub fn new(name: &str) -> Result<ReferenceDrive, CalibrateError> {
        let text = Profile::builtin_text(name)?;
        let table = toml::from_str(text).map_err(assay_ssd::ProfileError::from)?;
        Ok(ReferenceDrive { name: name.to_owned(), table, numbers: Profile::numbers(text)? })
    }
}

/// A drive from facts and other drives.
#[derive(Clone, Debug)]
pub struct Template {
    pub table: Table,
    pub paths: Vec<String>,
    /// Wide priors of the free numbers, logarithms: of the mechanism's class.
    pub wide: Prior,
}

impl Template {
    pub fn profile(&self, structure: &Structure, point: &[f64]) -> Result<Profile, CalibrateError> {
        Ok(Profile::from_table(self.table_at(structure, point))?)
    }

    pub fn table_at(&self, structure: &Structure, point: &[f64]) -> Table {
        let mut table = self.table.clone();
        apply(&mut table, structure);
        for (path, x) in self.paths.iter().zip(point) {
            let old = get(&table, path).cloned();
            if let Some((old, at)) = old.and_then(|old| leader(&old).map(|at| (old, at))) {
                put(&mut table, path, scaled(&old, x.exp() / at));
            }
        }
        table
    }
}

/// Whether a number belongs to the path of a read.
pub fn is_read_path(path: &str) -> bool {
    SECTIONS.iter().any(|s| path.starts_with(s)) && !WRITES.iter().any(|w| path.starts_with(w))
}
