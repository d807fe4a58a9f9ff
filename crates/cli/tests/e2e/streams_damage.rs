//! Interrupted and damaged streams: damaged indexes, stopped replays, slow sources, absent
//! connections.

use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::block_devices::BlockDevices;
use crate::fixture::{Done, Fixture, KIB, MIB, is_heard, noise, number, pause, send, wait_until};

/// A recording of 20 MiB in chunks of this size, of the pattern of seed 5.
fn recorded(fixture: &Fixture, chunk: &str) {
    fixture.write("disk", noise(99, 32 * MIB));
    fixture.ok(&format!(
        "record disk --destroy disk --index --chunk {chunk} --pattern 5 --length 20m"
    ));
}

/// Changes one byte of it.
fn spoil(fixture: &Fixture, at: usize) {
    let mut bytes = fixture.read("disk");
    bytes[at] ^= 0x10;
    fixture.write("disk", bytes);
}

/// Address of the first of this many damaged copies of index blocks.
fn verified_copy(fixture: &Fixture, copies: usize) -> usize {
    let verified = fixture.json("verify disk");
    assert_eq!(number(&verified, "/recording/damaged_copies"), copies as f64);
    number(&verified, "/recording/first_damaged_copy/address") as usize
}

/// An erased copy is damaged where the recording ended: every block exists twice then.
#[test]
fn an_erased_copy_of_an_index_block_is_named() {
    let fixture = Fixture::on_disk();
    recorded(&fixture, "64k");
    let whole = fixture.read("disk");
    assert_eq!(number(&fixture.json("verify disk"), "/recording/damaged_copies"), 0.0);
    for at in [8192, 12_288] {
        let mut bytes = whole.clone();
        bytes[at..at + 4096].fill(0);
        fixture.write("disk", bytes);
        assert_eq!(verified_copy(&fixture, 1), at);
    }
}

#[test]
fn a_damaged_index_is_reported_when_no_copy_is_valid() {
    let fixture = Fixture::on_disk();
    recorded(&fixture, "64k");
    // The location of the newest header is not known; either is complete.
    for at in [300, 8300] {
        spoil(&fixture, at);
        let verified = fixture.json("verify disk");
        assert_eq!(verified["recording"]["whole"], true);
        assert_eq!(number(&verified, "/recording/checked_chunks"), 320.0);
        assert_eq!(number(&verified, "/recording/missing_chunks"), 0.0);
    }
    assert_eq!(verified_copy(&fixture, 1), 8192);
    for command in ["verify disk", "replay disk --check 5"] {
        let message = fixture.ok(command).stdout;
        let copy = "1 copy of a block is DAMAGED, at address 8,192 of drive 1";
        assert!(message.contains(copy), "{message}");
        assert!(message.contains("nothing is lost"), "{message}");
    }
    spoil(&fixture, 12_400);
    for command in ["verify disk", "replay disk --check 5"] {
        let found = fixture.json_status(command, 1);
        assert_eq!(found["recording"]["whole"], false);
        assert_eq!(number(&found, "/recording/missing_chunks"), 320.0);
        let message = fixture.run(command).expect(1).stdout;
        assert!(message.contains("320 recorded chunks are NOT in the index"), "{message}");
        assert!(message.contains("NOT complete, though its recorder ended it"), "{message}");
        assert!(!message.contains("did not end it"), "{message}");
    }
}

/// What an erased start, or a flush that was only acknowledged, leaves: no header at the start.
#[test]
fn a_recording_is_found_by_the_copy_of_its_header_at_the_end() {
    for (chunk, reader) in [
        ("64k", ""),
        ("64k", " --chunk 128k"),
        ("4m --iodepth 2", " --iodepth 2"),
        ("36k", " --chunk 4k"),
    ] {
        let fixture = Fixture::on_disk();
        recorded(&fixture, chunk);
        let whole = fixture.read("disk");
        let mut bytes = whole.clone();
        bytes[..8 * KIB].fill(0);
        fixture.write("disk", bytes);
        let verified = fixture.json(&format!("verify disk{reader}"));
        assert_eq!(verified["recording"]["whole"], true);
        assert_eq!(verified["recording"]["lost_headers"][0]["copy"], "start");
        let done = fixture.ok(&format!("replay disk{reader} --check 5"));
        assert!(done.stdout.contains("drive 1: the header at its start is LOST"), "{done}");
        // The other copy.
        let mut bytes = whole;
        let end = number(&verified, "/recording/header/layout/tail") as usize;
        bytes[end..].fill(0);
        fixture.write("disk", bytes.clone());
        let verified = fixture.json("verify disk");
        assert_eq!(verified["recording"]["whole"], true);
        assert_eq!(verified["recording"]["lost_headers"][0]["copy"], "end");
        // Both: nothing vouches for the bytes.
        bytes[..8 * KIB].fill(0);
        fixture.write("disk", bytes);
        fixture
            .run("replay disk --to out")
            .refuses(2, &["no recording begins at address 0", "--raw"]);
        assert!(!fixture.path("out").exists());
        let done = fixture.ok("replay disk --raw --to out");
        assert!(done.stdout.contains("raw bytes, nothing checked"), "{done}");
        assert!(!done.stdout.contains("finished"), "{done}");
        assert!(fixture.read("out").len() >= 28 * MIB);
    }
}

