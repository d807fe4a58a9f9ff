//! Folds of heat: valid drives without what the own figures taught, and figures of drives that do
//! not throttle.

use super::*;
use assay_ssd::Profile;

#[test]
fn every_template_is_a_valid_drive_without_its_own_heat() {
    let study = Study::new(1, 1).unwrap();
    for name in study.drives() {
        let (template, (on, spread)) = study.heat_template(&name);
        assert!(
            (70.0..85.0).contains(&on) && (1.0..8.0).contains(&spread),
            "{name}: {on} {spread}"
        );
        template
            .profile(&Structure::new(), &template.wide.mean)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(template.paths, VARIED, "{name}");
        assert!(template.wide.width.iter().all(|w| *w >= LEAST_WIDTH));
        let (own, others) = study.own_and_others(&name);
        let path = "thermal.controller.resistance_k_per_w";
        let here = get(&template.table, path).and_then(leader).unwrap();
        let (mean, _) = of_others(&others, path).unwrap();
        assert!((here / mean.exp() - 1.0).abs() < 1e-9, "{name}");
        assert_ne!(get(&own.table, path).and_then(leader), Some(here));
    }
}

#[test]
fn operational_states_idle_as_the_first_one() {
    let study = Study::new(1, 1).unwrap();
    let table = study.heat_template("toshiba-rd400").0.table;
    let idle = get(&table, IDLE).and_then(Value::as_integer).unwrap();
    assert_ne!(idle, 1_200);
    let states = get(&table, STATES_IDLE).and_then(Value::as_array).unwrap();
    let states: Vec<i64> = states.iter().filter_map(Value::as_integer).collect();
    assert_eq!(states, [idle, idle, idle, 160, 12, 6]);
    Profile::from_table(table).unwrap();
}

#[test]
fn a_member_that_does_not_throttle_has_the_figures_of_its_steady_state() {
    let study = Study::new(1, 1).unwrap();
    let is_soak = |m: &&Measurement| m.procedure.is_heat();
    let figures: Vec<Measurement> = study.figures["plextor-m8pe-g"]
        .iter()
        .filter(is_soak)
        .cloned()
        .collect();
    let asked = with_unthrottled(&figures);
    assert_eq!((figures.len(), asked.len()), (4, 5));
    let place = |figure| {
        let is = |m: &Measurement| m.procedure == Procedure::Soak(figure);
        asked.iter().position(is).unwrap()
    };
    let member = |throttled: bool| {
        let mut figures = vec![throttled.then_some(1.0); asked.len()];
        figures[place(SoakFigure::SettledRead)] = Some(7.0);
        SimulatedMember {
            weight: 0.5,
            structure: number(ON, 79.0),
            point: Vec::new(),
            figures,
        }
    };
    let mut members = [member(true), member(false)];
    steady_where_not_throttled(&mut members, &asked);
    threshold_where_not_throttled(&mut members, &asked);
    let of = |member: &SimulatedMember, figure| member.figures[place(figure)];
    assert_eq!(of(&members[0], SoakFigure::ThrottledRead), Some(1.0));
    assert_eq!(of(&members[1], SoakFigure::ThrottledRead), Some(7.0));
    assert_eq!(of(&members[1], SoakFigure::ThrottleCelsius), Some(79.0));
    assert_eq!(of(&members[1], SoakFigure::ThrottledS), None);
}

#[test]
fn thresholds_are_those_of_other_drives_and_of_warning_temperatures() {
    let study = Study::new(1, 1).unwrap();
    // No warning temperature of the BPX is known: the 600p, the M8Pe, and the 960 EVO by a source.
    let (on, spread) = study.threshold("mydigitalssd-bpx");
    assert!((on - (75.0 + 77.0 + 75.0) / 3.0).abs() < 1e-9, "{on}");
    let variance: f64 = 4.0 / 3.0;
    assert!((spread - (variance * 4.0 / 3.0).sqrt()).abs() < 1e-9);
    // The M8Pe warns at 85 C; the 600p throttles 5 K above its warning, the 960 EVO 2 K below.
    let (on, _) = study.threshold("plextor-m8pe-g");
    assert!((76.0..86.0).contains(&on), "{on}");
    // Its own figure is not used.
    let mut other = Study::new(1, 1).unwrap();
    for m in other.figures.get_mut("plextor-m8pe-g").unwrap() {
        m.value *= 1.5;
    }
    assert_eq!(other.threshold("plextor-m8pe-g").0, on);
}
