//! The fold of percentiles: what its templates do not know, and the naive figure.

use super::*;

#[test]
fn templates_have_nothing_that_their_percentiles_taught() {
    let study = Study::new(1, 1).unwrap();
    let drives = Study::percentile_drives().unwrap();
    assert_eq!(drives, ["intel-optane-p4800x", "intel-p3700"]);
    for name in &drives {
        let Unlearned { template, starts } = study.unlearned(name).unwrap();
        for structure in &starts {
            let profile = template.profile(structure, &template.wide.mean);
            profile.unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let own = ReferenceDrive::new(name).unwrap();
        let taught = own.numbers.iter().filter(|n| n.source.contains(TAUGHT));
        for number in taught {
            let is_free = template.paths.contains(&number.path);
            let is_varied = starts.iter().any(|s| s.contains_key(&number.path));
            let is_gone = get(&template.table, &number.path).is_none();
            // The rate at depth 16 is a mean, which is known.
            let is_rate = number.path == "firmware.read_page_ns";
            assert!(
                is_free || is_varied || is_gone || is_rate,
                "{name}: {}",
                number.path
            );
        }
    }
    // The one other drive of 3D XPoint has the P4800X's retries.
    let template = study.unlearned("intel-optane-p4800x").unwrap().template;
    assert!(get(&template.table, "in_place.retry.extra_ns").is_none());
    let template = study.unlearned("intel-p3700").unwrap().template;
    let extra = get(&template.table, "nand.retry.extra_ns")
        .and_then(leader)
        .unwrap();
    assert!((80_000.0..200_000.0).contains(&extra), "{extra}");
}

#[test]
fn the_naive_percentile_is_the_mean_times_the_ratio_of_the_other_drive() {
    let (name, other) = ("intel-p3700", "intel-optane-p4800x");
    let figures = published(name).unwrap();
    let p99 = figures
        .iter()
        .find(|m| m.metric == ReferenceMetric::P99Us)
        .unwrap();
    let naive = by_mean(name, p99, &figures).unwrap().unwrap();
    assert!((naive - 77.9 * 10.0 / 8.9).abs() < 1e-6, "{naive}");
    // With no mean known there is none.
    assert_eq!(by_mean(name, p99, &[]).unwrap(), None);
    assert!(by_mean(other, p99, &figures).unwrap().is_some());
}

#[test]
fn percentiles_follow_the_known_mean_of_their_cell() {
    let figures = published("intel-p3700").unwrap();
    let asked: Vec<Measurement> = figures
        .into_iter()
        .filter(|m| is_percentile(m) || m.metric == ReferenceMetric::MeanUs)
        .collect();
    let member = SimulatedMember {
        weight: 1.0,
        structure: Structure::new(),
        point: Vec::new(),
        figures: asked.iter().map(|m| Some((2.0 * m.value).ln())).collect(),
    };
    let mut members = [member.clone(), member];
    // One without the mean has no percentile either.
    let mean = asked
        .iter()
        .position(|m| m.metric == ReferenceMetric::MeanUs);
    members[1].figures[mean.unwrap()] = None;
    carry_over(&mut members, &asked);
    for (m, figure) in asked
        .iter()
        .zip(&members[0].figures)
        .filter(|(m, _)| is_percentile(m))
    {
        assert!(
            (figure.unwrap().exp() / m.value - 1.0).abs() < 1e-9,
            "{m:?}"
        );
    }
    let first = asked.iter().position(is_percentile).unwrap();
    assert_eq!(members[1].figures[first], None);
}