#[test]
fn a_part_of_a_drive_is_found_by_its_end() {
    let fixture = Fixture::on_disk();
    for name in ["one", "two"] {
        fixture.write(name, noise(99, 16 * MIB));
    }
    fixture.ok(
        "record one two --destroy one --destroy two --index --pattern 5 --length 4m --first 1m \
         --last 7m",
    );
    // The index says where the copy of the header is; where it is gone as well, --last does.
    for (erased, last) in [(8 * KIB, ""), (12 * KIB, " --last 7m")] {
        for name in ["one", "two"] {
            let mut bytes = fixture.read(name);
            bytes[MIB..MIB + erased].fill(0);
            fixture.write(name, bytes);
        }
        let verified = fixture.json(&format!("verify two one --first 1m{last}"));
        assert_eq!(verified["recording"]["whole"], true);
        assert_eq!(number(&verified, "/recording/checked_chunks"), 32.0);
    }
    for name in ["one", "two"] {
        let mut bytes = fixture.read(name);
        bytes[MIB..MIB + 16 * KIB].fill(0);
        fixture.write(name, bytes);
    }
    fixture
        .run("verify one two --first 1m")
        .refuses(2, &["no recording begins at address 1048576", "--last"]);
}

#[test]
fn a_replay_that_checked_nothing_has_not_finished() {
    let fixture = Fixture::on_disk();
    fixture.write("disk", noise(99, 8 * MIB));
    let mut recorder = fixture
        .command("record disk --destroy disk --index")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // The header is there, and no byte comes.
    wait_until("the recording has begun", || fixture.read("disk").starts_with(b"ASSAYREC"));
    // Open to the end: a recorder that sees it closed before it is killed has ended by itself.
    let _input = recorder.stdin.take();
    send(&recorder, Signal::KILL);
    recorder.wait().unwrap();
    for command in ["verify disk", "replay disk --to out", "replay disk --check 5"] {
        let done = fixture.run(command).expect(1);
        for part in ["NOT finished", "NOTHING: none of its chunks"] {
            assert!(done.stdout.contains(part), "{part}: {done}");
        }
    }
}

/// Everything up to the end of the space is recovered, and reported so.
fn full(fixture: &Fixture, disk: &str) {
    std::fs::File::create(disk).unwrap().set_len(64 << 20).unwrap();
    let words = format!(
        "record {disk} --destroy {} --index --pattern 5 --length 40m --json",
        disk.rsplit('/').next().unwrap()
    );
    let done = fixture.run(&words).expect(1);
    let status = &done.json()["status"];
    // ENOSPC, or a write that begins before the end of the space and ends after it.
    let result = number(status, "/failure/result");
    assert!(result == -28.0 || result >= 0.0, "{done}");
    let bytes = number(status, "/bytes");
    assert!(bytes > (10 * MIB) as f64, "{done}");
    assert_eq!(status["durable_bytes"], status["bytes"], "{done}");
    let durable = assay_units::text::group_digits(bytes as u64);
    let message = format!("no space left after {durable} bytes of the stream, of which {durable}");
    assert!(done.stderr.contains(&message), "{done}");
    let found = fixture.json(&format!("replay {disk} --check 5"));
    assert_eq!(found["status"]["bytes"], status["bytes"], "{found}");
    assert_eq!(found["pattern"]["wrong_beats"], 0);
    assert_eq!(found["recording"]["whole"], true);
}

#[test]
fn what_was_written_before_the_space_ended_is_recovered() {
    let Some(mut devices) = BlockDevices::new() else {
        return;
    };
    let point = devices.mount("tmpfs", &["-t", "tmpfs", "-o", "size=20m"]);
    full(&devices.fixture, point.join("disk").to_str().unwrap());
    devices.fixture.write("image", vec![0; 24 * MIB]);
    let Some(device) = devices.attach("image", &[]) else {
        return;
    };
    devices.fixture.tool("mkfs.ext4", &["-q", &device]);
    let point = devices.mount(&device, &[]);
    full(&devices.fixture, point.join("disk").to_str().unwrap());
}

#[test]
fn chunks_of_an_earlier_recording_are_distinguished() {
    for (chunk, options) in [
        ("1m", ""),
        ("4m", " --engine sync --iodepth 2"),
        ("16k", " --chunk 2m"),
        ("16k", " --chunk 512"),
    ] {
        let fixture = Fixture::on_disk();
        recorded(&fixture, chunk);
        for command in ["verify disk", "replay disk --check 5"] {
            let found = fixture.json(&format!("{command}{options}"));
            assert_eq!(found["recording"]["whole"], true);
            assert_eq!(number(&found, "/status/bytes"), (20 * MIB) as f64);
        }
    }
}

