use super::*;

/// The one drive with levels, its thermal section changed.
#[test]
fn contradicting_throttle_levels_are_refused() {
    let text = Profile::builtin_text("mydigitalssd-bpx").unwrap();
    for (from, to, reason) in [
        ("[80.0, 100.0]", "[80.0, 100.0]", ""),
        ("[80.0, 100.0]", "[80.0]", "1 to 8 levels"),
        ("[80.0, 100.0]", "[100.0, 80.0]", "must rise"),
        ("[78.0, 96.0]", "[81.0, 96.0]", "must rise"),
        ("[78.0, 96.0]", "[nan, 96.0]", "must rise"),
        ("[73, 100]", "[73, 101]", "at most 100"),
        (
            "throttle_on_celsius       = { value = 0.0",
            "throttle_on_celsius       = { value = 70.0",
            "must be 0 where",
        ),
        (
            "idle_jitter_k             = { value = 3.0",
            "idle_jitter_k             = { value = -3.0",
            "idle_jitter_k",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        match Profile::from_toml(&text.replacen(from, to, 1)) {
            Ok(_) => assert_eq!(reason, ""),
            Err(error) => {
                let error = error.to_string();
                assert!(!reason.is_empty() && error.contains(reason), "{error}");
            }
        }
    }
}
