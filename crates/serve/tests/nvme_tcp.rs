//! The NVMe/TCP server over sockets of the loopback interface, against the host side of this crate.

#![allow(clippy::disallowed_methods, reason = "timeouts of the server are on the wall clock")]

use crate::support;

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use assay_nvme_spec::admin::{GetFeatures, GetLogPage, SetFeatures};
use assay_nvme_spec::fabrics::{
    ANY_CONTROLLER, DISCOVERY_LOG, DISCOVERY_NQN, DiscoveryEntry, DiscoveryHead, InitializePdu,
    digest, name,
};
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::identify::{Cns, IdentifyNamespace, oaes};
use assay_nvme_spec::log::{CommandEffectsLog, ErrorEntry, LogId};
use assay_nvme_spec::register::{CAP, CC, CSTS, Capabilities};
use assay_nvme_spec::wire::Wire;
use assay_nvme_spec::{CompletionEntry, StatusCode, SubmissionEntry, nvm};
use assay_serve::Pace;
use assay_serve::nvme_tcp::initiator::{Initiator, Payload};
use assay_units::{Nanos, Rng};
use support::tcp_host::{Host, TcpServer, is_closed, outgoing, read, status, write};
use support::{in_place, small_flash};

const MIB: usize = 1 << 20;

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Rng::new(seed).fill(&mut bytes);
    bytes
}

fn admin(opcode: u8) -> SubmissionEntry {
    let mut entry = SubmissionEntry::default();
    entry.set_opcode(opcode);
    entry
}

