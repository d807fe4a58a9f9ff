//! Free parameters: spelling, bounds, and the updated profile text.

use super::*;
use crate::profile_text::notation;

/// A shipped profile with one fixed line, so that a new fit of it does not change the test.
static TEXT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let shipped = Profile::builtin_text("plextor-m8pe-g").expect("built in");
    let lines = shipped.lines().map(|line| {
        if line.starts_with("read_ns ") {
            "read_ns                  = { value = [35_430, 35_430], fitted = \
             \"random_read_bandwidth.csv\" }"
        } else {
            line
        }
    });
    lines.map(|line| format!("{line}\n")).collect()
});

fn text() -> &'static str {
    &TEXT
}

fn free(words: &[&str]) -> Vec<FreeParameter> {
    words.iter().map(|word| FreeParameter::parse(word).expect("a free number")).collect()
}

#[test]
fn free_numbers_are_spelled_in_four_ways() {
    let spelled = free(&["a.b", "a.b[2]", "a.b=1..2", "a.b.c[0]=1_000..2e3"]);
    assert_eq!(spelled[1].index, Some(2));
    assert_eq!(spelled[2].range, Some((1.0, 2.0)));
    assert_eq!(spelled[3].name(), "a.b.c[0]");
    assert_eq!(spelled[3].range, Some((1000.0, 2000.0)));
    for bad in ["", "a", "a.b=1", "a.b=x..2", "a.b[", "a.b[x]", "a.b=1..inf", "a .b"] {
        assert!(FreeParameter::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn fitted_parameters_are_free_unless_structural() {
    let names: Vec<String> =
        free_by_default(text()).expect("a profile").iter().map(FreeParameter::name).collect();
    for name in ["firmware.read_command_ns", "nand.read_ns", "thermal.throttle_off_celsius"] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    for name in ["nand.page_bytes", "nand.cache_read", "prefetch.window_bytes", "nand.erase_ns"] {
        assert!(!names.iter().any(|n| n == name), "{name}");
    }
}

#[test]
fn writing_the_start_changes_no_number_and_no_comment() {
    let space =
        ParameterSpace::new(text(), &free_by_default(text()).expect("a profile")).expect("a space");
    let start = space.start();
    let written = space.write(&start, "x", true).expect("text");
    assert_eq!(written.lines().count(), text().lines().count());
    assert!(written.starts_with("# Plextor M8Pe(G) 256 GB"));
    let (before, after) = (
        Profile::from_toml(text()).expect("a profile"),
        Profile::from_toml(&written).expect("a profile"),
    );
    assert_eq!(before, after);
    assert_eq!(space.profile_at(&start).expect("a profile"), before);
}

#[test]
fn a_changed_number_is_replaced_in_place_and_marked() {
    let space =
        ParameterSpace::new(text(), &free(&["nand.erase_ns=1000000..4000000", "nand.read_ns[1]"]))
            .expect("a space");
    let written = space.write(&[1.0, 0.0], "m.csv", false).expect("text");
    assert!(
        written.contains("erase_ns                 = { value = 4_000_000, fitted = \"m.csv\" }\n"),
        "{written}"
    );
    let expected = "read_ns                  = { value = [35_430, 8_858], fitted = \"m.csv\" }\n";
    assert!(written.contains(expected), "{written}");
    assert_eq!(
        space.profile_at(&[1.0, 0.0]).expect("a profile").nand.read_ns.value,
        [35_430, 8_858]
    );
}

#[test]
fn a_range_beside_the_number_bounds_it() {
    let ranged = text().replace(
        "read_ns                  = { value = [35_430, 35_430],",
        "read_ns                  = { value = [35_430, 35_430], range = [30_000, 50_000],",
    );
    assert!(Profile::from_toml(&ranged).is_ok());
    let space = ParameterSpace::new(&ranged, &free(&["nand.read_ns"])).expect("a space");
    let bounds = |p: &Parameter| (p.free.name(), p.low, p.high);
    assert_eq!(
        space.parameters.iter().map(bounds).collect::<Vec<_>>(),
        [("nand.read_ns".to_owned(), 30_000.0, 50_000.0)]
    );
    let top = space.profile_at(&[1.0]).expect("a profile");
    assert_eq!(top.nand.read_ns.value, [50_000, 50_000]);
    let written = space.write(&[1.0], "m", true).expect("text");
    assert!(written.contains("range = [30_000, 50_000]"), "{written}");
}

#[test]
fn numbers_that_cannot_change_are_refused() {
    for (word, expected) in [
        ("nand.nothing", "no such number"),
        ("nand.cache_read", "not a number"),
        ("nand.partial_read_saving_ns", "needs a range"),
        ("nand.read_ns=5..5", "empty"),
        ("nand.read_ns[7]", "2 numbers"),
        ("nand.erase_ns[0]", "1 numbers"),
    ] {
        let error = ParameterSpace::new(text(), &free(&[word])).expect_err(word).to_string();
        assert!(error.contains(expected), "{word}: {error}");
    }
    assert!(ParameterSpace::new(text(), &free(&["nand.read_ns", "nand.read_ns[0]"])).is_err());
}

#[test]
fn numbers_have_four_significant_digits() {
    assert_eq!(significant(123_456.0), 123_500.0);
    assert_eq!(significant(0.001_234_56), 0.001_235);
    assert_eq!(notation(1_443_000_000.0, true), "1_443_000_000");
    assert_eq!(notation(241.0, true), "241");
    assert_eq!(notation(17.0, false), "17.0");
    assert_eq!(notation(74.6, false), "74.6");
}

/// A profile with a map on flash: its times are free when fitted, its size when named.
#[test]
fn a_map_cache_can_be_fitted() {
    let cached = format!(
        "{}\n[map_cache]\ncapacity_bytes = {{ value = 1_048_576, fitted = \"m\" }}\npage_bytes = \
         {{ value = 4_096, assumed = \"m\" }}\nread_ns = {{ value = 40_000, fitted = \"m\" \
         }}\nprogram_ns = {{ value = 300_000, assumed = \"m\" }}\n",
        text()
    );
    let names: Vec<String> = free_by_default(&cached)
        .expect("a profile")
        .iter()
        .map(FreeParameter::name)
        .filter(|name| name.starts_with("map_cache."))
        .collect();
    assert_eq!(names, ["map_cache.read_ns"]);
    let named = free(&["map_cache.capacity_bytes=65536..1048576"]);
    let space = ParameterSpace::new(&cached, &named).expect("a space");
    let least = space.profile_at(&[0.0]).expect("a profile");
    let cache = least.map_cache.expect("a map cache");
    assert_eq!(cache.capacity_bytes.value, 65_540);
}
