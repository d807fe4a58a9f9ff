//! Messages of clients.

use assay_serve::nbd::{Decoded, Export, NbdSession};

/// Bytes of the exported drive.
const EXPORT_BYTES: u64 = 1 << 30;

/// An NBD client's bytes, all at once and byte by byte: the same requests and the same answers, each request within the export.
pub fn nbd(data: &[u8]) {
    let whole = feed(data, data.len().max(1));
    let pieces = feed(data, 7);
    assert_eq!(whole, pieces, "decoding depends on how bytes are split");
}

/// Requests (cookie, offset, length), and the answers.
fn feed(data: &[u8], piece: usize) -> (Vec<(u64, u64, u32)>, Vec<u8>) {
    let mut out = Vec::new();
    let export = Export {
        name: "disk".to_owned(),
        description: "a disk".to_owned(),
        size_bytes: EXPORT_BYTES,
        min_block_bytes: 512,
        preferred_block_bytes: 4096,
    };
    let mut session = NbdSession::new(export, &mut out);
    let (mut requests, mut from, mut to) = (Vec::new(), 0, 0);
    loop {
        match session.decode(&data[from..to], &mut out) {
            Decoded::NeedMore { bytes } => {
                assert!(bytes > to - from, "it has what it asks for");
                if to == data.len() {
                    break;
                }
                to = (to + piece).min(data.len());
            }
            Decoded::Consumed { bytes } => from += bytes,
            Decoded::Request { bytes, request, .. } => {
                let end = request
                    .offset_bytes
                    .checked_add(u64::from(request.len_bytes));
                assert!(end.is_some_and(|end| end <= EXPORT_BYTES), "{request:?}");
                requests.push((request.cookie, request.offset_bytes, request.len_bytes));
                from += bytes;
            }
            Decoded::Close => break,
        }
        assert!(from <= to, "it consumed more than it was given");
    }
    (requests, out)
}
