use super::*;
use crate::schema::{VerdictRule, VerdictRules};

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

/// A limit of a rate or a latency is an opinion about the drives of one class and year.
#[test]
fn limits_of_rates_and_latencies_state_their_class_and_year() {
    for name in names() {
        let Some(verdict) = load(name).unwrap().verdict else {
            continue;
        };
        let opinion = |rule: &VerdictRule| rule.figure.is_absolute() && rule.limits().is_some();
        let year = |text: &String| text.split(' ').any(|word| word.starts_with("20"));
        assert_eq!(
            verdict.rules.iter().any(opinion),
            verdict.limits.as_ref().is_some_and(year),
            "{name}"
        );
    }
}

#[test]
fn unknown_suites_name_the_known_ones() {
    let message = load("bandwith").unwrap_err().to_string();
    assert!(message.contains("bandwidth") && message.contains("quick"), "{message}");
    assert!(load("/nonexistent/x.toml").unwrap_err().to_string().contains("/nonexistent/x.toml"));
}
