use assay_units::Rng;

use super::*;

/// Against a list of flags.
#[test]
fn a_map_finds_what_is_free() {
    let mut rng = Rng::new(1);
    for blocks in [1, 63, 64, 65, 4096, 5000] {
        let mut map = RandomMap::new(blocks);
        let mut marked = vec![false; blocks as usize];
        while marked.contains(&false) {
            let drawn = rng.below(blocks);
            let behind = (1..=blocks).map(|n| (drawn + n) % blocks);
            let next = behind.clone().find(|&block| !marked[block as usize]);
            assert_eq!(map.is_free(drawn), !marked[drawn as usize]);
            assert_eq!(map.next_free(drawn), next);
            let block = if map.is_free(drawn) { drawn } else { next.unwrap() };
            let wanted = 1 + rng.below(80).min(blocks - block - 1);
            let free = (block..block + wanted).take_while(|&block| !marked[block as usize]);
            let expected = free.count() as u64;
            assert_eq!(map.mark(block, wanted), expected, "{wanted} from {block}");
            marked[block as usize..(block + expected) as usize].fill(true);
        }
        assert_eq!(map.next_free(0), None);
        map.clear();
        assert!(map.is_free(0));
    }
}
