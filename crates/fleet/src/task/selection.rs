use super::runner::SuiteCall;
use crate::assignment::{WhyLeftOut, estimated};
use crate::inventory::InventoryDrive;
use crate::plan::{Estimates, PlanSuite};
use crate::{Plan, Serial};

/// `file` is the local copy of a suite file.
pub fn call(plan: &Plan, index: usize, suite: &PlanSuite, file: Option<&str>) -> SuiteCall {
    let mut arguments = vec![file.unwrap_or(&suite.name).to_owned()];
    for (key, value) in &suite.set {
        arguments.extend(["--set".to_owned(), format!("{key}={value}")]);
    }
    let run = &plan.run;
    arguments.extend(["--scale".to_owned(), run.scale.to_string()]);
    arguments.extend(["--seed".to_owned(), run.seed.to_string()]);
    SuiteCall { folder: format!("{index:02}-{}", suite.label), arguments }
}

/// Leaves out drives that the plan could write more than its limit; `only`: this drive alone.
pub fn selected(
    plan: &Plan,
    drives: &[InventoryDrive],
    only: Option<&Serial>,
) -> Vec<InventoryDrive> {
    let is_selected = |drive: &&InventoryDrive| {
        let list = plan.drives.serials.as_ref();
        let model = plan.drives.model.as_deref();
        only.is_none_or(|only| drive.serial == *only)
            && list.is_none_or(|list| list.drives.contains_key(&drive.serial))
            && model.is_none_or(|model| drive.model.starts_with(model))
    };
    let mut estimates = Estimates::default();
    let mut keeps_limit = |drive: &&InventoryDrive| {
        let estimated = estimated(plan, drive, &mut estimates);
        !matches!(estimated, Err(WhyLeftOut::OverLimit(_)))
    };
    let selected = drives.iter().filter(is_selected);
    selected.filter(|d| keeps_limit(d)).cloned().collect()
}
