//! The random numbers that a thread draws, each of its own generator.

use super::PerDirection;
use super::files::FileDraws;
use super::job::{FioAccess, Generator};
use super::random::Seeds;
use super::random::Tausworthe;

/// Random numbers that begin anew with a pass.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    pub(super) sizes: PerDirection<Tausworthe>,
    pub(super) mix: Tausworthe,
    pub(super) offsets: Tausworthe,
    pub(super) orders: PerDirection<Tausworthe>,
    pub(super) zone: Tausworthe,
    pub(super) priority: Tausworthe,
    pub(super) files: FileDraws,
}

impl Draws {
    pub(super) fn new(access: &FioAccess, seeds: Seeds) -> Draws {
        let all = seeds.of_thread();
        let wide = access.generator == Generator::Tausworthe64;
        let reads = all[0];
        let writes = if access.verifies { reads } else { all[1] };
        let trims = if access.trims_and_writes() { writes } else { all[2] };
        let order = Tausworthe::new(all[10], false);
        Draws {
            sizes: [reads, writes, trims].map(|seed| Tausworthe::new(seed, wide)),
            mix: Tausworthe::new(all[4], false),
            offsets: Tausworthe::new(seeds.of_offsets(), wide),
            orders: [order.clone(), order.clone(), order],
            zone: Tausworthe::new(all[16], false),
            priority: Tausworthe::new(all[19], false),
            files: FileDraws::new(&access.files, all[5], wide),
        }
    }
}
