use super::*;

#[test]
fn fields_are_quoted_as_rfc_4180_has_it() {
    let mut line = String::new();
    for field in ["plain", "a,b", "say \"hi\"", "two\nlines", "", " blank "] {
        push_field(&mut line, field);
    }
    let mut out = Vec::new();
    end_line(&mut out, &mut line).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",, blank \r\n"
    );
}
