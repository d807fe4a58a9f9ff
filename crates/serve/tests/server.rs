//! The NBD server over sockets: protocol conformance, faults, misbehaving clients.

use crate::support;

use std::io::{Read, Write};

use assay_serve::nbd::protocol::{command, command_flag, info, option, option_reply, transmission};
use assay_serve::{Address, ListenError, Listener, Pace, round_trip};
use assay_units::{Nanos, Rng};
use proptest::prelude::*;
use support::client::{go_data, greet, option_bytes, option_reply_of, request_bytes};
use support::{TestServer, in_place, small_flash};

#[test]
fn every_option_gets_its_replies() {
    let served = TestServer::new(in_place("seed=3"), Pace::Free);
    let mut stream = served.connect();
    greet(&mut stream, 3);
    let mut ask = |number: u32, data: &[u8]| {
        stream.write_all(&option_bytes(number, data)).unwrap();
        let mut answers = vec![option_reply_of(&mut stream, number)];
        while matches!(answers.last().unwrap().0, 2..=4) {
            answers.push(option_reply_of(&mut stream, number));
        }
        answers
    };
    let kinds = |answers: &[(u32, Vec<u8>)]| answers.iter().map(|a| a.0).collect::<Vec<_>>();
    let list = ask(option::LIST, &[]);
    assert_eq!(kinds(&list), [option_reply::SERVER, option_reply::ACK]);
    assert_eq!(list[0].1[..8], [0, 0, 0, 4, b't', b'e', b's', b't']);
    assert!(String::from_utf8_lossy(&list[0].1).contains("simulated"));
    assert_eq!(kinds(&ask(option::LIST, &[1])), [option_reply::ERR_INVALID]);
    assert_eq!(kinds(&ask(option::STARTTLS, &[])), [option_reply::ERR_UNSUP]);
    assert_eq!(kinds(&ask(4711, b"what")), [option_reply::ERR_UNSUP]);
    assert_eq!(kinds(&ask(4711, &[0; 20_000])), [option_reply::ERR_TOO_BIG]);
    assert_eq!(kinds(&ask(option::GO, &go_data("no"))), [option_reply::ERR_UNKNOWN]);
    assert_eq!(kinds(&ask(option::GO, &[0, 0])), [option_reply::ERR_INVALID]);
    assert_eq!(kinds(&ask(option::SET_META_CONTEXT, &[0; 8])), [option_reply::ERR_INVALID]);
    // Name, description and sizes on request.
    let mut data = go_data("test");
    data.pop();
    data.extend([3, 0, 1, 0, 2, 0, 3]);
    let reported = ask(option::INFO, &data);
    let of = |kind: u16| {
        let found = reported
            .iter()
            .find(|(reply, data)| *reply == option_reply::INFO && data[..2] == kind.to_be_bytes());
        found.map(|(_, data)| data[2..].to_vec()).unwrap()
    };
    assert_eq!(of(info::NAME), b"test");
    assert!(String::from_utf8_lossy(&of(info::DESCRIPTION)).contains("SIM-"));
    assert_eq!(of(info::BLOCK_SIZE), [0, 0, 2, 0, 0, 0, 16, 0, 2, 0, 0, 0]);
    let export = of(info::EXPORT);
    let flags = u16::from_be_bytes([export[8], export[9]]);
    assert_eq!(flags & transmission::SEND_DF, 0, "no structured replies yet");
    assert_ne!(flags & transmission::CAN_MULTI_CONN, 0);
    assert_eq!(kinds(&ask(option::STRUCTURED_REPLY, &[])), [option_reply::ACK]);
    let of_all = ask(option::LIST_META_CONTEXT, &[0; 8]);
    assert_eq!(kinds(&of_all), [option_reply::META_CONTEXT, option_reply::ACK]);
    assert_eq!(kinds(&ask(option::ABORT, &[])), [option_reply::ACK]);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed");
    served.end();
}

