use std::io::Write;

use super::*;

#[test]
fn events_are_no_part_of_the_message() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let text = "2026-11-27T23:26:42.159Z  INFO assay_execute::events: cell started cell=\"a\"\n\
                error: 2026 is no size\n\
                2026-11-27T23:26:42.160Z DEBUG assay_io: x\n  because: of that\n";
    file.write_all(text.as_bytes()).unwrap();
    let message = last_message(file.path(), ChildEnd::Exit(2));
    assert_eq!(message, "error: 2026 is no size\n  because: of that");
}
