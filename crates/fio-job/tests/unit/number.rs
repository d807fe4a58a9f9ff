use proptest::prelude::*;

use super::*;

/// As fio 3.33 reads them: `fio --name=x --ioengine=null --size=64kib` moves 64,000 bytes.
#[test]
fn sizes_are_fios() {
    for (text, expected) in [
        ("4096", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("64ki", 65536),
        ("64kib", 64_000),
        ("1m", 1 << 20),
        ("1mib", 1_000_000),
        ("2g", 2 << 30),
        ("1t", 1 << 40),
        ("0x200", 512),
        ("(8*1k)", 8192),
        ("((1+1)*4k)", 8192),
        ("(2^10)", 1024),
    ] {
        assert_eq!(bytes(text, 1024), Some(expected), "{text}");
    }
    assert_eq!(bytes("4k", 1000), Some(4000));
    assert_eq!(bytes("4kib", 1000), Some(4096));
    assert_eq!(signed_bytes("-8k", 1024), Some(-8192));
    assert_eq!(size("20%", 1024), Some(Size::Percent(20)));
    for wrong in
        ["", "k", "4x", "4kk", "-4k", "(4", "(1/0)", "4 5", "99999999999999999999", "(9^99)"]
    {
        assert_eq!(bytes(wrong, 1024), None, "{wrong}");
    }
}

#[test]
fn times_have_the_unit_of_their_option() {
    for (text, default_us, expected) in [
        ("10", 1e6, 10_000_000),
        ("10", 1.0, 10),
        ("500ms", 1e6, 500_000),
        ("2m", 1e6, 120_000_000),
        ("1h", 1.0, 3_600_000_000),
        ("5s", 1.0, 5_000_000),
        ("7usec", 1e6, 7),
        ("(2*5)", 1e6, 10),
    ] {
        assert_eq!(micros(text, default_us), Some(expected), "{text}");
    }
    assert_eq!(micros("5 parsecs", 1.0), None);
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,40}", brackets in "[(]{0,80}[0-9kmg+*/^%-]{0,20}[)]{0,80}") {
        for text in [text, brackets] {
            let _ = size(&text, 1024);
            let _ = signed_bytes(&text, 1000);
            let _ = micros(&text, 1e6);
        }
    }

    #[test]
    fn a_number_is_itself(value in 0_u64..1 << 62) {
        prop_assert_eq!(bytes(&value.to_string(), 1024), Some(value));
    }
}
