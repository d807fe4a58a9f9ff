//! Connections that are lost, carry damaged bytes, or end at any byte.

use std::io::{Read as _, Write as _};

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::fabrics::digest;
use assay_nvme_spec::register::CSTS;
use assay_serve::Pace;
use assay_serve::nvme_tcp::initiator::{Initiator, Payload};
use assay_units::Rng;

use crate::support::in_place;
use crate::support::tcp_host::{TcpServer, is_closed, read, write};

#[test]
fn damaged_data_fails_its_command_and_damaged_headers_the_connection() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut identity = server.identity(1);
    identity.digests = digest::HEADER | digest::DATA;
    let mut host = server.host(identity, 1);
    let queue = &mut host.queues[0];
    let cid = queue.initiator.submit(write(0, 512), Payload::InCapsule(vec![7; 512]));
    *queue.initiator.out.last_mut().unwrap() ^= 1;
    let (done, _) = queue.completion(cid).unwrap();
    assert_eq!(done.status(), StatusCode::TRANSIENT_TRANSPORT);
    assert!(!done.do_not_retry());
    let (done, _) = queue.run(write(0, 512), Payload::InCapsule(vec![7; 512])).unwrap();
    assert!(done.status().is_success());
    queue.initiator.submit(read(0, 512), Payload::FromController(512));
    queue.initiator.out[20] ^= 1;
    assert!(is_closed(queue));
}

#[test]
fn the_same_host_takes_over_from_its_lost_connections() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut lost = server.host(server.identity(1), 2);
    let mut host = server.host(server.identity(1), 2);
    assert_ne!(host.controller_id, lost.controller_id);
    assert!(is_closed(&mut lost.admin));
    for queue in &mut lost.queues {
        assert!(is_closed(queue));
    }
    let (status, _) = host.io(1, read(0, 4096), Payload::FromController(4096));
    assert!(status.is_success());
}

/// Whatever a connection sent before it ended: the next one is served.
#[test]
fn connections_may_end_at_any_byte() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut initiator = Initiator::new(digest::HEADER);
    let mut sent = std::mem::take(&mut initiator.out);
    let mut recorded = server.host(server.identity(9), 1);
    let queue = &mut recorded.queues[0];
    queue.initiator.submit(write(0, 512), Payload::InCapsule(vec![1; 512]));
    queue.initiator.submit(write(0, 16_384), Payload::Requested(vec![1; 16_384]));
    sent.extend(std::mem::take(&mut queue.initiator.out));
    drop(recorded);
    for end in 0..sent.len() {
        let mut stream = server.stream();
        stream.write_all(&sent[..end]).unwrap();
    }
    let mut host = server.host(server.identity(9), 1);
    // The same within a connected queue, and within data that was asked for.
    for end in [0, 1, 8, 23, 24, 25, 4000] {
        let queue = &mut host.queues[0];
        queue.initiator.submit(write(0, 16_384), Payload::Requested(vec![1; 16_384]));
        let out = std::mem::take(&mut queue.initiator.out);
        queue.stream.write_all(&out).unwrap();
        let mut request = [0; 24];
        queue.stream.read_exact(&mut request).unwrap();
        queue.initiator.receive(&request);
        assert_eq!(queue.initiator.next_event(), None);
        queue.stream.write_all(&queue.initiator.out[..end]).unwrap();
        host = server.host(server.identity(9), 1);
    }
    let (status, _) = host.io(0, read(0, 4096), Payload::FromController(4096));
    assert!(status.is_success());
}

/// What a host sends, with a few bytes changed: the server goes on.
#[test]
fn altered_bytes_end_at_most_their_connection() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut connected = server.host(server.identity(9), 1);
    let queue = &mut connected.queues[0];
    queue.initiator.submit(write(0, 512), Payload::InCapsule(vec![1; 512]));
    queue.initiator.submit(read(0, 4096), Payload::FromController(4096));
    queue.initiator.submit(write(0, 16_384), Payload::Requested(vec![1; 16_384]));
    let commands = std::mem::take(&mut queue.initiator.out);
    let mut rng = Rng::new(7);
    for _ in 0..200 {
        let mut host = server.host(server.identity(9), 1);
        let mut altered = commands.clone();
        for _ in 0..=rng.below(3) {
            // Most of all headers and entries.
            let at = match rng.below(4) {
                0 => rng.below(altered.len() as u64),
                1 => 584 + rng.below(72),
                _ => rng.below(72),
            };
            altered[at as usize] = rng.next_u64() as u8;
        }
        // The server may have closed the connection.
        let _ = host.queues[0].stream.write_all(&altered);
        let done = host.admin.property(CSTS, false, None).unwrap();
        assert!(done.status().is_success());
    }
}

/// Data that was not asked for, or lies elsewhere, ends the connection.
#[test]
fn unrequested_data_ends_the_connection() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    for (byte, value) in [(10, 9), (12, 1), (8, 0x77), (4, 0xff), (2, 0), (3, 2), (0, 0x33)] {
        let mut host = server.host(server.identity(1), 1);
        let queue = &mut host.queues[0];
        queue.initiator.submit(write(0, 16_384), Payload::Requested(vec![1; 16_384]));
        let out = std::mem::take(&mut queue.initiator.out);
        queue.stream.write_all(&out).unwrap();
        let mut request = [0; 24];
        queue.stream.read_exact(&mut request).unwrap();
        queue.initiator.receive(&request);
        assert_eq!(queue.initiator.next_event(), None);
        queue.initiator.out[byte] = value;
        assert!(is_closed(queue), "byte {byte}");
    }
}
