use super::*;
use assay_ssd::{DriveOptions, InitialState, Profile, Sourced};
use assay_units::{DataClass, Op};

const BLOCK: u32 = 262_144;

fn host(longest_bytes: Option<u32>) -> ClosedLoop {
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.identity.max_transfer_bytes.value = 1 << 20;
    let of = profile.bench.sync_io_ns.clone();
    profile.bench.max_io_bytes =
        longest_bytes.map(|value| Sourced { value, provenance: of.provenance, source: of.source });
    let options = DriveOptions { state: InitialState::Filled, ..DriveOptions::default() };
    ClosedLoop::new(Drive::new(profile, options).expect("a drive"))
}

fn read(offset_bytes: u64, len_bytes: u32) -> Command {
    Command {
        tag: 0,
        queue: 0,
        op: Op::Read,
        offset_bytes,
        len_bytes,
        data: DataClass::Incompressible,
        fua: false,
    }
}

/// Latencies of reads one after the other by one thread.
fn latencies(host: &mut ClosedLoop, commands: &[Command]) -> Vec<Nanos> {
    let bench = HostCosts::of_bench(&host.events().drive().profile().bench);
    host.begin(&bench, 1, 1, BLOCK);
    let (mut next, mut out) = (commands.iter(), Vec::new());
    while out.len() < commands.len() {
        let made = |_| *next.next().unwrap_or(&commands[0]);
        assert!(host.step(Nanos::MAX, made, |_, latency| out.push(latency)));
    }
    out
}

#[test]
fn a_long_io_is_its_pieces_one_after_the_other() {
    let first = read(0, BLOCK);
    let split = latencies(&mut host(Some(BLOCK / 2)), &[first, read(1 << 30, BLOCK)]);
    let halves = [0, u64::from(BLOCK / 2), 1 << 30, (1 << 30) + u64::from(BLOCK / 2)];
    let halves = halves.map(|offset| read(offset, BLOCK / 2));
    let pieces = latencies(&mut host(None), &halves);
    assert_eq!(split[0], pieces[0] + pieces[1]);
    assert_eq!(split[1], pieces[2] + pieces[3]);
}

#[test]
fn an_io_up_to_the_limit_is_whole() {
    let commands = [read(0, BLOCK), read(1 << 30, 4096)];
    let whole = latencies(&mut host(None), &commands);
    assert_eq!(latencies(&mut host(Some(BLOCK)), &commands), whole);
    assert_ne!(latencies(&mut host(Some(BLOCK / 2)), &commands), whole);
}

#[test]
fn pieces_cover_the_io_with_a_shorter_last_one() {
    let mut pieces = Pieces { longest_bytes: 8192, left: vec![None; 2] };
    let mut made = || pieces.next(1, |_| read(4096, 20_480));
    let sent = [made(), made(), made()].map(|piece| (piece.offset_bytes, piece.len_bytes));
    assert_eq!(sent, [(4096, 8192), (12_288, 8192), (20_480, 4096)]);
    assert!(pieces.left[1].is_none());
}
