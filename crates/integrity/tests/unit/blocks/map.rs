use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn map(blocks: u64) -> GenerationMap {
    GenerationMap::new(8192, blocks * 4096 + 100, 4096).unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Step {
    BeginWrite(u64, u32),
    BeginRead(u64, u32),
    Finish(usize, bool),
}

fn steps() -> impl Strategy<Value = Step> {
    let io = (0_u64..12, 1_u32..5);
    prop_oneof![
        io.clone().prop_map(|(at, len)| Step::BeginWrite(at, len)),
        io.prop_map(|(at, len)| Step::BeginRead(at, len)),
        any::<(usize, bool)>().prop_map(|(which, ok)| Step::Finish(which, ok)),
    ]
}

#[derive(Clone, Debug, Default)]
struct Model {
    generation: u64,
    uncertain: bool,
    writers: u32,
    readers: u32,
}

proptest! {
    /// Against a model with separate fields.
    #[test]
    fn the_map_matches_a_reference_model(steps in proptest::collection::vec(steps(), 1..300)) {
        const BLOCKS: u64 = 12;
        let mut map = map(BLOCKS);
        let mut model: BTreeMap<u64, Model> = (0..BLOCKS).map(|i| (i, Model::default())).collect();
        let mut flying: Vec<(u64, u32, bool)> = Vec::new();
        for step in steps {
            match step {
                Step::BeginWrite(at, len) | Step::BeginRead(at, len) => {
                    let write = matches!(step, Step::BeginWrite(..));
                    let inside = at + u64::from(len) <= BLOCKS;
                    let free = inside && (at..at + u64::from(len)).all(|i| {
                        model[&i].writers == 0 && (!write || model[&i].readers == 0)
                    });
                    let (offset, bytes) = (8192 + at * 4096, len * 4096);
                    let begun = if write { map.begin_write(offset, bytes) } else { map.begin_read(offset, bytes) };
                    let begun = begun == Begin::Begun;
                    prop_assert_eq!(begun, free);
                    if begun {
                        flying.push((at, len, write));
                        for i in at..at + u64::from(len) {
                            let block = model.get_mut(&i).unwrap();
                            if write {
                                block.writers += 1;
                                block.generation += 1;
                            } else {
                                block.readers += 1;
                            }
                        }
                    }
                }
                Step::Finish(which, ok) => {
                    if flying.is_empty() {
                        continue;
                    }
                    let (at, len, write) = flying.swap_remove(which % flying.len());
                    let (offset, bytes) = (8192 + at * 4096, len * 4096);
                    if write { map.finish_write(offset, bytes, ok) } else { map.finish_read(offset, bytes) }
                    for i in at..at + u64::from(len) {
                        let block = model.get_mut(&i).unwrap();
                        if write {
                            block.writers -= 1;
                            block.uncertain = !ok;
                        } else {
                            block.readers -= 1;
                        }
                    }
                }
            }
            for (i, block) in &model {
                let newest = block.generation;
                let expected = match block {
                    b if b.generation == 0 => Expected::Unwritten,
                    b if b.uncertain || b.writers > 0 => Expected::Uncertain { newest },
                    _ => Expected::Generation(newest),
                };
                prop_assert_eq!(map.expected(8192 + i * 4096), expected);
                prop_assert_eq!(map.generation(8192 + i * 4096), newest);
            }
        }
        let mut covered = Vec::new();
        let mut from = 8192;
        while let Some((offset, len)) = map.next_written(from, 3 * 4096) {
            from = offset + u64::from(len);
            prop_assert!(len <= 3 * 4096);
            covered.extend((0..u64::from(len / 4096)).map(|i| (offset - 8192) / 4096 + i));
        }
        let expected: Vec<u64> = model.iter().filter(|(_, b)| b.generation > 0).map(|(i, _)| *i).collect();
        prop_assert_eq!(covered, expected);
    }
}

#[test]
fn only_whole_blocks_inside_the_region_are_taken() {
    let mut map = map(4);
    for (offset, len) in [
        (0, 4096),
        (4096, 4096),
        (8192, 100),
        (8200, 4096),
        (8192, 5 * 4096),
        (u64::MAX - 4095, 4096),
    ] {
        assert_eq!(map.begin_write(offset, len), Begin::Outside, "{offset} {len}");
        assert_eq!(map.begin_read(offset, len), Begin::Outside, "{offset} {len}");
        map.finish_write(offset, len, true);
        map.finish_read(offset, len);
    }
    assert_eq!(map.expected(0), Expected::Unwritten);
    assert_eq!(map.expected(u64::MAX), Expected::Unwritten);
    assert_eq!((map.next_written(8192, 4096), map.blocks.len()), (None, 4));
}

#[test]
fn readers_have_a_limit_and_block_writers() {
    let mut map = map(1);
    for _ in 0..MAX_READERS {
        assert_eq!(map.begin_read(8192, 4096), Begin::Begun);
    }
    assert_eq!(map.begin_read(8192, 4096), Begin::Busy);
    for _ in 0..MAX_READERS {
        assert_eq!(map.begin_write(8192, 4096), Begin::Busy);
        map.finish_read(8192, 4096);
    }
    assert_eq!(map.begin_write(8192, 4096), Begin::Begun);
    assert_eq!(map.begin_read(8192, 4096), Begin::Busy);
}

#[test]
fn generations_wrap_to_one() {
    let top = MAX_GENERATION as u32;
    assert_eq!((next_generation(0), next_generation(1), next_generation(top)), (1, 2, 1));
    assert!(is_older(1, 2) && !is_older(2, 1) && !is_older(2, 2) && !is_older(0, 2));
    assert!(
        is_older(MAX_GENERATION, 1)
            && is_older(MAX_GENERATION - 3, 2)
            && !is_older(1, MAX_GENERATION)
    );
    assert!(!is_older(u64::MAX, 5));
    assert_eq!((earlier_generation(3, 2), earlier_generation(3, 3)), (Some(1), None));
}

#[test]
fn impossible_sizes_are_errors() {
    assert!(matches!(GenerationMap::new(0, 1 << 63, 512), Err(VerifyError::MapTooLarge { .. })));
    assert!(matches!(GenerationMap::new(0, 1 << 63, 1000), Err(VerifyError::BadInterval { .. })));
}