/// Each value is one without which a Linux kernel refuses the controller or the namespace.
#[test]
fn kernels_find_what_they_insist_on() {
    let server = TcpServer::new(in_place("seed=1"), Pace::Free);
    // ICResp: no alignment, and MAXH2CDATA of at least a page.
    let mut stream = server.stream();
    stream.write_all(&Initiator::new(0).out).unwrap();
    let mut response = [0; InitializePdu::SIZE];
    stream.read_exact(&mut response).unwrap();
    assert_eq!(response[..8], [1, 0, 128, 0, 128, 0, 0, 0]);
    let response = InitializePdu::load(&response);
    assert_eq!((response.version(), response.alignment()), (0, 0));
    assert!(response.limit() >= 4096);
    let mut host = server.host(server.identity(1), 1);
    let capabilities = host.admin.property(CAP, true, None).unwrap();
    let raw = u64::from(capabilities.dw1()) << 32 | u64::from(capabilities.dw0());
    let capabilities = Capabilities::from_raw(raw);
    assert_eq!((capabilities.mps_min(), capabilities.css()), (0, 1));
    assert_eq!(capabilities.mqes(), 127);
    let id = host.identify_controller();
    assert!(id.keep_alive_100ms() > 0 && id.max_commands() > 0);
    assert!(id.command_capsule() >= 4 && id.response_capsule() >= 1);
    assert_eq!(id.command_capsule() * 16 - 64, 8192);
    assert_eq!(id.in_capsule_offset(), 0);
    assert_eq!(id.sgls() & 3, 1);
    assert_eq!(id.controller_id(), host.controller_id);
    assert_eq!(name(&id.subsystem_nqn()), server.nqn);
    assert_ne!(id.async_events() & oaes::NAMESPACE_ATTRIBUTES, 0);
    assert_eq!(id.controller_type(), 1);
    assert_eq!(host.identify(Cns::ACTIVE_NAMESPACES, 0)[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(host.identify(Cns::NAMESPACE_DESCRIPTORS, 1)[..2], [1, 8]);
    host.identify(Cns::COMMAND_SET_CONTROLLER, 0);
    // Lengths of a Linux initiator: a Connect capsule has 72 and 1024 bytes.
    let mut initiator = Initiator::new(0);
    initiator.out.clear();
    initiator.submit(admin(0x7f), Payload::InCapsule(vec![0; 1024]));
    assert_eq!(initiator.out[..8], [4, 0, 72, 72, 0x48, 4, 0, 0]);
    assert_eq!((initiator.out[8], initiator.out[9], initiator.out[8 + 39]), (0x7f, 0x40, 1));
}

#[test]
fn all_data_paths_carry_the_bytes() {
    let server = TcpServer::new(small_flash("seed=2"), Pace::Free);
    for (digests, split_bytes) in [
        (0, usize::MAX),
        (digest::HEADER, 4096),
        (digest::DATA, 8192),
        (digest::HEADER | digest::DATA, 1000),
    ] {
        let mut identity = server.identity(1);
        identity.digests = digests;
        let mut host = server.host(identity, 4);
        for (n, len) in [512, 4096, 8192, 12_288, 128 << 10].into_iter().enumerate() {
            let data = bytes((n + len) as u64 ^ split_bytes as u64, len);
            let queue = &mut host.queues[n % 4];
            queue.initiator.split_bytes = queue.initiator.split_bytes.min(split_bytes);
            let at = n as u64 * MIB as u64;
            let (done, _) = queue.run(write(at, len), outgoing(&data)).unwrap();
            assert!(done.status().is_success(), "{done:?}");
            // In the capsule or requested is the host's choice.
            let (done, _) =
                queue.run(write(at + len as u64, len), Payload::Requested(data.clone())).unwrap();
            assert!(done.status().is_success(), "{done:?}");
            for from in [at, at + len as u64] {
                let payload = Payload::FromController(len);
                let (status, seen) = host.io((n + 1) % 4, read(from, len as u32), payload);
                assert!(status.is_success() && seen == data, "{len} bytes, digests {digests}");
            }
        }
    }
    server.end();
}

/// A host that reconnects must not take the empty drive for the one that it had mounted.
#[test]
fn a_restarted_server_has_the_same_name_and_another_namespace() {
    let seen: Vec<_> = (0..2)
        .map(|_| {
            let server = TcpServer::new(in_place("seed=9"), Pace::Free);
            let mut host = server.host(server.identity(1), 0);
            let serial = host.identify_controller().serial_number();
            let namespace = IdentifyNamespace::load(&host.identify(Cns::NAMESPACE, 1));
            let ids = (namespace.nguid(), namespace.eui64());
            (server.nqn.clone(), serial, ids, host.identify(Cns::NAMESPACE_DESCRIPTORS, 1))
        })
        .collect();
    let [(nqn, serial, ids, list), (nqn2, serial2, ids2, list2)] = &seen[..] else {
        panic!("two servers");
    };
    assert_eq!((nqn, serial), (nqn2, serial2));
    assert!(ids.0 != ids2.0 && ids.1 != ids2.1);
    // EUI64, NGUID and UUID, of 12, 20 and 20 bytes with their heads.
    for range in [4..12, 16..32, 36..52] {
        assert_ne!(list[range.clone()], list2[range]);
    }
}

#[test]
fn connect_is_refused_with_a_status() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let connect = |identity: &_, qid, entries, controller_id| {
        let mut queue = server.queue(0);
        let done = queue.connect(identity, qid, entries, controller_id).unwrap();
        (status(&done), done.dw0())
    };
    let (one, other) = (server.identity(1), server.identity(2));
    let mut unknown = one.clone();
    unknown.nqn = "nqn.2014-08.org.example:other".to_owned();
    assert_eq!(connect(&unknown, 0, 32, ANY_CONTROLLER), (0x182, 0x1_0100));
    assert_eq!(connect(&one, 0, 32, 7), (0x182, 0x1_0010));
    assert_eq!(connect(&one, 0, 1, ANY_CONTROLLER), (0x182, 44));
    assert_eq!(connect(&one, 0, 1024, ANY_CONTROLLER), (0x182, 44));
    assert_eq!(connect(&one, 1, 32, 1), (0x182, 0x1_0010));
    let host = server.host(one.clone(), 1);
    let id = host.controller_id;
    assert_eq!(connect(&other, 0, 32, ANY_CONTROLLER).0, 0x181);
    assert_eq!(connect(&other, 2, 32, id), (0x182, 0x1_0010));
    assert_eq!(connect(&one, 1, 32, id), (0x182, 42), "in use");
    assert_eq!(connect(&one, 500, 32, id), (0x182, 42));
    assert_eq!(connect(&one, 2, 32, id), (0, u32::from(id)));
    // Another command first.
    let mut queue = server.queue(0);
    let done = queue.property(CSTS, false, None).unwrap();
    assert_eq!(done.status(), StatusCode::COMMAND_SEQUENCE_ERROR);
    // The host leaves, and another one is welcome.
    drop(host);
    assert!(eventually(|| connect(&other, 0, 32, ANY_CONTROLLER).0 == 0));
}

fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_silent_host_loses_its_connections_on_the_wall_clock() {
    for pace in [Pace::Free, Pace::Real] {
        let server = TcpServer::new(in_place(""), pace);
        let mut identity = server.identity(1);
        identity.keep_alive_ms = 1000;
        let mut host = server.host(identity, 1);
        // Keep Alive keeps it, beyond the timeout.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1500) {
            let (done, _) = host.admin.run(admin(0x18), Payload::None).unwrap();
            assert!(done.status().is_success());
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(is_closed(&mut host.queues[0]));
        assert!(is_closed(&mut host.admin));
        server.host(server.identity(2), 1);
    }
}

#[test]
fn keep_alive_and_host_identifier_are_features() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut identity = server.identity(3);
    identity.keep_alive_ms = 5000;
    let mut host = server.host(identity, 0);
    let mut get = GetFeatures::new();
    get.set_fid(FeatureId::KEEP_ALIVE.0);
    let (done, _) = host.admin.run(get.entry(), Payload::None).unwrap();
    assert_eq!((done.status(), done.dw0()), (StatusCode::SUCCESS, 5000));
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::KEEP_ALIVE.0).set_value(9000);
    host.admin.run(set.entry(), Payload::None).unwrap();
    let (done, _) = host.admin.run(get.entry(), Payload::None).unwrap();
    assert_eq!(done.dw0(), 9000);
    get.set_fid(FeatureId::HOST_IDENTIFIER.0);
    let (done, id) = host.admin.run(get.entry(), Payload::FromController(16)).unwrap();
    assert!(done.status().is_success());
    assert_eq!(id, [3; 16]);
}

