use super::*;

#[test]
fn a_driver_finds_an_nvme_controller_with_msi_x() {
    let mut config = ConfigSpace::new(16);
    let mut bytes = [0; CONFIG_BYTES];
    config.read(0, &mut bytes);
    assert_eq!(bytes[0x09..0x0c], [0x02, 0x08, 0x01]);
    assert_eq!(bytes[0x10], 4);
    let capability = usize::from(bytes[0x34]);
    assert_eq!(bytes[capability..capability + 4], [0x11, 0, 15, 0]);
    assert_eq!(bytes[capability + 4..capability + 8], 0x2000_u32.to_le_bytes());
    // Only the writable bytes change.
    config.write(0, &[0xff; 300]);
    let mut after = [0; CONFIG_BYTES];
    config.read(0, &mut after);
    let changed: Vec<usize> = (0..CONFIG_BYTES).filter(|&at| after[at] != bytes[at]).collect();
    assert_eq!(changed, [0x04, 0x05, 0x3c, 0x43]);
    assert_eq!((after[4], after[5], after[0x43]), (6, 4, 0xc0));
    let mut beyond = [9; 4];
    config.read(254, &mut beyond);
    assert_eq!(beyond, [0; 4]);
    config.read(u64::MAX, &mut beyond[..1]);
}
