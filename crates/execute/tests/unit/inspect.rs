use super::*;

/// The span was truncated to 32 bits: of 4 GiB, samples were as short as the smallest I/O.
#[test]
fn samples_of_a_large_span_have_their_full_length() {
    assert_eq!(sample_bytes(4 << 30, 512), SAMPLE_BYTES);
    assert_eq!(sample_bytes((4 << 30) + 4096, 4096), SAMPLE_BYTES);
    assert_eq!(sample_bytes(5000, 512), 4608);
    assert_eq!(sample_bytes(100, 512), 512);
}