/// Commands in flight and later ones get a status, then the connections end, and none is accepted.
#[test]
fn surprise_removal_answers_closes_and_refuses() {
    let server = TcpServer::new(in_place("fault=surprise-removal@5"), Pace::Free);
    let mut host = server.host(server.identity(1), 2);
    let event = host.admin.initiator.submit(admin(0x0c), Payload::None);
    host.identify_controller();
    let mut statuses = Vec::new();
    for n in 0..8_u64 {
        match host.queues[0].run(read(n * 4096, 4096), Payload::FromController(4096)) {
            Ok((done, _)) => statuses.push((done.status(), done.do_not_retry())),
            Err(_) => break,
        }
    }
    let lost = (StatusCode::INTERNAL_ERROR, true);
    assert!(statuses.len() < 8, "the connection ends: {statuses:?}");
    assert_eq!(statuses.last(), Some(&lost));
    let answered = host.admin.completion(event);
    assert!(answered.is_ok_and(|(done, _)| !done.status().is_success()));
    assert!(is_closed(&mut host.queues[1]) && is_closed(&mut host.admin));
    let mut queue = server.queue(0);
    let done = queue.connect(&server.identity(1), 0, 32, ANY_CONTROLLER).unwrap();
    assert_eq!((done.status(), done.do_not_retry()), lost);
}

