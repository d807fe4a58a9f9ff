use super::*;

fn causes(results: &[i32]) -> ErrorCauses {
    let mut causes = ErrorCauses::default();
    results.iter().for_each(|&result| causes.count(result));
    causes
}

#[test]
fn causes_are_listed_by_frequency() {
    let all = causes(&[-5, -61, 512, -61, -61, -4321, i32::MIN, -5]);
    assert_eq!(
        all.text(),
        format!(
            "3 unrecovered medium error (ENODATA), 2 I/O error (EIO), 1 came back short, 1 of \
             error number 4321, 1 of error number {}",
            i32::MAX
        )
    );
    assert_eq!(causes(&[]).text(), "");
    assert!(causes(&[]).is_empty() && !all.is_empty());
}

#[test]
fn limits_of_a_file_system_say_nothing_about_the_drive() {
    assert!(causes(&[-27, -28, -122]).are_limits());
    for other in [&[][..], &[-28, -5], &[0]] {
        assert!(!causes(other).are_limits(), "{other:?}");
    }
}

#[test]
fn the_record_round_trips() {
    let mut all = causes(&[-61, -4321, 0]);
    all.merge(&causes(&[-61, -95]));
    let json = serde_json::to_value(&all).unwrap();
    assert_eq!(json, serde_json::json!({"ENODATA": 2, "4321": 1, "short": 1, "EOPNOTSUPP": 1}));
    assert_eq!(serde_json::from_value::<ErrorCauses>(json).unwrap(), all);
    let newer = serde_json::json!({"ENEW": 3, "EIO": 2});
    let read: ErrorCauses = serde_json::from_value(newer).unwrap();
    assert_eq!(read, causes(&[-5, -5]));
    for (number, name, _) in KNOWN {
        let alone: ErrorCauses = serde_json::from_value(serde_json::json!({ name: 1 })).unwrap();
        assert_eq!(alone, causes(&[-number]), "{name}");
    }
}
