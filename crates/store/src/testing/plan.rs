//! The plan of the fixture's run.

use std::collections::BTreeMap;

use assay_units::text::compact_size;
use assay_units::{GIB, KIB, Nanos};

use super::{CREATED, RUN_ID, SHAPES, Size};
use crate::model::{CellKind, CellPlan, Drive, Host, Manifest, SCHEMA, Suite, Tool, Workload};

/// The fixture's manifest.
pub fn manifest(size: Size) -> Manifest {
    Manifest {
        schema: SCHEMA,
        run_id: RUN_ID.to_owned(),
        created: CREATED.to_owned(),
        tool: Tool {
            name: "assay".to_owned(),
            version: "0.1.0".to_owned(),
            commit: "fixture".to_owned(),
        },
        command_line: ["assay", "run", "bandwidth", "sim:samsung-951", "sim:intel-600p", "--scale", "0.1"]
            .map(str::to_owned)
            .to_vec(),
        suite: Suite {
            name: "bandwidth".to_owned(),
            title: "Read and write bandwidth".to_owned(),
            summary: "Random and sequential bandwidth over block sizes and threads, a soak with temperature, and all drives at once. Made-up figures for tests.".to_owned(),
            source: "report A".to_owned(),
            text: "name = \"bandwidth\"\ntitle = \"Read and write bandwidth\"\n".to_owned(),
        },
        parameters: BTreeMap::from([
            ("area".to_owned(), "16GiB".to_owned()),
            ("runtime".to_owned(), "10s".to_owned()),
        ]),
        scale: 0.1,
        seed: 7,
        host: Host {
            kernel: "6.1.0-fixture".to_owned(),
            cpu_model: "Fixture CPU, \"two\" cores".to_owned(),
            logical_cpus: 2,
            memory_bytes: 8 * GIB,
            details: BTreeMap::from([("clocksource".to_owned(), "tsc".to_owned())]),
        },
        drives: SHAPES
            .iter()
            .map(|shape| Drive {
                probe: Vec::new(),
                power_limits_mw: BTreeMap::new(),
                published: Vec::new(),
                spec: format!("sim:{}", shape.label),
                label: shape.label.to_owned(),
                kind: "simulated".to_owned(),
                model: shape.model.to_owned(),
                serial: shape.serial.to_owned(),
                firmware: "FIXTURE1".to_owned(),
                capacity_bytes: 512_110_190_592,
                logical_block_bytes: 512,
                simulated: true,
                profile: Some("fixture".to_owned()),
                details: BTreeMap::from([("link".to_owned(), "PCIe 3.0 x4".to_owned())]),
            })
            .collect(),
        cells: cells(size),
    }
}

/// What one planned cell is built from.
struct Spec<'a> {
    step: &'a str,
    title: &'a str,
    kind: CellKind,
    rw: &'a str,
    bs_bytes: u64,
    numjobs: u32,
    data: &'a str,
}

fn cells(size: Size) -> Vec<CellPlan> {
    let mut cells = Vec::new();
    let sweep: &[u64] = if size.whole_table {
        &[
            512,
            KIB,
            2 * KIB,
            4 * KIB,
            8 * KIB,
            16 * KIB,
            32 * KIB,
            64 * KIB,
            128 * KIB,
            256 * KIB,
        ]
    } else {
        &[4 * KIB]
    };
    let random_threads: &[u32] = if size.whole_table { &[16, 64] } else { &[16] };
    let stream_threads: &[u32] = if size.whole_table {
        &[1, 2, 3, 4]
    } else {
        &[1]
    };
    for drive in 0..SHAPES.len() {
        let mut add = |spec: Spec<'_>| cells.push(plan(&spec, &[drive], size));
        add(Spec {
            step: "prepare",
            title: "Fill the area",
            kind: CellKind::Prepare,
            rw: "write",
            bs_bytes: 128 * KIB,
            numjobs: 1,
            data: "incompressible",
        });
        for &numjobs in random_threads {
            for &bs_bytes in sweep {
                add(Spec {
                    step: "random-read",
                    title: "Random read",
                    kind: CellKind::Measure,
                    rw: "randread",
                    bs_bytes,
                    numjobs,
                    data: "incompressible",
                });
            }
        }
        for &numjobs in stream_threads {
            for bs_bytes in [64 * KIB, 128 * KIB] {
                add(Spec {
                    step: "sequential-read",
                    title: "Sequential read",
                    kind: CellKind::Measure,
                    rw: "read",
                    bs_bytes,
                    numjobs,
                    data: "incompressible",
                });
            }
        }
        for data in ["zero", "incompressible"] {
            add(Spec {
                step: "zero-area",
                title: "Zeroed against incompressible area",
                kind: CellKind::Measure,
                rw: "randrw",
                bs_bytes: 16 * KIB,
                numjobs: 4,
                data,
            });
        }
        add(Spec {
            step: "soak",
            title: "Read soak",
            kind: CellKind::Soak,
            rw: "read",
            bs_bytes: 128 * KIB,
            numjobs: 4,
            data: "incompressible",
        });
        let mut skipped = plan(
            &Spec {
                step: "file-read",
                title: "Sequential read through the file system",
                kind: CellKind::Measure,
                rw: "read",
                bs_bytes: 128 * KIB,
                numjobs: 1,
                data: "as found",
            },
            &[drive],
            size,
        );
        skipped.skipped = Some("needs a file; name one as the drive to measure it".to_owned());
        cells.push(skipped);
    }
    let both: Vec<usize> = (0..SHAPES.len()).collect();
    let aboard = Spec {
        step: "all-aboard",
        title: "All drives at once",
        kind: CellKind::AllAboard,
        rw: "randread",
        bs_bytes: 64 * KIB,
        numjobs: 16,
        data: "incompressible",
    };
    cells.push(plan(&aboard, &both, size));
    let failed = Spec {
        step: "discard",
        title: "Discard",
        kind: CellKind::Inspect,
        rw: "read",
        bs_bytes: 128 * KIB,
        numjobs: 1,
        data: "unwritten",
    };
    cells.push(plan(&failed, &both[1..], size));
    cells
}

fn plan(spec: &Spec<'_>, drives: &[usize], size: Size) -> CellPlan {
    let bs = compact_size(spec.bs_bytes);
    let owner = match drives {
        [one] => SHAPES[*one].label,
        _ => "all",
    };
    let intervals = if spec.kind == CellKind::Soak {
        size.soak_intervals
    } else {
        size.intervals
    };
    CellPlan {
        id: format!(
            "{owner}/{}/bs={bs},numjobs={},data={}",
            spec.step, spec.numjobs, spec.data
        ),
        step: spec.step.to_owned(),
        title: spec.title.to_owned(),
        kind: spec.kind,
        drives: drives.to_vec(),
        workload: Workload {
            rw: spec.rw.to_owned(),
            bs_bytes: spec.bs_bytes,
            iodepth: 1,
            numjobs: spec.numjobs,
            engine: "sim".to_owned(),
            direct: true,
            span_bytes: 16 * GIB,
            offset_bytes: 0,
            data: spec.data.to_owned(),
            runtime_ns: Nanos::from_secs(intervals.saturating_sub(1)).0,
            ramp_ns: Nanos::SECOND.0,
            rate_iops: 0.0,
            options: format!("--rw={} --bs={bs} --numjobs={}", spec.rw, spec.numjobs),
            ..Workload::default()
        },
        ..CellPlan::default()
    }
}
