//! Sides of a comparison: runs grouped by drive, or by whether they were before or after a change.

use assay_store::model::DriveRecord;
use assay_store::read::Run;

use super::{ComparisonSettings, Comparisons, DriveGroup, SideKind, pair};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SidesError {
    #[error("no runs {0} the change: name at least one run folder on each side")]
    Empty(&'static str),
    /// A run counts once.
    #[error("run {0} is given twice: a run counts once, on one side")]
    Twice(String),
    #[error(
        "run {run} is of suite \"{suite}\", run {first} of \"{first_suite}\": runs before and \
         after a change are of one suite; `assay compare RUN...` compares what runs of different \
         suites have in common"
    )]
    OtherSuite { run: String, suite: String, first: String, first_suite: String },
    #[error(
        "run {run} measured {drives}, run {first} measured {first_drives}: runs before and after \
         a change are of the same drives; `assay compare RUN...` compares different drives, and \
         pools the runs of each"
    )]
    OtherDrives { run: String, drives: String, first: String, first_drives: String },
    /// Simulations that repeat each other to the bit have no spread between runs.
    #[error(
        "runs {first} and {run} are the same simulation (drive and seed): they repeat each other \
         and show no spread between runs; run with another --seed"
    )]
    SameSimulation {
        /// The later run.
        run: String,
        first: String,
    },
}

/// Compares the first `before` runs with those after them, drive by drive. Fails when a side is
/// empty, a run is given twice, suites or drives differ, or simulated runs repeat each other.
pub fn before_after(
    runs: &[Run],
    before: usize,
    terms: ComparisonSettings,
) -> Result<Comparisons, SidesError> {
    let first = runs.first().ok_or(SidesError::Empty("before"))?;
    if before == 0 {
        return Err(SidesError::Empty("before"));
    }
    if before >= runs.len() {
        return Err(SidesError::Empty("after"));
    }
    check(runs, first)?;
    let mut groups = Vec::new();
    for drive in distinct(first) {
        let key = identity(drive);
        let side = |name: &str, from: usize, to: usize| DriveGroup {
            name: format!("{}, {name}", label(drive)),
            simulated: drive.simulated,
            members: (from..to)
                .flat_map(|run| {
                    let drives = runs[run].manifest.drives.iter().enumerate();
                    let own = drives.filter(|(_, d)| identity(d) == key);
                    own.map(move |(index, _)| (run, index))
                })
                .collect(),
        };
        groups.push(side("before", 0, before));
        groups.push(side("after", before, runs.len()));
    }
    let pairs = (0..groups.len()).step_by(2);
    let by = SideKind::BeforeAfter;
    let pairs = pairs.map(|at| pair(runs, &groups, (at, at + 1), by, terms));
    Ok(Comparisons { pairs: pairs.collect(), groups, by })
}

fn check(runs: &[Run], first: &Run) -> Result<(), SidesError> {
    let id = |run: &Run| run.manifest.run_id.clone();
    let suite = |run: &Run| match run.manifest.suite.is_procedure() {
        true => run.manifest.suite.name.clone(),
        false => "job".to_owned(),
    };
    for (at, run) in runs.iter().enumerate() {
        let earlier = &runs[..at];
        if earlier.iter().any(|r| r.manifest.run_id == run.manifest.run_id) {
            return Err(SidesError::Twice(id(run)));
        }
        if suite(run) != suite(first) {
            return Err(SidesError::OtherSuite {
                run: id(run),
                suite: suite(run),
                first: id(first),
                first_suite: suite(first),
            });
        }
        if identities(run) != identities(first) {
            let drives = |run: &Run| {
                // Options tell simulated drives of one name apart.
                let name = |drive: &DriveRecord| match drive.simulated {
                    true => drive.spec.clone(),
                    false => label(drive).to_owned(),
                };
                let names: Vec<String> = distinct(run).into_iter().map(name).collect();
                names.join(", ")
            };
            return Err(SidesError::OtherDrives {
                run: id(run),
                drives: drives(run),
                first: id(first),
                first_drives: drives(first),
            });
        }
        if let Some(same) = earlier.iter().find(|r| is_same_simulation(r, run)) {
            return Err(SidesError::SameSimulation { run: id(run), first: id(same) });
        }
    }
    Ok(())
}

/// They repeat each other to the bit.
pub(super) fn is_same_simulation(a: &Run, b: &Run) -> bool {
    let (a, b) = (&a.manifest, &b.manifest);
    let simulated = !a.drives.is_empty() && a.drives.iter().all(|d| d.simulated);
    simulated
        && a.seed == b.seed
        && (&a.tool, &a.drives, &a.cells) == (&b.tool, &b.drives, &b.cells)
}

fn distinct(run: &Run) -> Vec<&DriveRecord> {
    let mut found: Vec<&DriveRecord> = Vec::new();
    for drive in &run.manifest.drives {
        if !found.iter().any(|d| identity(d) == identity(drive)) {
            found.push(drive);
        }
    }
    found
}

fn identities(run: &Run) -> Vec<(bool, String, String)> {
    let mut all: Vec<_> = run.manifest.drives.iter().map(identity).collect();
    all.sort();
    all.dedup();
    all
}

fn label(drive: &DriveRecord) -> &str {
    match drive.label.trim() {
        "" => &drive.spec,
        label => label,
    }
}

/// Identifies a drive across manifests.
pub(super) fn identity(drive: &DriveRecord) -> (bool, String, String) {
    if drive.simulated {
        let is_seed = |option: &&str| option.trim_start().starts_with("seed=");
        let options = drive.spec.split(',').filter(|option| !is_seed(option));
        let options: Vec<&str> = options.collect();
        return (true, options.join(","), String::new());
    }
    let serial = match drive.serial.trim() {
        "" => drive.spec.clone(),
        serial => serial.to_owned(),
    };
    (false, drive.model.clone(), serial)
}

/// Groups runs by drive; of only one drive, each run is a group.
pub(super) fn groups(runs: &[Run]) -> (Vec<DriveGroup>, SideKind) {
    let mut groups: Vec<((bool, String, String), DriveGroup)> = Vec::new();
    for (run, r) in runs.iter().enumerate() {
        for (index, drive) in r.manifest.drives.iter().enumerate() {
            let key = identity(drive);
            if let Some((_, group)) = groups.iter_mut().find(|(k, _)| *k == key) {
                group.members.push((run, index));
                continue;
            }
            let group = DriveGroup {
                name: label(drive).to_owned(),
                simulated: drive.simulated,
                members: vec![(run, index)],
            };
            groups.push((key, group));
        }
    }
    let mut groups: Vec<DriveGroup> = groups.into_iter().map(|(_, group)| group).collect();
    if let [only] = groups.as_slice()
        && only.members.len() > 1
    {
        let side = |&(run, index): &(usize, usize)| DriveGroup {
            name: format!("{}, run {}", only.name, run + 1),
            simulated: only.simulated,
            members: vec![(run, index)],
        };
        return (only.members.iter().map(side).collect(), SideKind::Run);
    }
    let names: Vec<String> = groups.iter().map(|g| g.name.clone()).collect();
    for (i, group) in groups.iter_mut().enumerate() {
        if names.iter().filter(|n| **n == names[i]).count() > 1 {
            let run = group.members.first().map_or(0, |m| m.0);
            group.name = format!("{}, run {}", group.name, run + 1);
        }
    }
    (groups, SideKind::Drive)
}
