use assay_stats::OpSummary;
use assay_store::model::{CellResult, Round, WorkloadRecord};
use assay_store::read::CellState;
use assay_units::endurance::RatedEndurance;
use proptest::prelude::*;

use super::*;
use crate::fixtures::{drive, plan, run};

const GB: u64 = 1_000_000_000;

fn origin(unit_bytes: u64) -> CounterOrigin {
    CounterOrigin { source: CounterSource::OcpSmart, unit_bytes }
}

fn origins(host: u64, media: u64) -> Origins {
    Origins { media: origin(media), host: origin(host) }
}

fn readings(counters: &[(u64, u64, u64)]) -> Vec<TelemetryRecord> {
    let reading = |&(second, host, media): &(u64, u64, u64)| TelemetryRecord {
        at: Nanos::from_secs(second),
        host_bytes_written: Some(host),
        nand_bytes_written: Some(media),
        ..TelemetryRecord::default()
    };
    counters.iter().map(reading).collect()
}

/// A cell that wrote, with these readings: seconds, host bytes, media bytes.
fn cell(step: &str, round: u32, counters: &[(u64, u64, u64)]) -> CellRecord {
    let mut plan = plan(step, WorkloadRecord::default());
    plan.id = format!("{step}/{round}");
    plan.round = (round > 0).then_some(Round { number: round, most: 3, window: 2, tracked: true });
    CellRecord {
        plan,
        state: CellState::Finished,
        drives: vec![CellDrive {
            drive: 0,
            result: Some(CellResult {
                write: OpSummary { bytes: 1, ..OpSummary::default() },
                ..CellResult::default()
            }),
            series: Vec::new(),
            telemetry: readings(counters),
            distributions: Vec::new(),
            gaps: Vec::new(),
        }],
        host: Vec::new(),
    }
}

fn real(rated: Option<u64>) -> Run {
    let mut record = drive("/dev/nvme0n1");
    record.simulated = false;
    record.capacity_bytes = 1000 * GB;
    record.endurance = Some(EnduranceCounters {
        media: Some(origin(1)),
        host: origin(512_000),
        rated: rated.map(|media_bytes| RatedEndurance {
            source: CounterSource::EnduranceGroup,
            media_bytes,
        }),
    });
    run(vec![record])
}

#[test]
fn the_span_begins_with_the_last_reading_of_the_ramp() {
    let growth = |ramp_s: u64, counters: &[(u64, u64, u64)]| {
        let mut cell = cell("write", 0, counters);
        cell.plan.workload.ramp_ns = ramp_s * 1_000_000_000;
        let found = growth_of(&cell.plan, &cell.drives[0].telemetry);
        found.map(|growth| (growth.host_bytes, growth.media_bytes))
    };
    let counters = [(0, 100, 1000), (1, 200, 1500), (2, 300, 1800), (3, 400, 1900)];
    assert_eq!(growth(0, &counters), Ok((300, 900)));
    assert_eq!(growth(1, &counters), Ok((200, 400)));
    assert_eq!(growth(2, &counters), Ok((100, 100)));
    assert_eq!(growth(3, &counters), Err(NoAmplification::OneReading));
    assert_eq!(growth(0, &[]), Err(NoAmplification::NoCounter));
    // A counter that decreases in between does not count, even if it ends above its start.
    let reset = [(1, 100, 1000), (2, 200, 10), (3, 300, 2000)];
    assert_eq!(growth(0, &reset), Err(NoAmplification::Decreased));
    let at_once = [(1, 100, 1000), (2, 50, 1100), (3, 300, 2000)];
    assert_eq!(growth(0, &at_once), Err(NoAmplification::Decreased));
}

#[test]
fn a_figure_needs_counters_that_are_fine_enough() {
    let of = |host_bytes: u64, media_bytes: u64, origins: Origins| {
        let growth = Growth { host_bytes, media_bytes, pairs: 1 };
        amplification(growth, &origins)
    };
    // Exact counters: exact at any size.
    let exact = of(4096, 12_288, origins(1, 1)).unwrap();
    assert_eq!((exact.factor, exact.low, exact.high), (3.0, 3.0, 3.0));
    assert_eq!(exact.error_pct(), 0.0);
    // Data units of 512,000 bytes: 5 % at 21 units.
    let steps = origins(512_000, 1);
    assert!(of(10_752_000, 20_000_000, steps).is_ok());
    let few = of(10_240_000, 20_000_000, steps).unwrap_err();
    let coarse = NoAmplification::Coarse { host_bytes: 10_240_000, unit_bytes: (512_000, 1) };
    assert_eq!(few, coarse);
    assert!(few.to_string().contains("5 %"), "{few}");
    // Both in billions: 41 of each.
    assert!(of(41 * GB, 41 * GB, origins(GB, GB)).is_ok());
    assert!(of(40 * GB, 40 * GB, origins(GB, GB)).is_err());
    assert_eq!(of(0, 5, origins(1, 1)), Err(NoAmplification::NothingWritten));
}

