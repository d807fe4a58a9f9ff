//! What the host did to a measurement.

use assay_device::load::OthersIo;
use assay_stats::HostLoad;
use assay_store::model::Warning;
use assay_store::model::warning::{OTHER_PROGRAMS, code, limit};
use assay_units::Nanos;
use assay_units::text::whole;

use super::warning;

/// What ran beside a measurement.
pub(crate) struct OtherPrograms<'a> {
    /// Mean use, percent of one processor, the busiest first.
    pub programs: &'a [(String, f64)],
    /// Of this program, percent of one processor.
    pub own_pct: f64,
}

impl OtherPrograms<'_> {
    /// More than this program.
    fn used_most(&self) -> bool {
        let sum: f64 = self.programs.iter().map(|(_, pct)| pct).sum();
        sum > self.own_pct
    }

    /// `fio 150 %, cc1 90 %, this program 30 %`.
    fn text(&self) -> String {
        const NAMED: usize = 3;
        let named = self.programs.iter().take(NAMED);
        let named: Vec<String> = named.map(|(name, pct)| format!("{name} {pct:.0} %")).collect();
        let own = self.own_pct;
        format!("{}, this program {own:.0} %", named.join(", "))
    }
}

/// `rate_reached`: the workload asked for a rate and got it, so that the host can have delayed I/Os
/// but not limited them.
pub(crate) fn host_limited(
    busiest_thread_pct: f64,
    idle_pct: Option<f64>,
    rate_reached: bool,
    others: &OtherPrograms<'_>,
) -> Warning {
    let is_busy = idle_pct.is_some_and(|idle| idle < limit::IDLE_HOST_PCT);
    if is_busy && busiest_thread_pct < limit::BUSY_THREAD_PCT && others.used_most() {
        return warning(
            code::HOST_LIMITED,
            format!("{OTHER_PROGRAMS}{}", others.text()),
            "the rate is a lower bound for the drive, and latencies include waits for a \
             processor; stop these programs and measure again",
        );
    }
    let evidence = match idle_pct {
        Some(idle) if idle < limit::IDLE_HOST_PCT => {
            format!("the host's processors were {idle:.0} % idle")
        }
        _ => format!("a worker thread used {busiest_thread_pct:.0} % of a processor"),
    };
    if rate_reached {
        return warning(
            code::HOST_LIMITED,
            format!("{evidence}: latencies include waits for a processor"),
            "read them as upper bounds for the drive; use a host with more or faster processors, \
             or keep other work off it",
        );
    }
    warning(
        code::HOST_LIMITED,
        format!("{evidence}: the host, not the drive, set this rate"),
        "read it as a lower bound for the drive; use more threads, a host with more or faster \
         processors, or a rate limit",
    )
}

/// `busy_pct`: of the processors that the modelled host of a simulated drive has for the threads.
pub(crate) fn simulated_host_limited(busy_pct: f64) -> Warning {
    warning(
        code::HOST_LIMITED,
        format!(
            "the simulated host spent {busy_pct:.0} % of its processors' time on these I/Os: the \
             host of the model, not the drive, set this rate"
        ),
        "read it as a lower bound for the drive; use more threads or longer blocks, or name \
         another host (sim:NAME,host=...)",
    )
}

/// `why`: the error of the kernel.
pub(crate) fn engine_replaced(engine: &str, why: &str) -> Warning {
    warning(
        code::ENGINE_REPLACED,
        format!(
            "the kernel refuses io_uring here ({why}); engine {engine}, which makes blocking \
             calls, measured in its place"
        ),
        "latencies contain the switches between its threads, and rates are lower where the host \
         sets them; allow io_uring (a seccomp profile of the container, kernel.io_uring_disabled), \
         or compare only with results of this engine",
    )
}

pub(crate) fn other_users(others: &OthersIo) -> Warning {
    let mib = |bytes: u64| whole(bytes as f64 / f64::from(1 << 20));
    let (read, written) = (mib(others.read_bytes), mib(others.written_bytes));
    warning(
        code::OTHER_USERS,
        format!(
            "other programs read {read} MiB and wrote {written} MiB on this drive meanwhile, {} % \
             of what it moved",
            others.share_pct
        ),
        "the figures are those of both loads; stop the other users (iostat, iotop and lsof show \
         them) and measure again",
    )
}

/// The process, or the machine, did not run all of the time.
pub(crate) fn host_stopped(stopped: Nanos, host: Option<HostLoad>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if stopped > Nanos::ZERO {
        let seconds = stopped.as_secs_f64();
        warnings.push(warning(
            code::HOST_STOPPED,
            format!("this program did not run for {seconds:.1} s of the measurement"),
            "it was stopped by a signal, its machine was suspended or paused, or other programs \
             had all processors; that time is in no latency, rate or duration, but the drive \
             rested in it",
        ));
    }
    if let Some(steal_pct) = host.map(|h| h.steal_pct)
        && steal_pct >= limit::STEAL_PCT
    {
        warnings.push(warning(
            code::HOST_STOPPED,
            format!(
                "the hypervisor took {steal_pct:.0} % of the time of this machine's processors"
            ),
            "latencies contain the waiting for them; measure on a machine whose processors are \
             its own",
        ));
    }
    warnings
}
