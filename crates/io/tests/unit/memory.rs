use super::*;

#[test]
fn advice_does_not_change_tables() {
    for len in [0, 1, (WORTH_BYTES / 4) - 1, WORTH_BYTES / 4, WORTH_BYTES / 4 + 777] {
        let mut table = vec![0_u32; len];
        prefer_huge_pages(&table);
        assert!(table.iter().all(|&entry| entry == 0));
        table.iter_mut().for_each(|entry| *entry = 7);
        prefer_huge_pages(table.get(1..).unwrap_or_default());
        assert!(table.iter().all(|&entry| entry == 7));
    }
}