#[test]
fn a_step_is_the_sum_of_its_cells_and_a_window_of_its_rounds() {
    let mut run = real(Some(3_000_000 * GB));
    let mib = |n: u64| n * 1_000_000;
    run.cells = vec![
        cell("fill", 0, &[(0, 0, 0), (9, mib(1000), mib(1000))]),
        cell("work", 1, &[(0, mib(1000), mib(1000)), (9, mib(1100), mib(1500))]),
        cell("work", 2, &[(0, mib(1100), mib(1500)), (9, mib(1200), mib(1800))]),
        cell("work", 3, &[(0, mib(1200), mib(1800)), (9, mib(1300), mib(2100))]),
    ];
    type Factor = (String, Option<(u32, u32)>, f64);
    let factors = |run: &Run| -> Vec<Factor> {
        let steps = of_steps(run, 0).into_iter();
        let known = steps.map(|s| (s.step, s.window, s.amplification.unwrap().factor));
        known.collect()
    };
    let all = |step: &str, factor| (step.to_owned(), None, factor);
    assert_eq!(factors(&run), [all("fill", 1.0), all("work", 1100.0 / 300.0)]);
    run.steady = vec![SteadyRecord {
        drive: 0,
        step: "work".to_owned(),
        achieved: true,
        window: (2, 3),
        ..SteadyRecord::default()
    }];
    let window = ("work".to_owned(), Some((2, 3)), 3.0);
    assert_eq!(factors(&run)[2], window);

    // 3 PB of media at a factor of 3 are 1 PB of the host; 2.1 GB of the media are written.
    let rated = of_steps(&run, 0)[2].rated.unwrap();
    assert_eq!(rated.host_bytes, 1e15);
    assert!((rated.left_bytes - (1e15 - 0.7e9)).abs() < 1.0);
    assert_eq!(rated.drive_writes_per_day, None, "no warranty is stated");
    run.manifest.parameters.insert(WARRANTY_YEARS.to_owned(), "5".to_owned());
    let rated = of_steps(&run, 0)[2].rated.unwrap();
    let per_day = rated.drive_writes_per_day.unwrap();
    assert!((per_day - 1000.0 / 365.0 / 5.0).abs() < 1e-9, "{per_day}");

    // A cell without a growth leaves its step without a figure.
    run.cells[2].drives[0].telemetry.truncate(1);
    let steps = of_steps(&run, 0);
    let missing = Err(NoAmplification::OneReading);
    assert_eq!(steps[1].amplification, missing);
    assert_eq!(of_window(&run, 0, "work", (2, 3)), Some(missing));
    assert_eq!(of_window(&run, 0, "work", (3, 3)).unwrap().unwrap().factor, 3.0);
    // Without a rated endurance there is none of a workload.
    let mut unrated = real(None);
    unrated.cells = run.cells;
    assert_eq!(of_steps(&unrated, 0)[0].rated, None);
}

#[test]
fn folders_of_earlier_versions_have_the_counters_of_c0h() {
    let mut record = drive("/dev/nvme0n1");
    record.simulated = false;
    let before = super::origins(&record).unwrap();
    assert_eq!(
        before,
        Origins {
            media: origin(1),
            host: CounterOrigin { source: CounterSource::Smart, unit_bytes: 512_000 },
        }
    );
    let simulated = super::origins(&drive("sim:samsung-951")).unwrap();
    assert_eq!(simulated.media.source, CounterSource::Simulated);
    record.endurance = Some(EnduranceCounters { media: None, host: before.host, rated: None });
    assert_eq!(super::origins(&record), None);
}

proptest! {
    /// The bounds contain the truth for any position of the counters within their steps, rounded up
    /// or down.
    #[test]
    fn bounds_contain_the_truth(
        start in (0_u64..1 << 40, 0_u64..1 << 40),
        growth in (1_u64..1 << 40, 0_u64..1 << 42),
        units in (1_u64..1 << 30, 1_u64..1 << 30),
        up: bool,
    ) {
        let counted = |bytes: u64, unit: u64| if up { bytes.div_ceil(unit) * unit } else { bytes / unit * unit };
        let host = (start.0, start.0 + growth.0);
        let media = (start.1, start.1 + growth.1);
        let mut span = CounterSpan::default();
        span.add(false, Some((counted(host.0, units.0), counted(media.0, units.1))));
        span.add(false, Some((counted(host.1, units.0), counted(media.1, units.1))));
        let truth = growth.1 as f64 / growth.0 as f64;
        if let Ok(found) = amplification(span.growth().unwrap(), &origins(units.0, units.1)) {
            prop_assert!(found.low <= truth * (1.0 + 1e-12) && truth <= found.high * (1.0 + 1e-12), "{found:?} {truth}");
            prop_assert!((found.factor / truth - 1.0).abs() < 0.06 || growth.1 == 0, "{found:?} {truth}");
        }
    }
}
