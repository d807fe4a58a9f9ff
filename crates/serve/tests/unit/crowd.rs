use std::sync::{Arc, Mutex};

use super::*;

#[test]
fn refusals_are_said_at_once_and_then_counted() {
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&said);
    let mut crowd = Crowd::new(move |text| sink.lock().unwrap().push(text.to_owned()));
    let at = Nanos::from_secs(5);
    for ms in [0, 1, 2, 3000] {
        crowd.refused(at + Nanos::from_millis(ms), 64, "are connected");
    }
    crowd.refused(at + Nanos::from_secs(11), 64, "are connected");
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("64 clients are connected") && said[0].contains("another one"));
    assert!(said[1].contains("4 others were refused"), "{said:?}");
}
