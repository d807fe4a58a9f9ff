use super::*;

/// A page of configurations, each with its handles, as far as `len` bytes.
fn page(configurations: &[(u16, bool)], len: usize) -> Vec<u8> {
    let mut head = FdpConfigurationsHead::default();
    head.set_configurations(configurations.len() as u16 - 1);
    let mut page = head.as_bytes().to_vec();
    for &(handles, valid) in configurations {
        let size = FdpConfiguration::SIZE + usize::from(handles) * HandleDescriptor::SIZE;
        let mut one = FdpConfiguration::default();
        one.set_size_bytes(size as u16)
            .set_valid(valid)
            .set_groups(1)
            .set_handles(handles)
            .set_unit_bytes(1 << 20);
        page.extend_from_slice(one.as_bytes());
        let mut handle = HandleDescriptor::default();
        handle.set_isolation(INITIALLY_ISOLATED);
        page.extend(handle.as_bytes().repeat(usize::from(handles)));
    }
    page.resize(len, 0);
    page
}

#[test]
fn configurations_end_with_the_page() {
    let handles =
        |page: &[u8]| -> Vec<u16> { configurations(page).iter().map(|c| c.handles).collect() };
    let three = [(4, true), (8, false), (2, true)];
    assert_eq!(handles(&page(&three, 4096)), [4, 2], "one is not valid");
    // The first takes 16 + 64 + 16 bytes.
    assert_eq!(handles(&page(&three, 100)), [4]);
    assert!(handles(&page(&three, 90)).is_empty());
    // A descriptor cannot be shorter than itself.
    assert!(handles(&[&[9; 16][..], &[0; 4080]].concat()).is_empty());
    assert!(configurations(&page(&three, 4096))[0].mixes_when_moving);
}

#[test]
fn handles_are_those_of_the_configuration_in_use() {
    let mut placement = Placement {
        endurance_group: 1,
        enabled: Some(1),
        configurations: configurations(&page(&[(4, true), (8, true)], 4096)),
        statistics: None,
    };
    assert_eq!(placement.handles(), 8);
    placement.enabled = Some(2);
    assert_eq!(placement.handles(), 0);
    placement.enabled = None;
    assert_eq!(placement.handles(), 0);
}
