//! Steps with several jobs that run at once on a drive.

use assay_store::model::{CellKind, CellView};
use assay_workload::options::JobOption;

use super::SuiteStep;

/// The option of a step's `job` that is no option of one workload, and applies to the drive as a
/// whole.
const OF_ALL_JOBS: &str = "power_state";

/// One option of a step's matrix.
#[derive(Clone, Copy, Debug)]
pub struct MatrixOption<'a> {
    /// The job whose option it is; none: of all.
    pub job: Option<&'a str>,
    pub option: &'a str,
    /// Its values, as written.
    pub values: &'a toml::Value,
}

impl MatrixOption<'_> {
    /// Its name among the axes of the step's cells: `iodepth`, `reads.iodepth`.
    pub fn axis(&self) -> String {
        match self.job {
            Some(job) => format!("{job}.{}", self.option),
            None => self.option.to_owned(),
        }
    }
}

impl SuiteStep {
    /// The options of its matrix, in the order written.
    pub fn matrix_options(&self) -> Vec<MatrixOption<'_>> {
        let mut options = Vec::new();
        for (key, values) in &self.matrix {
            match values.as_table().filter(|_| self.jobs.contains_key(key)) {
                Some(of_job) => options.extend(of_job.iter().map(|(option, values)| {
                    let job = Some(key.as_str());
                    MatrixOption {
                        job,
                        option,
                        values,
                    }
                })),
                None => options.push(MatrixOption {
                    job: None,
                    option: key,
                    values,
                }),
            }
        }
        options
    }

    /// Every value that an option has in the step, of any job; values of the matrix as written.
    pub fn values_of(&self, option: &str) -> impl Iterator<Item = &toml::Value> {
        let own = self.job.get(option);
        let of_jobs = self.jobs.values().filter_map(move |job| job.get(option));
        let matrix = self.matrix_options().into_iter();
        let of_matrix: Vec<&toml::Value> = matrix
            .filter(|m| m.option == option)
            .map(|m| m.values)
            .collect();
        own.into_iter().chain(of_jobs).chain(of_matrix)
    }

    /// The job whose figures are those of the step.
    pub fn foreground_job(&self) -> Option<&str> {
        let first = self.jobs.keys().next().map(String::as_str);
        self.foreground.as_deref().or(first)
    }

    /// Check the keys of a step with jobs.
    pub(super) fn check_jobs(&self, before: &[SuiteStep]) -> Result<(), String> {
        if self.kind != CellKind::Measure {
            return Err("jobs need kind measure".to_owned());
        }
        if self.jobs.len() < 2 {
            return Err("jobs are at least two; give the options of one as job".to_owned());
        }
        for (name, job) in &self.jobs {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(format!(
                    "job {name:?}: a job's name consists of letters, digits and hyphens"
                ));
            }
            let Some(options) = job.as_table() else {
                return Err(format!("job {name:?} is no table of options"));
            };
            known(options.keys(), name)?;
        }
        known(self.job.keys().filter(|key| *key != OF_ALL_JOBS), "job")?;
        for MatrixOption { job, option, .. } in self.matrix_options() {
            let of_all = job.is_none() && option == OF_ALL_JOBS;
            known(
                Some(option).into_iter().filter(|_| !of_all),
                job.unwrap_or("matrix"),
            )?;
        }
        if let Some(foreground) = &self.foreground
            && !self.jobs.contains_key(foreground)
        {
            return Err(format!("foreground names {foreground:?}, which is no job"));
        }
        if let Some(other) = &self.compare_with
            && !before.iter().any(|s| s.id == *other && s.jobs.is_empty())
        {
            return Err(format!(
                "compare_with names {other:?}, which is no earlier step with one job"
            ));
        }
        if let Some(wants) = &self.wants
            && !before.iter().any(|s| s.leaves.as_ref() == Some(wants))
        {
            return Err(format!("wants {wants:?}, which no earlier step leaves"));
        }
        if let Some(start) = &self.start
            && !(0.0..=100.0).contains(&start.cool_k)
        {
            return Err("start: cool_k is from 0 to 100 kelvin".to_owned());
        }
        let view = self.view;
        let of_jobs = [CellView::Jobs, CellView::Interference, CellView::Deadlines];
        let fits = view.is_none_or(|view| of_jobs.contains(&view));
        let of_one_job = [
            (!fits, "a view other than jobs, interference and deadlines"),
            (self.steady, "steady"),
            (self.most_threads.is_some(), "most_threads"),
            (self.load_of.is_some(), "load_of"),
            (self.rounds.is_some(), "rounds"),
            (self.repeats.is_some(), "repeats"),
            (self.until.is_some(), "until"),
            (self.ends.is_some(), "ends"),
            (self.point.is_some(), "point"),
            (self.leaves.is_some(), "leaves"),
            (self.alone.is_some(), "alone"),
        ];
        match of_one_job.iter().find(|(has, _)| *has) {
            Some((_, key)) => Err(format!("{key} is for steps of one job")),
            None => Ok(()),
        }
    }
}

/// Error for the first of these keys that is not an option of a workload.
fn known<'a>(
    mut keys: impl Iterator<Item = impl AsRef<str> + 'a> + 'a,
    of: &str,
) -> Result<(), String> {
    let wrong = keys.find(|key| JobOption::find(key.as_ref()).is_none());
    wrong.map_or(Ok(()), |key| {
        Err(format!(
            "{of}: {:?} is not an option of a job that runs beside others; `assay job --help` \
             lists them",
            key.as_ref()
        ))
    })
}
