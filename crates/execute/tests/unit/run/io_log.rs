use super::*;

/// A thread's share of an interval, with reads at these milliseconds.
fn share(end_ms: u64, at_ms: &[u64]) -> Interval {
    let read = |ms: &u64| SubmittedIo {
        at: Nanos(ms * 1_000_000),
        op: Op::Read,
        offset_bytes: ms * 4096,
        len_bytes: 4096,
    };
    Interval {
        index: 0,
        ramp: false,
        start: Nanos::ZERO,
        end: Nanos(end_ms * 1_000_000),
        ops: Vec::new(),
        submitted: at_ms.iter().map(read).collect(),
    }
}

/// Milliseconds of the lines, and the reads in their order.
fn written(shares: &[Interval]) -> (Vec<u64>, Vec<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = IoLog {
        file: BufWriter::new(File::create(&path).unwrap()),
        path: path.clone(),
        files: vec![JoinedPart { name: "drive".to_owned(), ..JoinedPart::default() }],
        later: Vec::new(),
        end: Nanos::ZERO,
        written: Nanos::ZERO,
        offset_bytes: 0,
    };
    shares.iter().for_each(|share| log.interval(share).unwrap());
    log.close().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let number = |word: &str| word.parse::<u64>().unwrap();
    let reads: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let reads = reads.iter().filter(|words| words.len() == 5);
    reads.map(|words| (number(words[0]) / 1000, number(words[3]) / 4096)).unzip()
}

/// A thread that hands over its share late, after others have gone on, is in its place; after more
/// than the time for which I/Os are held back, its I/Os follow, and times do not fall.
#[test]
fn a_late_share_is_in_order() {
    let (times, reads) = written(&[
        share(10, &[1, 9, 12]),
        share(500, &[480]),
        share(10, &[2, 8]),
        share(1500, &[1499]),
    ]);
    assert_eq!(times, [1, 2, 8, 9, 12, 480, 1499]);
    assert_eq!(reads, times);
    let (times, reads) = written(&[share(10, &[1]), share(3000, &[1700, 2900]), share(10, &[5])]);
    assert_eq!(reads, [1, 1700, 5, 2900]);
    assert_eq!(times, [1, 1700, 1700, 2900]);
}
