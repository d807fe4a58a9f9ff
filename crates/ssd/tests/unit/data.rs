use super::*;
use proptest::prelude::*;

const SPAN: usize = 20 * PAGE;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize, u8),
    Discard(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0_usize..SPAN / 512, 1_usize..40)
        .prop_map(|(at, len)| (at * 512, (len * 512).min(SPAN - at * 512)));
    (place, any::<u8>(), any::<bool>()).prop_map(|((at, len), byte, write)| {
        if write { Step::Write(at, len, byte) } else { Step::Discard(at, len) }
    })
}

proptest! {
    /// Against a plain array.
    #[test]
    fn agrees_with_an_array(
        filled: bool, numbers: bool, true_pages in 1..=SPAN / PAGE, steps in prop::collection::vec(step(), 1..40)
    ) {
        let state = if filled { InitialState::Filled } else { InitialState::Fresh };
        let mut store = DataStore::new(5, state, false);
        let true_bytes = true_pages * PAGE;
        if true_bytes < SPAN {
            store = store.wrap(true_bytes as u64);
        }
        if numbers {
            store = store.regenerate();
        }
        let mut model = vec![0_u8; SPAN];
        store.read(0, &mut model);
        prop_assert_eq!(model.iter().any(|&byte| byte != 0), filled);
        for step in steps {
            match step {
                Step::Write(at, len, byte) => {
                    (at..at + len).for_each(|at| model[at % true_bytes] = byte);
                    store.write(at as u64, &vec![byte; len]);
                }
                Step::Discard(at, len) => {
                    (at..at + len).for_each(|at| model[at % true_bytes] = 0);
                    store.discard(at as u64, len as u64);
                }
            }
            let mut seen = vec![1_u8; SPAN];
            store.read(0, &mut seen);
            prop_assert!((0..SPAN).all(|at| seen[at] == model[at % true_bytes]));
        }
    }
}

#[test]
fn stale_reads_return_the_previous_content() {
    let mut store = DataStore::new(1, InitialState::Fresh, true);
    store.write(4096, &[1; 4096]);
    store.write(4096, &[2; 4096]);
    let mut bytes = [9; 8192];
    store.read_stale(0, &mut bytes);
    assert_eq!((bytes[0], bytes[4096]), (0, 1));
    store.read(0, &mut bytes);
    assert_eq!((bytes[0], bytes[4096]), (0, 2));
}

#[test]
fn discarding_a_whole_drive_needs_no_memory() {
    let mut store = DataStore::new(1, InitialState::Filled, false);
    store.write(1 << 30, &[7; 4096]);
    store.discard(0, 1 << 40);
    assert_eq!(store.resident_bytes(), 0);
    let mut bytes = [1; 16];
    store.read(1 << 30, &mut bytes);
    assert_eq!(bytes, [0; 16]);
}
