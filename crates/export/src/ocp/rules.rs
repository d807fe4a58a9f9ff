//! The figures of the verdict rules in Open Compute's output.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use assay_store::model::Manifest;
use assay_store::{Run, StoreError};
use assay_suite::schema::{Suite, VerdictRules};
use assay_suite::verdict::{VerdictSubject, figures};

use super::LimitedFigure;

pub struct RuleFigures {
    folder: PathBuf,
    rules: Option<VerdictRules>,
    /// Read when the first verdict is written: then every cell has ended.
    run: OnceCell<Option<Run>>,
}

impl RuleFigures {
    pub fn read(folder: &Path) -> Result<RuleFigures, StoreError> {
        let suite = Manifest::load(folder)?.suite;
        // A run of a suite that this build cannot read has verdicts, but no figures of its rules.
        let rules = Suite::parse(&suite.name, &suite.text).ok().and_then(|suite| suite.verdict);
        Ok(RuleFigures { folder: folder.to_owned(), rules, run: OnceCell::new() })
    }

    pub fn of_drive(&self, drive: usize) -> Vec<LimitedFigure> {
        let run = self.run.get_or_init(|| Run::open(&self.folder).ok());
        let (Some(rules), Some(run)) = (&self.rules, run) else {
            return Vec::new();
        };
        let of_drive = figures(rules, &VerdictSubject::new(run, drive)).into_iter();
        let limited = of_drive.filter_map(|(rule, value)| {
            let (_, limit) = rule.limits()?;
            Some(LimitedFigure {
                name: rule.about.clone(),
                value,
                unit: rule.figure.unit.ascii(),
                limit,
                lower_is_better: rule.is_lower_better(),
            })
        });
        limited.collect()
    }
}
