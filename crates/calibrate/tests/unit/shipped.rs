use super::*;
use crate::parameter::ParameterSpace;
use crate::profile_text::with_values;
use assay_ssd::Profile;

#[test]
fn compared_figures_are_the_current_publications() {
    assert_eq!(FIDELITY.lines().next(), Some(FIDELITY_HEADING));
    let names: Vec<&str> =
        FIDELITY.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert!(names.len() >= 7, "run `make fidelity`: {names:?}");
    for name in names {
        assert!(Profile::names().contains(&name), "{name}");
        let figures = published(name).expect("whole").len();
        let found = fidelity(name).map_or(0, |f| f.count);
        assert_eq!(found, figures, "{name}: run `make fidelity`");
    }
    assert_eq!(fidelity("no such drive"), None);
}

#[test]
fn every_recipe_fits_its_profile() {
    for (name, recipe) in recipes("fits.toml", RECIPES).expect("whole") {
        let text = Profile::builtin_text(&name).expect("a built-in profile");
        let begun = with_values(text, &recipe.start).expect("its numbers are there");
        Profile::from_toml(&begun).expect("a profile");
        ParameterSpace::new(&begun, &recipe.free().expect("free numbers")).expect("a space");
        let mut all = published(&name).expect("whole");
        let unused = hold_out(&mut all, &recipe.hold_out);
        assert!(unused.is_empty(), "{name}: {unused:?} names no figure");
        assert!(all.iter().any(|m| m.role == Role::Target), "{name}");
    }
}

#[test]
fn errors_in_a_recipe_name_the_line() {
    let error = recipes("fits.toml", "[a]\nseed = 1\nevaluations = 5\ncolour = 3\n")
        .expect_err("an unknown key")
        .to_string();
    assert!(error.contains("fits.toml, line 4") && error.contains("colour"), "{error}");
}
