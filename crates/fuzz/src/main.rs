//! Drives one target by libFuzzer:
//! `ASSAY_FUZZ_TARGET=NAME assay-fuzz [libFuzzer's options] CORPUS`. `scripts/fuzz` builds it.
#![no_main]

use std::sync::OnceLock;

use assay_fuzz::{MAX_INPUT_BYTES, Target, find};

fn target() -> &'static Target {
    static TARGET: OnceLock<&'static Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("ASSAY_FUZZ_TARGET").unwrap_or_default();
        find(&name).unwrap_or_else(|| {
            let names: Vec<&str> = assay_fuzz::TARGETS.iter().map(|t| t.name).collect();
            panic!("ASSAY_FUZZ_TARGET is {name:?}; it is one of {}", names.join(", "))
        })
    })
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if data.len() <= MAX_INPUT_BYTES {
        (target().run)(data);
    }
});
