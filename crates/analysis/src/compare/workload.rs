use assay_store::model::{CellKind, CellPlan, CellView};
use assay_store::read::{CellDrive, CellState, Run};
use assay_units::text::format_size;

use super::WorkloadComparison;

/// Repetitions within a run are distinguished by their order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    step: String,
    kind: CellKind,
    together: bool,
    variant: Option<String>,
    rw: String,
    figures: [u64; 3],
    direct: bool,
    data: String,
    mix: Option<u8>,
    power_state: Option<u8>,
    rate: [u64; 3],
    /// Options without a field of their own.
    access: Vec<String>,
    order: String,
    length_bytes: u64,
    occurrence: usize,
}

impl Key {
    fn new(plan: &CellPlan, order_known: bool) -> Key {
        let w = &plan.workload;
        let order = order(&w.options).filter(|_| order_known);
        Key {
            step: plan.step.clone(),
            kind: plan.kind,
            together: plan.drives.len() > 1,
            variant: plan.variant.clone(),
            rw: w.rw.clone(),
            figures: [w.bs_bytes, w.iodepth.into(), w.numjobs.into()],
            direct: w.direct,
            data: w.data.clone(),
            mix: w.rwmixread,
            power_state: w.power_state,
            rate: [
                w.rate_iops,
                w.rate_limit_iops.unwrap_or(0.0),
                plan.load.as_ref().map_or(0.0, |l| l.percent),
            ]
            .map(f64::to_bits),
            access: access(&w.options),
            order: order.unwrap_or_default(),
            length_bytes: length_bytes(plan),
            occurrence: 0,
        }
    }
}

/// Sizes and offsets are not among the options, because drives differ in size.
const ACCESS: [&str; 23] = [
    "bs",
    // Only with a number: so many I/Os in order after each other.
    "rw",
    "percentage_random",
    "thinktime",
    "latency_target",
    "zonemode",
    "random_distribution",
    "blockalign",
    "split",
    "rate",
    "rate_iops",
    "rate_bw",
    "fsync",
    "fdatasync",
    "sync",
    "verify",
    "trace",
    "trace_device",
    "trace_skip",
    "trace_timing",
    "trace_time_scale",
    "trace_idle_limit",
    "trace_map",
];

/// The [`ACCESS`] options of a line. A single block size has a field of its own.
fn access(options: &str) -> Vec<String> {
    let is_access = |option: &&str| {
        let (name, value) = option.split_once(' ').unwrap_or((option, ""));
        let is_figure = match name {
            "bs" => !value.contains([':', '-', '/']),
            "rw" => !value.contains(':'),
            _ => false,
        };
        ACCESS.contains(&name) && !is_figure
    };
    let found = options.split("--").map(str::trim).filter(is_access);
    let mut found: Vec<String> = found.map(str::to_owned).collect();
    found.sort_unstable();
    found
}

/// Parts of `--order` that name files, seed random numbers, or depend on the size of the drive; the
/// engine is in no key either.
const NOT_ORDER: [&str; 8] = [
    "thread_number",
    "subjob_number",
    "filename",
    "randrepeat",
    "allrandrepeat",
    "randseed",
    "filesize",
    "ioengine",
];

/// The order of the I/Os, of a line that does not leave it to assay: `order fio;norandommap=1`.
fn order(options: &str) -> Option<String> {
    let given = options.split("--").find_map(|option| option.trim().strip_prefix("order "))?;
    let is_order = |part: &&str| {
        let name = part.split_once('=').map_or(*part, |(name, _)| name);
        !NOT_ORDER.contains(&name)
    };
    let parts: Vec<&str> = given.trim_matches('\'').split(';').filter(is_order).collect();
    (parts != ["own"]).then(|| format!("order {}", parts.join(";")))
}

/// Length of a stream, where the step varies it.
fn length_bytes(plan: &CellPlan) -> u64 {
    match plan.view {
        Some(CellView::Peak) => plan.workload.span_bytes,
        _ => 0,
    }
}

/// A workload of one drive in one run; of rounds the last window.
pub(super) struct Measured<'a> {
    pub(super) key: Key,
    pub(super) plan: &'a CellPlan,
    pub(super) parts: Vec<&'a CellDrive>,
}

