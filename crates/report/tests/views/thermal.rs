//! Views of temperature and power.

use assay_store::read::CellRecord;

use super::common::{
    self,
    page::{assert_well_formed, charts, tables, without_library},
};
use super::{number, page, rows};

#[test]
fn throttling_has_onset_and_remaining_rate() {
    let tables = tables(&page(&common::views::thermal(2, 1200)));
    let rows = rows(&tables, "Soak: temperature and rate");
    assert_eq!(rows[0].1[0], "never");
    // It begins after a sixth of the soak, at 77 degrees, and takes 12 of every 40 seconds.
    let hot = &rows[1].1;
    let onset = common::views::seconds_of(&hot[0]);
    assert!((onset - 201.0).abs() < 45.0, "{hot:?}");
    assert!((number(&hot[1]) - 77.0).abs() < 3.0, "{hot:?}");
    assert!((number(&hot[8]) - 30.0).abs() < 4.0, "{hot:?}");
}

/// A cache fills, then the flash throttles intermittently, then recovers: the throttling in the
/// table, in the causes of the rate and in the summary of the run is the same, and excludes the
/// cache.
#[test]
fn throttling_after_a_cache_is_consistent_everywhere() {
    let mut run = common::views::thermal(2, 840);
    let soaks = |cell: &CellRecord| cell.plan.step == "soak" && cell.plan.drives == [1];
    let at = run.cells.iter().position(soaks).unwrap();
    let mut plan = run.cells[at].plan.clone();
    (plan.workload.rw, plan.workload.ramp_ns) = ("write".to_owned(), 0);
    let shape = common::Shape {
        mib_per_s: 1000.0,
        seconds: 840,
        course: |second, _| match second {
            0..60 => 2.0,
            180..660 if (second - 180) % 40 < 12 => 0.25,
            _ => 1.0,
        },
        temperature: Some(|second, _| match second {
            0..60 => 45.0,
            60..180 => 60.0,
            180..660 => 77.0,
            _ => 50.0,
        }),
        errors: 0,
    };
    run.cells[at] = common::finished(plan, &[shape], 7);
    let tables = tables(&page(&run));
    let hot = &rows(&tables, "Soak: temperature and rate")[1].1;
    let near = |at: usize, wanted: f64| (number(&hot[at]) / wanted - 1.0).abs() < 0.05;
    assert_eq!((hot[0].as_str(), hot[1].as_str()), ("3 min", "77"), "{hot:?}");
    assert!(near(2, 1000.0), "the rate before heat, without the cache: {hot:?}");
    assert!(near(3, 775.0) && near(4, 250.0) && near(5, 1000.0), "{hot:?}");
    let causes = rows(&tables, "Soak: causes of the rate");
    let thermal: Vec<&Vec<String>> =
        causes.iter().map(|row| &row.1).filter(|cells| cells[2].contains("thermal")).collect();
    assert_eq!(thermal.len(), 1, "{causes:?}");
    let duty = number(&hot[8]).round();
    let words = format!("from 77 C, {duty} % of the time, every 40 s");
    assert!(thermal[0][2].contains(&words), "{words}: {:?}", thermal[0]);
    assert_eq!(number(&thermal[0][3]), number(&hot[3]), "{hot:?}");
    let summary = assay_analysis::attribution::summary(&run, 1);
    let close = |figure: Option<f64>, shown: &str| (figure.unwrap() - number(shown)).abs() <= 0.5;
    assert_eq!(summary.throttle_onset_s, Some(180.0));
    assert_eq!(summary.throttle_onset_c, Some(77.0));
    assert_eq!(summary.throttle_period_s, Some(40.0));
    assert!(close(summary.rate_before_throttle_mib_per_s, &hot[2]), "{summary:?}");
    assert!(close(summary.rate_throttled_mib_per_s, &hot[3]), "{summary:?}");
    assert!(close(summary.throttle_duty_pct, &hot[8]), "{summary:?}");
}

#[test]
fn idle_time_has_the_rate_that_it_recovers() {
    let page = page(&common::views::idle_recovery(2));
    let tables = tables(&page);
    let rows = rows(&tables, "Recovery by idle time: rate after idle time");
    let idle: Vec<&str> = rows.iter().map(|row| row.1[0].as_str()).collect();
    assert_eq!(idle, ["5 s", "20 s", "5 s", "20 s"]);
    let recovered: Vec<f64> = rows.iter().map(|row| number(&row.1[6])).collect();
    for (found, truth) in recovered.iter().zip([200.0, 300.0, 100.0, 100.0]) {
        assert!((found / truth - 1.0).abs() < 0.03, "{recovered:?}");
    }
    assert_eq!(number(&rows[1].1[2]), 20.0, "{rows:?}");
    let drawn = charts(&page);
    let by_idle = &drawn.as_array().unwrap()[0]["views"][0];
    // Two lines per drive, a point per idle time.
    assert_eq!(by_idle["data"].as_array().unwrap().len(), 4);
    assert_eq!(by_idle["data"][0]["x"], serde_json::json!([5, 20]));
}

