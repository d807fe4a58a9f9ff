//! The fold of writes: its templates and what varies in them.

use super::*;
use assay_calibrate::published::published;
use assay_ssd::Profile;

#[test]
fn templates_are_valid_drives_without_what_their_own_writes_taught() {
    let study = Study::new(1, 1).unwrap();
    for name in study.drives() {
        let Some((template, prior)) = study.write_template(&name) else {
            continue;
        };
        let profile = template.profile(&Structure::new(), &prior.mean);
        let profile = profile.unwrap_or_else(|e| panic!("{name}: {e}"));
        let own = Profile::builtin(&name).unwrap();
        assert_eq!(prior.mean.len(), prior.width.len());
        assert!(prior.width.iter().all(|width| *width >= 0.3), "{name}");
        assert!(template.paths.iter().any(|path| path == "nand.program_ns"));
        let is_own = profile.nand.program_ns.value == own.nand.program_ns.value;
        assert!(!is_own || name == "intel-600p", "{name}");
    }
}

#[test]
fn the_rate_into_a_cache_varies_with_the_times_of_the_cache() {
    let study = Study::new(1, 1).unwrap();
    let (template, prior) = study.write_template("intel-600p").unwrap();
    let path = "slc.program_ns";
    let at = template.paths.iter().position(|p| p == path).unwrap();
    assert!((prior.width[at] - WRITE_WIDTH).abs() < 1e-9);
    let figures = published("intel-600p").unwrap();
    assert_eq!(figures.iter().filter(|m| is_write_rate(m)).count(), 2);
}
