//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

#[path = "cohort_rates/main.rs"]
mod cohort_rates;
#[path = "interval_rates/main.rs"]
mod interval_rates;
