//! The table of figures. A new figure is one entry here, with its computation in
//! [`super::compute`], and its row in docs/suites.md, which a test prints.

use assay_stats::compare::Better::Less;
use assay_store::model::CellResult;

use super::{Definition, Figure, Least, Scope, Unit, compute};
use crate::interference::{P99_99_SAMPLES, P99_SAMPLES};

/// Defines a constant for each figure, and the list of all.
macro_rules! figures {
    ($($name:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        $(
            #[doc = concat!("The figure `", stringify!($name), "`.")]
            pub const $name: Figure =
                Figure(&Definition { $($field: $value,)* ..Definition::BASE });
        )*
        /// All figures, in the order of docs/suites.md.
        pub static FIGURES: &[Figure] = &[$($name),*];
    };
}

figures! {
    MIB_PER_S {
        key: "mib_per_s",
        old_keys: &["best_rate"],
        title: "Bandwidth",
        unit: Unit::MibPerS,
        meaning: "rate of the best cell",
        compute: Some(compute::best_mib_per_s),
        of_result: Some(CellResult::mib_per_s),
    }
    SINGLE_MIB_PER_S {
        key: "single_mib_per_s",
        old_keys: &["single_rate"],
        title: "Bandwidth of one thread",
        unit: Unit::MibPerS,
        meaning: "rate of the best cell with one thread",
        compute: Some(compute::single_mib_per_s),
    }
    IOPS {
        key: "iops",
        old_keys: &["best_iops"],
        title: "Rate",
        unit: Unit::Iops,
        meaning: "I/Os per second of the best cell",
        compute: Some(compute::best_iops),
        of_result: Some(CellResult::iops),
    }
    MEAN_US {
        key: "mean_us",
        title: "Mean latency",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(1),
        meaning: "mean latency of the first cell",
        compute: Some(compute::mean_us),
        of_result: Some(|r| r.latency().mean / 1e3),
    }
    P50_US {
        key: "p50_us",
        title: "p50",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(1),
        meaning: "median latency of the first cell",
        compute: Some(compute::percentile),
        of_result: Some(|r| r.latency().p50 as f64 / 1e3),
    }
    P99_US {
        key: "p99_us",
        title: "p99",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(P99_SAMPLES),
        is_tail: true,
        meaning: "99th percentile latency of the first cell",
        compute: Some(compute::percentile),
        of_result: Some(|r| r.latency().p99 as f64 / 1e3),
    }
    P99_9_US {
        key: "p99_9_us",
        title: "p99.9",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(1_000),
        is_tail: true,
        meaning: "99.9th percentile latency of the first cell",
        compute: Some(compute::percentile),
        of_result: Some(|r| r.latency().p99_9 as f64 / 1e3),
    }
    P99_99_US {
        key: "p99_99_us",
        title: "p99.99",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(P99_99_SAMPLES),
        is_tail: true,
        meaning: "99.99th percentile latency of the first cell",
        compute: Some(compute::percentile),
        of_result: Some(|r| r.latency().p99_99 as f64 / 1e3),
    }
    LAST_MIB_PER_S {
        key: "last_mib_per_s",
        title: "Rate at the end",
        unit: Unit::MibPerS,
        least: Least::Intervals(5),
        meaning: "mean rate of the last fifth of the first cell's intervals",
        compute: Some(compute::last_mib_per_s),
    }
    HELD_PCT {
        key: "held_pct",
        old_keys: &["enduring_pct"],
        title: "Rate held",
        unit: Unit::Percent,
        least: Least::Intervals(5),
        needs_steady: false,
        meaning: "rate of the last fifth of the first cell's intervals, relative to that of the \
                  first fifth",
        compute: Some(compute::held_pct),
    }
    SLOWEST_PCT {
        key: "slowest_pct",
        old_keys: &["steadiness_pct"],
        title: "Slowest interval",
        unit: Unit::Percent,
        least: Least::Intervals(3),
        meaning: "slowest interval of the first cell, relative to its mean",
        compute: Some(compute::slowest_pct),
    }
    SCALING_PCT {
        key: "scaling_pct",
        title: "Scaling",
        unit: Unit::Percent,
        meaning: "rate with most threads, relative to that with fewest, at the block size where \
                  the gain is largest",
        compute: Some(compute::scaling_pct),
    }
    TEMPERATURE_MAX_C {
        key: "temperature_max_c",
        old_keys: &["hottest_c"],
        title: "Temperature",
        unit: Unit::Celsius,
        better: Some(Less),
        needs_steady: false,
        resolution: 1.0,
        meaning: "highest temperature in the cells",
        compute: Some(compute::temperature_max_c),
    }
    TEMPERATURE_C {
        key: "temperature_c",
        title: "Mean temperature",
        unit: Unit::Celsius,
        better: Some(Less),
        needs_steady: false,
        resolution: 1.0,
        meaning: "mean of the first cell's temperature readings; in cohorts over time",
        compute: Some(compute::temperature_c),
    }
    THROTTLED_PCT {
        key: "throttled_pct",
        title: "Throttled",
        unit: Unit::Percent,
        better: Some(Less),
        needs_steady: false,
        meaning: "share of the time in the slow state while the first cell was throttled; 0 if it \
                  never was, not measured without temperature or throttling telemetry",
        compute: Some(compute::throttled_pct),
    }
    THROTTLED_RATE_PCT {
        key: "throttled_rate_pct",
        title: "Rate while throttled",
        unit: Unit::Percent,
        needs_steady: false,
        meaning: "mean rate in that time, fast and slow states together, relative to the rate just \
                  before; 100 if it was never throttled",
        compute: Some(compute::throttled_rate_pct),
    }
    POWER_W {
        key: "power_w",
        title: "Power",
        unit: Unit::Watts,
        better: Some(Less),
        meaning: "mean power of the first cell",
        compute: Some(compute::power_w),
    }
    MIB_PER_JOULE {
        key: "mib_per_joule",
        title: "Data per energy",
        unit: Unit::MibPerJoule,
        meaning: "best rate per power",
        compute: Some(compute::mib_per_joule),
    }
    CACHE_GIB {
        key: "cache_gib",
        title: "SLC cache",
        unit: Unit::Gib,
        meaning: "data written in the first cell before the SLC cache was full",
        compute: Some(compute::cache_gib),
    }
    SCORE_IOPS {
        key: "score_iops",
        title: "Score",
        unit: Unit::Iops,
        meaning: "view `consistency`: mean of the scored part of the first cell, its last ninth",
        compute: Some(compute::score_iops),
    }
    SCORE_STEADINESS {
        key: "score_steadiness",
        title: "Steadiness of the score",
        unit: Unit::Ratio,
        meaning: "that mean over the standard deviation",
        compute: Some(compute::score_steadiness),
    }
    KNEE_IOPS {
        key: "knee_iops",
        title: "Rate at the knee",
        unit: Unit::Iops,
        needs_steady: false,
        meaning: "view `knee`: rate at the lowest depth that reaches 95 % of the best",
        compute: Some(compute::knee_iops),
    }
    KNEE_P99_99_US {
        key: "knee_p99_99_us",
        old_keys: &["knee_tail_us"],
        title: "p99.99 at the knee",
        unit: Unit::Microseconds,
        better: Some(Less),
        is_tail: true,
        needs_steady: false,
        meaning: "99.99th percentile latency there",
        compute: Some(compute::knee_p99_99_us),
    }
    LOAD_KNEE_PCT {
        key: "load_knee_pct",
        title: "Sustained load",
        unit: Unit::Percent,
        needs_steady: false,
        meaning: "view `load`: highest load with at most twice the latency of the lowest, relative \
                  to the saturated rate",
        compute: Some(compute::load_knee_pct),
    }
    STEADY_PCT {
        key: "steady_pct",
        title: "Steady",
        unit: Unit::Percent,
        needs_steady: false,
        meaning: "rounds: share of the tracking variables in steady state",
        compute: Some(compute::steady_pct),
    }
    WINDOW_IOPS {
        key: "window_iops",
        title: "Rate",
        unit: Unit::Iops,
        meaning: "view `rounds`: mean rate over the measurement window",
        compute: Some(compute::window_iops),
    }
    WINDOW_MIB_PER_S {
        key: "window_mib_per_s",
        title: "Bandwidth",
        unit: Unit::MibPerS,
        meaning: "view `rounds`: mean rate over the measurement window",
        compute: Some(compute::window_mib_per_s),
    }
    WINDOW_MEAN_US {
        key: "window_mean_us",
        title: "Mean latency",
        unit: Unit::Microseconds,
        better: Some(Less),
        meaning: "view `rounds`: mean latency over the measurement window",
        compute: Some(compute::window_mean_us),
    }
    WINDOW_WRITE_AMPLIFICATION {
        key: "window_write_amplification",
        title: "Write amplification",
        unit: Unit::Ratio,
        better: Some(Less),
        meaning: "view `rounds`: write amplification over the measurement window, by the drive's \
                  counters",
        compute: Some(compute::window_write_amplification),
    }
    WRITE_AMPLIFICATION {
        key: "write_amplification",
        title: "Write amplification",
        unit: Unit::Ratio,
        better: Some(Less),
        meaning: "write amplification of the first cell, by the drive's counters",
        compute: Some(compute::write_amplification),
    }
    AMPLIFICATION_SAVING {
        key: "amplification_saving",
        title: "Saved by placement",
        unit: Unit::Ratio,
        meaning: "view `placement`: write amplification of the jobs of the first step with this \
                  view over that of the first cell",
        compute: Some(compute::amplification_saving),
    }
    RECOVERED_PCT {
        key: "recovered_pct",
        title: "Recovered",
        unit: Unit::Percent,
        meaning: "view `idle_recovery`: rate of the first cell after idle time, relative to \
                  continuous writes",
        compute: Some(compute::recovered_pct),
    }
    LEVEL_MIB_PER_S {
        key: "level_mib_per_s",
        title: "Level",
        unit: Unit::MibPerS,
        meaning: "view `cross_stimulus`: level of the first cell",
        compute: Some(compute::level_mib_per_s),
    }
    SETTLED_S {
        key: "settled_s",
        title: "Settled after",
        unit: Unit::Seconds,
        better: Some(Less),
        meaning: "view `cross_stimulus`: time until that level",
        compute: Some(compute::settled_s),
    }
    LEVEL_KEPT_PCT {
        key: "level_kept_pct",
        title: "Level kept",
        unit: Unit::Percent,
        meaning: "view `cross_stimulus`: that level relative to the level of the same workload \
                  before",
        compute: Some(compute::level_kept_pct),
    }
    OF_EMPTY_PCT {
        key: "of_empty_pct",
        title: "Rate of the full drive",
        unit: Unit::Percent,
        meaning: "view `fill`: rate of the first cell relative to the same workload in the first \
                  state",
        compute: Some(compute::of_empty_pct),
    }
    WAKE_US {
        key: "wake_us",
        title: "Wake-up",
        unit: Unit::Microseconds,
        better: Some(Less),
        meaning: "view `wake`: median latency after the longest idle time, less that without idle \
                  time",
        compute: Some(compute::wake_us),
    }
    TIME_TO_STEADY_S {
        key: "time_to_steady_s",
        title: "Steady after",
        unit: Unit::Seconds,
        better: None,
        meaning: "views `consistency` and `saturation`: time until the rate of the first cell is \
                  steady; not ranked",
        compute: Some(compute::time_to_steady_s),
    }
    CAPACITIES_TO_STEADY {
        key: "capacities_to_steady",
        title: "Steady after",
        unit: Unit::Capacities,
        better: None,
        meaning: "data written until then over the drive's capacity; not ranked",
        compute: Some(compute::capacities_to_steady),
    }
    SHARED_PCT {
        key: "shared_pct",
        title: "Rate beside others",
        unit: Unit::Percent,
        meaning: "highest rate with all drives together, relative to the drive alone",
        compute: Some(compute::shared_pct),
    }
    P99_SLOWDOWN {
        key: "p99_slowdown",
        title: "p99 beside others",
        unit: Unit::Ratio,
        better: Some(Less),
        least: Least::Ios(P99_SAMPLES),
        is_tail: true,
        meaning: "jobs at once: 99th percentile latency of the foreground over that of the same \
                  workload alone",
        compute: Some(compute::p99_slowdown),
    }
    P99_99_SLOWDOWN {
        key: "p99_99_slowdown",
        title: "p99.99 beside others",
        unit: Unit::Ratio,
        better: Some(Less),
        least: Least::Ios(P99_99_SAMPLES),
        is_tail: true,
        meaning: "jobs at once: the same of the 99.99th percentile",
        compute: Some(compute::p99_99_slowdown),
    }
    KEPT_IOPS_PCT {
        key: "kept_iops_pct",
        title: "Rate kept",
        unit: Unit::Percent,
        meaning: "jobs at once: rate of the foreground relative to that of the same workload alone",
        compute: Some(compute::kept_iops_pct),
    }
    MISSES_PER_MILLION {
        key: "misses_per_million",
        title: "Missed deadlines",
        unit: Unit::PerMillion,
        better: Some(Less),
        meaning: "I/Os of the last cell, flushes apart, that missed the step's shortest deadline",
        compute: Some(compute::misses_per_million),
    }
    DRAIN_S {
        key: "drain_s",
        title: "Time to drain",
        unit: Unit::Seconds,
        better: Some(Less),
        meaning: "view `drain`: longest time to drain",
        compute: Some(compute::drain_s),
    }
    FLUSH_P50_US {
        key: "flush_p50_us",
        title: "Flush, p50",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(1),
        meaning: "median latency of the first cell's flushes",
        compute: Some(compute::flush_p50_us),
    }
    FLUSH_P99_US {
        key: "flush_p99_us",
        title: "Flush, p99",
        unit: Unit::Microseconds,
        better: Some(Less),
        least: Least::Ios(P99_SAMPLES),
        is_tail: true,
        meaning: "99th percentile latency of the first cell's flushes",
        compute: Some(compute::flush_p99_us),
    }
    DATA_RATIO {
        key: "data_ratio",
        title: "Compressible data",
        unit: Unit::Ratio,
        better: Some(Less),
        meaning: "highest ratio of the rate to that of incompressible data",
        compute: Some(compute::data_ratio),
    }
    DOUBLE_WRITE_COST {
        key: "double_write_cost",
        title: "Cost of a double write",
        unit: Unit::Ratio,
        better: Some(Less),
        meaning: "pages per second of atomic writes, the step that `compare_with` names, over \
                  those of a double write, of which each page takes two",
        compute: Some(compute::double_write_cost),
    }
    CACHE_HIT_PCT {
        key: "cache_hit_pct",
        title: "Hit rate",
        unit: Unit::Percent,
        meaning: "reads of the last cell that a block cache answered",
        compute: Some(compute::cache_hit_pct),
    }
    BAD_BLOCKS {
        key: "bad_blocks",
        title: "Mismatched blocks",
        unit: Unit::Blocks,
        better: Some(Less),
        scope: Scope::StepOrDrive,
        needs_steady: false,
        meaning: "blocks that failed verification, of several passes in the worst",
        compute: Some(compute::bad_blocks),
    }
    ERRORS {
        key: "errors",
        title: "Errors",
        unit: Unit::Ios,
        better: Some(Less),
        scope: Scope::Drive,
        needs_steady: false,
        is_of_merit: false,
        meaning: "failed I/Os, in verdicts of all steps",
        compute: Some(compute::errors),
    }
    ENDURANCE_TB {
        key: "endurance_tb",
        title: "Rated endurance",
        unit: Unit::Terabytes,
        scope: Scope::Drive,
        is_of_merit: false,
        meaning: "terabytes written, by the facts of a policy; verdicts only",
    }
}
