use super::*;

fn probed(name: &str, settings: &[(&str, &str)]) -> Option<Result<Box<Probe>, SessionError>> {
    let mut options = DriveOptions::default();
    for (key, value) in settings {
        options.set(key, value).unwrap();
    }
    probe(&format!("sim:{name}"), &Profile::builtin(name).unwrap(), &options)
}

#[test]
fn every_shipped_controller_answers_identify() {
    for name in Profile::names() {
        let profile = Profile::builtin(name).unwrap();
        let identity = &profile.identity;
        let Some(found) = probed(name, &[]) else {
            assert!(profile.link.sata.is_some(), "{name}");
            continue;
        };
        let found = found.unwrap();
        assert!(found.model.starts_with(&identity.model[..3]), "{name}");
        let capacity = identity.capacity_bytes.value;
        assert_eq!(found.namespaces[0].size_bytes, capacity, "{name}");
        let states = identity.power_states_mw.value.len();
        assert_eq!(found.power_states.len(), states, "{name}");
        let registers = found.registers.as_ref().unwrap();
        assert!(registers.ready && !registers.fatal, "{name}");
        assert!(found.health.composite_c > 0, "{name}");
    }
}

#[test]
fn options_show() {
    let found = probed("samsung-951", &[("ps", "1"), ("seed", "9")]);
    let found = found.unwrap().unwrap();
    assert!(found.serial.ends_with("-9"));
    let now = found.power_states.iter().filter(|state| state.current);
    assert_eq!(now.map(|state| state.state).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_drive_that_cannot_be_made_is_an_error() {
    let error = probed("samsung-951", &[("ps", "9")]).unwrap().unwrap_err();
    assert!(error.to_string().contains("power state 9"), "{error}");
}
