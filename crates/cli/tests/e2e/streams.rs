//! `assay record`, `replay` and `verify`: stream integrity, also for interrupted recorders.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use assay_units::Rng;
use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{
    ASSAY, Done, Fixture, KIB, MIB, is_heard, noise, number, pause, send, wait_until,
};

/// A file to record on.
fn disk(fixture: &Fixture, name: &str, bytes: usize) {
    fixture.write(name, noise(99, bytes));
}

/// Record a file's content through a pipe.
#[track_caller]
fn record(fixture: &Fixture, words: &str, stream: &str) -> Done {
    let mut command = fixture.command(&format!("record {words}"));
    command.stdin(File::open(fixture.path(stream)).unwrap());
    Done::new(words, command.spawn().unwrap())
}

/// What replays on stdout.
#[track_caller]
fn replayed(fixture: &Fixture, words: &str) -> Vec<u8> {
    let output = fixture.command(&format!("replay {words}")).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "replay {words}: {stderr}");
    assert!(stderr.starts_with("Replayed"), "{stderr}");
    output.stdout
}

#[test]
fn a_stream_is_replayed_exactly_and_described() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 8 * MIB);
    let stream = fixture.noise("stream", 5 * MIB + 12_345);
    let done = record(&fixture, "disk --destroy disk --index --label camera", "stream").expect(0);
    for part in [
        "Recorded 5.01 MiB on disk",
        "finished, early_last",
        "durable       5.01 MiB of 5.01 MiB",
        "standard input",
        "O_DIRECT",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done}");
    }
    assert_eq!(replayed(&fixture, "disk"), stream);
    let verified = fixture.json("verify disk");
    assert_eq!(verified["recording"]["whole"], true);
    assert_eq!(verified["recording"]["bad_chunks"], 0);
    assert_eq!(verified["recording"]["header"]["label"], "camera");
    assert_eq!(number(&verified, "/recording/checked_chunks"), 41.0);
    // One flipped bit on the drive is detected.
    let mut bytes = fixture.read("disk");
    let address = number(&verified, "/status/first_address") as usize;
    bytes[address + 10 * 128 * KIB + 77] ^= 4;
    fixture.write("disk", bytes);
    let spoilt = fixture.json_status("verify disk", 1);
    assert_eq!(spoilt["recording"]["bad_chunks"], 1);
    assert_eq!(spoilt["recording"]["first_bad"]["chunk"], 10);
    let output = fixture.command("replay disk").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, stream[..10 * 128 * KIB], "no corrupt chunk is replayed");
}

#[test]
fn without_an_index_the_range_is_the_stream() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 4 * MIB);
    let before = fixture.read("disk");
    let stream = fixture.noise("stream", 300_000);
    let words = "disk --destroy disk --chunk 64k --first 1m --last 1472k --json";
    let status = record(&fixture, words, "stream").expect(0).json();
    assert_eq!(status["status"]["bytes"], 300_000);
    assert_eq!(status["status"]["beats"], 18_750);
    assert_eq!(status["status"]["last_address_written"], 1024 * 1024 + 4 * 65536);
    assert_eq!(status["simulated"], false);
    assert_eq!(replayed(&fixture, "disk --raw --chunk 64k --first 1m --length 300000"), stream);
    let after = fixture.read("disk");
    assert_eq!(after[..MIB], before[..MIB]);
    let end = MIB + 300_000_usize.next_multiple_of(512);
    assert_eq!(after[end..], before[end..], "nothing is written beyond the last block");
}

#[test]
fn streams_go_through_files_and_sockets() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 4 * MIB);
    let stream = fixture.noise("stream", 2 * MIB + 5);
    fixture.ok("record disk --destroy disk --index --from stream");
    fixture.ok("replay disk --to copy");
    assert!(fixture.read("copy") == stream);
    fixture.run("replay disk --to copy").refuses(2, &["copy exists", "not written over"]);
    // The recorder waits for its source, and the source for its reader.
    let mut recorder = fixture
        .command(
            "record disk --destroy disk --destroy assay-recording --index --from unix-listen:sock \
             --json",
        )
        .spawn()
        .unwrap();
    wait_until("the socket is there", || fixture.path("sock").exists());
    let mut socket = std::os::unix::net::UnixStream::connect(fixture.path("sock")).unwrap();
    socket.write_all(&stream[..MIB]).unwrap();
    drop(socket);
    let done = output_of("record", &mut recorder);
    assert_eq!(done.expect(0).json()["status"]["bytes"], MIB);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut player =
        fixture.command(&format!("replay disk --to tcp:127.0.0.1:{port}")).spawn().unwrap();
    let mut played = Vec::new();
    listener.accept().unwrap().0.read_to_end(&mut played).unwrap();
    output_of("replay", &mut player).expect(0);
    assert!(played == stream[..MIB]);
}

