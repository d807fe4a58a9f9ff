//! `assay fleet pause`.

use assay_fleet::control::{self, ControlState};
use serde_json::json;

use super::open_plan;
use crate::args::fleet::PauseArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &PauseArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let opened = open_plan(&arguments.file)?;
    let (store, id) = (opened.store.as_ref(), &opened.id);
    super::check_submitted(&opened)?;
    let before = control::read(store, id)?;
    // A cancelled plan stays cancelled.
    let control = match before.filter(|control| control.state == ControlState::Cancelled) {
        Some(cancelled) => cancelled,
        None => control::write(store, id, ControlState::Paused, &super::operator()?)?,
    };
    let text = || match control.state {
        ControlState::Cancelled => {
            format!("Plan {id} was cancelled by {} at {}, and stays so\n", control.by, control.at)
        }
        _ => format!(
            "Plan {id} is paused: each drive stops at the end of its cell. Go on with: assay \
             fleet submit {}\n",
            arguments.file.display()
        ),
    };
    output.show(text, || json!({ "plan": id, "control": control }))
}
