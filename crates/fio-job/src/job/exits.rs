use std::collections::BTreeMap;

use super::given::Given;
use super::{Conversion, FioJob};
use crate::JobFileError;
use crate::ini::JobFile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitWhat {
    Group,
    Stonewall,
    All,
}

impl ExitWhat {
    pub(super) fn scope(self) -> &'static str {
        match self {
            ExitWhat::Group => "group",
            ExitWhat::Stonewall | ExitWhat::All => "stage",
        }
    }
}

/// Groups of sections, as fio numbers them: a new one at `stonewall` and at `new_group`.
pub(super) struct Exits {
    /// `exitall` in any section is in force for all, as in fio.
    exitall: bool,
    group: u32,
    is_first: bool,
    /// The first stage that ends everything, and the section that does.
    last_stage: Option<(usize, String)>,
    /// Of each group the first stage, and a section of it whose end ends the group.
    first: BTreeMap<u32, (usize, String)>,
}

impl Exits {
    pub(super) fn new(file: &JobFile) -> Result<Exits, JobFileError> {
        let mut exitall = false;
        for section in &file.sections {
            exitall |= Given::new(section)?.flag("exitall")?;
        }
        Ok(Exits { exitall, group: 0, is_first: true, last_stage: None, first: BTreeMap::new() })
    }

    /// fio's number of the current section's group.
    pub(super) fn group(&self) -> u32 {
        self.group
    }

    pub(super) fn section(
        &mut self,
        given: &Given<'_>,
        stage: usize,
    ) -> Result<Option<(ExitWhat, u32)>, JobFileError> {
        let is_new = given.flag("stonewall")? || given.flag("new_group")?;
        if is_new && !self.is_first {
            self.group += 1;
        }
        self.is_first = false;
        let what = match given.text("exit_what") {
            None | Some(("group", _)) => ExitWhat::Group,
            Some(("stonewall", _)) => ExitWhat::Stonewall,
            Some(("all", _)) => ExitWhat::All,
            Some((other, place)) => {
                let message = format!("exit_what={other}: group, stonewall or all");
                return Err(given.error(place, message));
            }
        };
        if !self.exitall {
            return Ok(None);
        }
        let is_earlier = |last: &(usize, String)| stage < last.0;
        if what == ExitWhat::All && self.last_stage.as_ref().is_none_or(is_earlier) {
            self.last_stage = Some((stage, given.section().to_owned()));
        }
        if what == ExitWhat::Group {
            let name = given.section().to_owned();
            self.first.entry(self.group).or_insert((stage, name));
        }
        Ok(Some((what, self.group)))
    }

    /// Sooner or later a job ends and with it all jobs (`exit_what=all`) or its group. What would
    /// start after it (by `wait_for`, in a group) never does.
    pub(super) fn leave_out(self, conversion: &mut Conversion) {
        let ended_by = |job: &FioJob| {
            let all = self.last_stage.as_ref().filter(|last| job.stage > last.0);
            let group = job.options.exit_group.unwrap_or(0);
            let first = self.first.get(&group).filter(|first| job.stage > first.0);
            let all = all.map(|last| (&last.1, "all jobs (exit_what=all)"));
            all.or(first.map(|first| (&first.1, "its group (exitall)"))).filter(|_| self.exitall)
        };
        let mut kept = Vec::new();
        for job in std::mem::take(&mut conversion.jobs) {
            match ended_by(&job) {
                None => kept.push(job),
                Some((section, what)) => conversion
                    .notes
                    .push(format!("[{}] never runs: the end of [{section}] ends {what}", job.name)),
            }
        }
        conversion.jobs = kept;
    }
}