fn output_of(words: &str, child: &mut Child) -> Done {
    let child = std::mem::replace(
        child,
        std::process::Command::new("true")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    Done::new(words, child)
}

#[test]
fn invalid_input_is_refused_and_loses_no_data() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 4 * MIB);
    let before = fixture.read("disk");
    fixture.noise("stream", MIB);
    fs::hard_link(fixture.path("disk"), fixture.path("other-name")).unwrap();
    for (words, status, stderr) in [
        ("record disk --from stream", 3, &["--destroy disk"][..]),
        ("record disk --destroy disk --from disk", 2, &["--from disk: that is disk itself"]),
        (
            "record disk --destroy disk --from other-name",
            2,
            &["--from other-name: that is disk itself"],
        ),
        (
            "record disk --destroy disk --from stream --first 1000",
            2,
            &["first address 1000", "131072"],
        ),
        ("record disk --destroy disk --from stream --last 131073", 2, &["last address 131073"]),
        (
            "record disk --destroy disk --from stream --first 1m --last 512k",
            2,
            &["first address", "after the last"],
        ),
        ("record disk --destroy disk --from stream --last 4m", 2, &["beyond the drive", "4194304"]),
        (
            "record disk --destroy disk --from stream --chunk 1000",
            2,
            &["chunk of 1000", "multiple of"],
        ),
        ("record disk --destroy disk --from stream --chunk 8m", 2, &["at most"]),
        ("record disk --destroy disk --from stream --chunk 0", 2, &["chunk of 0"]),
        ("record disk --destroy disk --from nowhere", 4, &["cannot open nowhere"]),
        ("record disk --destroy disk --from tcp:x", 2, &["names no stream"]),
        (
            "record disk --destroy disk --from stream --rate 100",
            2,
            &["a chunk of 131072 bytes takes 1310 s", "100MB/s"],
        ),
        ("record disk --destroy disk --from stream --rate 0", 2, &["never delivers"]),
        ("record disk --destroy disk --from stream --lossy-deadline 1s", 2, &["--rate"]),
        ("record disk --destroy disk --pattern 1 --ring", 2, &["--length"]),
        ("record disk --destroy disk --from stream --length 4k", 2, &["--length is for"]),
        (
            "record disk --destroy disk --index --from stream --chunk 512",
            2,
            &["too small for an index"],
        ),
        (
            "record disk --destroy disk --index --from stream --first 3968k",
            2,
            &["no room for an index"],
        ),
        ("record disk disk --destroy disk --from stream", 2, &["same drive"]),
        ("verify disk", 2, &["no recording begins at address 0", "--index"]),
        ("replay disk --to copy", 2, &["no recording begins at address 0", "--raw"]),
        ("replay disk --length 1m --to copy", 2, &["--raw", "--check"]),
        ("replay disk --raw --to unix:absent", 4, &["cannot connect"]),
        ("replay disk --check many", 2, &["is no seed"]),
    ] {
        fixture.run(words).refuses(status, stderr);
        assert!(fixture.read("disk") == before, "{words} changed the drive");
    }
}

#[test]
fn a_stream_too_long_for_the_drive_fills_it_and_fails() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", MIB);
    let stream = fixture.noise("stream", MIB + 1);
    let done = record(&fixture, "disk --destroy disk", "stream").expect(1);
    assert!(
        done.stderr.contains("longer than the drive") && done.stdout.contains("Recorded 1 MiB"),
        "{done}"
    );
    assert!(fixture.read("disk") == stream[..MIB]);
    // A requested range ends the stream when it is full.
    let done =
        record(&fixture, "disk --destroy disk --last 384k --json", "stream").expect(0).json();
    assert_eq!(done["status"]["bytes"], 512 * KIB);
    assert_eq!(done["status"]["source_had_more"], true);
}

