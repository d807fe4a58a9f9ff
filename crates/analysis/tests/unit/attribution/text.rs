use super::*;

#[test]
fn causes_are_described_with_figures() {
    let slc = Cause::SlcCacheExhausted { cache_bytes: 8_500_000_000 };
    assert_eq!(slc.label(), "SLC cache exhausted");
    assert_eq!(slc.details().as_deref(), Some("after 7.9 GiB"));
    let hot = Cause::ThermalThrottling {
        onset_c: Some(77.2),
        onset_s: 31.0,
        duty_pct: 24.6,
        period_s: Some(40.4),
    };
    assert_eq!(hot.details().as_deref(), Some("from 77 C, 25 % of the time, every 40 s"));
    assert_eq!(Cause::HostLimited.details(), None);
    assert_eq!(size_text(3 << 20), "3.0 MiB");
    assert_eq!(size_text(300 << 20), "300 MiB");
}

/// "Steady" means steady state by the rules of docs/statistics.md; a phase is only a span of one
/// level.
#[test]
fn no_phase_is_called_steady() {
    let gc = Cause::GcSteady { write_amplification: None };
    for cause in [Cause::Steady, gc, Cause::GcOnset, Cause::Fresh] {
        assert!(!cause.label().contains("steady"), "{}", cause.label());
    }
}
