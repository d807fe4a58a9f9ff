use std::io;

use super::ErrorClass;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EACCES: i32 = 13;

#[test]
fn a_named_file_that_is_missing_or_has_other_content_is_a_matter_of_usage() {
    let of_code = |code| ErrorClass::of_named_file(&io::Error::from_raw_os_error(code));
    assert_eq!(of_code(ENOENT), ErrorClass::Usage);
    assert_eq!(of_code(EIO), ErrorClass::Io);
    assert_eq!(of_code(EACCES), ErrorClass::Io);
    let other_content = io::Error::other("is not a profile");
    assert_eq!(ErrorClass::of_named_file(&other_content), ErrorClass::Usage);
}
