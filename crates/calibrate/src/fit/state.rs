//! The state file of a fit.

use std::path::{Path, PathBuf};

use assay_store::replace::replace_content;
use assay_units::text::hexadecimal;
use sha2::{Digest, Sha256};

use super::{FitSettings, Stage};
use crate::CalibrateError;
use crate::measurement::Measurement;

const STATE_VERSION: u32 = 1;

pub(super) struct StateLog {
    path: Option<PathBuf>,
    fit: String,
    pub(super) costs: Vec<f64>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct StateFile {
    version: u32,
    /// Hash of everything that the fit depends on.
    fit: String,
    /// The bits of each cost, because decimal notation could round.
    costs: Vec<u64>,
}

impl StateLog {
    pub(super) fn open(
        settings: &FitSettings,
        text: &str,
        targets: &[Measurement],
        stages: &[Stage],
    ) -> Result<StateLog, CalibrateError> {
        let mut hash = Sha256::new();
        hash.update(text);
        for target in targets {
            hash.update(format!("{target:?}"));
        }
        for Stage { name, evaluations, free, .. } in stages {
            hash.update(format!("{name} {evaluations} {free:?}"));
        }
        hash.update(format!("{} {}", settings.seed, env!("CARGO_PKG_VERSION")));
        if settings.start > 0 {
            hash.update(format!(" start {}", settings.start));
        }
        let fit = hexadecimal(&hash.finalize());
        let path = settings.state_file.clone();
        let costs = match &path {
            None => Vec::new(),
            Some(path) => read(path, &fit)?,
        };
        Ok(StateLog { path, fit, costs })
    }

    pub(super) fn append(
        &mut self,
        from: usize,
        costs: impl Iterator<Item = f64>,
    ) -> Result<(), CalibrateError> {
        // The rest of a generation with another number of candidates cannot be used.
        self.costs.truncate(from);
        self.costs.extend(costs);
        let Some(path) = &self.path else {
            return Ok(());
        };
        let file = StateFile {
            version: STATE_VERSION,
            fit: self.fit.clone(),
            costs: self.costs.iter().map(|c| c.to_bits()).collect(),
        };
        let error = CalibrateError::file(path);
        let text = serde_json::to_string(&file).map_err(|e| error(e.into()))?;
        Ok(replace_content(path, text.as_bytes())?)
    }
}

fn read(path: &Path, fit: &str) -> Result<Vec<f64>, CalibrateError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CalibrateError::file(path)(error)),
    };
    match serde_json::from_str::<StateFile>(&text) {
        Ok(file) if file.version == STATE_VERSION && file.fit == fit => {
            Ok(file.costs.into_iter().map(f64::from_bits).collect())
        }
        _ => Err(CalibrateError::OtherFit { path: path.to_owned() }),
    }
}
