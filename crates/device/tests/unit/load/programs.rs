use super::*;

#[test]
fn the_busiest_other_programs_are_named() {
    let times = |processes: &[(u32, &str, u64, u64)]| ProgramTimes {
        processes: (processes.iter())
            .map(|&(pid, name, ticks, began)| {
                let name = name.to_owned();
                (pid, Process { name, ticks, began })
            })
            .collect(),
    };
    let own = std::process::id();
    let before = times(&[
        (1, "init", 50, 1),
        (7, "fio", 100, 2),
        (8, "old", 900, 3),
        (10, "sh", 900, 4),
        (own, "assay", 0, 5),
    ]);
    let after = times(&[
        (1, "init", 50, 1),
        (7, "fio", 300, 2),
        // The process number was used again.
        (8, "new", 20, 6),
        (9, "fio", 100, 7),
        // The same process, which runs another program now: what it used before is no use since.
        (10, "rustc", 910, 4),
        (own, "assay", 400, 5),
    ]);
    let found = after.others_since(&before, 2.0);
    let expected = [("fio", 150.0), ("new", 10.0), ("rustc", 5.0)];
    assert_eq!(found, expected.map(|(name, pct)| (name.to_owned(), pct)));
}

#[test]
fn names_with_parentheses_are_read() {
    let of = |name: &str| {
        let stat = format!("12 ({name}) S 1 1 1 0 -1 4194304 100 0 0 0 33 44 0 0 20 0 1 0 5 6 7\n");
        Process::parse(&stat)
    };
    let process = |name: &str| {
        let name = name.to_owned();
        Some(Process { name, ticks: 77, began: 5 })
    };
    assert_eq!(of("a) b (c"), process("a) b (c"));
    assert_eq!(of("kworker/1:1-mm_percpu_wq"), process("kworker"));
    assert_eq!(Process::parse("12 (short) S 1"), None);
    let times = ProgramTimes::read(&SystemRoot::host());
    assert!(!times.processes.is_empty());
}
