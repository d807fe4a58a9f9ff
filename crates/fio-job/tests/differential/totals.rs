//! Totals that fio's runner of regression jobs (`t/run-fio-tests.py`) asks of its jobs, of jobs of
//! the same kinds.

use std::collections::BTreeSet;

use crate::Ios;
use crate::recorded::of_text;

const MIB: u64 = 1 << 20;

/// What the one section does on a file of this length.
fn ios(options: &str, file_bytes: u64) -> Ios {
    let text = format!("[job]\nfilename=f\n{}\n", options.replace(' ', "\n"));
    let mut sections = of_text(&text, std::iter::once(vec![file_bytes])).unwrap();
    sections.remove(0)
}

fn bytes(ios: &Ios, kind: char) -> u64 {
    let own = ios.iter().filter(|io| io.0 == kind);
    own.map(|io| io.2).sum()
}

/// t0005: what is written is read back once, some of it meanwhile.
#[test]
fn a_backlog_reads_back_all_that_was_written() {
    let all = ios("rw=write bs=4k verify=md5 verify_backlog=32 direct=1", 10 * MIB);
    assert_eq!(bytes(&all, 'w'), 10 * MIB);
    assert_eq!(bytes(&all, 'r'), 10 * MIB);
}

/// t0006: twice as many reads as writes.
#[test]
fn a_mix_with_a_backlog_reads_twice_as_much() {
    let all = ios(
        "rw=randrw bs=4k ioengine=libaio iodepth=32 verify=meta verify_backlog=256 direct=1",
        24 * MIB,
    );
    let ratio = bytes(&all, 'r') as f64 / bytes(&all, 'w') as f64;
    assert!((1.94..2.06).contains(&ratio), "{ratio}");
}

/// t0007: only whole blocks between the gaps, and none behind the end.
#[test]
fn gaps_leave_a_third_out() {
    let all = ios("rw=read:512k bs=1m norandommap direct=1", 32 * MIB);
    assert_eq!(bytes(&all, 'r'), 21 * MIB);
}

/// t0008: with its read-back a mix reads exactly the whole file.
#[test]
fn a_mix_reads_back_its_writes() {
    let all =
        ios("rw=readwrite bs=4k verify=crc32c verify_backlog=1 do_verify=1 direct=1", 16 * MIB);
    assert_eq!(bytes(&all, 'r'), 16 * MIB);
    let share = bytes(&all, 'w') as f64 / (8 * MIB) as f64;
    assert!((0.97..1.03).contains(&share), "{share}");
}

/// t0019 to t0022: every offset once, in order and at random; some more than once without a map.
#[test]
fn offsets_are_touched_in_order_and_at_random() {
    let offsets = |options: &str| {
        let all = ios(&format!("ioengine=null size=1m {options}"), MIB);
        let offsets: Vec<u64> = all.iter().map(|io| io.1 / 4096).collect();
        let steps = offsets.windows(2).filter(|pair| pair[1] == pair[0] + 1);
        let distinct: BTreeSet<u64> = offsets.iter().copied().collect();
        (offsets.len(), steps.count(), distinct.len())
    };
    assert_eq!(offsets("rw=read"), (256, 255, 256));
    for random in ["", " random_generator=lfsr"] {
        let (all, steps, distinct) = offsets(&format!("rw=randread{random}"));
        assert_eq!((all, distinct), (256, 256));
        assert!(steps <= 10, "{steps}");
    }
    let (all, steps, distinct) = offsets("rw=randread norandommap");
    assert!(all == 256 && steps <= 10 && distinct < 256, "{all} {steps} {distinct}");
}

/// t0023, t0024: each trim is followed by a write of the same blocks, and with a map all are.
#[test]
fn trims_are_followed_by_writes_of_the_same_blocks() {
    let sizes = ["", "bs=8k,8k,8k", "bsrange=512-4k", "bssplit=512/25:1k/:2k/:4k/"];
    for rw in ["trimwrite", "randtrimwrite", "randtrimwrite norandommap"] {
        for size in sizes {
            let words = format!("ioengine=null size=1m randrepeat=0 rw={rw} {size}");
            let all = ios(words.trim(), MIB);
            assert!(all.len() >= 256, "{words}");
            for pair in all.chunks(2) {
                let [trim, write] = pair else { panic!("{words}") };
                assert_eq!((trim.0, write.0), ('t', 'w'), "{words}");
                assert_eq!((trim.1, trim.2), (write.1, write.2), "{words}");
            }
            if !rw.ends_with("norandommap") {
                let sectors = all.iter().flat_map(|io| io.1 / 512..(io.1 + io.2) / 512);
                assert_eq!(sectors.collect::<BTreeSet<u64>>().len(), 2048, "{words}");
            }
        }
    }
}

/// t0031, t0032: `io_size` above `size` goes on in further passes.
#[test]
fn io_size_goes_over_the_area_again() {
    for rw in ["rw", "randrw", "randwrite norandommap"] {
        let all =
            ios(&format!("ioengine=null bs=128k size=1280k io_size=2560k rw={rw}"), 1280 << 10);
        assert_eq!(bytes(&all, 'r') + bytes(&all, 'w'), 2560 << 10, "{rw}");
    }
}
