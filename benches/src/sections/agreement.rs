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
    /// `None`: both programs are held to one rate, or the drive limits them.
    no_goal: Option<&'static str>,
}

/// Without a limit, a memory device shows what the programs themselves cost, which differs by
/// design.
const OWN_COST: &str = "the programs' own cost, not the drive";
/// `ps -eL` shows a thread `iou-wrk` under both programs.
const WORKER_THREAD: &str = "zram has no non-blocking I/O, so a worker thread of the kernel serves \
io_uring, and the \
     latency is the time to wake that thread and, for fio, which sleeps until the completion, to \
     wake the program too; assay looks at the completion queue while it waits for the next due I/O";

/// Depth 1 with blocking reads and depth 32 with io_uring, on zram and on the root disk.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "agreement",
        "Agreement with fio",
        "4 KiB random reads with O_DIRECT. fio is run twice in every round, and \"fio again\" is \
         its second run divided by its first: the\nspread of a comparison of a program with \
         itself. Latency is fio's `lat` (`clat` of io_uring begins only after the \
         submitting\ncall has returned, which leaves out what completed inside it); its buckets \
         are 1.6 % wide, those of assay 0.1 %. \"Unlimited\" on a\nmemory device shows the \
         programs' own cost, which differs by design; there the valid comparison is the one at a \
         fixed rate.\n\"In flight\" is rate times mean latency (Little's law): where it is below \
         the depth, the program spent the difference between taking\na completion and starting \
         the next I/O, outside the latency that it reports. \"The same job file\" is one file \
         that both programs\nrun (`assay job --fio FILE`, `fio FILE`).",
    );
    let span_ms = bench.span_ms(1_000);
    let folder = tempfile::tempdir()?;
    let zram = TestDevice::zram();
    let disk = TestDevice::disk();
    let mut cases = Vec::new();
    const SYNC: (&str, &str) = ("--engine sync", "--ioengine=psync --iodepth=1");
    // How many I/Os go with one notification of a virtual disk decides its rate (86 to 138 thousand
    // IOPS here for fio alone), so it is the same in both.
    const URING: (&str, &str) = (
        "--engine uring --iodepth 32 --iodepth_batch_complete_min 8",
        "--ioengine=io_uring --iodepth=32 --fixedbufs --registerfiles --iodepth_batch_submit=8 \
         --iodepth_batch_complete_min=8 --iodepth_batch_complete_max=32",
    );
    const SYNC_RATE: (&str, &str) =
        ("--engine sync --rate_iops 20000", "--ioengine=psync --iodepth=1 --rate_iops=20000");
    const URING_RATE: (&str, &str) = (
        "--engine uring --iodepth 32 --rate_iops 20000",
        "--ioengine=io_uring --iodepth=32 --fixedbufs --registerfiles --rate_iops=20000",
    );
    type Work = (&'static str, (&'static str, &'static str), Option<&'static str>);
    const ON_DISK: &[Work] =
        &[("blocking, depth 1", SYNC, None), ("io_uring, depth 32", URING, None)];
    const ON_ZRAM: &[Work] = &[
        ("blocking, depth 1, 20 k IOPS", SYNC_RATE, None),
        ("io_uring, depth 32, 20 k IOPS", URING_RATE, Some(WORKER_THREAD)),
        ("blocking, depth 1, unlimited", SYNC, Some(OWN_COST)),
        ("io_uring, depth 32, unlimited", URING, Some(OWN_COST)),
    ];
    for (device, work) in [(&disk, ON_DISK), (&zram, ON_ZRAM)] {
        match device {
            Ok(device) => {
                let path = device.path.as_str();
                cases.extend(work.iter().map(|&(how, (assay, fio), no_goal)| {
                    let options = format!("{fio} --norandommap --lat_percentiles=1");
                    Case {
                        name: format!("{}, {how}", device.name),
                        assay: Variant::assay("assay", path, assay, span_ms),
                        fio: Variant::fio("fio", Some(path), &options, span_ms),
                        no_goal,
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

fn job_files(device: &TestDevice, folder: &Path, span_ms: u64) -> Result<Vec<Case>> {
    let limited = device.name == "zram";
    // A memory device without a limit shows the programs' own cost.
    let rate = if limited { "rate_iops=20000\n" } else { "" };
    let engines = [
        ("blocking", "ioengine=psync\n", None),
        (
            "io_uring, depth 32",
            "ioengine=io_uring\niodepth=32\niodepth_batch=8\niodepth_batch_complete_min=8\n\
             iodepth_batch_complete_max=32\n",
            limited.then_some(WORKER_THREAD),
        ),
    ];
    let case = |(how, engine, no_goal)| -> Result<Case> {
        let path = folder.join(format!("{}-{}.fio", device.name, how).replace([' ', ','], "-"));
        let text = format!(
            "[reads]\nfilename={}\nrw=randread\nbs=4k\ndirect=1\ninvalidate=0\nthread\n\
             norandommap\nlat_percentiles=1\ntime_based\nruntime={span_ms}ms\n{engine}{rate}",
            device.path
        );
        std::fs::write(&path, text)?;
        Ok(Case {
            name: format!("{}, the same job file, {how}", device.name),
            assay: Variant::job_file(Tool::Assay, "assay", &path),
            fio: Variant::job_file(Tool::Fio, "fio", &path),
            no_goal,
        })
    };
    engines.into_iter().map(case).collect()
}

fn compare(bench: &Bench, case: &Case, section: &mut Section, table: &mut Table) -> Result<()> {
    let fio = || case.fio.clone();
    section.commands.extend([case.assay.command(), case.fio.command()]);
    let all = take_turns(bench, &case.name, vec![case.assay.clone(), fio(), fio()])?;
    // Both runs of fio.
    let fio = |figure: &dyn Fn(&Sample) -> f64| {
        Spread::new(all[1..].iter().flat_map(|series| &series.samples).map(figure))
    };
    let figures: [(_, Figure, _, _); 3] = [
        ("thousand IOPS", |s| s.iops / 1e3, IOPS_WITHIN, 2),
        ("p50 us", |s| s.p50_ns / 1e3, LATENCY_WITHIN, 2),
        ("p99 us", |s| s.p99_ns / 1e3, LATENCY_WITHIN, 1),
    ];
    let mut differences = Vec::new();
    // Differences beyond the limits; of those, the ones beyond what fio differs from itself.
    let (mut beyond_limit, mut beyond_fio) = (0, 0);
    let mut fio_differs = 0.0_f64;
    for (what, figure, within, digits) in figures {
        let pairs = all[1].samples.iter().zip(&all[2].samples);
        // The reference of a round is the mean of fio's two runs.
        let references = pairs.map(|(a, b)| (figure(a) + figure(b)) / 2.0);
        let rounds = all[0].samples.iter().zip(references);
        let ratio = rounds.map(|(ours, fio)| figure(ours) / fio.max(f64::MIN_POSITIVE));
        let ratio = Spread::new(ratio);
        let again = all[2].ratio(&all[1], figure);
        table.row([
            &case.name,
            &what,
            &all[0].spread(figure).show(digits),
            &fio(&figure).show(digits),
            &ratio.show(3),
            &again.show(3),
        ]);
        let difference = ratio.median - 1.0;
        if difference.abs() > within {
            let itself = (again.max - 1.0).max(1.0 - again.min);
            beyond_limit += 1;
            beyond_fio += u32::from(difference.abs() > itself);
            fio_differs = fio_differs.max(itself);
        }
        differences.push(format!("{what} {:+.1} %", difference * 100.0));
    }
    table.row([
        &case.name,
        &"in flight",
        &all[0].spread(Sample::in_flight).show(1),
        &fio(&Sample::in_flight).show(1),
        &"",
        &"",
    ]);
    let (name, text) = (&case.name, differences.join(", "));
    let goal = format!("{name}: IOPS within 3 %, p50 and p99 within 5 % of fio");
    match case.no_goal {
        Some(reason) => section.notes.push(format!("{name}: {text} ({reason}).")),
        None if beyond_limit > 0 && beyond_fio == 0 => {
            let why = format!(
                "two runs of fio differ by up to {:.0} % in the same figure",
                fio_differs * 100.0
            );
            section.undecided_goal(goal, text, why);
        }
        None => section.goal(goal, text, beyond_limit == 0),
    }
    Ok(())
}
