use super::*;

#[derive(Debug, serde::Deserialize)]
struct One {
    x: Sourced<u64>,
}

#[test]
fn the_compact_spelling_is_parsed() {
    let one: One = toml::from_str(r#"x = { value = 7, fitted = "table A" }"#).unwrap();
    assert_eq!(one.x.value, 7);
    assert_eq!(one.x.provenance, Provenance::Fitted);
    assert_eq!(one.x.source, "table A");
    let ranged = r#"x = { value = 7, fitted = "table A", range = [1, 20] }"#;
    assert_eq!(toml::from_str::<One>(ranged).unwrap().x, one.x);
}

#[test]
fn a_number_needs_exactly_one_source() {
    for text in [
        "x = 7",
        "x = { value = 7 }",
        r#"x = { value = 7, fitted = "a", assumed = "b" }"#,
        r#"x = { value = 7, fitted = " " }"#,
        r#"x = { value = -7, fitted = "a" }"#,
        r#"x = { value = 7, guessed = "a" }"#,
        r#"x = { value = 7, fitted = "a", range = [9, 5] }"#,
        r#"x = { value = 7, fitted = "a", range = [9] }"#,
    ] {
        assert!(toml::from_str::<One>(text).is_err(), "{text}");
    }
}

/// A number for tests.
pub(crate) fn assumed<T>(value: T) -> Sourced<T> {
    Sourced { value, provenance: Provenance::Assumed, source: "a test".to_owned() }
}
