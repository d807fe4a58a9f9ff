//! Hit rate of a block cache (bcache, dm-cache, that of a simulated disk) in a cell: reads that the
//! cache answered alone, over the reads that it saw, between the first and the last reading of its
//! counters after the ramp. A read of which the cache had a part is a miss (Linux,
//! Documentation/admin-guide/bcache.rst, and drivers/md/dm-cache-target.c). bcache adds its
//! counters up every 13.6 s (drivers/md/bcache/stats.c, `scale_accounting`: 22 times in five
//! minutes), so that those of a short cell lack most of its reads: below [`MIN_COVERED`] of the
//! cell's reads there is no figure.

use crate::endurance::CounterSpan;

/// Smallest share of a cell's reads that the counters must have.
pub const MIN_COVERED: f64 = 0.5;

/// Counters are (hits, reads); `reads_of_host` are the cell's.
pub fn hit_pct(counters: &CounterSpan, reads_of_host: u64) -> Option<f64> {
    let (hits, reads) = counters.grown().ok()?;
    // A cell without reads: what has grown are reads before it, counted late.
    let covers = reads_of_host > 0 && reads as f64 >= MIN_COVERED * reads_of_host as f64;
    (reads > 0 && covers && hits <= reads).then(|| 100.0 * hits as f64 / reads as f64)
}

#[cfg(test)]
#[path = "../tests/unit/block_cache.rs"]
mod tests;
