use super::*;
use std::os::unix::fs::FileExt;

#[test]
fn writes_are_visible_to_both_sides() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(3 * 4096).unwrap();
    let mut memory = SharedMemory::map(&file, 4096, 8192, true).unwrap();
    assert_eq!(memory.len_bytes(), 8192);
    for len in [1, 4, 16, 17, 64, 4096] {
        let bytes: Vec<u8> = (0..len).map(|n| (n + len) as u8).collect();
        for at in [0, 3, 8, 8192 - len as u64] {
            assert!(memory.write(at, &bytes));
            let mut seen = vec![0; bytes.len()];
            file.read_exact_at(&mut seen, 4096 + at).unwrap();
            assert_eq!(seen, bytes, "{len} at {at}");
            file.write_all_at(&vec![9; bytes.len()], 4096 + at).unwrap();
            assert!(memory.read(at, &mut seen));
            assert_eq!(seen, vec![9; bytes.len()]);
        }
    }
    for (at, len) in [(8192, 1), (8190, 3), (u64::MAX, 1), (u64::MAX - 1, 4096)] {
        assert!(!memory.read(at, &mut vec![0; len]), "{at}");
        assert!(!memory.write(at, &vec![0; len]), "{at}");
    }
    let mut only_read = SharedMemory::map(&file, 0, 4096, false).unwrap();
    assert!(!only_read.write(0, &[1]));
    for (offset, len) in [(0, 3 * 4096 + 1), (u64::MAX, 4096), (0, 0)] {
        assert!(SharedMemory::map(&file, offset, len, true).is_err());
    }
}
