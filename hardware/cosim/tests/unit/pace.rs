use super::*;

#[test]
fn pauses_are_as_frequent_as_asked_and_repeatable() {
    let pace = Pace { pauses: 128, seed: 7 };
    let paused = (0..10_000).filter(|&cycle| pace.pauses_at(cycle)).count();
    assert!((4_500..5_500).contains(&paused), "{paused}");
    let again = (0..10_000).filter(|&cycle| pace.pauses_at(cycle)).count();
    assert_eq!(paused, again);
    let other = pace.with_lane(1);
    assert!((0..100).any(|cycle| pace.pauses_at(cycle) != other.pauses_at(cycle)));
    assert!((0..10_000).all(|cycle| !Pace::FULL.pauses_at(cycle)));
}
