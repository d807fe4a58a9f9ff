//! Replay of a trace (fio's `read_iolog` and `replay_*`).
//!
//! fio ignores order, sizes and area of a job that replays a log; here they are left out. fio waits
//! for the time of the log since the last request was issued, here a request is due at its time:
//! with free slots both are the same, and latency counts from the due time when there is none.

use assay_workload::options::JobOptions;

use super::given::Given;
use super::targets::Target;
use crate::JobFileError;

type Note<'a> = dyn FnMut(String) + 'a;

/// Options of a job that a log takes the place of.
const REPLACED: [&str; 16] = [
    "order",
    "do_verify",
    "rw",
    "bs",
    "rwmixread",
    "random_distribution",
    "blockalign",
    "zonesize",
    "zonerange",
    "zoneskip",
    "size",
    "offset",
    "offset_increment",
    "split",
    "io_size",
    "numjobs",
];

/// Where a log is replayed, if the job replays one.
pub(super) fn target(given: &Given<'_>) -> Option<Target> {
    let (log, _) = given.text("read_iolog")?;
    let redirected = given.text("replay_redirect");
    Some(
        redirected
            .map_or(Target::OfLog(log.to_owned()), |(drive, _)| Target::Drive(drive.to_owned())),
    )
}

pub(super) fn trace(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let Some((log, place)) = given.text("read_iolog") else {
        let replays = [
            "replay_no_stall",
            "replay_scale",
            "replay_align",
            "replay_time_scale",
            "replay_skip",
            "replay_redirect",
        ];
        for name in replays.into_iter().filter(|name| given.place(name).is_some()) {
            note(format!("{name} without read_iolog changes nothing, as in fio"));
        }
        return Ok(());
    };
    if log.contains(':') || log == "-" {
        return Err(given.error(
            place,
            format!(
                "read_iolog={log}: several logs and standard input are not supported; write a \
                 section for each file"
            ),
        ));
    }
    super::priorities::none_in_trace(given)?;
    for name in REPLACED {
        options.clear(name);
    }
    options.trace = Some(log.to_owned());
    // fio has one in flight unless the job says otherwise.
    options.iodepth.get_or_insert(1);
    let is_closed = given.flag("replay_no_stall")?;
    options.trace_timing = Some(if is_closed { "closed" } else { "timed" }.to_owned());
    if let Some(percent) =
        given.number("replay_time_scale")?.filter(|&percent| percent != 100 && percent > 0)
        && !is_closed
    {
        options.trace_time_scale = Some((100.0 / f64::from(percent)).to_string());
    }
    let divisor = given.bytes("replay_scale")?.filter(|&divisor| divisor > 1);
    options.trace_map =
        Some(divisor.map_or_else(|| "offset".to_owned(), |divisor| format!("divide:{divisor}")));
    let align = given.bytes("replay_align")?.filter(|&bytes| bytes > 0);
    options.trace_align = align.map(|bytes| bytes.to_string());
    options.trace_skip = given.text("replay_skip").map(|(ops, _)| ops.to_owned());
    if !is_closed {
        note(format!(
            "read_iolog={log}: latency counts from when a request is due by the log; fio's counts \
             from its submission"
        ));
    }
    Ok(())
}
