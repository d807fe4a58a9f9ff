//! Every detector against simulated drives with known ground truth: precision and recall per label,
//! with and without the drive's counters.
//!
//! Detectors were developed on other seeds: below 10 000, then 216 from 100 000, 216 from 300 000,
//! 300 from 500 000, and 680 from 900 000 and from 1 200 000 on. The seeds here were first used
//! after the last change of the rules.

use crate::scenario;

use scenario::Label;
use scenario::draw::scenario;
use scenario::score::{Tally, add, table};

/// First seed.
const FIRST: u64 = 1_600_000;
/// Number of scenarios, a multiple of the kinds.
const COUNT: u64 = 680;
/// Required precision and recall of each label.
const LEAST: f64 = 0.95;
/// Limit of the median error of the throttling duty cycle, percentage points.
const DUTY_OFF_PCT: f64 = 6.0;
type Tallies = [Tally; 7];

/// Tallies and errors of these seeds.
fn scored(seeds: impl Iterator<Item = u64>) -> (Tallies, Tallies, Vec<String>) {
    let (mut reported, mut blind, mut wrong) = (Tallies::default(), Tallies::default(), Vec::new());
    for seed in seeds {
        let scenario = scenario(seed);
        let with_counters = add(&mut reported, &scenario, &scenario.observed, false);
        let without = add(&mut blind, &scenario, &scenario.blind(), true);
        wrong.extend(with_counters.map(|text| format!("with counters: {text}")));
        wrong.extend(without.map(|text| format!("temperature only: {text}")));
    }
    (reported, blind, wrong)
}

#[test]
fn precision_and_recall_of_every_label() {
    let halves: Vec<_> = std::thread::scope(|scope| {
        let half = |odd: u64| scope.spawn(move || scored((FIRST + odd..FIRST + COUNT).step_by(2)));
        let running = [half(0), half(1)];
        running.map(|half| half.join().unwrap()).into()
    });
    let (mut reported, mut blind) = (Tallies::default(), Tallies::default());
    for (a, b, wrong) in &halves {
        wrong.iter().for_each(|text| println!("{text}"));
        for (sum, part) in reported.iter_mut().zip(a).chain(blind.iter_mut().zip(b)) {
            sum.join(part);
        }
    }
    println!("{}", table("With the drive's counters", &reported));
    println!("{}", table("Temperature only", &blind));
    for (name, tallies) in [("with counters", &reported), ("temperature only", &blind)] {
        for (label, tally) in Label::ALL.into_iter().zip(tallies) {
            if name == "temperature only" && label == Label::Power {
                continue;
            }
            assert!(
                tally.right >= 10,
                "{name}, {label:?}: only {} scenarios show anything",
                tally.right
            );
            let (precision, recall) = (tally.precision(), tally.recall());
            assert!(precision >= LEAST, "{name}, {label:?}: precision {precision:.3}");
            assert!(recall >= LEAST, "{name}, {label:?}: recall {recall:.3}");
        }
        let cache = &tallies[1];
        assert!(assay_stats::median(&cache.size_off) <= 0.1, "{name}: sizes of caches");
        let heat = &tallies[3];
        assert!(
            assay_stats::median(&heat.duty_off) <= DUTY_OFF_PCT,
            "{name}: duties of throttling"
        );
    }
}
