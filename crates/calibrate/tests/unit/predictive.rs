//! Predictive intervals: the table, situations.

use super::*;

const ROWS: &str = "random_read,another_depth,5,0.9,1.2\nrandom_read,facts_only,7,0.6,1.7\n";

#[test]
fn the_table_is_read_and_written_alike() {
    let all = parse(&format!("{HEADING}\n{ROWS}")).unwrap();
    assert_eq!(parse(&table(&all)).unwrap(), all);
    assert_eq!((all[0].low, all[0].high), (0.9, 1.2));
}

#[test]
fn damaged_rows_are_refused() {
    for bad in [
        "random_reads,facts_only,5,0.9,1.2",
        "random_read,known,5,0.9,1.2",
        "random_read,facts_only,5,1.9,1.2",
        "random_read,facts_only,5,0,1.2",
        "random_read,facts_only,5,x,1.2",
    ] {
        assert!(parse(&format!("{HEADING}\n{bad}\n")).is_err(), "{bad}");
    }
    embedded().unwrap();
}

#[test]
fn a_situation_is_what_the_published_figures_say() {
    use FigureKind::{RandomRead, RandomWrite, SequentialRead};
    let of = |profile, kind, depth| {
        let figures = crate::published::published(profile).unwrap();
        Situation::new(&figures, kind, depth)
    };
    assert_eq!(of("samsung-951", RandomRead, 64), Situation::AnotherBlock);
    assert_eq!(of("samsung-951", RandomRead, 256), Situation::AnotherDepth);
    assert_eq!(of("toshiba-rd400", RandomRead, 64), Situation::AnotherDepth);
    assert_eq!(of("samsung-951", SequentialRead, 1), Situation::AnotherBlock);
    assert_eq!(of("samsung-951", RandomWrite, 1), Situation::OtherKinds);
    assert_eq!(of("crucial-mx300", RandomRead, 1), Situation::FactsOnly);
}

#[test]
fn every_kind_and_situation_has_a_name() {
    for kind in FigureKind::ALL {
        assert_eq!(FigureKind::parse(kind.name()), Some(kind));
    }
    for one in Situation::ALL {
        assert_eq!(Situation::parse(one.name()), Some(one));
    }
}

#[test]
fn a_fitted_depth_is_never_wider_than_another_one() {
    for name in assay_ssd::Profile::names() {
        let all = of_profile(name, false, &[]).unwrap();
        let width = |one: &PredictiveInterval| one.high - one.low;
        for (depth, one) in &all {
            let any = all.iter().find(|(d, other)| d.is_none() && other.kind == one.kind);
            let any = any.map(|(_, any)| width(any));
            assert!(depth.is_none() || any.is_none_or(|any| width(one) <= any), "{name}: {one:?}");
        }
    }
    let altered = of_profile("samsung-951", true, &[]).unwrap();
    let known = [Situation::AnotherBlock, Situation::AnotherDepth];
    assert!(altered.iter().all(|(_, one)| !known.contains(&one.situation)));
}

#[test]
fn a_profile_fitted_to_a_run_of_its_drive_has_narrower_intervals() {
    use FigureKind::{RandomRead, RandomWrite, SequentialRead};
    let of = |altered, kind| {
        let all = of_profile("my-drive", altered, &[(RandomRead, 0.02)]).unwrap();
        let found = all.into_iter().find(|(_, one)| one.kind == kind);
        found.map(|(_, one)| one)
    };
    let fitted = of(false, RandomRead).unwrap();
    assert_eq!(fitted.situation, Situation::ThisDrive);
    assert!(fitted.low > 0.9 && fitted.high < 1.1 && fitted.low < 1.0 && fitted.high > 1.0);
    // Of other figures it knows nothing, and of an altered drive neither.
    for (altered, kind) in [(false, SequentialRead), (true, RandomRead)] {
        assert_eq!(of(altered, kind).unwrap().situation, Situation::FactsOnly);
    }
    assert_eq!(of(false, RandomWrite), None);
}
