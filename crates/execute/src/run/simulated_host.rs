use assay_device::session::DriveSession;

/// `None` of a real drive, and of a model whose host takes no time.
pub(super) fn busiest_thread_pct(session: &DriveSession, threads: u32, iops: f64) -> Option<f64> {
    let bench = session.bench()?;
    let io_s = bench.host_overhead_ns.value as f64 / 1e9;
    let processors = bench.host_cores.as_ref();
    let processors = processors.map_or(threads, |cores| threads.min(cores.value.into()));
    let busy_pct = iops * io_s / f64::from(processors.max(1)) * 100.0;
    // A little more than all of it where I/Os that the host began before the first interval
    // complete in it.
    (io_s > 0.0).then_some(busy_pct.min(100.0))
}