/// DragonFly gives the temperature of each drive after two minutes of concurrent reads, and which
/// of them say that they are too hot.
#[test]
fn temperatures_of_concurrent_drives_after_two_minutes() {
    let run = common::views::aboard();
    let page = page(&run);
    assert_well_formed(&without_library(&page).0);
    let tables = tables(&page);
    let rows = rows(&tables, "All drives at once: temperature");
    assert_eq!(rows.len(), 3);
    // From 40 degrees by 0.2 K per second: readings at 1 s (40), 120 s (63.8), 150 s (69.8).
    let numbers = |row: usize, cells: std::ops::Range<usize>| -> Vec<f64> {
        rows[row].1[cells].iter().map(|t| number(t)).collect()
    };
    assert!((number(&rows[0].1[0]) / 1600.0 - 1.0).abs() < 0.02);
    assert_eq!(numbers(0, 1..6), [40.0, 64.0, 70.0, 30.0, 70.0]);
    assert_eq!(numbers(1, 1..8), [80.0, 80.0, 80.0, 0.0, 80.0, 105.0, 149.0]);
    assert_eq!(rows[0].1[9], "none");
    assert_eq!(rows[1].1[9], "temperature");
    assert!(rows[2].1[1..6].iter().all(String::is_empty), "{:?}", rows[2]);
}

/// Power against rate: one point per cell, with the power that the table of every depth has, and
/// its MiB per joule.
#[test]
fn power_is_drawn_against_rate() {
    let run = common::views::enterprise(1, 20);
    let page = page(&run);
    let charts = charts(&page);
    let power = charts
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["id"].as_str().unwrap().ends_with("power-by-rate"))
        .unwrap();
    let lines = power["views"][0]["data"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "a line per power state");
    let tables = tables(&page);
    let rows = rows(&tables, "Peak random read: power");
    for (line, state) in lines.iter().zip([0u8, 2]) {
        let cells = run.cells.iter().filter(|c| {
            (c.plan.workload.power_state, c.plan.view.is_some()) == (Some(state), true)
        });
        for (i, cell) in cells.enumerate() {
            let data = &cell.drives[0];
            let result = data.result.as_ref().unwrap();
            let near = |shown: f64, truth: f64| {
                assert!((shown / truth - 1.0).abs() < 0.01, "{shown} is not {truth}");
            };
            near(line["x"][i].as_f64().unwrap(), result.iops());
            let power_mw = data.telemetry.last().unwrap().power_mw.unwrap();
            let watts = power_mw as f64 / 1e3;
            near(line["y"][i].as_f64().unwrap(), watts);
            let threads = match cell.plan.workload.numjobs {
                1 => "1 thread".to_owned(),
                n => format!("{n} threads"),
            };
            let name = [threads, format!("power state {state}")];
            let (_, shown) = rows.iter().find(|(_, shown)| shown[..2] == name).unwrap();
            near(number(shown.last().unwrap()), result.mib_per_s() / watts);
        }
    }
}

/// DragonFly: the sensor of a drive without a load that jumps by several degrees, and a second
/// sensor that never moves.
#[test]
fn jitter_of_an_idle_sensor_is_shown() {
    let mut run = common::views::thermal(1, 60);
    let idle = run.cells.iter_mut().find(|c| c.plan.kind == assay_store::model::CellKind::Idle);
    let telemetry = &mut idle.unwrap().drives[0].telemetry;
    assert!(telemetry.len() > 3);
    for (i, reading) in telemetry.iter_mut().enumerate() {
        reading.temperature_c = Some([50.0, 51.0, 46.0][i % 3]);
        reading.sensors_c = vec![105.0];
    }
    let tables = tables(&page(&run));
    let rows = rows(&tables, "Rest: idle power and temperature");
    let last: Vec<f64> = rows[0].1.iter().rev().take(4).map(|t| number(t)).collect();
    // Other sensors, largest step, highest, lowest.
    assert_eq!(last, [105.0, 5.0, 51.0, 46.0]);
}
