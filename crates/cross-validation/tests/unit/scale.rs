//! Scales against errors of known distributions.

use super::*;
use assay_units::Rng;

fn drives(count: usize, cells: usize, scale: f64, rng: &mut Rng) -> Vec<Vec<ErrorAndSpread>> {
    let mut drive = || {
        let common = rng.normal();
        (0..cells).map(|_| (scale * common, 0.05)).collect()
    };
    (0..count).map(|_| drive()).collect()
}

#[test]
fn nine_of_ten_further_drives_lie_within_whatever_their_scale() {
    let mut rng = Rng::new(4);
    for scale in [0.05, 0.3, 1.0] {
        let mut within = 0;
        for _ in 0..200 {
            let all = drives(7, 3, scale, &mut rng);
            let learned = ErrorScale::learned(&all[1..], 0.3);
            within += usize::from(all[0][0].0.abs() <= learned.half_width(0.05));
        }
        assert!((168..=199).contains(&within), "{scale}: {within}");
    }
}

#[test]
fn one_other_drive_gives_no_interval_without_bound() {
    // A single error of a factor of a hundred, and members that agree: less than twice the error,
    // where a t of one degree of freedom has six times.
    let learned = ErrorScale::learned(&[vec![(100.0_f64.ln(), 0.01)]], 0.3);
    assert!(
        learned.half_width(0.01) < 2.0 * 100.0_f64.ln(),
        "{learned:?}"
    );
    // As many cells of the same drive say no more than one.
    let more = ErrorScale::learned(&[vec![(100.0_f64.ln(), 0.01); 20]], 0.3);
    assert_eq!(more, learned);
    assert!(ErrorScale::learned(&[], 0.3).half_width(0.1).is_finite());
}
