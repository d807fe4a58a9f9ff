use super::*;

#[test]
fn lists_of_processors_are_divided_among_drives() {
    let all = parse_list("0-3,8\n").unwrap();
    assert_eq!(all, [0, 1, 2, 3, 8]);
    assert_eq!(share(&all, 0, 2).unwrap(), [0, 1]);
    assert_eq!(share(&all, 1, 2).unwrap(), [2, 3, 8]);
    assert_eq!(share(&all, 0, 6), None);
    assert_eq!(share(&all, 5, 6).unwrap(), [8]);
    assert_eq!(parse_list("0-x"), None);
    assert_eq!(parse_list("0-99999999"), None);
}
