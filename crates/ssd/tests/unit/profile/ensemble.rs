//! Ensembles: form of the files, members of a profile.

use super::*;

const TEXT: &str = "weight,firmware.read_command_ns,nand.read_ns[1],firmware.read_split_ns,\
                    thermal.resistance_k_per_w,nand.cache_read\n0.75,9000,50000,120,10.5,true\n0.\
                    25,12000,44000,10,12,false\n";

#[test]
fn members_change_their_numbers_and_no_other() {
    let ensemble = Ensemble::parse(TEXT).unwrap();
    assert_eq!(Ensemble::parse(&ensemble.to_csv()).unwrap(), ensemble);
    let builtin = Profile::builtin("samsung-951").unwrap();
    let text = Profile::builtin_text("samsung-951").unwrap();
    let member = Profile::from_toml(&ensemble.text_of(text, 1).unwrap()).unwrap();
    assert_eq!(member.firmware.read_command_ns.value, 12_000);
    assert_eq!(member.nand.read_ns.value[1], 44_000);
    assert_eq!(member.nand.read_ns.value[0], builtin.nand.read_ns.value[0]);
    assert_eq!(member.thermal.resistance_k_per_w.value, 12.0);
    assert!(!member.nand.cache_read.value);
    // Not in the profile's text: added.
    let numbers = Profile::numbers(&ensemble.text_of(text, 1).unwrap()).unwrap();
    assert!(
        numbers
            .iter()
            .any(|n| n.path == "firmware.read_split_ns" && n.value == "10")
    );
    assert_eq!(member.buffer, builtin.buffer);
    let error = ensemble.text_of(text, 2).unwrap_err().to_string();
    assert!(error.contains("member=0 to member=1"), "{error}");
}

#[test]
fn damaged_files_are_refused_with_their_line() {
    for (text, place) in [
        ("", "line 1"),
        ("share,a.b\n1,2\n", "line 1"),
        ("weight,a.b[x]\n1,2\n", "line 1"),
        ("weight,a.b\n0.5,2\n0.4,3\n", "add up to 0.9"),
        ("weight,a.b\n0.5,2\n2,3\n", "line 3"),
        ("weight,a.b\n1,2,3\n", "line 2"),
        ("weight,a.b\n1,[2]\n", "line 2"),
        ("weight,a.b\n1,x y\n", "line 2"),
    ] {
        let error = Ensemble::parse(text).unwrap_err().to_string();
        assert!(error.contains(place), "{text:?}: {error}");
    }
}

#[test]
fn a_member_without_a_place_in_the_profile_is_an_error() {
    let text = Profile::builtin_text("samsung-951").unwrap();
    for path in [
        "nowhere.a_ns",
        "nand.read_ns",
        "nand.read_ns[9]",
        "nand.cache_read",
    ] {
        let ensemble = Ensemble::parse(&format!("weight,{path}\n1,5\n")).unwrap();
        assert!(ensemble.text_of(text, 0).is_err(), "{path}");
    }
}

#[test]
fn every_file_of_the_folder_is_embedded_and_valid() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/ensembles");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "csv") {
            names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut embedded: Vec<&str> = ENSEMBLES.iter().map(|(name, _)| *name).collect();
    embedded.sort();
    assert_eq!(embedded, names);
    for name in embedded {
        assert!(Profile::members(name) >= 30, "{name}");
        for k in [0, Profile::members(name) - 1] {
            Profile::from_toml(&Profile::member(name, k).unwrap()).unwrap();
        }
    }
    assert!(Profile::member("samsung-951", 1_000_000).is_err());
    assert!(Profile::member("no-such-drive", 0).is_err());
}
