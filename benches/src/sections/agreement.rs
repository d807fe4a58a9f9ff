//! The same work, measured by both programs in turn: do they say the same?

use std::path::Path;

use anyhow::Result;

use crate::Bench;
use crate::devices::TestDevice;
use crate::document::{Section, Table};
use crate::rounds::{Figure, Spread, take_turns};
use crate::tools::{Sample, Tool, Variant};

/// IOPS agree within this share.
const IOPS_WITHIN: f64 = 0.03;
/// p50 and p99 agree within this share.
const LATENCY_WITHIN: f64 = 0.05;

struct Case {
    name: String,
    assay: Variant,
    fio: Variant,
    /// Are both programs held to one rate, or is the drive what limits them? Otherwise the programs' own cost differs by design.
    same_by_right: bool,
}

/// Depth 1 with blocking reads and depth 32 with io_uring, on zram and on the root disk.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "agreement",
        "Agreement with fio",
        "4 KiB random reads with O_DIRECT. fio is run twice in every round, and \"fio again\" is its second run divided by its first: the\n\
         spread of a comparison of a program with itself. Latency is fio's `lat` (`clat` of io_uring begins only after the submitting\n\
         call has returned, which leaves out what completed inside it); its buckets are 1.6 % wide, those of assay 0.1 %. \"Unlimited\" on a\n\
         memory device shows the programs' own cost, which differs by design; there the valid comparison is the one at a fixed rate.\n\
         \"In flight\" is rate times mean latency (Little's law): where it is below the depth, the program spent the difference between taking\n\
         a completion and starting the next I/O, outside the latency that it reports. \"The same job file\" is one file that both programs\n\
         run (`assay job --fio FILE`, `fio FILE`).",
    );
    let span_ms = bench.span_ms(1_000);
    let folder = tempfile::tempdir()?;
    let zram = TestDevice::zram();
    let disk = TestDevice::disk();
    let mut cases = Vec::new();
    const SYNC: (&str, &str) = ("--engine sync", "--ioengine=psync --iodepth=1");
    // How many I/Os go with one notification of a virtual disk decides its rate (86 to 138 thousand IOPS here for fio alone), so it is
    // the same in both.
    const URING: (&str, &str) = (
        "--engine uring --iodepth 32 --iodepth_batch_complete_min 8",
        "--ioengine=io_uring --iodepth=32 --fixedbufs --registerfiles --iodepth_batch_submit=8 --iodepth_batch_complete_min=8 --iodepth_batch_complete_max=32",
    );
    const SYNC_RATE: (&str, &str) = (
        "--engine sync --rate_iops 20000",
        "--ioengine=psync --iodepth=1 --rate_iops=20000",
    );
    const URING_RATE: (&str, &str) = (
        "--engine uring --iodepth 32 --rate_iops 20000",
        "--ioengine=io_uring --iodepth=32 --fixedbufs --registerfiles --rate_iops=20000",
    );
    const ON_DISK: &[(&str, (&str, &str), bool)] = &[
        ("blocking, depth 1", SYNC, true),
        ("io_uring, depth 32", URING, true),
    ];
    const ON_ZRAM: &[(&str, (&str, &str), bool)] = &[
        ("blocking, depth 1, 20 k IOPS", SYNC_RATE, true),
        ("io_uring, depth 32, 20 k IOPS", URING_RATE, true),
        ("blocking, depth 1, unlimited", SYNC, false),
        ("io_uring, depth 32, unlimited", URING, false),
    ];
    for (device, work) in [(&disk, ON_DISK), (&zram, ON_ZRAM)] {
        match device {
            Ok(device) => {
                let path = device.path.as_str();
                cases.extend(work.iter().map(|&(how, (assay, fio), same_by_right)| {
                    let options = format!("{fio} --norandommap --lat_percentiles=1");
                    Case {
                        name: format!("{}, {how}", device.name),
                        assay: Variant::assay("assay", path, assay, span_ms),
                        fio: Variant::fio("fio", Some(path), &options, span_ms),
                        same_by_right,
                    }
                }));
                cases.extend(job_files(device, folder.path(), span_ms)?);
            }
            Err(error) => section.notes.push(format!("Not measured: {error:#}.")),
        }
    }
    let mut table = Table::new(&["", "", "assay", "fio", "assay / fio", "fio again"]);
    for case in &cases {
        compare(bench, case, &mut section, &mut table)?;
    }
    section.tables.push(table);
    Ok(section)
}

