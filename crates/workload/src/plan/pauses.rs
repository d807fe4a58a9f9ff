use std::num::NonZeroU32;

use assay_units::Nanos;

use super::values::{duration, invalid, not_a_choice, out_of_range};
use super::{PlanError, Think};
use crate::exit::{Exit, ExitScope};
use crate::flow::Flow;
use crate::options::JobOptions;
use crate::worker::LatencyTarget;

/// Long against the hand-over of a counter, short against an I/O.
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
        pause: pause.filter(|&pause| pause > Nanos::ZERO).unwrap_or(FLOW_PAUSE),
    }))
}

pub(super) fn think(options: &JobOptions) -> Result<Option<Think>, PlanError> {
    let pause = duration("thinktime", &options.thinktime)?;
    let active = duration("thinktime_iotime", &options.thinktime_iotime)?;
    let ios = options.thinktime_blocks;
    let Some(pause) = pause.filter(|&pause| pause > Nanos::ZERO) else {
        return match (ios, active) {
            (Some(_), _) => Err(invalid("--thinktime_blocks needs --thinktime")),
            (None, Some(_)) => Err(invalid("--thinktime_iotime needs --thinktime")),
            (None, None) => Ok(None),
        };
    };
    if active == Some(Nanos::ZERO) {
        return Err(out_of_range("thinktime_iotime", 0, "longer than nothing"));
    }
    // A time is a limit of its own; one I/O is the default only without it.
    let ios = ios.or_else(|| active.is_none().then_some(1));
    let at_least_1 =
        |ios| NonZeroU32::new(ios).ok_or_else(|| out_of_range("thinktime_blocks", 0, "at least 1"));
    Ok(Some(Think { pause, ios: ios.map(at_least_1).transpose()?, by_issue: false, active }))
}

/// A second holds enough I/Os of any drive for a percentile of 99.9.
const LATENCY_WINDOW: Nanos = Nanos::SECOND;

pub(super) fn latency_target(options: &JobOptions) -> Result<Option<LatencyTarget>, PlanError> {
    let window = duration("latency_window", &options.latency_window)?;
    let percentile = options.latency_percentile.as_deref();
    let limit = duration("latency_target", &options.latency_target)?;
    let Some(limit) = limit.filter(|&limit| limit > Nanos::ZERO) else {
        return match window.is_some() || percentile.is_some() || options.latency_run.is_some() {
            true => Err(invalid(
                "--latency_window, --latency_percentile and --latency_run need --latency_target",
            )),
            false => Ok(None),
        };
    };
    if options.trace.is_some() || options.rate.is_some() {
        return Err(invalid(
            "--latency_target finds the depth of a closed loop; a trace and --rate set what is in \
             flight themselves",
        ));
    }
    let percentile = percentile.map_or(Ok(100.0), str::parse::<f64>);
    let percentile = percentile.ok().filter(|p| *p > 0.0 && *p <= 100.0);
    let window = window.unwrap_or(LATENCY_WINDOW);
    if window < Nanos::MILLISECOND {
        return Err(out_of_range("latency_window", window, "at least 1ms"));
    }
    Ok(Some(LatencyTarget {
        limit,
        window,
        percentile: percentile
            .ok_or_else(|| invalid("--latency_percentile is above 0, and 100 at most"))?,
        runs_on: options.latency_run.unwrap_or(false),
    }))
}

pub(super) fn exit(options: &JobOptions) -> Result<Option<Exit>, PlanError> {
    let scope = match options.exitall.as_deref() {
        Some("group") => ExitScope::Group,
        Some("stage") => ExitScope::Stage,
        Some(other) => return Err(not_a_choice("exitall", other, "group, stage")),
        None if options.exit_group.is_some() => {
            return Err(invalid("--exit_group needs --exitall group or stage"));
        }
        None => return Ok(None),
    };
    Ok(Some(Exit { group: options.exit_group.unwrap_or(0), scope }))
}
