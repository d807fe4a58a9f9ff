use super::*;

#[test]
fn a_busy_thread_is_measured() {
    let clock = Clock::monotonic();
    let mut sampler = HostSampler::start();
    let (process, thread) = (ProcessUsage::read(), thread_cpu_time());
    let until = clock.now() + Nanos::from_millis(60);
    while clock.now() < until {}
    assert!(thread_cpu_time() > thread);
    assert!(ProcessUsage::read().cpu() > process.cpu());
    let load = sampler.sample().unwrap();
    let all = load.user_pct
        + load.system_pct
        + load.irq_pct
        + load.iowait_pct
        + load.idle_pct
        + load.steal_pct;
    assert!((all - 100.0).abs() < 0.1, "{all}");
}