#[test]
fn a_disconnected_reader_is_not_a_failure() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 8 * MIB);
    let script =
        format!("{ASSAY} replay disk --raw | head -c 100000 | wc -c; exit ${{PIPESTATUS[0]}}");
    assert_eq!(fixture.tool("bash", &["-c", &script]).trim(), "100000");
}

#[test]
fn an_abort_flushes_received_data_and_a_stop_does_not_flush() {
    for (signal, bit) in
        [(Signal::INT, "aborted"), (Signal::HUP, "aborted"), (Signal::TERM, "stopped")]
    {
        if !is_heard(signal) {
            continue;
        }
        let fixture = Fixture::on_disk();
        disk(&fixture, "disk", 8 * MIB);
        let stream = fixture.noise("stream", 3 * MIB + 100_000);
        let mut recorder = fixture
            .command("record disk --destroy disk --index --durable-every 1m --watch --json")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = recorder.stdin.take().unwrap();
        pipe.write_all(&stream).unwrap();
        pipe.flush().unwrap();
        // All whole chunks are on the drive, and the recorder waits for more.
        wait_until("the stream was taken", || {
            let on_disk = fixture.read("disk");
            let chunk = &stream[23 * 128 * KIB..24 * 128 * KIB];
            on_disk.chunks(128 * KIB).any(|found| found == chunk)
        });
        // Long enough for one flush in the pause and for the next pause to begin: a stop must not
        // wait for the flush of that one.
        pause(700);
        send(&recorder, signal);
        let done = output_of("record", &mut recorder).expect(130);
        let status = &done.json()["status"];
        assert_eq!(status["bytes"], stream.len(), "{done}");
        let bits = status["status"].as_array().unwrap();
        assert!(bits.iter().any(|b| b == bit), "{done}");
        assert_eq!(status["durable_bytes"] == status["bytes"], bit == "aborted", "{done}");
        assert!(done.stderr.lines().any(|line| line.starts_with("{\"bytes\"")), "{done}");
        drop(pipe);
        assert!(replayed(&fixture, "disk") == stream);
    }
}

#[test]
fn a_flush_can_be_requested_during_a_recording() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 8 * MIB);
    let stream = fixture.noise("stream", MIB);
    let mut recorder = fixture
        .command("record disk --destroy disk --watch --json")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = recorder.stdin.take().unwrap();
    pipe.write_all(&stream).unwrap();
    wait_until("the stream was taken", || fixture.read("disk")[..MIB] == stream[..]);
    send(&recorder, Signal::USR1);
    // The recorder polls its registers at the latest with the next source data.
    pipe.write_all(&stream[..300 * KIB]).unwrap();
    // A slow host reports earlier, by the time, too.
    let stderr = std::io::BufReader::new(recorder.stderr.take().unwrap());
    let mut reports = std::io::BufRead::lines(stderr).map(|line| {
        let report: Value = serde_json::from_str(&line.unwrap()).unwrap();
        report["durable_bytes"].as_u64().unwrap()
    });
    assert!(reports.any(|durable_bytes| durable_bytes >= MIB as u64));
    drop(pipe);
    let output = recorder.wait_with_output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["status"]["bytes"], MIB + 300 * KIB);
    assert!(output.status.success());
}

#[test]
fn several_drives_share_a_stream() {
    let fixture = Fixture::on_disk();
    for name in ["one", "two", "three"] {
        disk(&fixture, name, 2 * MIB);
    }
    let stream = fixture.noise("stream", 4 * MIB + 1000);
    record(&fixture, "one two three --destroy one --destroy two --destroy three --index", "stream")
        .expect(0);
    assert!(replayed(&fixture, "three one two") == stream);
    fixture.run("verify one two").refuses(2, &["drive 1 of 3", "2 were named"]);
}