/// A command that the drive does not complete is aborted; others go on, and what the drive does
/// with it later is not seen.
#[test]
fn a_hanging_command_is_aborted() {
    let drive = in_place("fault=latency-spike@2=4s");
    let server = TcpServer::limited(drive, Pace::Real, Nanos::from_millis(500));
    let mut host = server.host(server.identity(1), 2);
    let begun = Instant::now();
    let mut statuses = Vec::new();
    for n in 0..4_u64 {
        let at = n * MIB as u64;
        statuses.push(host.io(0, read(at, 4096), Payload::FromController(4096)).0);
    }
    assert!(begun.elapsed() < Duration::from_secs(4), "it does not wait for the drive");
    let aborted = statuses.iter().filter(|&&status| status == StatusCode::ABORT_REQUESTED);
    assert_eq!(aborted.count(), 1, "{statuses:?}");
    std::thread::sleep(Duration::from_secs(4));
    for n in 0..200_u64 {
        let (status, _) = host.io(1, read(n * 4096, 4096), Payload::FromController(4096));
        assert!(status.is_success());
    }
}

#[test]
fn the_error_log_has_the_identifiers_of_the_host() {
    let server = TcpServer::new(in_place("fault=media-error@1m+4k"), Pace::Free);
    let mut host = server.host(server.identity(1), 2);
    for _ in 0..40 {
        host.io(1, read(0, 4096), Payload::FromController(4096));
    }
    let queue = &mut host.queues[1];
    let cid = queue.initiator.submit(read(1 << 20, 4096), Payload::FromController(4096));
    let (done, data) = queue.completion(cid).unwrap();
    assert_eq!(done.status(), StatusCode::UNRECOVERED_READ_ERROR);
    assert!(done.do_not_retry() && data.is_empty());
    let entry = ErrorEntry::load(&host.log(LogId::ERROR, 64));
    assert_eq!((entry.sqid(), entry.cid(), entry.lba()), (2, cid, 2048));
}

/// Commands of PCIe queues, unknown data pointers, identifiers that are in use.
#[test]
fn what_a_fabric_does_not_have_is_refused() {
    let server = TcpServer::new(in_place("fault=latency-spike@1=300ms"), Pace::Real);
    let mut host = server.host(server.identity(1), 1);
    for opcode in [0, 1, 4, 5] {
        let (done, _) = host.admin.run(admin(opcode), Payload::None).unwrap();
        assert_eq!(done.status(), StatusCode::INVALID_OPCODE);
    }
    let effects = CommandEffectsLog::load(&host.log(LogId::COMMAND_EFFECTS, 4096));
    for opcode in [0, 1, 4, 5] {
        assert!(!effects.admin()[opcode].supported());
    }
    assert!(effects.admin()[0x18].supported());
    for fid in [FeatureId::INTERRUPT_COALESCING, FeatureId::HOST_MEMORY_BUFFER] {
        let mut get = GetFeatures::new();
        get.set_fid(fid.0);
        let (done, _) = host.admin.run(get.entry(), Payload::None).unwrap();
        assert_eq!(done.status(), StatusCode::INVALID_FIELD);
    }
    // More data than a command may have.
    let huge = Payload::FromController(1 << 30);
    assert_eq!(host.io(0, read(0, 4096), huge).0, StatusCode::INVALID_FIELD);
    let short = Payload::FromController(512);
    assert!(!host.io(0, read(0, 4096), short).0.is_success());
    // PRPs, and an offset beyond the capsule.
    for (byte, value, expected) in [
        (9, 0, StatusCode::INVALID_FIELD),
        (8 + 24, 5, StatusCode::INVALID_SGL_DATA_LENGTH),
        (8 + 25, 0x80, StatusCode::INVALID_SGL_OFFSET),
        (8 + 39, 0x20, StatusCode::INVALID_SGL_TYPE),
    ] {
        let queue = &mut host.queues[0];
        let cid = queue.initiator.submit(write(0, 512), Payload::InCapsule(vec![1; 512]));
        queue.initiator.out[byte] = value;
        assert_eq!(queue.completion(cid).unwrap().0.status(), expected);
    }
    // The second of two commands with one identifier.
    let queue = &mut host.queues[0];
    let first = queue.initiator.submit(read(0, 512), Payload::FromController(512));
    let begin = queue.initiator.out.len();
    queue.initiator.submit(read(0, 512), Payload::FromController(512));
    queue.initiator.out[begin + 10..begin + 12].copy_from_slice(&first.to_le_bytes());
    let both = [queue.completion(first).unwrap().0, queue.completion(first).unwrap().0];
    assert_eq!(both.map(|done| done.status()), [StatusCode::CID_CONFLICT, StatusCode::SUCCESS]);
}

