//! Files in turn: sequences that fio 3.33 has logged.

use crate::recorded::of_text;
use crate::{FILE_STEP, Ios};

/// File, offset in KiB.
fn places(options: &str, names: &str, lengths: &[u64]) -> Vec<(u64, u64)> {
    let text = format!("[job]\nfilename={names}\n{}\n", options.replace(' ', "\n"));
    let sections = of_text(&text, std::iter::once(lengths.to_vec())).unwrap();
    let ios: &Ios = &sections[0];
    ios.iter()
        .map(|io| (io.1 / FILE_STEP, io.1 % FILE_STEP / 1024))
        .collect()
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
