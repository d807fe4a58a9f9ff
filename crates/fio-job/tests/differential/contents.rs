//! What is written: the bytes of fio where its options define them, else how often blocks repeat.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use assay_units::Rng;

use crate::has_fio;
use crate::recorded::content_of;

const FILES: u64 = 40;

fn by_fio(folder: &Path, text: &str, len_bytes: u64) -> Vec<u8> {
    std::fs::write(folder.join("job.fio"), text).unwrap();
    let file = std::fs::File::create(folder.join("f0")).unwrap();
    file.set_len(len_bytes).unwrap();
    let output =
        Command::new("fio").args(["job.fio", "--output=out"]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}\n{said}");
    std::fs::read(folder.join("f0")).unwrap()
}

/// A file of some sections of writes whose data fio defines.
fn text_of(seed: u64) -> (String, u64) {
    let mut rng = Rng::stream(seed, "contents");
    let mut of = |words: &[&str]| words[rng.below(words.len() as u64) as usize].to_owned();
    let rw = of(&["write", "randwrite", "write", "randwrite", "write:8k"]);
    let pattern = of(&[
        "0xdeadbeef",
        "0xdeadbee",
        "305419896",
        "-7",
        "\"abcd\"",
        "0xff\"abcd\"-12",
        "\"text of several words\"",
        "0x00",
        "0x0",
        "255",
        "65536",
    ]);
    let pattern = format!("buffer_pattern={pattern}");
    let data = match of(&["0", "1", "2", "3", "4"]).as_str() {
        "0" => "zero_buffers=1".to_owned(),
        "1" => format!("{pattern}\nbuffer_compress_percentage=100"),
        "2" => format!("buffer_compress_percentage=100\n{pattern}"),
        "3" => format!("zero_buffers=1\n{pattern}"),
        _ => pattern,
    };
    let refill = of(&["", "refill_buffers=1", "refill_buffers=0"]);
    let sizes = of(&["bs=4k", "bs=512", "bsrange=1k-16k", "bssplit=4k/50:12k/50", "bs=5k"]);
    let engine = of(&["psync", "libaio\niodepth=4"]);
    let len_bytes = (64 + rng.below(200)) * 1024;
    let text = format!(
        "[a]\nfilename=f0\nioengine={engine}\nthread\nrw={rw}\n{sizes}\n{data}\n{refill}\n"
    );
    (text, len_bytes)
}

#[test]
fn patterns_and_zeros_are_fio_s_bytes() {
    if !has_fio() {
        return;
    }
    for seed in 0..FILES {
        let (text, len_bytes) = text_of(seed);
        let folder = tempfile::tempdir().unwrap();
        let theirs = by_fio(folder.path(), &text, len_bytes);
        let own = content_of(&text, len_bytes).unwrap();
        let at = own.iter().zip(&theirs).position(|(own, theirs)| own != theirs);
        if let Some(at) = at {
            let (own, theirs) = (&own[at..], &theirs[at..]);
            let end = own.len().min(16);
            panic!(
                "seed {seed} at {at}: assay {:x?}, fio {:x?}\n{text}",
                &own[..end],
                &theirs[..end]
            );
        }
    }
}

/// The share of blocks that are there once, by fio and by assay.
fn distinct(options: &str, len_bytes: u64, block_bytes: usize) -> [f64; 2] {
    let text = format!("[a]\nfilename=f0\nioengine=psync\nthread\nrw=write\n{options}\n");
    let folder = tempfile::tempdir().unwrap();
    let theirs = by_fio(folder.path(), &text, len_bytes);
    let own = content_of(&text, len_bytes).unwrap();
    [theirs, own].map(|content| {
        let blocks: BTreeSet<&[u8]> = content.chunks_exact(block_bytes).collect();
        blocks.len() as f64 / (content.len() / block_bytes) as f64
    })
}

#[test]
fn as_many_blocks_repeat_as_in_fio() {
    if !has_fio() {
        return;
    }
    for (options, len_bytes, block_bytes) in [
        ("bs=4k dedupe_percentage=40", 16 << 20, 4096),
        ("bs=4k dedupe_percentage=90", 16 << 20, 4096),
        ("bs=4k dedupe_percentage=0", 4 << 20, 4096),
        ("bs=4k dedupe_percentage=100", 4 << 20, 4096),
        ("bs=16k dedupe_percentage=50 dedupe_mode=repeat", 32 << 20, 16384),
        ("bs=4k size=16m dedupe_percentage=60 dedupe_mode=working_set", 16 << 20, 4096),
        (
            "bs=4k size=16m dedupe_percentage=80 dedupe_mode=working_set \
             dedupe_working_set_percentage=1",
            16 << 20,
            4096,
        ),
        (
            "bs=4k size=16m dedupe_percentage=50 dedupe_mode=working_set \
             dedupe_working_set_percentage=50",
            16 << 20,
            4096,
        ),
        ("bs=4k dedupe_percentage=40 buffer_compress_percentage=50", 16 << 20, 4096),
    ] {
        let options = options.split_whitespace().collect::<Vec<_>>().join("\n");
        let [theirs, own] = distinct(&options, len_bytes, block_bytes);
        // Five standard deviations of a binomial of 2,048 blocks are 5.6 points.
        let near = (theirs - own).abs() < 0.056;
        assert!(near, "fio {theirs:.3}, assay {own:.3} distinct: {options}");
    }
}
