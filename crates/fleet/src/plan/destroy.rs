//! The three confirmations of destroying: `destroy = true` and the list of serials in the plan, and
//! their number on the command line.

use super::{DestroyError, Plan};

/// All three confirmations are checked here, so that this function alone decides.
pub fn confirm_destroy(plan: &Plan, count: Option<usize>) -> Result<(), DestroyError> {
    if !plan.run.destroy {
        return count.map_or(Ok(()), |count| Err(DestroyError::Unneeded(count)));
    }
    let Some(list) = &plan.drives.serials else {
        return Err(DestroyError::NoSerials);
    };
    let listed = list.drives.len();
    match count {
        None => Err(DestroyError::NoCount(listed)),
        Some(given) if given != listed => Err(DestroyError::OtherCount { given, listed }),
        Some(_) => Ok(()),
    }
}
