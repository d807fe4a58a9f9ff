use proptest::prelude::*;

use super::*;

#[test]
fn names_that_are_keys_and_arguments() {
    for good in ["S4EWNX0M", "SIM-SAMSUNG-951-L7-0", "disk image.img", "a/b"] {
        assert_eq!(Serial::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", " S4", "S4 ", "a\nb", "-rf", "a,b", "a#b", &"x".repeat(97)] {
        assert!(Serial::parse(bad).is_err(), "{bad:?}");
    }
    for bad in ["", "-n", ".", "a b", "a/b", "a,b", "host[1-3]", "$(id)"] {
        assert!(HostName::parse(bad).is_err(), "{bad:?}");
    }
    assert!(HostName::parse("node-17.rack_3").is_ok());
    assert!(PlanId::parse("m951-firmware-0123456789ab").is_ok());
    for bad in ["m951", "m951-0123456789AB", "-0123456789ab", "../x-0123456789ab"] {
        assert!(PlanId::parse(bad).is_err(), "{bad:?}");
    }
    assert!(HostName::of_this_host().is_ok());
}

#[test]
fn escapes() {
    let serial = |text| Serial::parse(text).unwrap();
    assert_eq!(serial("a/b c_d").key(), "a%2Fb%20c_d");
    assert_eq!(serial("..").key(), "%2E.");
    assert_eq!(serial("a/b_c.img").gres_type(), "a_2Fb_5Fc.img");
}

proptest! {
    #[test]
    fn keys_are_injective_and_one_component(a in ".{1,20}", b in ".{1,20}") {
        if let (Ok(a), Ok(b)) = (Serial::parse(&a), Serial::parse(&b)) {
            prop_assert_eq!(a.key() == b.key(), a == b);
            prop_assert_eq!(a.gres_type() == b.gres_type(), a == b);
            prop_assert!(!a.key().contains('/') && !a.key().starts_with('.'));
        }
    }
}
