use assay_workload::options::JobOptions;

use super::given::Given;
use crate::JobFileError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    Bandwidth,
    Iops,
    /// Latency: completion, and in total.
    Latency,
    /// Histograms of completion latency.
    Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest {
    pub kind: LogKind,
    /// Begin of its file name: `PREFIX_bw.1.log`.
    pub prefix: String,
    /// fio's number of the job's first thread, in the name; `None`: the jobs have one log.
    pub thread: Option<u32>,
}

const LOGS: [(&str, LogKind); 4] = [
    ("write_bw_log", LogKind::Bandwidth),
    ("write_iops_log", LogKind::Iops),
    ("write_lat_log", LogKind::Latency),
    ("write_hist_log", LogKind::Histogram),
];

pub(super) fn logs(
    given: &Given<'_>,
    name: &str,
    thread: u32,
    options: &mut JobOptions,
    note: &mut dyn FnMut(String),
) -> Result<Vec<LogRequest>, JobFileError> {
    options.write_iolog = given.text("write_iolog").map(|(file, _)| file.to_owned());
    let per_job = given.flag_or("per_job_logs", true)?;
    let named = LOGS.into_iter().filter(|(name, _)| given.place(name).is_some());
    let logs: Vec<LogRequest> = named
        .map(|(option, kind)| LogRequest {
            kind,
            thread: per_job.then_some(thread),
            // Without a value fio names the file after the job.
            prefix: given.text(option).map_or(name, |(prefix, _)| prefix).to_owned(),
        })
        .collect();
    let mean = given.number("log_avg_msec")?.filter(|&ms| ms > 0);
    let histogram = given.number("log_hist_msec")?.filter(|&ms| ms > 0);
    if let Some(ms) = mean.into_iter().chain(histogram).min()
        && !logs.is_empty()
    {
        options.interval = Some(format!("{ms}ms"));
    } else if !logs.is_empty() {
        note(
            "logs have an entry per second; log_avg_msec sets another interval (fio without it \
             logs every I/O)"
                .to_owned(),
        );
    }
    Ok(logs)
}
