//! Write amplification of greedy garbage collection under uniform random writes, against the
//! analytic result.
//!
//! # The formula
//! The limit of many superblocks (mean field) of greedy collection: W. Bux, I. Iliadis,
//! "Performance of greedy garbage collection in flash-based solid-state drives" (Performance
//! Evaluation 67, 2010); the same fixed point as B. Van Houdt, "A mean field model for a class of
//! garbage collection algorithms in flash-based solid state drives" (SIGMETRICS 2013), whose
//! `d`-choices policy becomes greedy as `d` grows. Derived here in the form that is solved:
//!
//! Let `b` be the units of a superblock, `U` the units of the drive, `N` the closed superblocks,
//! `f` the superblocks collected per host write. Each host write makes one of the `U` valid units
//! stale, each with the same chance, so that a superblock with `j` valid units goes to `j - 1` at
//! the rate `j / U` per host write. Greedy collection takes superblocks as they reach some level:
//! all that come to `k`, and a share `p` of those at `k + 1`. In the steady state the flow through
//! each level above is `f`, so `m(j) = f U / j` superblocks are at level `j > k + 1` and
//! `(1 - p) f U / (k + 1)` at `k + 1`. They are `N` in all, and a victim with `v = k + p` valid
//! units makes room for `b - v` host writes, so `f (b - v) = 1`:
//!
//! `sum(1 / j, j = k + 2 ..= b) + (1 - p) / (k + 1) = N (b - k - p) / U`, and the write
//! amplification is `b / (b - v)`.

use assay_ssd::Profile;
use assay_ssd::ftl::Ftl;
use assay_units::Rng;

/// Superblocks, and units in each.
const SUPERBLOCKS: u32 = 1024;
const UNITS: u32 = 128;
/// Free superblocks below which collection runs.
const LOW: u32 = 2;

/// The analytic amplification of `closed` superblocks of [`UNITS`] units holding `user_units`.
fn analytic(closed: f64, user_units: f64) -> f64 {
    let b = f64::from(UNITS);
    let density = closed / user_units;
    // From the highest level down; `above` sums the levels above `k + 1`.
    let mut above = 1.0 / b;
    for k in (0..UNITS - 1).rev() {
        let next = 1.0 / f64::from(k + 1);
        // above + (1 - p) * next = density * (b - k - p), solved for p.
        let p = (above + next - density * (b - f64::from(k))) / (next - density);
        if (0.0..=1.0).contains(&p) {
            return b / (b - f64::from(k) - p);
        }
        above += next;
    }
    1.0
}

fn simulated(user_units: u32) -> f64 {
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    let nand = &mut profile.nand;
    nand.channels.value = 1;
    nand.dies.value = 1;
    nand.planes.value = 2;
    nand.page_bytes.value = 16_384;
    nand.pages_per_block.value = 16;
    nand.blocks_per_plane.value = SUPERBLOCKS;
    profile.ftl.gc_low_superblocks.value = LOW;
    let mut ftl = Ftl::new(&profile, user_units, true, 1).expect("spare area");
    let mut rng = Rng::new(11);
    let mut now = 0;
    let mut before = ftl.counters();
    // Four overwrites reach the steady state; ten give the same within half a percent.
    let (warm, measured) = (user_units * 4, user_units * 2);
    for n in 0..warm + measured {
        if n == warm {
            before = ftl.counters();
        }
        let unit = rng.below(u64::from(user_units)) as u32;
        now = ftl.write(now, unit, now, now).expect("a slot").max(now);
    }
    let after = ftl.counters();
    (after.programmed_units - before.programmed_units) as f64 / f64::from(measured)
}

#[test]
fn greedy_garbage_collection_amplifies_as_the_mean_field() {
    for percent in [7.0, 10.0, 15.0, 28.0, 50.0] {
        let user_units = (f64::from(SUPERBLOCKS * UNITS) / (1.0 + percent / 100.0)) as u32;
        // Not closed: the free ones, the two open ones (half full on average, so counting half) and
        // the victim.
        let closed = f64::from(SUPERBLOCKS - LOW) - 1.0;
        let expected = analytic(closed, f64::from(user_units));
        let got = simulated(user_units);
        let error = got / expected - 1.0;
        println!("{percent} %: {got:.3}, analytic {expected:.3}, {:+.2} %", error * 100.0);
        assert!(
            error.abs() < 0.03,
            "at {percent} % over-provisioning: {got:.3}, analytic {expected:.3}"
        );
    }
}

/// The solver against the closed form for superblocks of unlimited size,
/// `1 / A = 1 + W(-a exp(-a)) / a` with `a` the flash per unit of user data (P. Desnoyers,
/// "Analytic modeling of SSD write performance", SYSTOR 2012), that is `ln(v) = -a (1 - v)` for the
/// valid share `v` of a victim: his correction for finite ones, `a (1 + 1 / (2 b))`, is good to a
/// percent.
#[test]
fn the_solver_agrees_with_desnoyers() {
    for a in [1.07, 1.15, 1.28, 1.5] {
        let corrected = a * (1.0 + 0.5 / f64::from(UNITS));
        let (mut low, mut high) = (1e-6, 1.0 - 1e-6);
        for _ in 0..100 {
            let v: f64 = f64::midpoint(low, high);
            // Below the solution the left side is less.
            if v.ln() < -corrected * (1.0 - v) { low = v } else { high = v }
        }
        let closed_form = 1.0 / (1.0 - low);
        let solved = analytic(a * 1000.0, 1000.0 * f64::from(UNITS));
        let error = solved / closed_form - 1.0;
        assert!(error.abs() < 0.012, "{a}: {solved} against {closed_form}");
    }
}
