use super::*;

fn workload(options: &str) -> WorkloadRecord {
    WorkloadRecord { bs_bytes: 64 << 10, options: options.to_owned(), ..WorkloadRecord::default() }
}

#[test]
fn a_mix_is_named_with_its_shares_and_has_no_one_size() {
    let text = |options| workload(options).block_size_text();
    assert_eq!(text("--rw read --bs 64k --iodepth 1"), "64 KiB");
    assert_eq!(text("--bs 4k/90:64k/10"), "4 KiB 90 %, 64 KiB 10 %");
    assert_eq!(text("--bs 4k:64k --rw read"), "4 KiB, 64 KiB");
    let both = "--rw randrw --bs 4k,128k";
    assert_eq!(text(both), "reads 4 KiB, writes 128 KiB");
    let reads = WorkloadRecord { rw: "randread".to_owned(), ..workload(both) };
    assert_eq!(reads.block_size_mix(), None);
    assert_eq!(workload(both).single_bs_bytes(), None);
    assert_eq!(workload("--bs 64k").single_bs_bytes(), Some(64 << 10));
    assert_eq!(workload("").single_bs_bytes(), Some(64 << 10));
}
