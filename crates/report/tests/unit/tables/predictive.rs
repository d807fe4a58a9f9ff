use super::*;

fn factors(situation: &str) -> PredictiveFactors {
    PredictiveFactors {
        figure: "random_read".to_owned(),
        in_flight: None,
        situation: situation.to_owned(),
        drives: 5,
        low: 0.8,
        high: 1.25,
    }
}

#[test]
fn intervals_are_in_the_common_notation() {
    assert_eq!(text([1234.4, 98765.0]), "1,230 to 98,800");
    assert_eq!(text([0.0, 81.26]), "0 to 81.3");
    assert_eq!(text([999.6, f64::INFINITY]), "1,000 to n/a");
    assert_eq!(times(&factors("")), "0.80 to 1.25 times");
}

/// 128 KiB at the payload rate of four lanes of generation 3: 3,162.95 MiB/s.
#[test]
fn what_the_link_carries_is_not_rounded() {
    assert_eq!(text_up_to([556.7, 3162.95], 3162.95), "557 to 3,163");
    assert_eq!(text_up_to([556.7, 3205.13 * (1.0 + 1e-12)], 3205.13), "557 to 3,205");
    assert_eq!(text_up_to([556.7, 2718.3], 3162.95), "557 to 2,720");
}

#[test]
fn the_basis_names_what_the_fit_knew_and_how_many_drives_tell() {
    for situation in ["another_block", "another_depth", "other_kinds", "facts_only"] {
        let text = basis(&factors(situation));
        assert!(text.ends_with("; from 5 drives"), "{text}");
        assert!(!text.contains(situation), "{text}");
    }
    let earlier = PredictiveFactors { drives: 0, ..factors("facts_only") };
    assert_eq!(basis(&earlier), "from facts only");
}
