use super::*;

#[test]
fn a_gap_is_not_bridged() {
    let line = |from: u32, to: u32, level: f64| -> Vec<(f64, f64)> {
        (from..to).map(|t| (f64::from(t), level - 0.01 * f64::from(t))).collect()
    };
    let found = slope(&[line(0, 200, 10.0), line(500, 700, 50.0)], 0.95).expect("a slope");
    assert!((found.slope + 0.01).abs() < 1e-9);
    let until = time_to(&found, found.last - 1.0).expect("a time");
    assert!((until - 100.0).abs() < 1e-6);
    assert_eq!(time_to(&found, found.last + 1.0), None);
}

#[test]
fn too_little_has_no_slope() {
    assert_eq!(slope(&[], 0.95), None);
    assert_eq!(slope(&[Vec::new(), vec![(1.0, 1.0)]], 0.95), None);
    assert_eq!(slope(&[vec![(0.0, 1.0), (1.0, 2.0)]], 0.95), None);
}

/// Values of times `from..to`, by minute.
fn span(from: u32, to: u32, value: impl Fn(f64) -> f64) -> Span {
    let point = |t: u32| (f64::from(t), value(f64::from(t)));
    (from..to).map(point).collect()
}

/// A ramp, a step at minute 130 and a wave: what all drives have in common.
fn shared(t: f64) -> f64 {
    -0.001 * t + if t >= 130.0 { 0.3 } else { 0.0 } + 0.05 * (t / 20.0).sin()
}

#[test]
fn what_all_drives_have_in_common_leaves_no_slope_though_their_gaps_differ() {
    // Every drive is interrupted at another time, with another level after it; the last one drifts.
    let drive = |n: u32| {
        let own = if n == 6 { -2e-4 } else { 0.0 };
        let value = move |level: f64| move |t: f64| level + shared(t) + own * t;
        let cut = 30 * (n + 1);
        vec![span(0, cut, value(f64::from(n))), span(cut + 5, 240, value(7.0 - f64::from(n)))]
    };
    let drives: Vec<Vec<Span>> = (0..7).map(drive).collect();
    let found = relative(&drives);
    assert_eq!(found.curve.len(), 1);
    let rise = found.curve[0][200].1 - found.curve[0][10].1;
    assert!((rise - (shared(200.0) - shared(10.0))).abs() < 1e-3, "{rise}");
    for (n, residuals) in found.residuals.iter().enumerate() {
        assert_eq!(residuals.len(), 2);
        let slope = slope(residuals, 0.95).expect("a slope").slope;
        let own = if n == 6 { -2e-4 } else { 0.0 };
        assert!((slope - own).abs() < 1e-5, "{n}: {slope}");
    }
    let common = common(&found.curve, 0.95).expect("a slope");
    assert!(common.slope.slope.abs() > 1e-4);
}

#[test]
fn a_gap_of_all_drives_cuts_the_curve() {
    let drive = |n: u32| {
        let level = f64::from(n);
        vec![span(0, 100, |_| level), span(150, 240, |_| level + 5.0)]
    };
    let drives: Vec<Vec<Span>> = (0..6).map(drive).collect();
    let found = relative(&drives);
    let ends = |span: &Span| (span[0].0, span[span.len() - 1].0);
    let ends: Vec<(f64, f64)> = found.curve.iter().map(ends).collect();
    assert_eq!(ends, [(0.0, 99.0), (150.0, 239.0)]);
    let common = common(&found.curve, 0.95).expect("a slope");
    assert_eq!((common.slope.slope, common.step), (0.0, None));
}

#[test]
fn a_step_of_all_drives_is_told_from_a_slope() {
    let of = |value: &dyn Fn(f64) -> f64| {
        let drives: Vec<Vec<Span>> = (0..6).map(|_| vec![span(0, 240, value)]).collect();
        common(&relative(&drives).curve, 0.95).expect("a slope")
    };
    let wave = |t: f64| 0.01 * (t * 1.7).sin();
    let stepped = of(&|t| wave(t) + if t < 155.0 { 0.0 } else { -0.2 });
    let (time, height) = stepped.step.expect("a step");
    assert!((time - 155.0).abs() <= 10.0 && (height + 0.2).abs() < 0.02, "{time} {height}");
    let ramp = of(&|t| wave(t) - 0.001 * t);
    assert_eq!(ramp.step, None);
    assert!((ramp.slope.slope + 0.001).abs() < 1e-4 && excludes_zero(&ramp.slope));
}

#[test]
fn times_of_less_than_half_of_the_drives_have_no_curve() {
    let lengths = [240, 240, 240, 100, 100, 100, 100, 60];
    let drives: Vec<Vec<Span>> = lengths.iter().map(|end| vec![span(0, *end, shared)]).collect();
    let found = relative(&drives);
    assert_eq!(found.curve[0].len(), 100);
    let kept: Vec<usize> = found.residuals.iter().map(|spans| spans[0].len()).collect();
    assert_eq!(kept, [100, 100, 100, 100, 100, 100, 100, 60]);
    assert_eq!(relative(&[vec![span(0, 9, shared)]]).curve, Vec::<Span>::new());
    assert_eq!(relative(&[Vec::new(), vec![Vec::new()]]).residuals, vec![Vec::<Span>::new(); 2]);
}

#[test]
fn a_slope_of_a_short_soak_counts_less() {
    let fit = |slope: f64, squares: f64| Slope {
        slope,
        low: slope - 0.1,
        high: slope + 0.1,
        last: 0.0,
        end: 1.0,
        squares,
    };
    let mut slopes: Vec<(usize, Slope)> =
        (0..11).map(|n| (0, fit(f64::from(n - 5) / 10.0, 4.0))).collect();
    slopes.push((0, fit(5.0, 4.0)));
    let far = distances(&slopes).expect("distances");
    assert_eq!(drifting(&slopes, &far), [11]);
    slopes[11].1.squares = 0.04;
    let near = distances(&slopes).expect("distances");
    assert!((far.distances[11] / near.distances[11] - 10.0).abs() < 1e-9);
    assert_eq!(drifting(&slopes, &near), [0; 0]);
    // Its own interval holds zero.
    slopes[11].1 = Slope { low: -1.0, ..fit(5.0, 4.0) };
    assert_eq!(drifting(&slopes, &far), [0; 0]);
    assert_eq!(distances(&slopes[..5]), None);
}