#[test]
fn every_command_conforms_to_the_protocol() {
    for structured in [false, true] {
        let served = TestServer::new(in_place("state=fresh"), Pace::Free);
        let mut one = served.client(structured);
        assert_eq!(one.size_bytes, 29_260_513_280);
        let noise: Vec<u8> = (0..8192_u32).map(|n| (n * 7 + n / 256) as u8).collect();
        assert_eq!(one.ask(0, command::WRITE, 4096, 8192, &noise).error, 0);
        assert_eq!(one.ask(command_flag::FUA, command::WRITE, 1 << 20, 512, &[9; 512]).error, 0);
        assert_eq!(one.ask(0, command::FLUSH, 0, 0, &[]).error, 0);
        // Visible to another connection.
        let mut two = served.client(!structured);
        assert_eq!(two.ask(0, command::READ, 4096, 8192, &[]).bytes, noise);
        assert_eq!(two.ask(0, command::READ, 4608, 512, &[]).bytes, noise[512..1024]);
        assert_eq!(two.ask(0, command::READ, 1 << 20, 512, &[]).bytes, [9; 512]);
        assert_eq!(one.ask(0, command::TRIM, 4096, 4096, &[]).error, 0);
        let read = one.ask(0, command::READ, 4096, 8192, &[]);
        assert!(read.bytes[..4096].iter().all(|&byte| byte == 0));
        assert_eq!(read.bytes[4096..], noise[4096..]);
        for flags in [
            0,
            command_flag::FAST_ZERO,
            command_flag::NO_HOLE,
            command_flag::NO_HOLE | command_flag::FUA,
        ] {
            one.ask(0, command::WRITE, 0, 8192, &noise);
            // Several pieces where zeroes are written.
            let len = (3 << 20) + 512;
            assert_eq!(one.ask(flags, command::WRITE_ZEROES, 4096, len, &[]).error, 0);
            let read = one.ask(0, command::READ, 0, 8192, &[]).bytes;
            assert_eq!(read[..4096], noise[..4096], "{flags}");
            assert!(read[4096..].iter().all(|&byte| byte == 0), "{flags}");
        }
        let refused = command_flag::FAST_ZERO | command_flag::NO_HOLE;
        assert_eq!(one.ask(refused, command::WRITE_ZEROES, 0, 512, &[]).error, 95);
        assert_eq!(one.ask(0, command::CACHE, 0, 1 << 20, &[]).error, 0);
        for kind in [command::READ, command::WRITE, command::TRIM, command::CACHE] {
            assert_eq!(one.ask(0, kind, 0, 0, &[]).error, 0, "{kind}: nothing to do");
        }
        let size = one.size_bytes;
        for (flags, kind, offset, len, error) in [
            (0, command::READ, size, 512, 22),
            (0, command::READ, u64::MAX - 511, 512, 22),
            (0, command::WRITE, size - 512, 1024, 28),
            (0, command::WRITE_ZEROES, size, 512, 28),
            (0, command::TRIM, size, 512, 22),
            (0, command::READ, 1, 512, 22),
            (0, command::WRITE, 512, 100, 22),
            (0, command::READ, 0, (32 << 20) + 512, 22),
            (0, command::FLUSH, 512, 0, 22),
            (0, 99, 0, 512, 22),
            (1 << 9, command::READ, 0, 512, 22),
            (command_flag::NO_HOLE, command::WRITE, 0, 512, 22),
        ] {
            let payload = vec![1; if kind == command::WRITE { len as usize } else { 0 }];
            let reply = one.ask(flags, kind, offset, len, &payload);
            assert_eq!(reply.error, error, "{flags} {kind} {offset} {len}");
            assert_eq!(reply.message.is_empty(), !structured);
        }
        assert_eq!(one.ask(0, command::READ, 0, 4096, &[]).bytes, noise[..4096]);
        // 32 MiB at once, in chunks or whole.
        let big: Vec<u8> = (0..32_u32 << 20).map(|n| (n >> 9) as u8).collect();
        assert_eq!(one.ask(0, command::WRITE, 64 << 20, 32 << 20, &big).error, 0);
        let read = one.ask(0, command::READ, 64 << 20, 32 << 20, &[]);
        assert!(read.bytes == big);
        assert_eq!(read.chunks, if structured { 32 } else { 0 });
        if structured {
            let read = one.ask(command_flag::DF, command::READ, 64 << 20, 32 << 20, &[]);
            assert!(read.bytes == big);
            assert_eq!(read.chunks, 1);
        }
        one.send(0, command::DISC, 0, 0, &[]);
        assert_eq!(one.stream.read(&mut [0]).unwrap(), 0, "closed");
        let (_, summary) = served.end();
        assert_eq!(summary.connections, 2);
    }
}

