//! Files in turn: sequences that fio 3.33 has logged.

use crate::recorded::{jobs_of, of_text};
use crate::{FILE_STEP, Ios};

/// File, offset in KiB.
fn places(options: &str, names: &str, lengths: &[u64]) -> Vec<(u64, u64)> {
    let text = format!("[job]\nfilename={names}\n{}\n", options.replace(' ', "\n"));
    let sections = of_text(&text, std::iter::once(lengths.to_vec())).unwrap();
    let ios: &Ios = &sections[0];
    ios.iter().map(|io| (io.1 / FILE_STEP, io.1 % FILE_STEP / 1024)).collect()
}

/// The others go on to their ends, and then all begin anew.
#[test]
fn a_file_at_its_end_waits_for_the_others_in_a_job_by_time() {
    let options = "rw=read bs=4k time_based runtime=300ms";
    let all = places(options, "f:g", &[8 << 10, 16 << 10]);
    let pass = [(0, 0), (1, 0), (0, 4), (1, 4), (1, 8), (1, 12)];
    assert_eq!(all[..12], [pass, pass].concat());
}

#[test]
fn a_file_shorter_than_a_block_has_no_ios() {
    let options = "rw=randwrite bs=16k randseed=1";
    let all = places(options, "h:i", &[8 << 10, 64 << 10]);
    assert_eq!(all, [(1, 0), (1, 32), (1, 48), (1, 16)]);
}

/// A file at its end begins anew.
#[test]
fn files_have_their_turns_by_a_law() {
    let lengths = [64 << 10; 3];
    let of = |options: &str| {
        let options = format!("{options} bs=16k io_size=192k");
        let all = places(&options, "f:g:h", &lengths);
        let shown = all.iter().map(|&(file, kib)| {
            let name = ["f", "g", "h"][file as usize];
            format!("{name}{kib}")
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        of("rw=randread file_service_type=zipf:1.2"),
        "f0 f32 f48 f16 f48 f16 g16 f0 g0 f32 f48 f0"
    );
    assert_eq!(
        of("rw=read file_service_type=gauss:20:0.5"),
        "g0 g16 g32 g48 g0 g16 g32 g48 g0 g16 g32 g48"
    );
    assert_eq!(
        of("rw=randread file_service_type=pareto:0.3"),
        "g0 f32 f48 g16 f16 g48 h16 f0 h48 g32 f32 f48"
    );
}

/// A file that has such a length draws none.
#[test]
fn lengths_of_files_are_drawn_from_a_range() {
    let of = |options: &str, before: &[u64]| {
        let options = options.replace(' ', "\n");
        let text = format!("[a]\nnrfiles=3\nrw=read\nfilesize=64k-128k\n{options}\n");
        jobs_of(&text).unwrap()[0].end_bytes(before)
    };
    let all = |options| [&[][..], &[0], &[0, 0]].map(|before| of(options, before).unwrap());
    assert_eq!(all("bs=4k"), [73_728, 81_920, 81_920]);
    assert_eq!(all("bs=4k allrandrepeat=1"), [110_592, 69_632, 69_632]);
    let wide = "random_generator=tausworthe64";
    assert_eq!(all(wide), [86_016, 86_016, 110_592]);
    assert_eq!(of(wide, &[65_536, 1 << 20]), Some(86_016));
}

/// The pass of each is as long as its own.
#[test]
fn clones_draw_lengths_of_their_own() {
    let options = "rw=read bs=4k filesize=64k-128k numjobs=3";
    let all = places(options, "f", &[256 << 10]);
    let ends = all.windows(2).filter(|ios| ios[1].1 == 0).map(|ios| ios[0].1);
    let ends: Vec<u64> = ends.chain(all.last().map(|io| io.1)).collect();
    assert_eq!(ends, [68, 76, 96]);
}

/// Without writes there is nothing to flush.
#[test]
fn a_mix_of_reads_alone_does_not_flush() {
    let all = places("rw=randrw rwmixread=100 bs=4k fsync=5", "f", &[64 << 10]);
    assert_eq!(all.len(), 16);
}

/// Blocks that are verified are whole sectors.
#[test]
fn lengths_of_any_number_of_bytes_are_not_verified() {
    let of = |options: &str| {
        let text = format!("[a]\nfilename=f\nrw=randwrite\nbsrange=4k-16k\n{options}");
        of_text(&text, std::iter::once(vec![1 << 20]))
    };
    assert!(of("bs_unaligned=1").is_ok());
    let refused = of("bs_unaligned=1\nverify=crc32c").unwrap_err();
    assert!(refused.contains("bs_unaligned with verify"), "{refused}");
}

/// The last block begins in the area and ends behind it: it is written, and read back.
#[test]
fn a_block_that_reaches_behind_the_area_is_verified() {
    let options = "rw=write bs=64k size=200k verify=crc32c";
    let all = places(options, "f", &[1 << 20]);
    let pass = [0, 64, 128, 192].map(|kib| (0, kib));
    assert_eq!(all, [pass, pass].concat());
}
