//! Indirection units of more than 4 KiB: read-modify-write, write amplification, memory of the map,
//! data and power loss against naive implementations.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use assay_ssd::{
    Command, Drive, DriveOptions, InitialState, Profile, Provenance, Sourced, Status, Telemetry,
};
use assay_units::{KIB, MIB, Nanos, Op, Rng};
use common::{Job, command, one, run};
use proptest::prelude::*;

const END: Nanos = Nanos(u64::MAX - 1);
/// Bytes at the start of the drive that the property tests use.
const SPAN: u64 = 512 * KIB;

/// A drive of 16 KiB pages on four planes, as QLC drives with coarse units have.
fn profile(unit_bytes: u64) -> Profile {
    let mut profile = Profile::builtin("samsung-951").expect("a built-in profile");
    profile.nand.planes.value = 4;
    profile.nand.page_bytes.value = 16 * KIB;
    profile.nand.pages_per_block.value = 256;
    profile.nand.blocks_per_plane.value = 80;
    profile.nand.dies.value = 8;
    profile.nand.channels.value = 4;
    profile.nand.stripe_bytes = None;
    profile.buffer.bytes.value = 8 * MIB;
    // Cut within a unit of 16 KiB.
    profile.identity.capacity_bytes.value = 8 * 1024 * MIB + 4096;
    profile.nand.indirection_unit_bytes = Some(Sourced {
        value: unit_bytes,
        provenance: Provenance::Assumed,
        source: "a test".to_owned(),
    });
    profile
}

fn drive(unit_bytes: u64, options: DriveOptions) -> Drive {
    Drive::new(profile(unit_bytes), options).expect("a drive")
}

/// Telemetry after a job of `count` commands in the first GiB.
fn after(unit_bytes: u64, op: Op, random: bool, block: u32, count: u64) -> (Telemetry, Nanos) {
    let mut drive = drive(unit_bytes, DriveOptions::default());
    let area = 1 << 30;
    let job = Job { op, random, threads: 4, block, area, first: 0 };
    let (_, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, count);
    let flushed = one(&mut drive, end, command(0, Op::Flush, 0, 0)).at;
    (drive.telemetry(flushed), end)
}

fn amplification(telemetry: &Telemetry) -> f64 {
    telemetry.nand_bytes_written as f64 / telemetry.host_bytes_written as f64
}

#[test]
fn random_writes_below_the_unit_program_the_whole_unit() {
    for (unit, block, expected) in [
        (4 * KIB, 4096, 1.0),
        (8 * KIB, 4096, 2.0),
        (16 * KIB, 4096, 4.0),
        (16 * KIB, 16_384, 1.0),
        (64 * KIB, 4096, 16.0),
        (64 * KIB, 65_536, 1.0),
    ] {
        let (health, _) = after(unit, Op::Write, true, block, 4000);
        let got = amplification(&health);
        // A few random blocks meet a unit that is still in the buffer; a flush pads the last group.
        assert!(
            (expected * 0.98..expected * 1.03).contains(&got),
            "{unit} B units, {block} B writes: {got}"
        );
    }
}

#[test]
fn sequential_small_writes_are_completed_in_the_buffer() {
    for unit in [16 * KIB, 64 * KIB] {
        let mut drive = drive(unit, DriveOptions::default());
        let job =
            Job { op: Op::Write, random: false, threads: 1, block: 4096, area: 1 << 30, first: 0 };
        let (_, end) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, 8192);
        let got = amplification(&drive.telemetry(end));
        assert!((0.9..1.1).contains(&got), "{unit}: {got}");
    }
}

/// The read of the other sectors delays a small write's program, and occupies dies.
#[test]
fn small_writes_are_slower_in_bytes_per_second_and_in_writes_per_second() {
    let rate = |unit, block, count| {
        let (_, end) = after(unit, Op::Write, true, block, count);
        count as f64 / end.as_secs_f64()
    };
    let (coarse, fine) = (rate(16 * KIB, 4096, 20_000), rate(4 * KIB, 4096, 20_000));
    assert!(coarse * 3.0 < fine, "{coarse} of {fine} writes/s");
    let whole = rate(16 * KIB, 16_384, 20_000);
    assert!(coarse < whole, "{coarse} of 4 KiB, {whole} of 16 KiB");
}

