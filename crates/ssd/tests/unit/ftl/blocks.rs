use super::*;
use proptest::prelude::*;

const SHIFT: u32 = 7;
const UNITS: u32 = 100;
const TOTAL: u32 = 12;
const MULTI: u32 = 9;

/// Naive bookkeeping.
#[derive(Clone)]
struct Plain {
    state: SuperblockState,
    units: Vec<Option<u32>>,
}

#[derive(Clone, Debug)]
enum Step {
    Open(u32),
    Place(u32, u32, u8),
    Close(u32),
    Invalidate(u32, u32),
    InvalidateRun(u32, u32, u32),
    Erase(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let block = 0..TOTAL;
    prop_oneof![
        (block.clone()).prop_map(Step::Open),
        (block.clone(), 1_u32..70, 0_u8..4).prop_map(|(b, n, how)| Step::Place(b, n, how)),
        (block.clone(), 1_u32..70, 1_u8..3).prop_map(|(b, n, how)| Step::Place(b, n, how)),
        (block.clone()).prop_map(Step::Close),
        (block.clone(), 0..UNITS).prop_map(|(b, at)| Step::Invalidate(b, at)),
        (block.clone(), 0..UNITS, 1..UNITS).prop_map(|(b, at, n)| Step::InvalidateRun(b, at, n)),
        (block).prop_map(Step::Erase),
    ]
}

proptest! {
    /// Reverse map, counts and victim against plain lists.
    #[test]
    fn agrees_with_plain_lists(filled in 0..MULTI * UNITS, steps in prop::collection::vec(step(), 0..120)) {
        let mut blocks = Superblocks::new(TOTAL, MULTI, SHIFT, UNITS, filled);
        let mut plain: Vec<Plain> = (0..TOTAL)
            .map(|b| {
                let units: Vec<_> = (b * UNITS..filled.min((b + 1) * UNITS)).map(Some).collect();
                Plain { state: if units.is_empty() { SuperblockState::Free } else { SuperblockState::Closed }, units }
            })
            .collect();
        let mut next = 10_000;
        for step in steps {
            match step {
                Step::Open(b) if plain[b as usize].state == SuperblockState::Free => {
                    plain[b as usize] = Plain { state: SuperblockState::Open, units: Vec::new() };
                    blocks.open(b, UNITS);
                }
                Step::Place(b, n, how) if plain[b as usize].state == SuperblockState::Open => {
                    let at = plain[b as usize].units.len() as u32;
                    let n = n.min(UNITS - at);
                    let physical = b << SHIFT | at;
                    let mut units: Vec<u32> = (next..next + n).collect();
                    match how {
                        0 => (physical..).zip(&units).for_each(|(at, &unit)| blocks.place_one(at, unit)),
                        1 => blocks.place_run(physical, next, n),
                        2 => blocks.place(physical, &units),
                        _ => {
                            units.reverse();
                            blocks.place(physical, &units);
                        }
                    }
                    plain[b as usize].units.extend(units.into_iter().map(Some));
                    next += n;
                    blocks.written[b as usize] = at + n;
                }
                Step::Close(b) if plain[b as usize].state == SuperblockState::Open => {
                    plain[b as usize].state = SuperblockState::Closed;
                    blocks.close(b);
                }
                Step::Invalidate(b, at) => {
                    if let Some(unit) = plain[b as usize].units.get_mut(at as usize)
                        && unit.take().is_some()
                    {
                        blocks.invalidate(b << SHIFT | at);
                    }
                }
                Step::InvalidateRun(b, at, n) => {
                    let units = &mut plain[b as usize].units;
                    let end = units.len().min((at + n) as usize);
                    if (at as usize) < end {
                        let range = &mut units[at as usize..end];
                        let valid = range.iter().filter(|unit| unit.is_some()).count();
                        let count = range.len();
                        range.fill(None);
                        blocks.invalidate_run(b << SHIFT | at, count as u32, valid as u32);
                    }
                }
                Step::Erase(b)
                    if plain[b as usize].state == SuperblockState::Closed
                        && plain[b as usize].units.iter().all(Option::is_none) =>
                {
                    plain[b as usize] = Plain { state: SuperblockState::Free, units: Vec::new() };
                    blocks.erase(b);
                }
                _ => {}
            }
            let victim = (0..MULTI)
                .filter(|&b| plain[b as usize].state == SuperblockState::Closed)
                .map(|b| (plain[b as usize].units.iter().flatten().count() as u32, b))
                .min()
                .filter(|&(valid, _)| valid < UNITS);
            prop_assert_eq!(blocks.victim(), victim.map(|(_, b)| b));
        }
        for (b, expected) in (0..TOTAL).zip(&plain) {
            prop_assert_eq!(blocks.state[b as usize], expected.state);
            prop_assert_eq!(blocks.written[b as usize], expected.units.len() as u32);
            prop_assert_eq!(blocks.valid[b as usize], expected.units.iter().flatten().count() as u32);
            let mut found = Vec::new();
            blocks.valid_units(b << SHIFT, expected.units.len() as u32, &mut found);
            let wanted: Vec<u32> = expected.units.iter().flatten().copied().collect();
            prop_assert_eq!(&found, &wanted);
            // The same in pieces; some span two words of the bitmap, one is long.
            let (mut piecewise, mut holds, mut at) = (vec![0; expected.units.len()], 0, 0);
            for piece in [7, 8, 64, 5].into_iter().cycle() {
                let count = piece.min(expected.units.len() as u32 - at);
                if count == 0 {
                    break;
                }
                holds += blocks.valid_units_into(b << SHIFT | at, count, &mut piecewise[holds..]) as usize;
                at += count;
            }
            prop_assert_eq!(&piecewise[..holds], &wanted);
            for (at, &unit) in expected.units.iter().enumerate() {
                prop_assert_eq!(blocks.valid_unit(b << SHIFT | at as u32), unit);
            }
        }
    }
}
