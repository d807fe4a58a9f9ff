//! `assay fleet cancel`.

use assay_fleet::FleetError;
use assay_fleet::control::{self, ControlState};
use assay_fleet::queue::Queue;
use serde_json::json;

use super::open_plan;
use super::plan::counted;
use crate::args::fleet::CancelArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &CancelArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let opened = open_plan(&arguments.file)?;
    let (store, id) = (opened.store.as_ref(), &opened.id);
    super::check_submitted(&opened)?;
    // First: tasks obey the document even if the queue does not answer, and jobs that the queue
    // brings back end at once.
    let control = control::write(store, id, ControlState::Cancelled, &super::operator()?)?;
    let mut cancelled = Vec::new();
    if !arguments.here {
        let mut queue = super::submit::slurm(&opened.plan)?;
        for job in queue.list(id).map_err(FleetError::from)? {
            queue.cancel(&job.id).map_err(FleetError::from)?;
            cancelled.push(job.id);
        }
    }
    let text = || {
        format!(
            "Plan {id} is cancelled; {} of the queue ended. Measured cells are kept; go on with: \
             assay fleet submit {} --resume\n",
            counted(cancelled.len(), "job"),
            arguments.file.display()
        )
    };
    output.show(text, || json!({ "plan": id, "control": control, "jobs": cancelled }))
}
