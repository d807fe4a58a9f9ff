//! The error rates that docs/cohorts.md promises, by simulation.

mod rates;

#[test]
fn every_promised_error_rate_holds() {
    let rates = rates::all(1);
    let broken = rates.iter().filter(|r| r.found < r.bounds.0 || r.found > r.bounds.1);
    let broken: Vec<String> = broken
        .map(|r| {
            let (low, high) = r.bounds;
            let of = format!("of {} cohorts; promised: {}", r.cohorts, r.promised);
            format!("{}: {:.4}, not within {low} to {high}, {of}", r.what, r.found)
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