#[test]
fn block_status_reports_allocation() {
    for (state, before) in [("fresh", 3), ("filled", 0)] {
        let served = TestServer::new(in_place(&format!("state={state}")), Pace::Free);
        let mut client = served.client(true);
        let extents = |client: &mut support::client::Client, flags: u16, at: u64, len: u32| {
            client.ask(flags, command::BLOCK_STATUS, at, len, &[]).extents
        };
        client.ask(0, command::TRIM, 0, 1 << 20, &[]);
        client.ask(0, command::WRITE, 8192, 8192, &[5; 8192]);
        client.ask(0, command::WRITE, 32768, 512, &[6; 512]);
        let expected = [(8192, 3), (8192, 0), (16384, 3), (4096, 0), ((1 << 20) - 36864, 3)];
        assert_eq!(extents(&mut client, 0, 0, 1 << 20), expected);
        assert_eq!(extents(&mut client, command_flag::REQ_ONE, 8192, 1 << 20), [(8192, 0)]);
        assert_eq!(extents(&mut client, 0, 512, 1024), [(1024, 3)]);
        let untouched = extents(&mut client, 0, 2 << 20, 1 << 20);
        assert_eq!(untouched, [(1 << 20, before)]);
        // Without a negotiated context the command is unknown.
        let mut plain = served.client(false);
        assert_eq!(plain.ask(0, command::BLOCK_STATUS, 0, 512, &[]).error, 22);
        served.end();
    }
}

#[test]
fn drive_faults_become_protocol_errors() {
    let faults =
        "fault=read-error@2,fault=write-error@2,fault=media-error@1m+4k,fault=corrupt-write@3";
    let served = TestServer::new(in_place(faults), Pace::Free);
    let mut client = served.client(true);
    let errors = |client: &mut support::client::Client, kind: u16, n: usize| -> Vec<u32> {
        let payload = vec![1; if kind == command::WRITE { 4096 } else { 0 }];
        (0..n).map(|_| client.ask(0, kind, 0, 4096, &payload).error).collect()
    };
    assert_eq!(errors(&mut client, command::READ, 3), [0, 5, 0]);
    assert_eq!(errors(&mut client, command::WRITE, 3), [0, 5, 0]);
    let bad = client.ask(0, command::READ, 1 << 20, 8192, &[]);
    assert_eq!((bad.error, bad.bytes.len()), (5, 0));
    assert!(bad.message.contains("unrecovered read error"), "{}", bad.message);
    let spoiled = client.ask(0, command::READ, 0, 4096, &[]).bytes;
    assert_eq!(spoiled.iter().filter(|&&byte| byte != 1).count(), 1);
    served.end();

    let served = TestServer::new(in_place("fault=surprise-removal@3"), Pace::Free);
    let mut client = served.client(false);
    assert_eq!(errors(&mut client, command::READ, 5), [0, 0, 5, 5, 5]);
    assert_eq!(client.ask(0, command::FLUSH, 0, 0, &[]).error, 5);
    served.end();
}

