//! What of fio's output is never read, cut out before it is parsed: most of a file.
//!
//! fio prints an object in lines, so that its closing brace stands alone at the indentation of the
//! line that opened it. Text in other shapes is left as it is. Strings of JSON have no line breaks,
//! so a line that begins like this is never part of one.

use std::ops::Range;

use memchr::memmem::{self, Finder};

/// How fio opens an object that is the value of a key.
const OPENS: &[u8] = b"\" : {\n";
/// Without an I/O, `Side` reads nothing after its value of 0.
const TOTAL: &[u8] = b"\"total_ios\" : ";
/// With I/Os, and after `TOTAL`, it reads nothing after this.
const RATES: &[u8] = b"\"bw_min\" : ";
/// Objects that nothing reads.
const UNREAD: [&[u8]; 7] = [
    b"slat_ns",
    b"iodepth_level",
    b"iodepth_submit",
    b"iodepth_complete",
    b"latency_ns",
    b"latency_us",
    b"latency_ms",
];
/// It is read where there was a sync.
const SYNCS: &[u8] = b"sync";
/// Number of syncs and of their latencies, where there was none.
const NO_SYNCS: [&[u8]; 2] = [b"\"total_ios\" : 0,", b"\"N\" : 0\n"];
const SIDES: [&[u8]; 4] = [b"read", b"write", b"trim", b"mixed"];

/// The text without what is not read, for a document as fio prints it; `None` where nothing is cut,
/// and where what is left is no text. What is cut is not looked at, so a text that does not parse
/// afterwards is to be parsed whole.
pub fn cut(bytes: &[u8]) -> Option<String> {
    let opens = Finder::new(OPENS);
    let sides = Sides::default();
    let mut closings = Closings::default();
    let (mut cuts, mut at) = (Vec::new(), 0);
    while let Some(found) = opens.find(&bytes[at..]) {
        let (key_end, inside) = (at + found, at + found + OPENS.len() - 1);
        at = inside;
        let Some((indent, key)) = line(&bytes[..key_end]) else {
            continue;
        };
        let is_side = SIDES.contains(&key);
        if !is_side && key != SYNCS && !UNREAD.contains(&key) {
            continue;
        }
        let Some(length) = closings.find(&bytes[inside..], indent) else {
            continue;
        };
        let end = inside + length;
        let object = &bytes[inside..end];
        let unread = match key {
            SYNCS => has_no_syncs(object).then_some(Unread::From(0)),
            _ if is_side => sides.unread(object),
            _ => Some(Unread::From(0)),
        };
        match unread {
            Some(Unread::From(from)) => {
                cuts.push(inside + from..end);
                at = end;
            }
            // Objects before it are cut, too.
            Some(Unread::Rates(from)) => cuts.push(inside + from..end),
            None => {}
        }
    }
    cuts.sort_unstable_by_key(|cut| cut.start);
    match cuts.is_empty() {
        true => None,
        false => String::from_utf8(without(bytes, &cuts)).ok(),
    }
}

fn has_no_syncs(object: &[u8]) -> bool {
    NO_SYNCS.iter().all(|none| memmem::find(object, none).is_some())
}

/// `cuts` are ascending.
fn without(bytes: &[u8], cuts: &[Range<usize>]) -> Vec<u8> {
    let cut_bytes: usize = cuts.iter().map(Range::len).sum();
    let mut kept = Vec::with_capacity(bytes.len() - cut_bytes);
    let mut at = 0;
    for cut in cuts {
        kept.extend_from_slice(&bytes[at..cut.start]);
        at = cut.end;
    }
    kept.extend_from_slice(&bytes[at..]);
    kept
}

/// Where what is not read of an object begins.
enum Unread {
    From(usize),
    /// Behind objects that are read.
    Rates(usize),
}

/// What of a direction is not read.
struct Sides {
    total: Finder<'static>,
    rates: Finder<'static>,
}

impl Default for Sides {
    fn default() -> Sides {
        Sides { total: Finder::new(TOTAL), rates: Finder::new(RATES) }
    }
}

impl Sides {
    /// `None` where the order of the keys is not fio's.
    fn unread(&self, side: &[u8]) -> Option<Unread> {
        let head = memchr::memchr(b'{', side).unwrap_or(side.len());
        let value = self.total.find(&side[..head])? + TOTAL.len();
        if side[value..].starts_with(b"0,") {
            return Some(Unread::From(value + 1));
        }
        let rates = head + self.rates.find(&side[head..])?;
        let is_last = memchr::memchr(b'{', &side[rates..]).is_none();
        let comma = memchr::memrchr(b',', &side[..rates])?;
        is_last.then_some(Unread::Rates(comma))
    }
}

/// Line breaks before closing braces of the indentations that occurred.
#[derive(Default)]
struct Closings<'t>(Vec<(&'t [u8], Finder<'static>)>);

impl<'t> Closings<'t> {
    fn find(&mut self, bytes: &[u8], indent: &'t [u8]) -> Option<usize> {
        let known = self.0.iter().position(|(of, _)| *of == indent);
        let at = known.unwrap_or_else(|| {
            let closing = [b"\n", indent, b"}"].concat();
            self.0.push((indent, Finder::new(&closing).into_owned()));
            self.0.len() - 1
        });
        self.0[at].1.find(bytes)
    }
}

/// Indentation and key of a line that ends in a key without its closing quote.
fn line(before: &[u8]) -> Option<(&[u8], &[u8])> {
    let quote = memchr::memrchr(b'"', before)?;
    let start = memchr::memrchr(b'\n', &before[..quote])? + 1;
    let indent = &before[start..quote];
    let is_indent = indent.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_indent.then_some((indent, &before[quote + 1..]))
}