#[test]
fn a_bad_chunk_of_a_stopped_recording_is_reported() {
    let fixture = Fixture::on_disk();
    fixture.write("disk", noise(99, 32 * MIB));
    let mut recorder = fixture
        .command("record disk --destroy disk --index --json")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = recorder.stdin.take().unwrap();
    let stream = noise(3, 3 * MIB);
    pipe.write_all(&stream).unwrap();
    let last = &stream[23 * 128 * KIB..];
    wait_until("the stream was taken", || {
        fixture.read("disk").chunks(128 * KIB).any(|found| found == last)
    });
    send(&recorder, Signal::TERM);
    Done::new("record", recorder).expect(130);
    let before = fixture.json("verify disk");
    assert_eq!(before["recording"]["whole"], true);
    let first = number(&before, "/status/first_address") as usize;
    spoil(&fixture, first + 21 * 128 * KIB);
    let found = fixture.json_status("verify disk", 1);
    assert_eq!(found["recording"]["first_bad"]["chunk"], 21);
    assert_eq!(number(&found, "/recording/bad_chunks"), 1.0);
    assert_eq!(number(&found, "/recording/checked_chunks"), 24.0);
}

#[test]
fn a_replay_stopped_in_its_last_chunk_is_reported_as_stopped() {
    let fixture = Fixture::on_disk();
    fixture.write("disk", noise(99, 8 * MIB));
    // The capacity of a pipe without a reader, and half a chunk.
    let stream = fixture.noise("stream", MIB + 64 * KIB);
    fixture.ok("record disk --destroy disk --index --from stream");
    let mut player = fixture.command("replay disk").spawn().unwrap();
    let mut out = player.stdout.take().unwrap();
    // Until the pipe is full. If a busy host only makes it seem so, the replay stops in an earlier
    // chunk.
    let lies_there = || rustix::io::ioctl_fionread(&out).unwrap();
    wait_until("the pipe is full", || {
        let before = lies_there();
        pause(200);
        before > 0 && lies_there() == before
    });
    send(&player, Signal::TERM);
    let done = Done::new("replay", player).expect(130);
    assert!(done.stderr.contains("stopped"), "{done}");
    let mut came = Vec::new();
    out.read_to_end(&mut came).unwrap();
    assert!(came.len() < stream.len() && stream.starts_with(&came));
}

#[test]
fn a_flush_does_not_wait_for_a_slow_source() {
    let fixture = Fixture::on_disk();
    fixture.write("disk", noise(99, 8 * MIB));
    let stream = fixture.noise("stream", MIB);
    let mut recorder = fixture
        .command("record disk --destroy disk --watch --json")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = recorder.stdin.take().unwrap();
    pipe.write_all(&stream).unwrap();
    // A chunk would take minutes.
    let slow_source = std::thread::spawn(move || {
        while pipe.write_all(b"x").is_ok() {
            pause(5);
        }
    });
    wait_until("the stream was taken", || fixture.read("disk")[..MIB] == stream[..]);
    send(&recorder, Signal::USR1);
    let mut message = std::io::BufReader::new(recorder.stderr.take().unwrap());
    // On a busy host a checkpoint may have come before the signal, with a line of its own.
    loop {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut message, &mut line).unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        assert!(reported["bytes"].as_u64().unwrap() < (MIB + 128 * KIB) as u64);
        if reported["durable_bytes"] == MIB {
            break;
        }
    }
    send(&recorder, Signal::INT);
    assert_eq!(recorder.wait().unwrap().code(), Some(130));
    slow_source.join().unwrap();
}

#[test]
fn one_signal_ends_a_wait_for_a_connection() {
    let fixture = Fixture::on_disk();
    recorded(&fixture, "128k");
    fixture.tool("mkfifo", &[fixture.path("pipe").to_str().unwrap()]);
    for to in ["unix-listen:sock", "tcp-listen:127.0.0.1:0", "pipe"] {
        for signal in [Signal::TERM, Signal::HUP] {
            if !is_heard(signal) {
                continue;
            }
            let player = fixture.command(&format!("replay disk --to {to}")).spawn().unwrap();
            match to {
                "unix-listen:sock" => wait_until("it listens", || fixture.path("sock").exists()),
                _ => pause(300),
            }
            send(&player, signal);
            // By the signal itself: nothing had begun.
            Done::new(to, player).expect(1000 + signal.as_raw());
        }
    }
    // The next process replaces the stale socket.
    assert!(fixture.path("sock").exists());
    let player = fixture.command("replay disk --to unix-listen:sock").spawn().unwrap();
    let mut came = Vec::new();
    wait_until("the socket listens", || {
        std::os::unix::net::UnixStream::connect(fixture.path("sock"))
            .is_ok_and(|mut connection| connection.read_to_end(&mut came).is_ok())
    });
    Done::new("replay", player).expect(0);
    assert_eq!(came.len(), 20 * MIB);
    assert!(!fixture.path("sock").exists());
}
