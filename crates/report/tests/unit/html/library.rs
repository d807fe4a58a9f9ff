use super::*;

#[test]
fn the_library_is_plotly_alone() {
    let script = library().unwrap();
    assert!(script.len() > 4_000_000 && script.len() < 5_000_000);
    // A text of MathJax's JavaScript that plotly's does not contain.
    assert!(Plot::offline_js_sources().contains("mjx-container"));
    assert!(!script.contains("mjx-container"));
    assert!(!script.contains("</script"));
}

#[test]
fn the_version_that_is_built_with_is_known() {
    let script = library().unwrap();
    let (_, registered) = script.rsplit_once(REGISTER).unwrap();
    let (registered, _) = registered.split_once(']').unwrap();
    assert_eq!(registered.matches("()").count(), 1, "{registered}");
    assert!(script.contains("this, (() => {") && script.ends_with("\n})));"));
}

#[test]
fn another_version_stays_as_it_is() {
    let script = "plotly.js v9.9.9\nthis, () => {a.register([x(),y()]);\n}));";
    assert_eq!(reduced(script), None);
    let known = script.replace("9.9.9", "3.0.1");
    let changed = "plotly.js v3.0.1\nthis, (() => {a.register([x()]);\n})));";
    assert_eq!(reduced(&known).as_deref(), Some(changed));
    assert_eq!(reduced(&known.replace("this, ()", "that, ()")), None);
}
