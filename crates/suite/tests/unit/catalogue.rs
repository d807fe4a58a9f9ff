use super::*;
use crate::schema::VerdictRules;

#[test]
fn every_built_in_suite_parses_and_has_its_catalogue_name() {
    for name in names() {
        assert_eq!(load(name).unwrap().name, name);
    }
}

/// A rule about a step that its suite does not have would never be measured.
#[test]
fn the_policy_refers_to_existing_steps() {
    let rules = VerdictRules::parse(POLICY.0, POLICY.1).unwrap();
    for rule in &rules.rules {
        if let (Some(suite), Some(step)) = (&rule.suite, &rule.step) {
            let suite = load(suite).unwrap();
            assert!(suite.steps.iter().any(|s| s.id == *step), "{}", rule.about);
        }
    }
}

#[test]
fn unknown_suites_name_the_known_ones() {
    let message = load("bandwith").unwrap_err().to_string();
    assert!(
        message.contains("bandwidth") && message.contains("quick"),
        "{message}"
    );
    assert!(
        load("/nonexistent/x.toml")
            .unwrap_err()
            .to_string()
            .contains("/nonexistent/x.toml")
    );
}
