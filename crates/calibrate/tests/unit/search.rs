use super::*;

fn search(start: &[f64], evaluations: usize, cost: impl Fn(&[f64]) -> f64) -> CmaEs {
    let mut search = CmaEs::new(start, Rng::stream(1, "test"));
    let mut done = 0;
    while done < evaluations {
        let points = search.ask();
        done += points.len();
        let costs: Vec<f64> = points.iter().map(|p| cost(p)).collect();
        search.tell(&costs);
    }
    search
}

#[test]
fn a_narrow_curved_valley_converges() {
    // Rosenbrock's function in four dimensions, its minimum at 0.6 of the box.
    let cost = |p: &[f64]| {
        let x: Vec<f64> = p.iter().map(|u| 1.0 + (u - 0.6) * 4.0).collect();
        (0..3).map(|i| 100.0 * (x[i + 1] - x[i] * x[i]).powi(2) + (1.0 - x[i]).powi(2)).sum::<f64>()
    };
    let found = search(&[0.2; 4], 4000, cost);
    assert!(found.best_cost < 1e-4, "{}", found.best_cost);
    assert!(found.best.iter().all(|u| (u - 0.6).abs() < 0.01));
}

#[test]
fn the_result_is_no_worse_than_the_start_and_inside_the_bounds() {
    let at = std::cell::Cell::new(0);
    let found = search(&[0.5; 3], 300, |p| {
        at.set(at.get() + 1);
        assert!(p.iter().all(|u| (0.0..=1.0).contains(u)));
        if p == [0.5; 3] { 0.0 } else { 1.0 + p[0] }
    });
    assert_eq!(found.best, [0.5; 3]);
    assert!(at.get() >= 300);
}

#[test]
fn a_minimum_on_the_bounds_is_found() {
    let found = search(&[0.5, 0.5], 600, |p| p[0] + (p[1] - 0.3).abs());
    assert!(found.best[0] < 0.002, "{:?}", found.best);
    assert!((found.best[1] - 0.3).abs() < 0.01);
}

#[test]
fn nan_is_the_worst_value_and_zero_dimensions_are_accepted() {
    let found = search(&[0.9], 200, |p| if p[0] > 0.5 { f64::NAN } else { p[0] });
    assert!(found.best[0] < 0.01);
    let mut nothing = CmaEs::new(&[], Rng::new(1));
    let count = nothing.ask().len();
    nothing.tell(&vec![1.0; count]);
    assert_eq!(nothing.best_cost, 1.0);
}
