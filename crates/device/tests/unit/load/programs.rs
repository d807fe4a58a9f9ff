use super::*;

#[test]
fn the_busiest_other_programs_are_named() {
    let times = |processes: &[(u32, &str, u64)]| ProgramTimes {
        ticks: (processes.iter())
            .map(|(pid, name, ticks)| (*pid, ((*name).to_owned(), *ticks)))
            .collect(),
    };
    let own = std::process::id();
    let before = times(&[
        (1, "init", 50),
        (7, "fio", 100),
        (8, "old", 900),
        (own, "assay", 0),
    ]);
    let after = times(&[
        (1, "init", 50),
        (7, "fio", 300),
        // The process number was used again.
        (8, "new", 20),
        (9, "fio", 100),
        (own, "assay", 400),
    ]);
    let found = after.others_since(&before, 2.0);
    assert_eq!(found, [("fio".to_owned(), 150.0), ("new".to_owned(), 10.0)]);
}

#[test]
fn names_with_parentheses_are_read() {
    let stat = "12 (a) b (c) S 1 1 1 0 -1 4194304 100 0 0 0 33 44 0 0 20 0 1 0 5 6 7\n";
    assert_eq!(name_and_ticks(stat), Some(("a) b (c".to_owned(), 77)));
    assert_eq!(name_and_ticks("12 (short) S 1"), None);
    assert!(!ProgramTimes::read(&SystemRoot::host()).ticks.is_empty());
}
