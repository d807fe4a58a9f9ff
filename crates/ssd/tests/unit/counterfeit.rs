use super::*;

#[test]
fn a_physical_page_holds_its_last_write() {
    let mut aliases = AddressAliases::new(1000);
    assert_eq!((aliases.find(7), aliases.find(2007)), (7, 7), "as it came");
    assert_eq!(aliases.take(7), None);
    assert_eq!(aliases.take(2007), Some(7));
    assert_eq!((aliases.find(7), aliases.find(1007)), (2007, 2007));
    assert_eq!(aliases.take(2007), None, "overwritten by itself");
    assert_eq!(aliases.take(1007), Some(2007));
    assert_eq!(aliases.take(7), Some(1007));
    assert_eq!(aliases.find(2007), 7);
    assert_eq!(aliases.find(8), 8);
}

#[test]
fn discarded_pages_are_in_their_initial_state() {
    let mut aliases = AddressAliases::new(1000);
    for page in [1255, 1256, 2999, 3] {
        aliases.take(page);
    }
    assert_eq!(aliases.drop_range(256, 999), [1256]);
    assert_eq!((aliases.find(256), aliases.find(999)), (256, 2999));
    assert_eq!(aliases.drop_range(0, 1000), [1255, 2999]);
    assert_eq!(aliases.resident_bytes(), 0);
}