/// A sector is a codeword: it is sensed and transferred by itself.
#[test]
fn small_reads_are_independent_of_the_unit() {
    let latency = |unit: u64| {
        let mut drive = drive(unit, DriveOptions::default());
        one(&mut drive, Nanos::ZERO, command(0, Op::Read, 1 << 20, 4096)).at
    };
    let fine = latency(4 * KIB);
    for unit in [8, 16, 32, 64].map(|n| n * KIB) {
        assert_eq!(latency(unit), fine, "{unit}");
    }
}

#[test]
fn the_map_of_a_coarser_unit_is_smaller() {
    let resident = |unit: u64| {
        let mut drive = drive(unit, DriveOptions::default());
        let job =
            Job { op: Op::Write, random: true, threads: 4, block: 65_536, area: 4 << 30, first: 0 };
        run(&mut drive, job, Nanos::ZERO, Nanos::MAX, 20_000);
        drive.resident_bytes() as f64
    };
    let (fine, coarse) = (resident(4 * KIB), resident(16 * KIB));
    assert!((3.5..4.5).contains(&(fine / coarse)), "{fine} {coarse}");
}

/// Under garbage collection the factors multiply: the flash sees random writes of whole units, as
/// of 16 KiB ones.
#[test]
fn read_modify_write_multiplies_garbage_collection() {
    let steady = |block: u32| {
        let mut drive = drive(16 * KIB, DriveOptions::default());
        let job = Job { op: Op::Write, random: true, threads: 4, block, area: 8 << 30, first: 0 };
        let (_, warm) = run(&mut drive, job, Nanos::ZERO, Nanos::MAX, 1_500_000);
        let before = drive.telemetry(warm);
        let (_, end) = run(&mut drive, job, warm, Nanos::MAX, 300_000);
        let health = drive.telemetry(end);
        (health.nand_bytes_written - before.nand_bytes_written) as f64
            / (health.host_bytes_written - before.host_bytes_written) as f64
    };
    let (small, whole) = (steady(4096), steady(16_384));
    assert!(whole > 1.5, "garbage collection runs: {whole}");
    let ratio = small / whole;
    assert!((3.8..4.2).contains(&ratio), "{small} and {whole}");
}