/// Data that a killed recorder reported durable is present, and no present data is corrupt. The
/// kill follows a number of reports, not a time, so that it is independent of the speed of the
/// host.
#[test]
fn fifty_kills_lose_no_durable_data() {
    let fixture = Fixture::on_disk();
    disk(&fixture, "disk", 40 * MIB);
    let mut rng = Rng::new(5);
    let (mut kills, mut seed, mut rounds) = (0, 0, 0);
    while kills < 50 {
        seed += 1;
        assert!(seed <= 100, "recordings complete before the kill");
        // Every second one in a ring of 3 MiB that wraps at least once before the kill.
        let in_a_ring = seed % 2 == 0;
        let ring = if in_a_ring { " --ring --last 2944k" } else { "" };
        let words = format!(
            "record disk --destroy disk --destroy assay-recording --pattern {seed} --length 32m \
             --rate 400MB/s --index --durable-every 512k --watch{ring}"
        );
        let mut recorder = fixture.command(&words).spawn().unwrap();
        let mut stderr = std::io::BufReader::new(recorder.stderr.take().unwrap());
        let (mut durable, mut line) = (0, String::new());
        let mut next_report = |durable: &mut u64| {
            line.clear();
            let received = std::io::BufRead::read_line(&mut stderr, &mut line).unwrap() > 0;
            // A torn last line reports nothing.
            if let Ok(report) = serde_json::from_str::<Value>(&line) {
                *durable = report["durable_bytes"].as_u64().unwrap();
            }
            received
        };
        // Reports are at least 20 ms apart, about four in all.
        let going = (0..1 + rng.below(3)).all(|_| next_report(&mut durable));
        pause(rng.below(15));
        if !going || recorder.try_wait().unwrap().is_some() {
            assert!(recorder.wait().unwrap().success());
            continue;
        }
        send(&recorder, Signal::KILL);
        while next_report(&mut durable) {}
        recorder.wait().unwrap();
        kills += 1;
        assert!(durable > 0);
        let found = fixture.json(&format!("replay disk --check {seed}"));
        assert_eq!(found["pattern"]["wrong_beats"], 0, "{found}");
        let bytes = found["status"]["bytes"].as_u64().unwrap();
        let first = found["recording"]["first_chunk"].as_u64().unwrap() * 128 * KIB as u64;
        assert!(
            first + bytes >= durable,
            "{durable} bytes were durable, {bytes} from {first} on are there: {found}"
        );
        if in_a_ring {
            // At least the half that was not being written over.
            assert!(bytes >= durable.min(MIB as u64), "{durable}, {found}");
            rounds += u32::from(first > 0);
        } else {
            assert_eq!(first, 0);
        }
        assert_eq!(found["recording"]["bad_chunks"], 0);
        assert_eq!(fixture.json("verify disk")["recording"]["bad_chunks"], 0);
    }
    assert!(rounds >= 10, "{rounds} rings had wrapped");
}

#[test]
fn an_excessive_source_rate_is_reported_with_the_sustainable_one() {
    let fixture = Fixture::in_memory();
    // The drive of MLE NVMe Streamer: 2.5 GiB/s into its cache of 8 MiB, some 1 GiB/s beyond.
    let drive = "sim:mle-brief-960gb --length 1g";
    let missed = fixture
        .json_status(&format!("record {drive} --pattern 3 --rate 2GB/s --lossy-deadline 50ms"), 1);
    assert_eq!(missed["simulated"], true);
    assert!(number(&missed, "/status/stalls/over_deadline") > 0.0);
    assert!(number(&missed, "/status/stalls/latest_ns") > 50e6);
    let bears = number(&missed, "/status/backlog/sustainable_bytes_per_s");
    assert!((0.5e9..1.3e9).contains(&bears), "{bears}");
    let easy =
        fixture.json(&format!("record {drive} --pattern 3 --rate 300MB/s --lossy-deadline 50ms"));
    assert_eq!(number(&easy, "/status/stalls/over_deadline"), 0.0);
    let plan = fixture.json(&format!("record {drive} --plan --rate 800MB/s"));
    let needs = plan["plan"]["needs"].as_array().unwrap();
    let buffers: Vec<f64> = needs.iter().filter_map(|row| row["buffer_bytes"].as_f64()).collect();
    assert!(buffers.windows(2).all(|pair| pair[0] <= pair[1]), "{buffers:?}");
    let text = fixture.ok("record sim:intel-600p --plan --length 19g --rate 100MB/s").stdout;
    assert!(text.contains("simulated") && text.contains("<- requested"), "{text}");
}
