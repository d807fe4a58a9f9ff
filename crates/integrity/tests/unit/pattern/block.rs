use super::*;
use assay_units::Rng;

/// The AVX2 and the portable kernel agree on blocks of any stream and of none, right and wrong in
/// every single byte.
#[test]
fn kernels_agree() {
    let mut rng = Rng::new(3);
    for _ in 0..4 {
        let (mut previous, mut next, mut portable) =
            ([0; BLOCK_BYTES], [1; BLOCK_BYTES], [2; BLOCK_BYTES]);
        rng.fill(&mut previous);
        step(&previous, &mut next);
        portable_step(&previous, &mut portable);
        assert!(next == portable);
        assert!(follows(&previous, &next) && portable_follows(&previous, &next));
        for at in 0..BLOCK_BYTES {
            next[at] ^= 1 << (at % 8);
            assert!(!follows(&previous, &next) && !portable_follows(&previous, &next), "{at}");
            next[at] ^= 1 << (at % 8);
        }
    }
}