#[test]
fn discovery_names_the_subsystem() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let _connected = server.host(server.identity(2), 1);
    let mut identity = server.identity(1);
    identity.nqn = DISCOVERY_NQN.to_owned();
    let mut host = server.host(identity, 0);
    let id = host.identify_controller();
    assert_eq!(name(&id.subsystem_nqn()), DISCOVERY_NQN);
    assert_eq!((id.controller_id(), id.controller_type()), (host.controller_id, 2));
    let mut get = |offset, len: u32| {
        let mut get = GetLogPage::for_log(LogId(DISCOVERY_LOG), offset, len);
        get.set_retain_event(true);
        let payload = Payload::FromController(len as usize);
        let (done, data) = host.admin.run(get.entry(), payload).unwrap();
        assert!(done.status().is_success());
        assert_eq!(data.len(), len as usize);
        data
    };
    let head = DiscoveryHead::load(&[get(0, 20), vec![0; 1004]].concat());
    assert_eq!((head.records(), head.format()), (1, 0));
    let page = get(0, 2048);
    assert_eq!(page[1024..], get(1024, 1024));
    let entry = DiscoveryEntry::load(&page[1024..]);
    assert_eq!((entry.transport(), entry.family(), entry.subsystem()), (3, 1, 2));
    assert_eq!(name(&entry.nqn()), server.nqn);
    assert_eq!(name(&entry.address()).trim(), "127.0.0.1");
    assert_eq!(name(&entry.service()).trim(), server.address.port().to_string());
}

/// Reset answers what is outstanding, closes the I/O queues, and leaves a controller that works.
#[test]
fn a_controller_reset_leaves_nothing_behind() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut host = server.host(server.identity(1), 2);
    let event = host.admin.initiator.submit(admin(0x0c), Payload::None);
    host.identify_controller();
    let done = host.admin.property(CC, false, Some(0)).unwrap();
    assert!(done.status().is_success());
    for queue in &mut host.queues {
        assert!(is_closed(queue));
    }
    let (refused, _) = host.admin.run(admin(0x06), Payload::FromController(4096)).unwrap();
    assert_eq!(refused.status(), StatusCode::COMMAND_SEQUENCE_ERROR);
    host.admin.enable().unwrap();
    assert!(host.admin.others.iter().all(|(done, _)| done.cid() != event));
    for _ in 0..100 {
        host.identify_controller();
    }
    // Shutdown completes.
    let csts = |host: &mut Host| host.admin.property(CSTS, false, None).unwrap().dw0();
    host.admin.property(CC, false, Some(0x46_4001)).unwrap();
    assert!(eventually(|| csts(&mut host) >> 2 & 3 == 2));
    let (refused, _) = host.admin.run(admin(0x06), Payload::FromController(4096)).unwrap();
    assert_eq!(refused.status(), StatusCode::COMMAND_SEQUENCE_ERROR);
}

