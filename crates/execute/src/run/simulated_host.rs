use assay_device::session::DriveSession;
use assay_store::model::CellResult;
use assay_workload::plan::Workload;

/// `None` of a real drive, of a disk with a cache, and of a host that takes no time. `threads`: of
/// all jobs; `workload`: of this one.
pub(super) fn busiest_thread_pct(
    session: &DriveSession,
    threads: u32,
    workload: &Workload,
    result: &CellResult,
) -> Option<f64> {
    let costs = session.info().host.as_ref()?.costs;
    let is_cached = session.info().profile.is_none();
    let iops = result.iops();
    if is_cached || iops <= 0.0 {
        return None;
    }
    let bytes = result.mib_per_s() * f64::from(1 << 20) / iops;
    let io_s = costs.work_ns(workload.iodepth, bytes.round() as u64) as f64 / 1e9;
    let processors = costs.processors.map(u32::from);
    let processors = processors.map_or(threads, |processors| threads.min(processors));
    let busy_pct = iops * io_s / f64::from(processors.max(1)) * 100.0;
    // A little more than all of it where I/Os that the host began before the first interval
    // complete in it.
    (io_s > 0.0).then_some(busy_pct.min(100.0))
}
