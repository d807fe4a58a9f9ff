//! Selection and restoration of power states.

use assay_nvme_spec::feature::FeatureId;

use super::super::commands::Commands;
use super::super::power::Found;
use super::{TableController, table_controller};

#[test]
fn an_accepted_but_unapplied_power_state_is_an_error() {
    let mut port = table_controller();
    Commands::to(&mut port).set_power_state(1).unwrap();
    assert_eq!(Commands::to(&mut port).power_state().unwrap(), 1);
    port.stubborn = true;
    let error = Commands::to(&mut port).set_power_state(0).unwrap_err();
    assert!(error.to_string().contains("is in power state 1"), "{error}");
    assert!(!error.refused());
}

#[test]
fn the_current_power_state_can_be_selected_without_support_for_changes() {
    let mut port = table_controller();
    Commands::to(&mut port).set_power_state(1).unwrap();
    port.unchangeable = true;
    Commands::to(&mut port).set_power_state(1).unwrap();
    let error = Commands::to(&mut port).set_power_state(0).unwrap_err();
    assert!(error.refused(), "{error}");
    assert!(error.to_string().contains("Feature Not Changeable"), "{error}");
}

#[test]
fn the_initial_power_state_is_restored_through_an_operational_one() {
    let state = |port: &TableController| port.features[&FeatureId::POWER_MANAGEMENT.0];
    // States 0 and 2 are operational, 1 and 3 non-operational.
    let mut port = table_controller();
    let mut states = port.controller.descriptors();
    states[3].set_non_operational(true);
    port.controller.set_power_states(3).set_descriptors(states);
    for (before, wanted) in [(0, vec![2, 0]), (2, vec![]), (1, vec![2, 0, 1]), (3, vec![2, 0, 3])] {
        port.features.insert(FeatureId::POWER_MANAGEMENT.0, before);
        port.set.clear();
        let found = Found::read(&mut port).unwrap();
        assert!(port.set.is_empty(), "looking changes nothing");
        Commands::to(&mut port).set_power_state(2).unwrap();
        found.restore(&mut port).unwrap();
        assert_eq!(port.set, wanted, "from {before}");
        assert_eq!(state(&port), before);
    }
    // Initially non-operational and operational at the restoration: unchanged.
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, 1);
    let found = Found::read(&mut port).unwrap();
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, 0);
    port.stubborn = true;
    found.restore(&mut port).unwrap();
    // A failed return to an operational state is reported.
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, 2);
    assert!(found.restore(&mut port).is_err());
    // A state that the controller does not list is restored unchanged.
    port.stubborn = false;
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, 9);
    let found = Found::read(&mut port).unwrap();
    Commands::to(&mut port).set_power_state(2).unwrap();
    found.restore(&mut port).unwrap();
    assert_eq!(state(&port), 9);
}

/// The hint is in bits 7:5.
#[test]
fn the_workload_hint_is_kept_across_power_states() {
    let hint = 2 << 5;
    let state = |port: &TableController| port.features[&FeatureId::POWER_MANAGEMENT.0];
    let mut port = table_controller();
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, hint);
    let found = Found::read(&mut port).unwrap();
    Commands::to(&mut port).set_power_state(1).unwrap();
    found.restore(&mut port).unwrap();
    assert_eq!(port.set, [1 | hint, hint]);
    // A lost hint is restored with the state.
    let mut port = table_controller();
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, hint);
    let found = Found::read(&mut port).unwrap();
    port.features.insert(FeatureId::POWER_MANAGEMENT.0, 1);
    found.restore(&mut port).unwrap();
    assert_eq!(state(&port), hint);
}
