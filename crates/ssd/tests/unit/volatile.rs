use super::*;

fn page(byte: u8) -> Page {
    Box::new([byte; 4096])
}

fn lost(journal: &mut UndoJournal, durable_units: u64, capacitors: bool) -> Vec<(u64, u8)> {
    let units = journal.power_loss(durable_units, capacitors);
    units.iter().map(|(unit, page)| (*unit, page[0])).collect()
}

/// Unit 5 held 0, then 1 (place 0), 2 (place 2) and 3 (waiting); unit 6 held 9, then something else
/// (place 1).
fn written() -> UndoJournal {
    let mut journal = UndoJournal::new();
    journal.accept(1, 5, Some(0));
    journal.record(1, 5, page(0), false);
    journal.catch_up();
    journal.record(2, 5, page(1), false);
    journal.record(2, 6, page(9), false);
    journal.record(3, 5, page(2), false);
    journal.accept(2, 6, Some(1));
    journal.accept(2, 5, Some(2));
    journal
}

#[test]
fn units_revert_to_the_last_durable_write() {
    assert_eq!(lost(&mut written(), 0, false), [(5, 0), (6, 9)]);
    assert_eq!(lost(&mut written(), 1, false), [(5, 1), (6, 9)]);
    assert_eq!(lost(&mut written(), 2, false), [(5, 1)], "torn");
    assert_eq!(lost(&mut written(), 3, false), [(5, 2)]);
    let mut journal = written();
    assert_eq!(lost(&mut journal, 0, true), [(5, 2)], "never taken");
    assert_eq!(lost(&mut journal, 0, false), [], "once");
}

#[test]
fn durable_writes_are_dropped_and_later_ones_kept() {
    let mut journal = written();
    journal.prune(2);
    assert_eq!(journal.entries, 2);
    assert_eq!(lost(&mut journal, 2, false), [(5, 1)]);
}

/// A later durable write takes precedence, even if an earlier one of the same unit was accepted
/// after it.
#[test]
fn an_earlier_write_does_not_undo_a_later_one() {
    let mut journal = UndoJournal::new();
    journal.record(1, 5, page(0), false);
    journal.record(2, 5, page(1), false);
    journal.accept(2, 5, Some(0));
    journal.accept(1, 5, Some(1));
    assert_eq!(lost(&mut journal, 1, false), []);
}

#[test]
fn deallocated_units_stay_deallocated() {
    let mut journal = written();
    journal.drop_range(0, 6);
    assert_eq!(journal.entries, 1);
    journal.record(7, 6, page(4), false);
    journal.accept(7, 6, None);
    assert_eq!(lost(&mut journal, 0, false), [], "recorded at once");
}

#[test]
fn dataless_writes_are_removed_early() {
    let mut journal = UndoJournal::new();
    journal.accept(1, 5, Some(0));
    journal.catch_up();
    assert!(journal.early.is_empty());
}

/// Write 2 is atomic: unit 6 is programmed first, and reverts until unit 5 is.
#[test]
fn an_atomic_write_reverts_as_a_whole() {
    let atomic = || {
        let mut journal = UndoJournal::new();
        journal.record(1, 5, page(0), true);
        journal.accept(1, 5, Some(0));
        journal.record(2, 5, page(1), true);
        journal.record(2, 6, page(9), true);
        journal.accept(2, 6, Some(1));
        journal.accept(2, 5, Some(2));
        journal
    };
    for durable_units in [1, 2] {
        assert_eq!(lost(&mut atomic(), durable_units, false), [(5, 1), (6, 9)]);
        let mut pruned = atomic();
        pruned.prune(durable_units);
        assert_eq!(lost(&mut pruned, 2, false), [(5, 1), (6, 9)]);
    }
    assert_eq!(lost(&mut atomic(), 3, false), []);
    assert_eq!(lost(&mut atomic(), 0, true), []);
}