/// A host that reads nothing on one queue, with more replies than all buffers hold, stops neither
/// its other queue nor the server, and gets all of them in the end.
#[test]
fn a_queue_that_is_not_read_stops_no_other() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut host = server.host(server.identity(1), 2);
    let most = host.identify_controller().mdts();
    let len = (4096 << most).min(MIB);
    let count = 100;
    let slow = &mut host.queues[0];
    let read_one = |n: usize| read((n * len) as u64, len as u32);
    let cids: Vec<u16> = (0..count)
        .map(|n| slow.initiator.submit(read_one(n), Payload::FromController(len)))
        .collect();
    let out = std::mem::take(&mut slow.initiator.out);
    slow.stream.write_all(&out).unwrap();
    for n in 0..500 {
        let (status, _) = host.io(1, read(n * 4096, 4096), Payload::FromController(4096));
        assert!(status.is_success());
    }
    for cid in cids {
        let (done, data) = host.queues[0].completion(cid).unwrap();
        assert!(done.status().is_success() && data.len() == len);
    }
}

/// More writes than the limit of bytes in flight: data is asked for as room becomes free.
#[test]
fn writes_beyond_the_limit_wait_for_credit() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut host = server.host(server.identity(1), 4);
    let len = (4096 << host.identify_controller().mdts()).min(MIB);
    let data = bytes(5, len);
    let count = 120;
    for (n, queue) in host.queues.iter_mut().enumerate() {
        for k in 0..count {
            let at = ((n * count + k) * len) as u64;
            queue.initiator.submit(write(at, len), Payload::Requested(data.clone()));
        }
        let out = std::mem::take(&mut queue.initiator.out);
        queue.stream.write_all(&out).unwrap();
    }
    std::thread::scope(|scope| {
        for queue in &mut host.queues {
            scope.spawn(move || {
                for cid in 0..=count as u16 {
                    // 0 was Connect.
                    if cid > 0 {
                        let (done, _) = queue.completion(cid).unwrap();
                        assert!(done.status().is_success(), "{done:?}");
                    }
                }
            });
        }
    });
    let last = ((4 * count - 1) * len) as u64;
    let (_, seen) = host.io(0, read(last, 4096), Payload::FromController(4096));
    assert!(seen == data[..4096]);
}

/// Format makes the namespace's attributes change, which Linux is told of if it asked for it.
#[test]
fn events_reach_a_host_that_asks_for_them() {
    let server = TcpServer::new(small_flash("seed=3"), Pace::Free);
    let mut host = server.host(server.identity(1), 0);
    let mut set = SetFeatures::new();
    set.set_fid(FeatureId::ASYNC_EVENT.0).set_value(0x100);
    host.admin.run(set.entry(), Payload::None).unwrap();
    let event = host.admin.initiator.submit(admin(0x0c), Payload::None);
    let mut format = admin(0x80);
    format.set_nsid(1).set_cdw10(1);
    let (done, _) = host.admin.run(format, Payload::None).unwrap();
    assert!(done.status().is_success(), "{done:?}");
    let (notice, _) = host.admin.completion(event).unwrap();
    assert_eq!(notice.dw0(), 0x04_0002, "Namespace Attribute Changed, log page 4");
    let changed = |host: &mut Host| u32::load(&host.log(LogId::CHANGED_NAMESPACES, 4096));
    assert_eq!(changed(&mut host), 1);
    assert_eq!(changed(&mut host), 0, "reading clears it");
}

#[test]
fn the_overhead_is_measured() {
    let profile = support::small_profile();
    for pace in [Pace::Free, Pace::Real] {
        let measured = assay_serve::nvme_tcp::round_trip::measure(&profile, pace);
        let overhead = measured.unwrap().expect("sockets and threads");
        assert!(overhead.p50_ns > 0 && overhead.mean_ns > 0);
    }
}

#[test]
fn completions_have_the_heads_of_the_queue() {
    let server = TcpServer::new(in_place(""), Pace::Free);
    let mut host = server.host(server.identity(1), 1);
    let head = |(done, _): (CompletionEntry, Vec<u8>)| done.sq_head();
    let mut flush = nvm::Flush::new();
    flush.set_nsid(1);
    // Connect was the first.
    for n in 2..300_u16 {
        let done = host.queues[0].run(flush.entry(), Payload::None).unwrap();
        assert_eq!(head(done), n % 128);
    }
}