#[test]
fn real_pace_is_never_ahead_of_the_model() {
    let served = TestServer::new(in_place("fault=latency-spike@2=30ms"), Pace::Real);
    let mut client = served.client(false);
    let clock = assay_io::clock::Clock::monotonic();
    for n in 1..=3 {
        let before = clock.now();
        assert_eq!(client.ask(0, command::READ, 4096 * n, 4096, &[]).error, 0);
        let took = clock.now() - before;
        // The medium of this drive takes some microseconds; the delayed read takes at least its
        // fault.
        let least = if n == 2 { Nanos::from_millis(30) } else { Nanos::from_micros(5) };
        assert!(took >= least, "read {n}: {took:?}");
    }
    let (_, summary) = served.end();
    assert_eq!(summary.lateness.count, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Many commands in flight on several connections, each with its own blocks: every read returns
    /// the last write.
    #[test]
    fn reads_return_the_last_write_with_many_commands_in_flight(seed: u64, structured: bool, real: bool) {
        let pace = if real { Pace::Real } else { Pace::Free };
        let served = TestServer::new(small_flash("state=fresh"), pace);
        let mut rng = Rng::new(seed);
        const BLOCKS: u64 = 40;
        for turn in 0..3 {
            let mut clients: Vec<_> = (0..3).map(|_| served.client(structured)).collect();
            let mut arrays = vec![vec![0_u8; BLOCKS as usize * 4096]; clients.len()];
            for (index, client) in clients.iter_mut().enumerate() {
                let base = (turn * 3 + index as u64) * BLOCKS * 4096;
                // All blocks in flight together, completed in any order, then overwritten or
                // trimmed.
                for _ in 0..4 {
                    let mut sent = Vec::new();
                    for block in 0..BLOCKS {
                        let byte = rng.below(256) as u8;
                        let range = block as usize * 4096..(block as usize + 1) * 4096;
                        let at = base + block * 4096;
                        if rng.below(4) == 0 {
                            arrays[index][range].fill(0);
                            sent.push(client.send(0, command::TRIM, at, 4096, &[]));
                        } else {
                            arrays[index][range].fill(byte);
                            let flags = rng.below(2) as u16;
                            sent.push(client.send(flags, command::WRITE, at, 4096, &[byte; 4096]));
                        }
                    }
                    let mut answered: Vec<u64> = (0..BLOCKS).map(|_| {
                        let reply = client.receive(0);
                        assert_eq!(reply.error, 0);
                        reply.cookie
                    }).collect();
                    answered.sort_unstable();
                    prop_assert_eq!(answered, sent);
                }
                let whole = client.ask(0, command::READ, base, (BLOCKS * 4096) as u32, &[]);
                prop_assert!(whole.bytes == arrays[index]);
            }
        }
        served.end();
    }

    /// Garbage on one connection does not disturb another.
    #[test]
    fn garbage_does_not_disturb_others(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 1..6), enters: bool
    ) {
        let served = TestServer::new(in_place(""), Pace::Free);
        let mut good = served.client(true);
        for piece in pieces {
            let mut bad = if enters { served.client(false).stream } else { served.connect() };
            // The server may close the connection during the write.
            let _ = bad.write_all(&piece);
            prop_assert_eq!(good.ask(0, command::READ, 0, 4096, &[]).bytes.len(), 4096);
        }
        served.end();
    }
}

#[test]
fn disconnected_and_stalled_clients_do_not_affect_others() {
    let served = TestServer::new(in_place("fault=latency-spike@1=50ms"), Pace::Real);
    // Disconnects with a read in flight.
    let mut disconnecting = served.client(false);
    disconnecting.send(0, command::READ, 0, 4096, &[]);
    drop(disconnecting);
    // Disconnects within a request.
    let mut truncated = served.client(false);
    truncated.stream.write_all(&request_bytes(0, command::WRITE, 1, 0, 65536)).unwrap();
    truncated.stream.write_all(&[1; 1000]).unwrap();
    drop(truncated);
    // Requests far more than the limit and receives nothing.
    let stalled = served.client(true);
    let mut asking = stalled.stream.try_clone().unwrap();
    let asker = std::thread::spawn(move || {
        for n in 0..200 {
            // Ends with the connection.
            if asking.write_all(&request_bytes(0, command::READ, n, 0, 32 << 20)).is_err() {
                return;
            }
        }
    });
    let mut good = served.client(true);
    for n in 0..50 {
        assert_eq!(good.ask(0, command::READ, n * 4096, 4096, &[]).error, 0);
    }
    asker.join().unwrap();
    drop(stalled);
    assert_eq!(good.ask(0, command::READ, 0, 4096, &[]).error, 0);
    served.end();
}

#[test]
fn a_slow_client_gets_all_replies() {
    let served = TestServer::new(in_place("state=fresh"), Pace::Free);
    let mut slow = served.client(true);
    for n in 0..40_u64 {
        slow.send(0, command::READ, n << 25, 32 << 20, &[]);
    }
    let mut good = served.client(true);
    assert_eq!(good.ask(0, command::WRITE, 0, 4096, &[3; 4096]).error, 0);
    for n in 1..=40_u64 {
        let reply = slow.receive(32 << 20);
        assert_eq!((reply.cookie, reply.bytes.len()), (n, 32 << 20));
    }
    served.end();
}

