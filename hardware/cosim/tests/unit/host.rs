use assay_stream::range::StreamRange;
use assay_stream::record::RecordOptions;
use assay_stream::registers::{Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::SizedSource;

use super::*;

const DRIVE: &str = "rtl:sim:mle-brief-960gb";

/// Drives that keep data behind a core with chunks of 16 KiB; `None` without its model.
fn host(drives: usize) -> Option<CoreHost> {
    let drive = CoreDrive::parse(DRIVE, true).expect("a drive");
    let options = CoreHostOptions { chunk_bytes: 16 << 10, ..CoreHostOptions::default() };
    match CoreHost::new(vec![drive; drives], &options) {
        Ok(host) => Some(host),
        Err(CoreHostError::Core(CoreError::World(WorldError::Model(error)))) => {
            let reason = error.skip_reason().unwrap_or_else(|| panic!("{error}"));
            println!("skipped: {reason}");
            None
        }
        Err(error @ CoreHostError::Configuration { .. }) if drives > 1 => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn names_are_those_of_simulated_nvme_drives() {
    for (name, part) in [
        ("sim:samsung-951", "simulated drives only"),
        ("rtl:disk", "simulated drives only"),
        ("rtl:null:", "simulated drives only"),
        ("rtl:rtl:sim:samsung-951", "co-simulated streaming core"),
        ("rtl:sim:crucial-mx300", "Serial ATA"),
        ("rtl:sim:none-such", "none-such"),
        ("rtl:sim:samsung-951,colour=red", "colour"),
        ("rtl:", "no drive given"),
    ] {
        let error = CoreDrive::parse(name, false).expect_err(name).to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
    let drive = CoreDrive::parse("rtl:sim:samsung-951,seed=7", true).expect("a drive");
    assert_eq!(drive.options.seed, 7);
    assert!(drive.options.keep_data);
}

#[test]
fn an_error_lists_the_models() {
    let error = CoreHostError::Configuration { drives: 3, chunk_bytes: 64 << 10, data_width: 128 };
    let text = error.to_string();
    for one in CONFIGURATIONS {
        let chunk = format_size(u64::from(one.chunk_bytes()));
        let name = format!("{} x {chunk} at {} bits", one.drives, one.data_width);
        assert!(text.contains(&name), "{text}");
    }
    let has_others = CONFIGURATIONS.iter().any(|one| !one.is_built());
    assert_eq!(text.contains("--features all-configurations"), has_others);
}

#[test]
fn flushed_data_outlive_a_power_loss() {
    for drives in [1, 2] {
        let Some(mut host) = host(drives) else {
            continue;
        };
        let link = host.link(0);
        assert_eq!(link.as_ref().and_then(|link| link.width), Some(4));
        let chunk = 16 << 10;
        let range = StreamRange {
            first: chunk,
            last: 8 * chunk,
            chunk_bytes: chunk as u32,
            drives: drives as u32,
        };
        let pattern = assay_integrity::pattern::Pattern::new(3);
        let options = RecordOptions { flush_after: true, ..RecordOptions::default() };
        let bytes = range.bytes();
        let recorded = host
            .streamer()
            .expect("the drives are up")
            .record(
                &range,
                &mut SizedSource::pattern(pattern, bytes),
                &options,
                &Registers::default(),
            )
            .expect("the simulation runs");
        assert_eq!(recorded.status.durable_bytes, bytes);

        assert!(host.lose_power());
        assert_eq!(host.link(0), link);
        let mut sink = Vec::new();
        let replayed = host
            .streamer()
            .expect("the drives are up again")
            .replay(&range, None, &mut sink, ReplayOptions::default(), &Registers::default())
            .expect("the simulation runs");
        assert!(replayed.status.status.has(StatusBits::FINISHED));
        let mut expected = vec![0; bytes as usize];
        pattern.at(0).fill(&mut expected);
        assert!(sink == expected, "the bytes replayed differ");
    }
}
