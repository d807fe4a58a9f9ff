use assay_execute::live::{
    CellCounts, DriveCondition, HistorySecond, LatencyFigures, OpFigures, RunningCell,
};
use assay_io::Nanos;
use assay_stats::HostLoad;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use super::*;

fn drive(label: &str, simulated: bool) -> DriveSnapshot {
    let latency =
        LatencyFigures { p50: Nanos(312_000), p99: Nanos(1_211_000), p999: Nanos(14_953_000) };
    let history = (0..90).map(|number| HistorySecond {
        number,
        ios: 200_000.0 + 1000.0 * (number as f64 / 5.0).sin() * number as f64,
        bytes: 0.0,
        p99_ns: 1_000_000 + 10_000 * (number % 7),
        covered_s: 1.0,
        cell: 1 + u32::from(number > 30),
    });
    DriveSnapshot {
        label: label.to_owned(),
        model: "SAMSUNG MZVPV128HDGM-00000".to_owned(),
        serial: "S3RIALN0".to_owned(),
        simulated,
        phase: Phase::Measuring,
        cell: Some(RunningCell {
            index: 4,
            id: format!("{label}/random-read-threads/numjobs=16"),
            step: "random-read-threads".to_owned(),
            title: "Random 4 KiB read by synchronous threads".to_owned(),
            at: Nanos::from_secs(12),
            planned: Some(Nanos::from_secs(60)),
        }),
        read: OpFigures {
            iops: 258_838.0,
            bytes_per_s: 258_838.0 * 4096.0,
            latency: Some(latency),
            ..OpFigures::default()
        },
        temperature_c: Some(61.3),
        power_mw: Some(5230),
        throttled: Some(false),
        condition: Some(DriveCondition {
            label: "garbage collection",
            details: Some("write amplification 2.1".to_owned()),
        }),
        history: history.collect(),
        drive_time: Nanos::from_secs(1211),
        speed_up: simulated.then_some(85.2),
        ..DriveSnapshot::default()
    }
}

fn warning(code: &str, cell: &str, message: &str) -> Warning {
    Warning {
        code: code.to_owned(),
        cell: Some(cell.to_owned()),
        drive: Some(0),
        message: message.to_owned(),
        advice: String::new(),
    }
}

fn screen(drives: Vec<DriveSnapshot>) -> Screen {
    Screen {
        live: LiveSnapshot {
            suite: "bandwidth".to_owned(),
            elapsed: Nanos::from_secs(72),
            left: Nanos::from_secs(185),
            done_share: 0.33,
            cells: CellCounts { done: 36, skipped: 2, failed: 0, left: 74 },
            host: drives.iter().any(|d| !d.simulated).then_some(HostLoad {
                user_pct: 48.0,
                system_pct: 40.0,
                irq_pct: 6.0,
                idle_pct: 6.0,
                ..HostLoad::default()
            }),
            drives,
            ..LiveSnapshot::default()
        },
        folder: "assay-runs/20261123T214500Z-bandwidth-1a2b".to_owned(),
        resumable: true,
        ..Screen::default()
    }
}

fn with_warnings(mut screen: Screen) -> Screen {
    let live = &mut screen.live;
    let cell = "nvme0n1/sequential-write";
    live.warnings = vec![
        warning("hot-before-start", cell, "62 C before the first cell"),
        warning("not-steady", cell, "the rate still falls by 4 % per minute"),
        warning(
            "host-limited",
            cell,
            "a worker thread used 97 % of a processor: the host, not the drive, set this rate",
        ),
    ];
    live.warning_counts = live.warnings.iter().map(|w| (w.code.clone(), 1)).collect();
    screen
}

fn drawn(width: u16, height: u16, screen: &Screen) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            let area = frame.area();
            draw(frame.buffer_mut(), area, screen);
        })
        .unwrap();
    terminal.backend().to_string()
}

#[test]
fn one_real_drive_with_warnings() {
    let screen = with_warnings(screen(vec![drive("nvme0n1", false)]));
    insta::assert_snapshot!("real-80x24", drawn(80, 24, &screen));
    insta::assert_snapshot!("real-100x30", drawn(100, 30, &screen));
    insta::assert_snapshot!("real-160x50", drawn(160, 50, &screen));
}

#[test]
fn two_simulated_drives() {
    let screen = screen(vec![drive("samsung-951", true), drive("intel-600p", true)]);
    insta::assert_snapshot!("two-80x24", drawn(80, 24, &screen));
    insta::assert_snapshot!("two-100x30", drawn(100, 30, &screen));
    insta::assert_snapshot!("two-160x50", drawn(160, 50, &screen));
}

#[test]
fn seven_drives_have_a_row_each() {
    let labels = ["a", "b", "c", "d", "e", "f", "a-rather-long-label"];
    let screen = with_warnings(screen(labels.map(|label| drive(label, true)).to_vec()));
    insta::assert_snapshot!("seven-100x30", drawn(100, 30, &screen));
}

#[test]
fn four_drives_have_charts_and_cells() {
    let labels = ["samsung-951", "intel-600p", "plextor-m8pe-g", "mydigitalssd-bpx"];
    let mut drives = labels.map(|label| drive(label, true)).to_vec();
    drives[1].condition = None;
    let screen = screen(drives);
    insta::assert_snapshot!("four-120x36", drawn(120, 36, &screen));
    insta::assert_snapshot!("four-80x24", drawn(80, 24, &screen));
}

#[test]
fn before_the_first_interval_nothing_is_invented() {
    let mut screen =
        screen(vec![DriveSnapshot { label: "disk.img".to_owned(), ..DriveSnapshot::default() }]);
    screen.live.cells.left = 112;
    screen.live.done_share = 0.0;
    screen.live.host = None;
    screen.resumable = false;
    insta::assert_snapshot!("start-80x24", drawn(80, 24, &screen));
}

#[test]
fn the_state_of_the_run_is_in_the_second_line() {
    let line = |screen: &Screen| drawn(160, 30, screen).lines().nth(1).unwrap().to_owned();
    let mut screen = screen(vec![drive("nvme0n1", false)]);
    assert!(line(&screen).contains("assay-runs/"));
    screen.live.paused = true;
    assert!(line(&screen).contains("pausing after this cell"));
    screen.live.drives[0].phase = Phase::Paused;
    assert!(line(&screen).contains("paused: p continues"));
    screen.stopping = true;
    assert!(line(&screen).contains("stopping: what is measured is kept"));
}

#[test]
fn help_and_keys_fit_eighty_columns() {
    let mut screen = screen(vec![drive("nvme0n1", false)]);
    screen.help = true;
    insta::assert_snapshot!("help-80x24", drawn(80, 24, &screen));
}

#[test]
fn any_size_is_drawn() {
    for count in [1, 2, 4, 9] {
        let drives = (0..count).map(|n| drive("a", n % 2 == 0)).collect();
        draws_at_any_size(&with_warnings(screen(drives)));
    }
}

fn draws_at_any_size(screen: &Screen) {
    for width in [1, 20, 59, 60, 61, 79, 133, 300] {
        for height in [1, 5, 14, 15, 16, 23, 31, 90] {
            let text = drawn(width, height, screen);
            let small = width < LEAST_COLUMNS || height < LEAST_ROWS;
            assert_eq!(
                text.contains("q quit  ") || text.contains("q quit,"),
                !small,
                "{width} x {height}"
            );
        }
    }
}
