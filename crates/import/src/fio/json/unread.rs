//! What of fio's output is never read, cut out before it is parsed: most of a file.
//!
//! fio prints an object in lines, so that its closing brace stands alone at the indentation of the
//! line that opened it. Text in other shapes is left as it is. Strings of JSON have no line breaks,
//! so a line that begins like this is never part of one.

use memchr::memmem::Finder;

/// How fio opens an object that is the value of a key.
const OPENS: &[u8] = b"\" : {\n";
/// Without an I/O, `Side` reads nothing after this.
const UNUSED: &[u8] = b"\"total_ios\" : 0,";
/// Objects that nothing reads.
const UNREAD: [&[u8]; 8] = [
    b"slat_ns",
    b"sync",
    b"iodepth_level",
    b"iodepth_submit",
    b"iodepth_complete",
    b"latency_ns",
    b"latency_us",
    b"latency_ms",
];
const SIDES: [&[u8]; 4] = [b"read", b"write", b"trim", b"mixed"];

/// The text without what is not read, for a document as fio prints it; `None` where nothing is cut.
/// What is cut is not looked at, so a text that does not parse afterwards is to be parsed whole.
pub fn cut(text: &str) -> Option<String> {
    let (opens, unused) = (Finder::new(OPENS), Finder::new(UNUSED));
    let bytes = text.as_bytes();
    let mut kept = String::with_capacity(text.len() / 2);
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = opens.find(&bytes[at..]) {
        let (key_end, inside) = (at + found, at + found + OPENS.len() - 1);
        at = inside;
        let Some((indent, key)) = line(&bytes[..key_end]) else {
            continue;
        };
        let from = if UNREAD.contains(&key) {
            inside
        } else if SIDES.contains(&key) {
            let head = memchr::memchr(b'{', &bytes[inside..]).map_or(bytes.len(), |n| inside + n);
            match unused.find(&bytes[inside..head]) {
                Some(found) => inside + found + UNUSED.len() - 1,
                None => continue,
            }
        } else {
            continue;
        };
        if let Some(end) = end(&bytes[from..], indent) {
            kept.push_str(&text[copied..from]);
            copied = from + end;
            at = copied;
        }
    }
    (copied > 0).then(|| kept + &text[copied..])
}

/// Indentation and key of a line that ends in a key without its closing quote.
fn line(before: &[u8]) -> Option<(&[u8], &[u8])> {
    let quote = memchr::memrchr(b'"', before)?;
    let start = memchr::memrchr(b'\n', &before[..quote])? + 1;
    let indent = &before[start..quote];
    let is_indent = indent.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_indent.then_some((indent, &before[quote + 1..]))
}

/// Where the line break before the closing brace of that indentation is.
fn end(bytes: &[u8], indent: &[u8]) -> Option<usize> {
    let closing = [b"\n", indent, b"}"].concat();
    memchr::memmem::find(bytes, &closing)
}
