//! Commands that do I/O on real drives, in a supervised process.

use std::path::PathBuf;

use assay_device::spec::{DriveSpec, SpecKind};
use assay_device::supervise::Supervised;
use assay_io::Nanos;
use assay_store::model::Manifest;

use super::{Command, PROBE_LIMIT, RunArguments};

impl Command {
    /// `None` for a command that reads or writes no real drive.
    pub fn supervised(&self) -> Option<Supervised> {
        let on = |drives: Vec<String>, kept: Option<String>, limit: Option<Nanos>| {
            let streams_out = matches!(self, Command::Replay(replay)
                if replay.to == "-" && replay.check.is_none());
            let supervised = Supervised { drives, kept, limit, streams_out };
            supervised.drives.iter().any(|drive| is_real(drive)).then_some(supervised)
        };
        let one = |drive: &String| vec![drive.clone()];
        match self {
            Command::Run(run) => {
                let kept = "what was measured is in the run folder; assay run --resume RUN goes on";
                on(drives_of(run), Some(kept.to_owned()), None)
            }
            Command::Job(job) => on(one(&job.drive), kept_in(job.execution.out.as_ref()), None),
            Command::Fio(fio) => {
                let named = fio.line.filenames().map(str::to_owned);
                // A job file, or a file in the present folder.
                let other = fio.line.files.first().map_or(".", String::as_str);
                let drives = match &fio.drive {
                    Some(drive) => vec![drive.clone()],
                    None => named.chain([other.to_owned()]).collect(),
                };
                on(drives, kept_in(fio.execution.out.as_ref()), None)
            }
            Command::Record(record) => {
                let kept = match record.index {
                    true => {
                        "what was recorded up to the last checkpoint is durable: assay verify \
                         finds it"
                    }
                    false => "without --index nothing tells how much was recorded",
                };
                on(record.stream.drives.clone(), Some(kept.to_owned()), None)
            }
            Command::Replay(replay) => on(replay.stream.drives.clone(), None, None),
            Command::Verify(verify) => on(verify.stream.drives.clone(), None, None),
            Command::Testbench(testbench) => on(one(&testbench.drive), None, None),
            Command::Purge(purge) => {
                let kept = "how much was erased is not known: purge it again";
                on(one(&purge.drive), Some(kept.to_owned()), None)
            }
            Command::Prepare(prepare) => {
                let kept = "what was written is in the run folder; assay run --resume RUN goes on";
                on(one(&prepare.drive), Some(kept.to_owned()), None)
            }
            Command::Check(check) => on(one(&check.drive), kept_in(check.out.as_ref()), None),
            Command::Probe(probe) => {
                on(probe.drive.iter().cloned().collect(), None, Some(PROBE_LIMIT))
            }
            _ => None,
        }
    }
}

fn kept_in(out: Option<&PathBuf>) -> Option<String> {
    out.map(|out| format!("what was measured is in {}", out.display()))
}

/// True also for a name that will be refused.
fn is_real(name: &str) -> bool {
    let spec = DriveSpec::parse(name);
    spec.is_ok_and(|spec| {
        let kind = spec.kind();
        matches!(kind, SpecKind::Path(_) | SpecKind::NvmeGeneric(_) | SpecKind::Files(_))
    })
}

/// Named on the command line, in the run folder, or in a fio job file.
fn drives_of(run: &RunArguments) -> Vec<String> {
    if let Some(folder) = &run.resume {
        if !run.drive.is_empty() {
            return run.drive.clone();
        }
        // The command refuses a folder that cannot be read.
        let manifest = Manifest::load(folder);
        let drives = manifest.map(|manifest| manifest.drives).unwrap_or_default();
        return drives.into_iter().map(|drive| drive.spec).collect();
    }
    let file = run.job_file().filter(|_| run.drives.is_empty());
    let file = file.map(|file| file.display().to_string());
    run.drives.iter().cloned().chain(file).collect()
}
