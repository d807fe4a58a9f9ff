use super::*;

/// As fio 3.33 writes them.
#[test]
fn patterns_have_the_bytes_that_fio_writes() {
    for (text, expected) in [
        ("0xdeadbeef", Some(vec![0xde, 0xad, 0xbe, 0xef])),
        ("0xabc", Some(vec![0x0a, 0xbc])),
        ("12", Some(vec![12])),
        ("300", Some(vec![0x2c, 1])),
        ("70000", Some(vec![0x70, 0x11, 1])),
        ("-5", Some(vec![0xfb, 0xff, 0xff, 0xff])),
        ("\"abcd\"", Some(b"abcd".to_vec())),
        (
            "\"abcd\"-120xdeadface",
            Some(b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce".to_vec()),
        ),
        ("0", Some(vec![0])),
        ("", None),
        ("-", None),
        ("\"abcd", None),
        ("'file'", None),
    ] {
        assert_eq!(bytes(text), expected, "{text}");
    }
    assert_eq!(bytes(&format!("0x{}", "ab".repeat(513))), None);
}