/// The same job file under both programs: blocking reads as fast as they go, and a queue at a fixed rate.
fn job_files(device: &TestDevice, folder: &Path, span_ms: u64) -> Result<Vec<Case>> {
    let limited = device.name == "zram";
    // A memory device without a limit shows the programs' own cost.
    let rate = if limited { "rate_iops=20000\n" } else { "" };
    let engines = [
        ("blocking", "ioengine=psync\n"),
        (
            "io_uring, depth 32",
            "ioengine=io_uring\niodepth=32\niodepth_batch=8\niodepth_batch_complete_min=8\niodepth_batch_complete_max=32\n",
        ),
    ];
    let case = |(how, engine): (&str, &str)| -> Result<Case> {
        let path = folder.join(format!("{}-{}.fio", device.name, how).replace([' ', ','], "-"));
        let text = format!(
            "[reads]\nfilename={}\nrw=randread\nbs=4k\ndirect=1\ninvalidate=0\nthread\nnorandommap\nlat_percentiles=1\ntime_based\nruntime={span_ms}ms\n{engine}{rate}",
            device.path
        );
        std::fs::write(&path, text)?;
        Ok(Case {
            name: format!("{}, the same job file, {how}", device.name),
            assay: Variant::job_file(Tool::Assay, "assay", &path),
            fio: Variant::job_file(Tool::Fio, "fio", &path),
            same_by_right: true,
        })
    };
    engines.into_iter().map(case).collect()
}

fn compare(bench: &Bench, case: &Case, section: &mut Section, table: &mut Table) -> Result<()> {
    let fio = || case.fio.clone();
    section
        .commands
        .extend([case.assay.command(), case.fio.command()]);
    let all = take_turns(bench, &case.name, vec![case.assay.clone(), fio(), fio()])?;
    // Both runs of fio.
    let fio = |figure: &dyn Fn(&Sample) -> f64| {
        Spread::of(
            all[1..]
                .iter()
                .flat_map(|series| &series.samples)
                .map(figure),
        )
    };
    let figures: [(_, Figure, _, _); 3] = [
        ("thousand IOPS", |s| s.iops / 1e3, IOPS_WITHIN, 2),
        ("p50 us", |s| s.p50_ns / 1e3, LATENCY_WITHIN, 2),
        ("p99 us", |s| s.p99_ns / 1e3, LATENCY_WITHIN, 1),
    ];
    let mut worst = Vec::new();
    let mut met = true;
    for (what, figure, within, digits) in figures {
        let pairs = all[1].samples.iter().zip(&all[2].samples);
        // The reference of a round is the mean of fio's two runs.
        let references = pairs.map(|(a, b)| (figure(a) + figure(b)) / 2.0);
        let rounds = all[0].samples.iter().zip(references);
        let ratio = rounds.map(|(ours, fio)| figure(ours) / fio.max(f64::MIN_POSITIVE));
        let ratio = Spread::of(ratio);
        table.row([
            &case.name,
            &what,
            &all[0].spread(figure).show(digits),
            &fio(&figure).show(digits),
            &ratio.show(3),
            &all[2].ratio(&all[1], figure).show(3),
        ]);
        met &= (ratio.median - 1.0).abs() <= within;
        worst.push(format!("{what} {:+.1} %", (ratio.median - 1.0) * 100.0));
    }
    table.row([
        &case.name,
        &"in flight",
        &all[0].spread(Sample::in_flight).show(1),
        &fio(&Sample::in_flight).show(1),
        &"",
        &"",
    ]);
    let (name, text) = (&case.name, worst.join(", "));
    if case.same_by_right {
        let goal = format!("{name}: IOPS within 3 %, p50 and p99 within 5 % of fio");
        section.goal(goal, text, met);
    } else {
        let note = format!("{name}: {text} (the programs' own cost, not the drive).");
        section.notes.push(note);
    }
    Ok(())
}
