use super::*;

#[test]
fn a_steady_write_ends_early_with_the_same_figure() {
    let profile = Profile::builtin("wd-black").expect("built in");
    let (whole, short) =
        (run(&profile, false).expect("a write"), run(&profile, true).expect("a write"));
    assert_eq!(whole.len(), short.len());
    let steady = |rates: &[f64]| figure(rates, FillFigure::Steady).expect("a figure");
    let error = steady(&short) / steady(&whole) - 1.0;
    assert!(error.abs() < 0.005, "{error}");
    assert_eq!(steady_mean(&[3.0; 15], STEADY_SAMPLES, STEADY_SHARE), None);
    assert_eq!(steady_mean(&[3.0; 16], STEADY_SAMPLES, STEADY_SHARE), Some(3.0));
}

#[test]
fn figures_of_a_cliff() {
    // Eight pieces make a GiB: twelve fast ones, then twelve slow ones.
    let rates: Vec<f64> = (0..24).map(|n| if n < 12 { 400.0 } else { 100.0 }).collect();
    assert_eq!(figure(&rates, FillFigure::First), Some(400.0));
    assert_eq!(figure(&rates, FillFigure::Full), Some(100.0));
    assert_eq!(figure(&rates, FillFigure::Steady), Some(160.0));
    let cached = figure(&rates, FillFigure::Cache).expect("a figure");
    assert!((cached - 12.0 * 0.134_217_728).abs() < 1e-9, "{cached}");
    assert_eq!(figure(&rates[..4], FillFigure::First), None);
}
