//! NBD session without a socket: no input makes it panic or request more than the limit, and
//! decoding does not depend on how the bytes are split.

use crate::support;

use assay_serve::nbd::protocol::{
    IHAVEOPT, MAX_PAYLOAD_BYTES, OPTION_BYTES, REQUEST_BYTES, REQUEST_MAGIC,
    STRUCTURED_REPLY_MAGIC, option,
};
use assay_serve::nbd::{Decoded, Export, NbdCommand, NbdSession};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::client::{go_data, option_bytes, request_bytes};

const SIZE: u64 = 1 << 30;

fn export() -> Export {
    Export {
        name: "disk".to_owned(),
        description: "a disk".to_owned(),
        size_bytes: SIZE,
        min_block_bytes: 512,
        preferred_block_bytes: 4096,
    }
}

/// Cookie, command, offset, length, FUA, payload.
type DecodedRequest = (u64, NbdCommand, u64, u32, bool, Vec<u8>);

/// Feeds bytes in pieces of these lengths, cyclically: requests, output, and whether the session
/// ended.
fn feed(bytes: &[u8], pieces: &[usize]) -> (Vec<DecodedRequest>, Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut session = NbdSession::new(export(), &mut out);
    let (mut seen, mut start, mut end) = (Vec::new(), 0, 0);
    let mut pieces = pieces.iter().cycle();
    loop {
        let input = &bytes[start..end];
        let before = out.len();
        let step = session.decode(input, &mut out);
        assert!(out.len() - before <= 16 << 10, "one call appends {} bytes", out.len() - before);
        match step {
            Decoded::NeedMore { bytes: wanted } => {
                assert!(wanted > input.len(), "requests bytes that it has");
                assert!(wanted <= REQUEST_BYTES + MAX_PAYLOAD_BYTES as usize);
                if end == bytes.len() {
                    return (seen, out, false);
                }
                end = bytes.len().min(end + pieces.next().unwrap());
            }
            Decoded::Consumed { bytes: took } => {
                assert!(took <= input.len());
                start += took;
            }
            Decoded::Request { bytes: took, request, payload } => {
                assert!(took <= input.len() && took > 0);
                assert!(request.offset_bytes + u64::from(request.len_bytes) <= SIZE);
                assert!(request.offset_bytes.is_multiple_of(512));
                let payload = payload.to_vec();
                let is_write = request.command == NbdCommand::Write;
                assert_eq!(payload.len(), if is_write { request.len_bytes as usize } else { 0 });
                seen.push((
                    request.cookie,
                    request.command,
                    request.offset_bytes,
                    request.len_bytes,
                    request.fua,
                    payload,
                ));
                start += took;
            }
            Decoded::Close => return (seen, out, true),
        }
    }
}

/// Options of a client: mostly as they should be, some not.
fn option_message() -> impl Strategy<Value = Vec<u8>> {
    let names = prop::sample::select(vec!["", "disk", "other"]);
    prop_oneof![
        3 => Just(option_bytes(option::STRUCTURED_REPLY, &[])),
        1 => Just(option_bytes(option::LIST, &[])),
        1 => Just(option_bytes(option::STARTTLS, &[])),
        2 => names.prop_map(|name| option_bytes(option::INFO, &go_data(name))),
        2 => (8_u32..20, prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(number, data)| option_bytes(number, &data)),
        // Too long to be decoded.
        1 => (2_u32..20).prop_map(|number| option_bytes(number, &[7; 20_000])),
    ]
}

/// Requests of a client: most of them can be carried out.
fn request_message() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop_oneof![20 => 0_u16..2, 20 => 3_u16..8, 1 => any::<u16>()];
    let aligned = (0_u64..SIZE / 512 + 4, 0_u32..9).prop_map(|(at, len)| (at * 512, len * 512));
    let places = prop_oneof![20 => aligned, 1 => (any::<u64>(), any::<u32>())];
    let flags = prop_oneof![8 => 0_u16..2, 2 => 0_u16..32, 1 => any::<u16>()];
    (kinds, flags, any::<u64>(), places).prop_map(|(kind, flags, cookie, (at, len))| {
        let (at, len) = if kind == 3 && cookie % 8 > 0 { (0, 0) } else { (at, len) };
        let mut bytes = request_bytes(flags, kind, cookie, at, len);
        if kind == 1 {
            bytes.resize(bytes.len() + len.min(8192) as usize, cookie as u8);
        }
        bytes
    })
}

fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let hello = prop_oneof![12 => Just(3_u32), 2 => 0_u32..4, 1 => any::<u32>()];
    let options = prop::collection::vec(option_message(), 0..5);
    let enter = prop_oneof![
        6 => Just(option_bytes(option::GO, &go_data("disk"))),
        2 => Just(option_bytes(option::EXPORT_NAME, b"disk")),
        1 => Just(option_bytes(option::GO, &go_data("other"))),
        1 => Just(Vec::new()),
    ];
    let messages = prop_oneof![30 => request_message(), 1 => option_message()];
    let noise = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(any::<u8>(), 0..64)];
    (hello, options, enter, prop::collection::vec(messages, 0..30), noise).prop_map(
        |(hello, options, enter, messages, noise)| {
            let mut bytes = hello.to_be_bytes().to_vec();
            options.into_iter().for_each(|option| bytes.extend(option));
            bytes.extend(enter);
            messages.into_iter().for_each(|message| bytes.extend(message));
            bytes.extend(noise);
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn decoding_does_not_depend_on_how_the_bytes_are_split(
        bytes in conversation(), pieces in prop::collection::vec(1_usize..3000, 1..6)
    ) {
        let whole = feed(&bytes, &[usize::MAX / 2]);
        prop_assert_eq!(&feed(&bytes, &pieces), &whole);
        if bytes.len() < 3000 {
            prop_assert_eq!(&feed(&bytes, &[1]), &whole);
        }
    }

    #[test]
    fn arbitrary_input_never_panics(
        head in prop_oneof![
            Just(Vec::new()),
            Just(vec![0, 0, 0, 3]),
            Just([vec![0, 0, 0, 3], IHAVEOPT.to_be_bytes().to_vec()].concat()),
            Just([vec![0, 0, 0, 3], option_bytes(7, &go_data("")), REQUEST_MAGIC.to_be_bytes().to_vec()].concat()),
        ],
        tail in prop::collection::vec(any::<u8>(), 0..300),
        piece in 1_usize..50,
    ) {
        feed(&[head, tail].concat(), &[piece]);
    }

    /// Mutations of a valid conversation.
    #[test]
    fn mutated_conversations_never_panic(bytes in conversation(), flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = bytes;
        for (place, flip) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        feed(&bytes, &[700]);
    }
}

#[test]
fn generated_conversations_reach_the_drive() {
    let mut runner = TestRunner::deterministic();
    let some = (0..200).filter(|_| {
        let bytes = conversation().new_tree(&mut runner).unwrap().current();
        let (seen, _, _) = feed(&bytes, &[4096]);
        seen.iter().any(|(_, command, ..)| *command == NbdCommand::Write)
    });
    let count = some.count();
    assert!(count > 60, "{count} of 200 write");
}

fn entered() -> Vec<u8> {
    [vec![0, 0, 0, 3], option_bytes(option::GO, &go_data("disk"))].concat()
}

#[test]
fn a_write_too_long_is_skipped_and_rejected_without_buffering() {
    let len = MAX_PAYLOAD_BYTES + 512;
    let mut bytes = entered();
    bytes.extend(request_bytes(0, 1, 77, 0, len));
    bytes.resize(bytes.len() + len as usize, 1);
    bytes.extend(request_bytes(0, 3, 78, 0, 0));
    let (seen, out, ended) = feed(&bytes, &[100_000]);
    assert!(!ended);
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].0, seen[0].1), (78, NbdCommand::Flush));
    // A simple reply with EINVAL.
    let reply = &out[out.len() - 16..];
    assert_eq!(reply[4..8], 22_u32.to_be_bytes());
    assert_eq!(reply[8..], 77_u64.to_be_bytes());
}

#[test]
fn unknown_client_flags_and_wrong_magic_end_the_connection() {
    assert!(feed(&[0, 0, 0, 4], &[9]).2, "unknown flag");
    assert!(feed(b"\0\0\0\x03GET / HTTP/1.1\r\n\r\n", &[99]).2, "not NBD");
    let mut bytes = entered();
    bytes.extend([9; REQUEST_BYTES]);
    assert!(feed(&bytes, &[999]).2, "no request");
    let old_client = [vec![0, 0, 0, 0], option_bytes(option::LIST, &[])].concat();
    assert!(feed(&old_client, &[999]).2, "options of a client that knows none");
    assert!(feed(&[vec![0, 0, 0, 3], option_bytes(option::EXPORT_NAME, b"no")].concat(), &[99]).2);
}

#[test]
fn errors_are_structured_if_negotiated() {
    let mut bytes = vec![0, 0, 0, 3];
    bytes.extend(option_bytes(option::STRUCTURED_REPLY, &[]));
    bytes.extend(option_bytes(option::GO, &go_data("")));
    bytes.extend(request_bytes(0, 0, 5, SIZE, 512));
    let (_, out, _) = feed(&bytes, &[OPTION_BYTES]);
    let at = out.windows(4).position(|w| w == STRUCTURED_REPLY_MAGIC.to_be_bytes());
    let chunk = &out[at.expect("a structured reply")..];
    assert_eq!(chunk[4..8], [0, 1, 0x80, 1]);
    assert_eq!(chunk[20..24], 22_u32.to_be_bytes());
    assert!(String::from_utf8_lossy(&chunk[26..]).contains("beyond the end"));
}
