//! A drive whose host link is simulated by the caller
//! ([`DriveOptions::external_link_bytes_per_second`]).

use crate::common;

use assay_ssd::{Completion, Drive, DriveOptions, Profile, Status};
use assay_units::rng::mix;
use assay_units::{Nanos, Op, Rng};
use common::{command, drive, one};

/// Hash of all completions of a mixed load: tags, times and statuses.
fn digest(drive: &mut Drive) -> u64 {
    let mut rng = Rng::stream(3, "load");
    let capacity = drive.identity().capacity_bytes;
    let (mut now, mut hash, mut out) = (0, 0, Vec::<Completion>::new());
    for tag in 0..3000 {
        now += rng.below(40_000);
        let op = [Op::Read, Op::Read, Op::Write, Op::Flush][rng.below(4) as usize];
        let units = 1 + rng.below(32);
        let offset = rng.below(capacity / 4096 - units) * 4096;
        drive.submit(Nanos(now), command(tag, op, offset, (units * 4096) as u32));
        drive.advance(Nanos(now), &mut out);
    }
    drive.advance(Nanos(u64::MAX - 1), &mut out);
    assert_eq!(out.len(), 3000);
    for completion in out {
        assert_eq!(completion.status, Status::Ok);
        hash = mix(hash, mix(u64::from(completion.tag), completion.at.0));
    }
    hash
}

/// The hashes are those of the model without the option; they change with model and profiles.
#[test]
fn without_the_option_every_completion_is_where_it_was() {
    let wrong = [
        ("mle-brief-960gb", 0xf20c_e9ca_e566_afc5_u64),
        ("samsung-960-evo", 0xa9c0_8760_9d8e_9395),
        ("intel-optane-p4800x", 0x67b0_a3c9_106f_2bc9),
        ("crucial-mx300", 0xba33_1343_f358_3912),
    ]
    .into_iter()
    .filter_map(|(name, expected)| {
        let hash = digest(&mut drive(name, DriveOptions::default()));
        (hash != expected).then(|| format!("{name}: {hash:#x}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

/// Latency of the first command of a drive, in nanoseconds.
fn latency_ns(name: &str, external: Option<u64>, op: Op, bytes: u32) -> u64 {
    let options =
        DriveOptions { external_link_bytes_per_second: external, ..DriveOptions::default() };
    let start = Nanos::MILLISECOND;
    let completion = one(&mut drive(name, options), start, command(0, op, 1 << 30, bytes));
    assert_eq!(completion.status, Status::Ok);
    completion.at.0 - start.0
}

#[test]
fn with_an_external_link_the_caller_adds_what_the_link_takes() {
    for name in ["mle-brief-960gb", "samsung-960-evo", "intel-p4510", "intel-600p"] {
        let link = Profile::builtin(name).unwrap().link;
        assert_eq!((link.generation.value, link.lanes.value), (3, 4));
        let payload = u64::from(link.max_payload_bytes.value);
        let packet = payload + u64::from(link.packet_overhead_bytes.value);
        let rate = 4 * 984_615_000 * payload / packet;
        let fixed_ns = link.fetch_ns.value + link.completion_ns.value;
        for op in [Op::Read, Op::Write] {
            for bytes in [4096, 16_384, 131_072] {
                let link_ns = fixed_ns + u64::from(bytes) * 1_000_000_000 / rate;
                let whole_ns = latency_ns(name, None, op, bytes);
                let inside_ns = latency_ns(name, Some(rate), op, bytes);
                let difference_ns = whole_ns.abs_diff(inside_ns + link_ns);
                // Every piece is rounded; the firmware's time per unit of a write may overlap its
                // transfer.
                let tolerance_ns = match op {
                    Op::Read => 40,
                    _ => link_ns - fixed_ns + 40,
                };
                assert!(
                    difference_ns <= tolerance_ns,
                    "{name}, {op:?} of {bytes} bytes: {whole_ns} ns with the link, {inside_ns} ns \
                     without, link {link_ns} ns"
                );
                assert!(inside_ns + fixed_ns <= whole_ns);
            }
        }
    }
}
