use super::*;

fn close(found: &[f64], expected: &[f64]) {
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
}

#[test]
fn adjusted_probabilities_are_those_of_a_worked_example() {
    // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") and "BH".
    let given = [0.01, 0.04, 0.03, 0.005];
    close(&holm(&given), &[0.03, 0.06, 0.06, 0.02]);
    close(&benjamini_hochberg(&given), &[0.02, 0.04, 0.04, 0.02]);
    assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    close(&holm(&[0.9, 0.8]), &[1.0, 1.0]);
}
