use super::*;

#[test]
fn counts_pages() {
    assert_eq!(prp_entries(0x1000, 0, 4096), 0);
    assert_eq!(prp_entries(0x1000, 4096, 4096), 1);
    assert_eq!(prp_entries(0x1200, 4096, 4096), 2);
    assert_eq!(prp_entries(0x1ffc, 5, 4096), 2);
    assert_eq!(prp_entries(0x1ffc, 4, 4096), 1);
}
