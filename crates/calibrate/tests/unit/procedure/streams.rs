use super::*;

#[test]
fn a_stream_is_in_steady_state_when_two_long_periods_agree() {
    let steady_time = |times: &[f64]| steady_mean(times, STEADY_SAMPLES, STEADY_SHARE);
    assert_eq!(steady_time(&[1.0; 63]), None);
    assert_eq!(steady_time(&[2.0; 64]), Some(2.0));
    let mut falling = vec![1.0; 32];
    falling.extend([1.1; 32]);
    assert_eq!(steady_time(&falling), None);
}
