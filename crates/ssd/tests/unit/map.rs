use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    /// Against a plain map, including the runs reported by `unmap`.
    #[test]
    fn agrees_with_a_plain_map(
        filled: bool,
        steps in prop::collection::vec((0_u32..100_000, 0_u32..70_000, any::<bool>()), 1..12),
        // Sequential writes: start, length of each, number.
        fills in prop::collection::vec((0_u32..25, 1_u32..5_000, 1_u32..9, any::<bool>()), 0..6),
    ) {
        let units = 100_000;
        let mut map = PageMap::new(units, 7_000, 13, filled);
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        if filled {
            model.extend((0..units).map(|n| (n, (n / 7_000) << 13 | (n % 7_000))));
        }
        let mut next = 1 << 20;
        for (chunk, len, count, moved) in fills {
            let mut at = chunk << CHUNK_SHIFT;
            for _ in 0..count {
                let len = len.min(units - at);
                let mut gone = Vec::new();
                let mut expected = Vec::new();
                for n in 0..len {
                    expected.extend(model.insert(at + n, next + n));
                }
                if moved {
                    let run: Vec<u32> = (at..at + len).collect();
                    for part in run.chunks(64) {
                        map.move_to(part, next + (part[0] - at));
                    }
                } else {
                    map.set_run(at, len, next, |start, count| {
                        assert_eq!(start >> 13, (start + count - 1) >> 13, "over a superblock's end");
                        gone.extend(start..start + count);
                    });
                    gone.sort_unstable();
                    expected.sort_unstable();
                    prop_assert_eq!(gone, expected);
                }
                at += len;
                next += len;
            }
            // Some writes continue the previous one.
            next += chunk % 3 * 64;
        }
        for (step, (at, len, write)) in steps.into_iter().enumerate() {
            if write {
                let physical = 1 << 24 | step as u32;
                let old = map.set(at, physical);
                prop_assert_eq!(old, model.insert(at, physical).unwrap_or(UNMAPPED));
                let moved = [at, (at + len) % units];
                map.move_to(&moved, physical + 64);
                model.extend(moved.into_iter().zip(physical + 64..));
            } else {
                let mut gone = Vec::new();
                map.unmap(at, at + len, |start, count| gone.extend(start..start + count));
                let mut expected: Vec<u32> = (at..(at + len).min(units)).filter_map(|n| model.remove(&n)).collect();
                gone.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(gone, expected);
            }
        }
        let tables = map.chunks.iter().filter(|&&chunk| chunk == Chunk::Table);
        prop_assert_eq!(map.tables, tables.count());
        for unit in (0..units).step_by(97) {
            prop_assert_eq!(map.get(unit), model.get(&unit).copied().unwrap_or(UNMAPPED));
        }
    }
}
