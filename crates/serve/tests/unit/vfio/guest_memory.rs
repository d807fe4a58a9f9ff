use super::*;

#[test]
fn adjacent_regions_are_contiguous_and_holes_are_unmapped() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(4 * 4096).unwrap();
    let mut memory = GuestMemory::default();
    memory.map(&file, 0, 0x10000, 4096, true).unwrap();
    // The next guest page is another page of the file.
    memory.map(&file, 3 * 4096, 0x11000, 4096, true).unwrap();
    memory.map(&file, 4096, 0x20000, 4096, false).unwrap();
    let bytes: Vec<u8> = (0..6000_u32).map(|n| n as u8).collect();
    memory.write(0x10400, &bytes).unwrap();
    let mut seen = vec![0; bytes.len()];
    memory.read(0x10400, &mut seen).unwrap();
    assert_eq!(seen, bytes);
    for (address, len) in [(0x0ffff, 2), (0x11fff, 2), (0x15000, 1), (u64::MAX, 2)] {
        assert!(!memory.is_mapped(address, len), "{address:x}");
        assert!(memory.read(address, &mut vec![0; len as usize]).is_err());
        assert!(memory.write(address, &vec![0; len as usize]).is_err());
    }
    assert!(memory.is_mapped(0x10000, 8192));
    assert!(memory.write(0x20000, &[1]).is_err(), "read only");
    for (address, len) in [(0x10800, 4096), (0xf800, 4096), (0x10000, 4096), (u64::MAX, 4096)] {
        assert!(memory.map(&file, 0, address, len, true).is_err(), "{address:x}");
    }
    memory.unmap(0x11000, 4096);
    assert!(!memory.is_mapped(0x11000, 1) && memory.is_mapped(0x10fff, 1));
    memory.clear();
    assert!(!memory.is_mapped(0x10000, 1));
}
