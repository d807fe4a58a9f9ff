use anyhow::Result;

use super::paced::paced;
use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::take_turns;
use crate::serving::{Front, Serving};

/// Of nbdkit's rate.
const GOAL_RATE: f64 = 1.0;

fn unpaced(bench: &Bench, section: &mut Section) -> Result<()> {
    let ours = Serving::assay(bench, Front::NbdUnix, "sim:samsung-951", "free", None)?;
    let theirs = Serving::nbdkit(Front::NbdUnix)?;
    ours.fill(bench)?;
    theirs.fill(bench)?;
    let mut table = Table::new(&["work", "server", "IOPS", "p50 us", "p99 us"]);
    for (work, options) in [
        ("random reads, depth 32", "--iodepth=32"),
        ("random writes, depth 32", "--iodepth=32 --rw=randwrite"),
        ("random reads, depth 1", "--iodepth=1"),
    ] {
        let span_ms = bench.span_ms(4000);
        let variants = vec![
            ours.job("assay serve --pace free", options, span_ms),
            theirs.job("nbdkit memory", options, span_ms),
        ];
        let all = take_turns(bench, work, variants)?;
        for series in &all {
            table.row([
                &work,
                &series.variant.label,
                &series.spread(|s| s.iops).show(0),
                &series.spread(|s| s.p50_ns / 1e3).show(1),
                &series.spread(|s| s.p99_ns / 1e3).show(1),
            ]);
            section.commands.push(series.variant.command());
        }
        let ratio = all[0].ratio(&all[1], |s| s.iops);
        section.goal(
            format!("{work}: at least {GOAL_RATE} times nbdkit's memory plugin, round by round"),
            format!("{} x", ratio.show(2)),
            ratio.median >= GOAL_RATE,
        );
    }
    section.tables.push(table);
    Ok(())
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "serve",
        "A simulated drive over NBD",
        "fio's nbd engine on a Unix socket, random 4 KiB blocks of a previously written 1 GiB. \
         *Unpaced*: virtual time runs as fast as it can, against nbdkit's memory plugin, which \
         has no model. *Paced*: filled simulated drives in real time. *Model* is a closed loop on \
         the model in this process; *model + round trip* adds to every I/O the round-trip \
         overhead that the server measured at its start (its 99th percentile with that of the \
         overhead; its rate with the mean overhead and with fio's time between a reply and the \
         next request, from fio's own figures). Every round starts a new server, so the overhead \
         is measured just before fio runs; there are three times as many paced rounds, each \
         short. The paced server and fio's reading thread share one processor, so that no reply \
         has to wake another processor; fio's main thread, which wakes a hundred times a second, \
         has the other. With several I/Os in flight one wake-up serves several, and fio lies \
         between the two. Unpaced, the kernel places server and fio.",
    );
    unpaced(bench, &mut section)?;
    paced(bench, &mut section, Front::NbdUnix)?;
    Ok(section)
}
