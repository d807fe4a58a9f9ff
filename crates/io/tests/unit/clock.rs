use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn the_clock_agrees_with_the_kernel_and_is_monotonic() {
    let clock = Clock::monotonic();
    let mut last = clock.now();
    for _ in 0..100_000 {
        let now = clock.now();
        assert!(now >= last);
        last = now;
    }
    clock.wait_until(clock.now() + Nanos::from_millis(30));
    assert!(clock.drift_ppm().abs() < 500.0, "drift {} ppm", clock.drift_ppm());
}

/// A process that is stopped by a signal for two seconds: its clock stands still, whichever thread
/// reads it first. The child is this program, which runs this test alone. On a busy machine one of
/// its threads may wait for a processor while the other runs, which is latency and no stop.
#[test]
fn the_clock_stands_still_while_the_process_is_stopped() {
    const IS_CHILD: &str = "ASSAY_TEST_STOPPED_CHILD";
    const STOP: Nanos = Nanos::from_secs(2);
    const LONGEST_WAIT: Nanos = Nanos::from_secs(1);
    let name = std::thread::current().name().expect("the test's name").to_owned();
    if std::env::var_os(IS_CHILD).is_none() {
        let program = std::env::current_exe().unwrap();
        let mut command = std::process::Command::new(program);
        let mut child = (command.args(["--exact", &name, "--nocapture"]).env(IS_CHILD, "1"))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        while !line.contains("begins") {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut output, &mut line).unwrap() > 0);
        }
        let pid = rustix::process::Pid::from_child(&child);
        let send = |signal| rustix::process::kill_process(pid, signal).unwrap();
        send(rustix::process::Signal::STOP);
        sleep(STOP);
        send(rustix::process::Signal::CONT);
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut output, &mut rest).unwrap();
        assert!(child.wait().unwrap().success(), "{rest}");
        return;
    }
    let clock = Clock::monotonic();
    let watch = StopWatch::start();
    println!("begins");
    let (mut last, mut longest) = (clock.now(), Nanos::ZERO);
    let raw_begun = clock.raw();
    while clock.raw() - raw_begun < STOP + Nanos::from_millis(1500) {
        let now = clock.now();
        assert!(now >= last, "{now:?} after {last:?}");
        longest = longest.max(now - last);
        last = now;
    }
    let stopped = watch.stopped();
    assert!(stopped + LEAST_STOP >= STOP, "{stopped:?}");
    assert!(longest < LONGEST_WAIT, "{longest:?}");
    let now = clock.now();
    assert!(clock.raw() >= now + stopped);
}

#[test]
fn waiting_never_returns_early() {
    let clock = Clock::monotonic();
    for wait_us in [0, 10, 300, 2_000] {
        let until = clock.now() + Nanos::from_micros(wait_us);
        clock.wait_until(until);
        assert!(clock.now() >= until);
    }
    clock.wait_until(Nanos::ZERO);
}

/// A preemption during the read is no drift; a rate that is off by 0.1 % is.
#[test]
fn drift_excludes_preemption() {
    let clock = Clock::monotonic();
    let Some(tsc) = clock.tsc else { return };
    let fast = Clock {
        tsc: Some(Tsc { ns_per_tick_q32: tsc.ns_per_tick_q32 + tsc.ns_per_tick_q32 / 1000, ..tsc }),
        ..clock
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Enough busy threads for the kernel to preempt this one every few milliseconds.
        for _ in 0..8 * std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            });
        }
        let (mut largest_ppm, mut fast_ppm) = (0.0, (f64::MAX, f64::MIN));
        let end = clock.now() + Nanos::from_millis(500);
        while clock.now() < end {
            largest_ppm = f64::max(largest_ppm, clock.drift_ppm().abs());
            let ppm = fast.drift_ppm();
            fast_ppm = (ppm.min(fast_ppm.0), ppm.max(fast_ppm.1));
        }
        stop.store(true, Ordering::Relaxed);
        assert!(largest_ppm < 200.0, "{largest_ppm} ppm");
        assert!(fast_ppm.0 > 800.0 && fast_ppm.1 < 1200.0, "{fast_ppm:?}");
    });
}
