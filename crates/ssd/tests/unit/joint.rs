use assay_units::Rng;

use super::*;

/// Reads at random, against a list of every sense ever begun.
#[test]
fn a_read_finds_the_newest_sense_of_its_page_that_has_not_ended() {
    let mut rng = Rng::stream(11, "joint reads");
    let mut joint = JointReads::new(3);
    let mut begun: Vec<(u32, u64, u64)> = Vec::new();
    let (mut now_ns, mut joined) = (0, 0);
    for _ in 0..50_000 {
        // Bursts, and pauses in which all senses end.
        now_ns += if rng.below(50) == 0 { 500 } else { rng.below(4) };
        let issue_ns = now_ns + rng.below(30);
        let (die, page) = (rng.below(3) as u32, rng.below(40));
        let of_page = |&&(of, pending, _): &&(u32, u64, u64)| (of, pending) == (die, page);
        let newest = begun.iter().rev().find(of_page).map(|&(.., sensed_ns)| sensed_ns);
        let expected = newest.filter(|&sensed_ns| sensed_ns >= issue_ns);
        assert_eq!(joint.ends_ns(die, page, issue_ns), expected);
        if expected.is_some() {
            joined += 1;
        } else {
            let sensed_ns = issue_ns + rng.below(200);
            joint.begin(now_ns, die, page, sensed_ns);
            begun.push((die, page, sensed_ns));
        }
    }
    assert!((5_000..45_000).contains(&joined), "{joined}");
}
