//! I/Os with a priority of their own: those of fio, by its log of latencies.

use std::process::Command;

use assay_units::Rng;

use crate::has_fio;
use crate::recorded::priorities_of;

const FILES: u64 = 40;
const FILE_BYTES: u64 = 2 << 20;

/// Operation, length and priority of each I/O.
fn by_fio(text: &str) -> Vec<(char, u64, u16)> {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{text}write_lat_log=log\nlog_prio=1\ndisable_clat=1\ndisable_slat=1\n");
    std::fs::write(folder.path().join("job.fio"), &text).unwrap();
    let file = std::fs::File::create(folder.path().join("f0")).unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let output = Command::new("timeout")
        .args(["-k", "2", "20", "fio", "job.fio", "--output=out"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}\n{said}");
    let log = std::fs::read_to_string(folder.path().join("log_lat.1.log")).unwrap();
    let entry = |line: &str| {
        let words: Vec<&str> = line.split(", ").collect();
        let letter = ['r', 'w', 't'][words[2].parse::<usize>().ok()?];
        let priority = words.last()?.trim_start_matches("0x");
        let priority = u16::from_str_radix(priority, 16).ok()?;
        Some((letter, words[3].parse().ok()?, priority))
    };
    log.lines().map(|line| entry(line).unwrap()).collect()
}

fn text_of(seed: u64) -> String {
    let mut rng = Rng::stream(seed, "priorities");
    let mut of = |words: &[&str]| words[rng.below(words.len() as u64) as usize].to_owned();
    let rw = of(&["read", "write", "rw", "randread", "randwrite", "randrw"]);
    let sizes = of(&["bs=4k", "bsrange=4k-16k", "bssplit=4k/50:8k/50", "bs=4k,8k"]);
    let which = match of(&["0", "1"]).as_str() {
        "0" => format!("cmdprio_percentage={}", of(&["30", "10,60", "0,50", "100"])),
        _ => format!(
            "cmdprio_bssplit={}",
            of(&[
                "4k/50:8k/20",
                "8k/30/1/4:4k/20/2/0:4k/40/3/7,4k/10",
                "4k/10/0/3:4k/:16k/100,8k/25:4k/25:8k/50/2/2",
            ])
        ),
    };
    let class = of(&["", "cmdprio_class=2", "cmdprio_class=3,1"]);
    let level = of(&["", "cmdprio=5", "cmdprio=1,7"]);
    let more = match rw.contains("write") {
        true => of(&["", "loops=2", "randseed=9", "verify=crc32c"]),
        false => of(&["", "loops=2", "randseed=9"]),
    };
    format!(
        "[a]\nfilename=f0\nioengine=libaio\ndirect=0\nthread\nrw={rw}\n{sizes}\n{which}\n{class}\n\
         {level}\n{more}\n"
    )
}

#[test]
fn the_same_ios_have_a_priority() {
    if !has_fio() {
        return;
    }
    let mut with_priority = 0;
    for seed in 0..FILES {
        let text = text_of(seed);
        let theirs = by_fio(&text);
        let own = priorities_of(&text, FILE_BYTES).unwrap();
        with_priority += own.iter().filter(|io| io.2 > 0).count();
        let both = own.iter().zip(&theirs);
        let at = both.take_while(|(own, theirs)| own == theirs).count();
        assert_eq!(own.get(at), theirs.get(at), "seed {seed}, I/O {at}:\n{text}");
    }
    assert!(with_priority > 1000, "{with_priority}");
}
