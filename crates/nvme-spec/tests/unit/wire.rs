use super::*;

#[test]
fn text_is_padded_and_trimmed() {
    assert_eq!(padded::<6>("ab"), *b"ab    ");
    assert_eq!(padded::<2>("ab\u{e9}c"), *b"ab");
    assert_eq!(padded::<4>("a\nb"), *b"a?b ");
    assert_eq!(text(b"  x y \0 "), "  x y");
    assert_eq!(text(&[0xff, b'a', 0, 0]), "?a");
    assert_eq!(text(&[0, 0]), "");
}

#[test]
fn arrays_and_short_bytes() {
    assert_eq!(<[u16; 2]>::load(&[1, 2, 3, 4]), [0x0201, 0x0403]);
    assert_eq!(<[u16; 2]>::load(&[1, 2, 3]), [0x0201, 0]);
    let mut bytes = [0; 3];
    [7_u16, 9].store(&mut bytes);
    assert_eq!(bytes, [7, 0, 0]);
    9_u32.store(&mut bytes);
    assert_eq!(bytes, [7, 0, 0]);
}
