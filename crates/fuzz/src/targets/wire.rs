use std::fs::File;
use std::io;

use assay_serve::nbd::{Decoded, Export, NbdSession};
use assay_serve::nvme_tcp::session::{MAX_CAPSULE_BYTES, Received, TcpSession};
use assay_serve::vfio::protocol::{
    Device, HEADER_BYTES, Header, InterruptChange, MAX_DATA_BYTES, MAX_MESSAGE_BYTES, Mapping,
    Part, VfioSession,
};

const EXPORT_BYTES: u64 = 1 << 30;

/// An NBD client's bytes, all at once and in pieces: the same requests and the same answers, each
/// request within the export.
pub fn nbd(data: &[u8]) {
    let whole = feed(data, data.len().max(1));
    let pieces = feed(data, 7);
    assert_eq!(whole, pieces, "decoding depends on how bytes are split");
}

/// Requests are (cookie, offset, length).
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
                let end = request.offset_bytes.checked_add(u64::from(request.len_bytes));
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

/// The bytes of an NVMe/TCP host, all at once and in pieces: the same commands, data and answers.
/// At most one capsule is buffered.
pub fn nvme_tcp(data: &[u8]) {
    let whole = feed_tcp(data, data.len().max(1));
    let pieces = feed_tcp(data, 7);
    assert_eq!(whole, pieces, "decoding depends on how bytes are split");
}

/// Commands and ends of data, each as bytes; the data of writes; the answers.
fn feed_tcp(data: &[u8], piece: usize) -> (Vec<Vec<u8>>, Vec<u8>, Vec<u8>) {
    let (mut out, mut session) = (Vec::new(), TcpSession::new(1));
    let (mut seen, mut written, mut from, mut to) = (Vec::new(), Vec::new(), 0, 0);
    loop {
        match session.decode(&data[from..to], &mut out) {
            Received::NeedMore { bytes } => {
                assert!(bytes > to - from, "it has what it asks for");
                assert!(bytes <= MAX_CAPSULE_BYTES, "{bytes} bytes are to be buffered");
                if to == data.len() {
                    break;
                }
                to = (to + piece).min(data.len());
            }
            Received::Consumed { bytes } => from += bytes,
            Received::Command { bytes, entry, data, is_damaged } => {
                seen.push([&entry.as_bytes()[..], data, &[u8::from(is_damaged)]].concat());
                from += bytes;
            }
            Received::Data { bytes, data, .. } => {
                written.extend_from_slice(data);
                from += bytes;
            }
            Received::EndOfData { bytes, pdu, is_damaged } => {
                seen.push([&pdu.as_bytes()[..], &[u8::from(is_damaged)]].concat());
                from += bytes;
            }
            Received::Close => break,
        }
        assert!(from <= to, "it consumed more than it was given");
    }
    (seen, written, out)
}

/// Replies are no longer than a message, and the device is asked for no more than one holds.
pub fn vfio_user(data: &[u8]) {
    let (mut rest, mut out) = (data, Vec::new());
    let mut session = VfioSession::default();
    while let Some((head, after)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let Ok(header) = Header::decode(head) else {
            return;
        };
        let Some((body, next)) = after.split_at_checked(header.body_bytes) else {
            return;
        };
        out.clear();
        let handled = session.handle(&mut Nothing, &header, body, Vec::new(), &mut out);
        assert!(out.len() <= MAX_MESSAGE_BYTES, "a reply of {} bytes", out.len());
        if handled.is_err() {
            return;
        }
        rest = next;
    }
}

/// A device of nine regions and five kinds of interrupts that does nothing.
struct Nothing;

impl Device for Nothing {
    fn region(&self, index: u32) -> Option<Part> {
        (index < 9).then(Part::default)
    }

    fn interrupt(&self, index: u32) -> Option<Part> {
        (index < 5).then(Part::default)
    }

    fn counts(&self) -> (u32, u32) {
        (9, 5)
    }

    fn region_read(&mut self, _: u32, _: u64, data: &mut [u8]) {
        assert!(data.len() <= MAX_DATA_BYTES);
    }

    fn region_write(&mut self, _: u32, _: u64, data: &[u8]) {
        assert!(data.len() <= MAX_DATA_BYTES);
    }

    fn dma_map(&mut self, _: &Mapping, _: Option<File>) -> io::Result<()> {
        Ok(())
    }

    fn dma_unmap(&mut self, _: Option<(u64, u64)>) {}

    fn set_interrupts(&mut self, _: &InterruptChange, _: Vec<File>) {}

    fn reset(&mut self) {}
}
