//! The limits that docs/reliability.md states are those of the code.

use assay_fio_job::{ini, job};
use assay_serve::nbd::protocol::{MAX_OPTION_BYTES, MAX_PAYLOAD_BYTES};
use assay_serve::nvme_tcp;
use assay_serve::server::{HANDSHAKE_TIMEOUT, MAX_CONNECTIONS, MAX_IN_FLIGHT_BYTES};
use assay_serve::vfio::backend::MAX_WAITING;
use assay_serve::vfio::protocol::MAX_DATA_BYTES;
use assay_units::Nanos;
use assay_units::text::group_digits;
use assay_workload::plan;

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{} KiB", b >> 10),
    }
}

fn seconds(span: Nanos) -> String {
    format!("{} s", span.0 / 1_000_000_000)
}

#[test]
fn the_limits_of_the_documents_are_those_of_the_code() {
    let count = |number: usize| group_digits(number as u64);
    let rows = [
        ("cells of a suite", vec![count(assay_suite::expand::MAX_CELLS)]),
        (
            "rounds of a step; jobs of a workload",
            vec![count(plan::MAX_JOBS as usize), count(plan::MAX_IN_FLIGHT as usize)],
        ),
        ("block size", vec![size(assay_io::MAX_IO_BYTES.into())]),
        ("line of a journal", vec![size(assay_store::journal::MAX_LINE_BYTES)]),
        ("drives of a recording", vec![count(assay_stream::index::MAX_DRIVES as usize)]),
        ("connections of `serve --nbd`", vec![count(MAX_CONNECTIONS), seconds(HANDSHAKE_TIMEOUT)]),
        ("requests in flight and unsent replies", vec![size(MAX_IN_FLIGHT_BYTES)]),
        (
            "connections of `serve --vfio-user`",
            vec![format!("{} that wait", count(MAX_WAITING)), seconds(HANDSHAKE_TIMEOUT)],
        ),
        ("message of a vfio-user client", vec![size(MAX_DATA_BYTES as u64)]),
        (
            "payload of an NBD request",
            vec![size(MAX_PAYLOAD_BYTES.into()), size(MAX_OPTION_BYTES.into())],
        ),
        (
            "commands of an NVMe/TCP host",
            vec![
                format!("{} per queue", nvme_tcp::MAX_ENTRIES),
                format!("{} I/O queues", nvme_tcp::MAX_QUEUES),
                size(nvme_tcp::IN_CAPSULE_BYTES as u64),
                seconds(nvme_tcp::COMMAND_LIMIT),
            ],
        ),
        ("profile file", vec![size(assay_sim_host::profile_file::MAX_BYTES)]),
        (
            "options, jobs, includes",
            vec![
                count(ini::MAX_OPTIONS),
                count(job::MAX_JOBS),
                format!("{} deep", ini::MAX_INCLUDE_DEPTH),
            ],
        ),
        ("points of a sweep", vec![group_digits(assay_fleet::sweep::MAX_POINTS)]),
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reliability.md");
    let text = std::fs::read_to_string(path).unwrap();
    for (about, limits) in rows {
        let begin = format!("| {about}");
        let row = text.lines().find(|line| line.starts_with(&begin));
        let row = row.unwrap_or_else(|| panic!("docs/reliability.md has a row {begin}"));
        for limit in limits {
            assert!(row.contains(&limit), "{limit} in {row}");
        }
    }
}
