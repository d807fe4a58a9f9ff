use assay_store::model::CellView;
use assay_workload::options::JobOption;

use super::step_keys::StepKeys;
use super::{SUITE_OPTIONS, StepWork, SuiteStep};

/// Of [`SUITE_OPTIONS`], what applies to the drive as a whole.
const OF_ALL_JOBS: &[&str] = &["power_state"];
/// Of [`SUITE_OPTIONS`], what one of several jobs may have.
const OF_ONE_OF_SEVERAL: &[&str] = &[];

#[derive(Clone, Copy, Debug)]
pub struct MatrixOption<'a> {
    pub job: Option<&'a str>,
    pub option: &'a str,
    pub values: &'a toml::Value,
}

impl MatrixOption<'_> {
    pub fn axis(&self) -> String {
        match self.job {
            Some(job) => format!("{job}.{}", self.option),
            None => self.option.to_owned(),
        }
    }
}

/// The options of a matrix, in the order written; those in the table of a job are of that job.
fn matrix_options<'a>(
    matrix: &'a toml::Table,
    jobs: Option<&toml::Table>,
) -> Vec<MatrixOption<'a>> {
    let mut options = Vec::new();
    for (key, values) in matrix {
        let is_job = jobs.is_some_and(|jobs| jobs.contains_key(key));
        match values.as_table().filter(|_| is_job) {
            Some(of_job) => options.extend(of_job.iter().map(|(option, values)| MatrixOption {
                job: Some(key),
                option,
                values,
            })),
            None => options.push(MatrixOption { job: None, option: key, values }),
        }
    }
    options
}

impl SuiteStep {
    pub fn matrix_options(&self) -> Vec<MatrixOption<'_>> {
        matrix_options(&self.matrix, self.jobs())
    }

    /// Every value that an option has in the step, of any job; values of the matrix as written.
    pub fn values_of(&self, option: &str) -> impl Iterator<Item = &toml::Value> {
        let own = self.job.get(option);
        let jobs = self.jobs().into_iter().flat_map(toml::Table::values);
        let of_jobs = jobs.filter_map(move |job| job.get(option));
        let matrix = self.matrix_options().into_iter();
        let of_matrix: Vec<&toml::Value> =
            matrix.filter(|m| m.option == option).map(|m| m.values).collect();
        own.into_iter().chain(of_jobs).chain(of_matrix)
    }

    /// The job whose figures are those of the step.
    pub fn foreground_job(&self) -> Option<&str> {
        let StepWork::Jobs { jobs, foreground } = &self.work else {
            return None;
        };
        let first = jobs.keys().next().map(String::as_str);
        foreground.as_deref().or(first)
    }
}

/// Check the keys of a step with jobs.
pub(super) fn check_jobs(step: &StepKeys) -> Result<(), String> {
    let jobs = &step.jobs;
    if jobs.len() < 2 {
        return Err("jobs are at least two; give the options of one as job".to_owned());
    }
    for (name, job) in jobs {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!(
                "job {name:?}: a job's name consists of letters, digits and hyphens"
            ));
        }
        let Some(options) = job.as_table() else {
            return Err(format!("job {name:?} is no table of options"));
        };
        check_options(options.keys().map(String::as_str), OF_ONE_OF_SEVERAL, name)?;
    }
    check_options(step.job.keys().map(String::as_str), OF_ALL_JOBS, "job")?;
    for MatrixOption { job, option, .. } in matrix_options(&step.matrix, Some(jobs)) {
        match job {
            Some(job) => check_options([option], OF_ONE_OF_SEVERAL, job)?,
            None => check_options([option], OF_ALL_JOBS, "matrix")?,
        }
    }
    if let Some(foreground) = &step.foreground
        && !jobs.contains_key(foreground)
    {
        return Err(format!("foreground names {foreground:?}, which is no job"));
    }
    let of_jobs =
        [CellView::Jobs, CellView::Interference, CellView::Deadlines, CellView::Placement];
    let of_one_job = [
        (
            step.view.is_some_and(|view| !of_jobs.contains(&view)),
            "a view other than jobs, interference, deadlines and placement",
        ),
        (step.steady, "steady"),
        (step.most_threads.is_some(), "most_threads"),
        (step.load_of.is_some(), "load_of"),
        (step.rounds.is_some(), "rounds"),
        (step.repeats.is_some(), "repeats"),
        (step.point.is_some(), "point"),
    ];
    match of_one_job.iter().find(|(has, _)| *has) {
        Some((_, key)) => Err(format!("{key} is for steps of one job")),
        None => Ok(()),
    }
}

pub(super) fn check_options<'a>(
    keys: impl IntoIterator<Item = &'a str>,
    of_suite: &[&str],
    of: &str,
) -> Result<(), String> {
    let is_option = |key: &str| of_suite.contains(&key) || JobOption::find(key).is_some();
    match keys.into_iter().find(|key| !is_option(key)) {
        Some(key) => {
            let beside = match of_suite.len() < SUITE_OPTIONS.len() {
                true => " that runs beside others",
                false => "",
            };
            Err(format!(
                "{of}: {key:?} is not an option of a job{beside}; `assay job --help` lists them"
            ))
        }
        None => Ok(()),
    }
}
