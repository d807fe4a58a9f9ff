//! Pauses between I/Os: think time and flow control.

use std::num::NonZeroU32;

use assay_units::Nanos;

use super::checks::{duration, invalid, out_of_range};
use super::{PlanError, Think};
use crate::flow::Flow;
use crate::options::JobOptions;

/// Time that a job ahead of its flow waits: long against the hand-over of a counter, short against an I/O.
const FLOW_PAUSE: Nanos = Nanos(10_000);

pub(super) fn flow(options: &JobOptions) -> Result<Option<Flow>, PlanError> {
    let pause = duration("flow_sleep", &options.flow_sleep)?;
    let Some(weight) = options.flow.filter(|&weight| weight > 0) else {
        return match (options.flow_id, pause) {
            (None, None) => Ok(None),
            _ => Err(invalid("--flow_id and --flow_sleep need --flow")),
        };
    };
    Ok(Some(Flow {
        group: options.flow_id.unwrap_or(0),
        weight,
        pause: pause
            .filter(|&pause| pause > Nanos::ZERO)
            .unwrap_or(FLOW_PAUSE),
    }))
}

pub(super) fn think(options: &JobOptions) -> Result<Option<Think>, PlanError> {
    let pause = duration("thinktime", &options.thinktime)?;
    let ios = options.thinktime_blocks;
    let Some(pause) = pause.filter(|&pause| pause > Nanos::ZERO) else {
        return match ios {
            Some(_) => Err(invalid("--thinktime_blocks needs --thinktime")),
            None => Ok(None),
        };
    };
    let ios = NonZeroU32::new(ios.unwrap_or(1));
    let ios = ios.ok_or_else(|| out_of_range("thinktime_blocks", 0, "at least 1"))?;
    Ok(Some(Think { pause, ios }))
}
