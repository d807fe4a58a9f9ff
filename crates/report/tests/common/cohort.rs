//! Synthetic cohorts whose truth is known.

use assay_analysis::cohort::progress::{RunProgress, RunState};
use assay_analysis::cohort::soak::{SoakErrors, SoakSeries};
use assay_analysis::cohort::{Observation, Soaks};
use assay_stats::HostAudit;
use assay_stats::compare::Better;
use assay_units::Rng;

/// Observations of `n` drives with four drives per host and 2 % between them: two headline metrics
/// and `cells` figures of cells. Drive 5 is 15 % slower, host 3 is 8 % slower (from 16 drives on),
/// firmware B is 4 % slower in reads.
pub fn observations(n: usize, cells: usize) -> Vec<Observation> {
    let mut rng = Rng::stream(20, "synthetic cohort");
    let mut figures = vec![
        ("quick.random-read".to_owned(), "IOPS", 250e3),
        ("quick.latency-p99".to_owned(), "\u{b5}s", 120.0),
    ];
    figures.extend((0..cells).map(|c| {
        (format!("quick/random-read-threads/numjobs={}.iops", c + 1), "IOPS", 1e4 * (c + 1) as f64)
    }));
    let mut all = Vec::new();
    for drive in 0..n {
        let quality = 0.015 * rng.normal();
        let second = drive % 2 == 1;
        for (figure, unit, typical) in &figures {
            let is_rate = *unit == "IOPS";
            let mut slower = quality + 0.012 * rng.normal();
            slower += if drive == 5 { 0.15 } else { 0.0 };
            slower += if drive / 4 == 3 { 0.08 } else { 0.0 };
            slower += if second && figure.contains("random-read") { 0.04 } else { 0.0 };
            all.push(Observation {
                plan: "m951-0123456789ab".to_owned(),
                figure: figure.clone(),
                unit: (*unit).to_owned(),
                better: Some(if is_rate { Better::More } else { Better::Less }),
                value: typical * (if is_rate { -slower } else { slower }).exp(),
                serial: format!("S1XYNYAG{drive:06}"),
                model: "SAMSUNG MZVPV128HDGM".to_owned(),
                firmware: if second { "BXW75D0Q" } else { "BXW76D0Q" }.to_owned(),
                host: format!("rack1-n{:03}", drive / 4 + 1),
                slot: format!("bay {}", drive % 4 + 1),
                run_id: format!("run-{drive}"),
                began: "2026-11-21T03:15:14Z".to_owned(),
                ..Observation::default()
            });
        }
    }
    all
}

/// A run per drive; the last but one was interrupted, the last lost its drive.
pub fn runs(n: usize) -> Vec<RunProgress> {
    let mut rng = Rng::stream(20, "synthetic audits");
    let mut noise = || (0.02 * rng.normal()).exp();
    let mut run = |drive: usize| RunProgress {
        serial: format!("S1XYNYAG{drive:06}"),
        host: format!("rack1-n{:03}", drive / 4 + 1),
        slot: format!("bay {}", drive % 4 + 1),
        suite: "quick".to_owned(),
        run_id: format!("run-{drive}"),
        began: "2026-11-21T03:15:14Z".to_owned(),
        state: if drive + 2 < n { RunState::Done } else { RunState::Interrupted },
        drive_lost: drive + 1 == n,
        failed: Vec::new(),
        verdict: None,
        audit: Some(HostAudit {
            null_iops_per_thread: 2e6 * noise(),
            // That of host 3 is slow.
            clock_ns: noise() * if drive / 4 == 3 { 30.0 } else { 20.0 },
            ..HostAudit::default()
        }),
    };
    (0..n).map(&mut run).collect()
}

/// A soak of six hours of each drive, by 150 seconds: all become 3 % slower, drive 6 by 5 % beside,
/// every seventh is interrupted, and drive 2 has failed I/Os.
pub fn soaks(n: usize) -> Soaks {
    let mut rng = Rng::stream(20, "synthetic soaks");
    let all = observations(n, 0);
    let mut soaks = Soaks::default();
    for (drive, about) in all.iter().step_by(2).enumerate() {
        let (level, mut noise) = (0.02 * rng.normal(), rng.normal());
        let mut point = |at: usize| {
            noise = 0.7 * noise + 0.51_f64.sqrt() * rng.normal();
            let share = at as f64 / 144.0;
            let own = if drive == 6 { 0.05 * share } else { 0.0 };
            let value = 250e3 * (level + 0.004 * noise - 0.03 * share - own).exp();
            (6.0 * share, value)
        };
        let points: Vec<(f64, f64)> = (0..144).map(&mut point).collect();
        let spans = match drive % 7 {
            3 => vec![points[..70].to_vec(), points[80..].to_vec()],
            _ => vec![points],
        };
        let named = |figure: &str, unit: &str| Observation {
            figure: format!("quick/soak.{figure}"),
            unit: unit.to_owned(),
            ..about.clone()
        };
        soaks.series.push(SoakSeries {
            about: named("iops", "IOPS"),
            spans,
            ..SoakSeries::default()
        });
        soaks.errors.push(SoakErrors {
            about: named("errors_per_bit", ""),
            errors: if drive == 2 { 9 } else { 0 },
            bits: 1e15,
        });
    }
    soaks
}
