use super::*;

/// Pages of family, serial number and offset, followed by bytes that depend on all three.
#[derive(Debug)]
struct Toy;

impl Generator for Toy {
    fn recognise(&self, _: u64, page: &[u8; PAGE]) -> Option<(Family, u32)> {
        let word = |at: usize| {
            let bytes = page[at..at + 8].try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        Some(([word(0)?, word(8)?], word(16)? as u32))
    }

    fn generate(&self, family: Family, serial: u32, offset: u64, page: &mut [u8; PAGE]) {
        let words = [family[0], family[1], u64::from(serial), offset];
        for (n, bytes) in page.chunks_mut(8).enumerate() {
            let word = words[n % 4].wrapping_add((n / 4) as u64 * 7919);
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
}

fn made(family: u64, serial: u32, page: u64) -> [u8; PAGE] {
    let mut content = [0; PAGE];
    Toy.generate([family, 5], serial, page * PAGE_BYTES, &mut content);
    content
}

fn kept() -> Regenerated {
    let mut kept = Regenerated::default();
    kept.set_generator(Arc::new(Toy));
    kept
}

#[test]
fn regenerable_pages_are_stored_as_a_number() {
    let mut kept = kept();
    let mut seen = [9; PAGE];
    for page in 0..512 {
        assert!(kept.put(page, &made(3, 70 + page as u32, page)));
    }
    assert_eq!(kept.resident_bytes(), 2048, "four bytes per page");
    assert!(kept.get(400, &mut seen) && seen == made(3, 470, 400));
    assert!(kept.put(7, &[0xff; PAGE]) && kept.get(7, &mut seen));
    assert_eq!(seen, [0xff; PAGE]);
    assert!(!kept.get(512, &mut seen));
    kept.remove_range(1, 511);
    assert!(!kept.get(400, &mut seen) && kept.get(511, &mut seen) && kept.get(0, &mut seen));
    kept.remove_range(0, u64::MAX);
    assert_eq!(kept.resident_bytes(), 0);
}

#[test]
fn other_pages_are_not_stored() {
    let mut kept = kept();
    for bit in [0, 64, 128, 4095 * 8, 2000 * 8 + 3] {
        let mut content = made(3, 1, 8);
        content[bit / 8] ^= 1 << (bit % 8);
        // A flipped bit in the parameters gives another page, which is detected.
        assert!(!kept.put(8, &content), "{bit}");
    }
    assert!(!kept.put(9, &made(3, 1, 8)), "another page's");
    assert!(!kept.put(8, &made(3, 1 << 24, 8)), "the number is too large");
    assert!(kept.put(8, &made(3, 1, 8)));
    assert!(!kept.put(8, &made(3, 1, 9)));
    assert!(!kept.get(8, &mut [0; PAGE]), "what was there is forgotten");
    let mut without = Regenerated::default();
    assert!(!without.put(8, &made(3, 1, 8)));
    assert!(without.put(8, &[0; PAGE]));
}

#[test]
fn families_are_counted_and_their_entries_reused() {
    let mut kept = kept();
    for family in 0..254 {
        assert!(kept.put(family, &made(family, 1, family)));
    }
    assert!(!kept.put(300, &made(999, 1, 300)), "no place left");
    assert!(kept.put(301, &made(17, 2, 301)));
    kept.remove(200);
    assert!(kept.put(300, &made(999, 1, 300)));
    let mut seen = [0; PAGE];
    for family in (0..254).filter(|&family| family != 200) {
        assert!(kept.get(family, &mut seen) && seen == made(family, 1, family));
    }
    assert!(kept.get(300, &mut seen) && seen == made(999, 1, 300));
}
