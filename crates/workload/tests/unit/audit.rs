use super::*;

#[test]
fn the_audit_measures_something() {
    let audit = audit(false).unwrap();
    assert!(audit.null_iops_per_thread > 0.0 && audit.engine_ns_per_io > 0.0);
    assert!(audit.clock_ns > 0.0);
}