#[test]
fn impossible_units_are_refused() {
    let text = Profile::builtin_text("samsung-951").expect("a built-in profile");
    for (bytes, reason) in [
        (2048, "indirection_unit_bytes"),
        (12_288, "indirection_unit_bytes"),
        (131_072, "indirection_unit_bytes"),
    ] {
        let line =
            format!("[nand]\nindirection_unit_bytes = {{ value = {bytes}, assumed = \"a test\" }}");
        let error = Profile::from_toml(&text.replacen("[nand]", &line, 1)).unwrap_err();
        assert!(error.to_string().contains(reason), "{bytes}: {error}");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write { sector: u64, sectors: u64, fua: bool },
    Discard { page: u64, pages: u64 },
    Zero { page: u64, pages: u64 },
    Flush,
    Wait(u64),
    Lose,
}

fn step() -> impl Strategy<Value = Step> {
    let pages = SPAN / 4096;
    let range = move || {
        (0..pages, 1_u64..40).prop_map(move |(page, count)| (page, count.min(pages - page)))
    };
    prop_oneof![
        6 => (0..SPAN / 512, 1_u64..64).prop_map(|(sector, count)| Step::Write { sector, sectors: count.min(SPAN / 512 - sector), fua: false }),
        8 => range().prop_map(|(page, pages)| Step::Write { sector: page * 8, sectors: pages * 8, fua: false }),
        2 => (0..SPAN / 512, 1_u64..64).prop_map(|(sector, count)| Step::Write { sector, sectors: count.min(SPAN / 512 - sector), fua: true }),
        2 => range().prop_map(|(page, pages)| Step::Discard { page, pages }),
        2 => range().prop_map(|(page, pages)| Step::Zero { page, pages }),
        1 => Just(Step::Flush),
        4 => (0_u64..400_000).prop_map(Step::Wait),
        1 => Just(Step::Lose),
    ]
}

/// The naive implementation: bytes, every version of each page since the last that must have
/// survived, and which must.
struct Naive {
    unit: u64,
    content: Vec<u8>,
    versions: Vec<Vec<Vec<u8>>>,
    survives: BTreeMap<u64, usize>,
    acknowledged: BTreeMap<u64, usize>,
    in_flight: BTreeMap<u32, Vec<(u64, usize)>>,
    flushes: BTreeMap<u32, BTreeMap<u64, usize>>,
    /// Writes with FUA.
    forced: BTreeSet<u32>,
}

fn raise(floor: &mut BTreeMap<u64, usize>, page: u64, version: usize) {
    let entry = floor.entry(page).or_default();
    *entry = version.max(*entry);
}

impl Naive {
    fn new(unit: u64, content: Vec<u8>) -> Naive {
        let versions = content.chunks(4096).map(|page| vec![page.to_vec()]);
        Naive {
            unit,
            versions: versions.collect(),
            content,
            survives: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            flushes: BTreeMap::new(),
            forced: BTreeSet::new(),
        }
    }

    /// The content of a page has changed; returns its version.
    fn note(&mut self, page: u64) -> (u64, usize) {
        let bytes = self.content[page as usize * 4096..][..4096].to_vec();
        let list = &mut self.versions[page as usize];
        list.push(bytes);
        (page, list.len() - 1)
    }

    fn written(&mut self, tag: u32, pages: impl Iterator<Item = u64>) {
        let noted = pages.map(|page| self.note(page)).collect();
        self.in_flight.insert(tag, noted);
    }

    /// Zero pages of whole units, durable at once; the others are left to the caller.
    fn zero_units(&mut self, page: u64, pages: u64) -> Vec<u64> {
        let in_unit = self.unit / 4096;
        let (first, end) = (page.div_ceil(in_unit) * in_unit, (page + pages) / in_unit * in_unit);
        for page in first..end {
            self.content[page as usize * 4096..][..4096].fill(0);
            let (page, version) = self.note(page);
            raise(&mut self.survives, page, version);
        }
        (page..page + pages).filter(|page| !(first..end).contains(page)).collect()
    }

    fn completed(&mut self, tag: u32, protected: bool) {
        for (page, version) in self.in_flight.remove(&tag).unwrap_or_default() {
            raise(&mut self.acknowledged, page, version);
            if protected || self.forced.contains(&tag) {
                raise(&mut self.survives, page, version);
            }
        }
        for (page, version) in self.flushes.remove(&tag).unwrap_or_default() {
            raise(&mut self.survives, page, version);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every page reads as some write left it, no older than what a flush (or FUA, or capacitors)
    /// made durable, and exactly as the last write left it while power lasts. Commands are in
    /// flight on several queues.
    #[test]
    fn data_and_power_loss_equal_a_naive_implementation(
        unit in prop_oneof![Just(4 * KIB), Just(8 * KIB), Just(16 * KIB), Just(64 * KIB)],
        protected: bool,
        fresh: bool,
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut profile = profile(unit);
        profile.buffer.power_loss_protected = Some(Sourced {
            value: protected,
            provenance: Provenance::Assumed,
            source: "a test".to_owned(),
        });
        let options = DriveOptions {
            keep_data: true,
            state: if fresh { InitialState::Fresh } else { InitialState::Filled },
            ..DriveOptions::default()
        };
        let mut drive = Drive::new(profile, options).expect("a drive");
        let whole = command(0, Op::Read, 0, SPAN as u32);
        let mut content = vec![0; SPAN as usize];
        let done = one(&mut drive, Nanos::ZERO, whole);
        prop_assert!(drive.read_data(&done, 0, &mut content));
        let mut naive = Naive::new(unit, content);
        let mut now = done.at;
        let mut out = Vec::new();
        for (tag, step) in (1_u32..).zip(&steps) {
            match *step {
                Step::Write { sector, sectors, fua } => {
                    let range = sector as usize * 512..(sector + sectors) as usize * 512;
                    for (n, bytes) in naive.content[range.clone()].chunks_mut(512).enumerate() {
                        bytes.fill(n as u8);
                        bytes[..4].copy_from_slice(&tag.to_le_bytes());
                    }
                    let io = Command { queue: (tag % 3) as u16, fua, ..command(tag, Op::Write, sector * 512, sectors as u32 * 512) };
                    drive.submit_write(now, io, &naive.content[range]);
                    naive.written(tag, sector / 8..=(sector + sectors - 1) / 8);
                    if fua {
                        naive.forced.insert(tag);
                    }
                }
                Step::Discard { page, pages } => {
                    drive.submit(now, command(tag, Op::Discard, page * 4096, pages as u32 * 4096));
                    // Parts of units are not deallocated.
                    naive.zero_units(page, pages);
                }
                Step::Zero { page, pages } => {
                    drive.submit(now, command(tag, Op::WriteZeroes, page * 4096, pages as u32 * 4096));
                    let parts = naive.zero_units(page, pages);
                    for &page in &parts {
                        naive.content[page as usize * 4096..][..4096].fill(0);
                    }
                    naive.written(tag, parts.into_iter());
                }
                Step::Flush => {
                    drive.submit(now, command(tag, Op::Flush, 0, 0));
                    naive.flushes.insert(tag, naive.acknowledged.clone());
                }
                Step::Wait(ns) => now += Nanos(ns),
                Step::Lose => drive.power_loss(now),
            }
            drive.advance(now, &mut out);
            for done in out.drain(..) {
                if done.status.is_ok() {
                    naive.completed(done.tag, protected);
                } else {
                    prop_assert_eq!(done.status, Status::PowerLoss);
                    naive.in_flight.remove(&done.tag);
                    naive.flushes.remove(&done.tag);
                }
            }
            if !matches!(step, Step::Lose) {
                continue;
            }
            prop_assert!(naive.in_flight.is_empty() && naive.flushes.is_empty());
            let done = one(&mut drive, now, whole);
            now = done.at;
            prop_assert!(drive.read_data(&done, 0, &mut naive.content));
            for (page, list) in (0_u64..).zip(&mut naive.versions) {
                let found = naive.content[page as usize * 4096..][..4096].to_vec();
                let floor = naive.survives.get(&page).copied().unwrap_or(0);
                prop_assert!(list[floor..].contains(&found), "page {page}, {} versions from {floor} on", list.len());
                *list = vec![found];
            }
            naive.survives.clear();
            naive.acknowledged.clear();
        }
        drive.advance(END, &mut out);
        let now = out.last().map_or(now, |done| done.at.max(now));
        let done = one(&mut drive, now, whole);
        let mut found = vec![0; SPAN as usize];
        prop_assert!(drive.read_data(&done, 0, &mut found));
        prop_assert!(found == naive.content, "as the last writes left it");
    }
}

/// The last unit is cut by the capacity: writing or deallocating what there is of it needs no read.
#[test]
fn the_cut_unit_at_the_end_is_whole() {
    let options = DriveOptions { keep_data: true, ..DriveOptions::default() };
    let mut drive = drive(16 * KIB, options);
    let capacity = drive.identity().capacity_bytes;
    let last = capacity - 4096;
    assert!(!capacity.is_multiple_of(16 * KIB));
    drive.submit_write(Nanos::ZERO, command(0, Op::Write, last, 4096), &[7; 4096]);
    let mut out = Vec::new();
    drive.advance(END, &mut out);
    let now = out[0].at;
    let done = one(&mut drive, now, command(0, Op::Discard, last, 4096));
    assert_eq!(done.status, Status::Ok);
    let done = one(&mut drive, done.at, command(0, Op::Read, last, 4096));
    let mut bytes = [1; 4096];
    assert!(drive.read_data(&done, last, &mut bytes));
    assert_eq!(bytes, [0; 4096], "deallocated");
    let mut rng = Rng::new(1);
    let offset = rng.below(last / 4096) * 4096;
    assert!(one(&mut drive, done.at, command(0, Op::Read, offset, 4096)).status.is_ok());
}
