//! Choices of structures: shares, neighbours, priors.

use super::*;
use toml::Value;

fn alternatives(probabilities: &[f64], path: &str) -> Alternatives {
    let value = |(n, p): (usize, &f64)| {
        let changes = (n > 0).then(|| (path.to_owned(), Some(Value::Integer(n as i64))));
        (changes.into_iter().collect(), *p)
    };
    Alternatives {
        values: probabilities.iter().enumerate().map(value).collect(),
    }
}

#[test]
fn a_latin_hypercube_has_each_value_in_its_proportion() {
    let all = [
        alternatives(&[0.75, 0.25], "a.x"),
        alternatives(&[0.5, 0.25, 0.25], "b.y"),
    ];
    let choices = combinations(&all, 24, &mut Rng::new(9));
    let count = |at: usize, place: usize| choices.iter().filter(|c| c[at] == place).count();
    assert_eq!((count(0, 0), count(0, 1)), (18, 6));
    assert_eq!((count(1, 0), count(1, 1), count(1, 2)), (12, 6, 6));
    // Both numbers vary together too.
    assert!(choices.iter().any(|c| c[0] == 1 && c[1] > 0));
    assert_eq!(choices, combinations(&all, 24, &mut Rng::new(9)));
}

#[test]
fn neighbours_differ_in_one_number_and_priors_multiply() {
    let all = [
        alternatives(&[0.75, 0.25], "a.x"),
        alternatives(&[0.5, 0.25, 0.25], "b.y"),
    ];
    assert_eq!(
        neighbours(&all, &vec![0, 0]),
        [vec![1, 0], vec![0, 1], vec![0, 2]]
    );
    let (structure, log_prior) = chosen(&all, &vec![1, 2]);
    assert_eq!(structure.len(), 2);
    assert!((log_prior - (0.25_f64 * 0.25).ln()).abs() < 1e-12);
    assert!(chosen(&all, &vec![0, 0]).0.is_empty());
}