/// Replies beyond the socket buffer are sent as the client receives, also after a stop request.
#[test]
fn requests_before_the_stop_are_completed() {
    for structured in [false, true] {
        let served = TestServer::new(in_place("state=fresh"), Pace::Free);
        let mut slow = served.client(structured);
        slow.send(0, command::READ, 0, 32 << 20, &[]);
        // The server has the request: a later one is answered.
        let mut idle = served.client(false);
        assert_eq!(idle.ask(0, command::READ, 0, 512, &[]).error, 0);
        let ending = std::thread::spawn(move || served.end());
        // The server stops: other connections are closed.
        assert_eq!(idle.stream.read(&mut [0]).unwrap(), 0);
        let reply = slow.receive(32 << 20);
        assert_eq!((reply.error, reply.bytes.len()), (0, 32 << 20));
        assert_eq!(slow.stream.read(&mut [0]).unwrap(), 0, "and no more");
        ending.join().unwrap();
    }
}

/// A client that does not receive does not block the stop.
#[test]
fn the_stop_does_not_wait_for_a_stalled_client() {
    let served = TestServer::new(in_place("state=fresh"), Pace::Free);
    let mut stalled = served.client(true);
    stalled.send(0, command::READ, 0, 32 << 20, &[]);
    let mut good = served.client(false);
    assert_eq!(good.ask(0, command::READ, 0, 512, &[]).error, 0);
    let (_, summary) = served.end();
    assert_eq!(summary.requests, 2);
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let served = TestServer::new(in_place(""), Pace::Free);
    let mut clients: Vec<_> = (0..64).map(|_| served.client(false)).collect();
    let mut one_more = served.connect();
    assert_eq!(one_more.read(&mut [0; 8]).unwrap(), 0);
    let last = clients.last_mut().unwrap();
    assert_eq!(last.ask(0, command::READ, 0, 512, &[]).error, 0);
    drop(clients);
    // Accepted again once the server has processed the disconnects.
    loop {
        let mut stream = served.connect();
        if stream.read(&mut [0; 18]).unwrap() > 0 {
            break;
        }
    }
    served.end();
}

#[test]
fn addresses_and_socket_files() {
    for (text, shown) in [
        ("unix:/tmp/x", "unix:/tmp/x"),
        ("tcp:localhost:99", "tcp:localhost:99"),
        ("tcp:localhost", "tcp:localhost:10809"),
        ("tcp:[::1]:99", "tcp:[::1]:99"),
        ("tcp:[::1]", "tcp:[::1]:10809"),
    ] {
        assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
    }
    for text in ["", "unix:", "tcp:", "tcp::99", "/tmp/x", "tcp:host:port", "tcp:h:70000"] {
        let error = text.parse::<Address>().unwrap_err().to_string();
        assert!(error.contains("unix:PATH"), "{text}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b");
    let address = Address::Unix(path.clone());
    let listener = Listener::bind(&address, false).unwrap();
    assert!(listener.uri().ends_with("/a%20b"), "{}", listener.uri());
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "others cannot connect");
    let error = Listener::bind(&address, false).unwrap_err();
    assert!(matches!(error, ListenError::Live { .. }), "{error}");
    drop(listener);
    assert!(!path.exists(), "gone with its listener");
    // A stale socket file of a killed server.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = Listener::bind(&address, false).unwrap();
    // A file of another program is not removed.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "mine").unwrap();
    drop(listener);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    let error = Listener::bind(&address, false).unwrap_err();
    assert!(matches!(error, ListenError::NotASocket { .. }), "{error}");
    let error = Listener::bind(&Address::Tcp("0.0.0.0".to_owned(), 0), false).unwrap_err();
    assert!(matches!(error, ListenError::Remote { .. }), "{error}");
    let local = Listener::bind(&Address::Tcp("127.0.0.1".to_owned(), 0), false).unwrap();
    assert!(!local.is_remote());
    assert!(Listener::bind(&Address::Tcp("0.0.0.0".to_owned(), 0), true).unwrap().is_remote());
}

#[test]
fn round_trip_overhead_is_measured() {
    for pace in [Pace::Real, Pace::Free] {
        let overhead = round_trip::measure(small_flash("").profile(), pace).unwrap();
        assert!(overhead.expect("a socket pair").p50_ns > 0, "{pace:?}");
    }
}
