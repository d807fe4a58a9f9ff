//! Which run folders are new or have changed since they were joined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use assay_store::journal::JOURNAL_FILE;
use assay_store::model::Manifest;
use assay_store::run::MANIFEST_FILE;
use assay_units::text::hexadecimal;
use sha2::{Digest, Sha256};

use crate::lake::index::{Index, Known};
use crate::lake::partition::Partition;
use crate::lake::{Joined, LeftOut, Source};
use crate::table::{JoinedRun, RunFacts};

/// A run folder that is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub(crate) folder: PathBuf,
    pub(crate) joined: JoinedRun,
    known: Known,
    partition: Partition,
}

/// Runs by name.
pub type Candidates = BTreeMap<String, Candidate>;

#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// New or changed runs, by partition.
    pub(crate) new: BTreeMap<Partition, Candidates>,
    /// Runs that leave a partition, because they are now in another.
    pub(crate) moved: BTreeMap<Partition, BTreeSet<String>>,
}

pub(crate) fn find_changes(sources: &[Source], index: &Index, joined: &mut Joined) -> Changes {
    let mut chosen = Candidates::new();
    for source in sources {
        let (name, candidate) = match candidate(source) {
            Ok(found) => found,
            Err(reason) => {
                let folder = source.folder.clone();
                joined.left_out.push(LeftOut { folder, reason });
                continue;
            }
        };
        match chosen.remove(&name) {
            None => {
                chosen.insert(name, candidate);
            }
            Some(other) => {
                let rank = |candidate| rank(&name, candidate, index);
                let (better, worse) = match rank(&candidate) > rank(&other) {
                    true => (candidate, other),
                    false => (other, candidate),
                };
                if better.known.manifest_sha256 != worse.known.manifest_sha256 {
                    joined.left_out.push(same_name(&name, &worse, &better.folder));
                }
                chosen.insert(name, better);
            }
        }
    }
    let mut changes = Changes::default();
    for (name, candidate) in chosen {
        match index.runs.get(&name) {
            Some((partition, known)) if *known == candidate.known => {
                if *partition == candidate.partition {
                    joined.unchanged += 1;
                    continue;
                }
                changes.moves(partition, &name);
            }
            Some((partition, known))
                if known.manifest_sha256 != candidate.known.manifest_sha256 =>
            {
                let folder = partition.folder(Path::new(""));
                joined.left_out.push(same_name(&name, &candidate, &folder));
                continue;
            }
            Some((partition, _)) if *partition != candidate.partition => {
                changes.moves(partition, &name);
            }
            _ => {}
        }
        let partition = changes.new.entry(candidate.partition.clone());
        partition.or_default().insert(name, candidate);
    }
    changes
}

impl Changes {
    fn moves(&mut self, from: &Partition, run: &str) {
        let runs = self.moved.entry(from.clone()).or_default();
        runs.insert(run.to_owned());
    }
}

/// Of two folders of one run name, the one with the higher rank is joined, whatever their order:
/// the run that the lake has, and of copies of one run the longest.
fn rank<'a>(
    name: &str,
    candidate: &'a Candidate,
    index: &Index,
) -> (bool, &'a str, u64, Option<u64>, &'a Path) {
    let known = &candidate.known;
    let sha256 = known.manifest_sha256.as_str();
    let is_there = index.runs.get(name).is_some_and(|(_, there)| there.manifest_sha256 == sha256);
    let attempt = candidate.joined.facts.attempt;
    let folder = candidate.folder.as_path();
    (is_there, sha256, known.journal_bytes, attempt, folder)
}

fn same_name(name: &str, candidate: &Candidate, other: &Path) -> LeftOut {
    LeftOut {
        folder: candidate.folder.clone(),
        reason: format!(
            "another run has the same name, {name}: {}; rows of two runs would be mixed",
            other.display()
        ),
    }
}

/// Reads the manifest and the length of the journal.
fn candidate(source: &Source) -> Result<(String, Candidate), String> {
    let folder = &source.folder;
    let manifest = Manifest::load(folder).map_err(|e| e.to_string())?;
    let read = |name: &str| {
        let path = folder.join(name);
        move |error| format!("cannot read {}: {error}", path.display())
    };
    let text = fs::read(folder.join(MANIFEST_FILE)).map_err(read(MANIFEST_FILE))?;
    let manifest_sha256 = hexadecimal(&Sha256::digest(&text));
    let journal = fs::metadata(folder.join(JOURNAL_FILE)).map_err(read(JOURNAL_FILE))?;
    let facts = source.facts.clone();
    let created = &manifest.created;
    let partition = Partition::new(facts.plan.as_deref(), created)
        .ok_or_else(|| format!("it was created on {created:?}, which is no date"))?;
    let joined =
        JoinedRun { facts, manifest_sha256: manifest_sha256.clone(), journal_bytes: journal.len() };
    let drives =
        manifest.drives.iter().map(|drive| RunFacts { plan: None, ..joined.of_drive(drive) });
    let known = Known { manifest_sha256, journal_bytes: journal.len(), drives: drives.collect() };
    let candidate = Candidate { folder: folder.clone(), joined, known, partition };
    Ok((manifest.run_id, candidate))
}
