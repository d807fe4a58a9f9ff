use super::*;

fn pass(blocks_checked: u64, lost: u64) -> VerifySummary {
    VerifySummary {
        blocks_checked,
        found: [("lost".to_owned(), lost)].into(),
        ..VerifySummary::default()
    }
}

#[test]
fn passes_over_the_same_blocks_are_not_summed() {
    let all = [pass(100, 3), pass(100, 7), pass(90, 7)];
    let worst = worst_pass(all.iter()).unwrap();
    assert_eq!((worst.passes, worst.bad_blocks), (3, 7));
    assert_eq!(worst.summary, &all[1]);
    assert_eq!(worst_pass([].iter()), None);
}