/// Of imported results the order is not known, so that none distinguishes what is compared with
/// them (`order_known`).
pub(super) fn measured(run: &Run, drive: usize, order_known: bool) -> Vec<Measured<'_>> {
    let mut all: Vec<Measured<'_>> = Vec::new();
    for cell in &run.cells {
        use CellKind::{Concurrent, Measure, Soak};
        let compared = matches!(cell.plan.kind, Measure | Soak | Concurrent)
            && cell.state == CellState::Finished
            && cell.plan.unfit.is_none();
        let part = cell.drive(drive).filter(|part| part.result.is_some());
        let Some(part) = part.filter(|_| compared) else {
            continue;
        };
        let mut key = Key::new(&cell.plan, order_known);
        if !run.manifest.suite.is_procedure() {
            key.step.clear();
        }
        if cell.plan.round.is_some()
            && let Some(rounds) = all.iter_mut().find(|m| m.key == key)
        {
            rounds.parts.push(part);
            continue;
        }
        while all.iter().any(|m| m.key == key) {
            key.occurrence += 1;
        }
        all.push(Measured { key, plan: &cell.plan, parts: vec![part] });
    }
    for one in &mut all {
        if let Some(round) = &one.plan.round
            && one.plan.view == Some(CellView::Rounds)
        {
            let before = one.parts.len().saturating_sub(round.window.max(1) as usize);
            one.parts.drain(..before);
        }
    }
    all
}

/// A label distinguishes a workload from the others of its step.
pub(super) fn label_workloads(workloads: &mut [WorkloadComparison]) {
    let labelled = workloads.iter().map(|w| (w.plan.step.clone(), labels(&w.plan)));
    let labelled: Vec<(String, Vec<String>)> = labelled.collect();
    for (workload, (step, own)) in workloads.iter_mut().zip(&labelled) {
        let differs = |at: usize, label: &String| {
            let mut same_step = labelled.iter().filter(|(other, _)| other == step);
            same_step.any(|(_, labels)| labels[at] != *label)
        };
        let own = own.iter().enumerate();
        let own = own.filter(|(at, label)| !label.is_empty() && differs(*at, label));
        let distinguishing: Vec<&str> = own.map(|(_, label)| label.as_str()).collect();
        workload.label = distinguishing.join(", ");
    }
}

/// Always the same number of them.
fn labels(plan: &CellPlan) -> Vec<String> {
    let w = &plan.workload;
    let (load, rate, length) = (plan.load.as_ref(), w.rate_iops, length_bytes(plan));
    let threads = if w.numjobs == 1 { "thread" } else { "threads" };
    // Where the options do not say it.
    let limit = w.rate_limit_iops.filter(|_| !w.options.contains("--rate_"));
    let or_empty = Option::<String>::unwrap_or_default;
    vec![
        or_empty(plan.variant.clone()),
        w.rw.clone(),
        w.block_size_text(),
        format!("{} {threads}", w.numjobs),
        format!("depth {}", w.iodepth),
        or_empty(w.rwmixread.map(|p| format!("{p} % reads"))),
        or_empty(w.power_state.map(|s| format!("power state {s}"))),
        or_empty(load.map(|l| format!("{} % load", l.percent))),
        w.data.clone(),
        if w.direct { "direct" } else { "buffered" }.to_owned(),
        or_empty((rate > 0.0).then(|| format!("{rate} IOPS offered"))),
        or_empty((length > 0).then(|| format!("{} long", format_size(length)))),
        or_empty(limit.map(|limit| format!("at most {limit} IOPS"))),
        access(&w.options).join(", "),
        or_empty(order(&w.options)),
        or_empty((plan.drives.len() > 1).then(|| "all at once".to_owned())),
    ]
}

/// What tells the most alike of the workloads that only one side has apart, where it is little:
/// `rate_iops 5000 against rate_iops 5500`.
pub(super) fn nearest_difference(a: &[&CellPlan], b: &[&CellPlan]) -> Option<String> {
    const MOST: usize = 2;
    /// Of each side: all are compared with all.
    const LOOKED_AT: usize = 64;
    let of = |plans: &[&CellPlan]| {
        let all = plans.iter().take(LOOKED_AT);
        all.map(|plan| labels(plan)).collect::<Vec<_>>()
    };
    let (a, b) = (of(a), of(b));
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    let differing = |(a, b): (&Vec<String>, &Vec<String>)| {
        let both = a.iter().zip(b).filter(|(a, b)| a != b);
        both.map(|(a, b)| [a, b].map(String::clone)).collect::<Vec<_>>()
    };
    let nearest = pairs.map(differing).min_by_key(Vec::len)?;
    let words = |[a, b]: [String; 2]| {
        let [a, b] = [a, b].map(|label| if label.is_empty() { "none".to_owned() } else { label });
        format!("{a} against {b}")
    };
    let is_near = (1..=MOST).contains(&nearest.len());
    is_near.then(|| nearest.into_iter().map(words).collect::<Vec<_>>().join(", "))
}
