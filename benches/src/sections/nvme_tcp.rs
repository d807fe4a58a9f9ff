use anyhow::{Context, Result};
use assay_units::Nanos;

use super::paced::{SHARED_PROCESSOR, on_shared_processor, paced};
use crate::Bench;
use crate::document::{Section, Table};
use crate::hosts::{Op, Work};
use crate::rounds::{Figure, Spread};
use crate::serving::{AREA_BYTES, Front, Serving};
use crate::tools::{Sample, Variant};

/// Of the rate of NBD on the same port.
const GOAL_NBD: f64 = 1.0;
/// Of the rate of nbdkit's memory plugin, by fio.
const GOAL_NBDKIT: f64 = 1.5;
/// Four connections, of the rate of one.
const GOAL_CONNECTIONS: f64 = 1.6;
/// Above NBD's median latency at queue depth 1.
const GOAL_BEYOND_US: f64 = 6.0;
const SPAN_MS: u64 = 2000;
const RAMP_MS: u64 = 100;

const SHARED: &str = "random reads, depth 1, one processor";
const SINGLE: &str = "random reads, depth 1, two processors";
const DEEP: &str = "random reads, depth 32";
const WRITES: &str = "random writes, depth 32";
const FOUR: &str = "random reads, 4 connections of depth 32";
const OURS: &str = "assay, NVMe/TCP";
const OURS_NBD: &str = "assay, NBD";
const NBDKIT: &str = "nbdkit memory, NBD";

/// How a row is measured.
#[derive(Clone, Copy)]
enum By {
    /// With the hosts of this program: connections, operation, depth of each.
    Host(u16, Op, u32),
    /// Random reads at depth 1, with the host on the processor of the server.
    Shared,
    Fio,
}

impl By {
    fn host(self) -> &'static str {
        match self {
            By::Fio => "fio",
            _ => "this program",
        }
    }
}

struct Row<'a> {
    work: &'static str,
    server: &'static str,
    serving: &'a Serving,
    by: By,
    samples: Vec<Sample>,
}

impl Row<'_> {
    fn job(&self, bench: &Bench) -> Variant {
        let span_ms = bench.span_ms(SPAN_MS);
        self.serving.job("", "--iodepth=32", span_ms)
    }

    fn measure(&mut self, bench: &Bench) -> Result<()> {
        let work = |op, depth| Work {
            op,
            depth,
            area_bytes: AREA_BYTES,
            ramp: Nanos::from_millis(RAMP_MS),
            span: Nanos::from_millis(bench.span_ms(SPAN_MS)),
        };
        let serving = self.serving;
        self.samples.push(match self.by {
            By::Fio => self.job(bench).run(&bench.runner)?,
            By::Shared => on_shared_processor(|| serving.work(1, work(Op::Read, 1)))?,
            By::Host(connections, op, depth) => serving.work(connections, work(op, depth))?,
        });
        Ok(())
    }

    fn spread(&self, figure: Figure) -> Spread {
        Spread::new(self.samples.iter().map(figure))
    }
}

fn unpaced(bench: &Bench, section: &mut Section) -> Result<()> {
    let start = |front, on| Serving::assay(bench, front, "sim:samsung-951", "free", on);
    let on = Some(SHARED_PROCESSOR);
    let (nvme, nbd) = (start(Front::NvmeTcp, None)?, start(Front::NbdTcp, None)?);
    let (nvme_on, nbd_on) = (start(Front::NvmeTcp, on)?, start(Front::NbdTcp, on)?);
    let nbdkit = Serving::nbdkit(Front::NbdTcp)?;
    for serving in [&nvme, &nbd, &nvme_on, &nbd_on, &nbdkit] {
        serving.fill(bench)?;
    }
    let read = |connections, depth| By::Host(connections, Op::Read, depth);
    let write = By::Host(1, Op::Write(4096), 32);
    let row = |(work, server, serving, by)| Row { work, server, serving, by, samples: Vec::new() };
    let mut rows = [
        (SHARED, OURS, &nvme_on, By::Shared),
        (SHARED, OURS_NBD, &nbd_on, By::Shared),
        (SINGLE, OURS, &nvme, read(1, 1)),
        (SINGLE, OURS_NBD, &nbd, read(1, 1)),
        (DEEP, OURS, &nvme, read(1, 32)),
        (DEEP, OURS_NBD, &nbd, read(1, 32)),
        (DEEP, NBDKIT, &nbdkit, read(1, 32)),
        (DEEP, OURS_NBD, &nbd, By::Fio),
        (DEEP, NBDKIT, &nbdkit, By::Fio),
        (WRITES, OURS, &nvme, write),
        (WRITES, OURS_NBD, &nbd, write),
        (FOUR, OURS, &nvme, read(4, 32)),
        (FOUR, OURS_NBD, &nbd, read(4, 32)),
    ]
    .map(row);
    bench.repeat("unpaced", bench.rounds(), |_| {
        rows.iter_mut().try_for_each(|row| {
            bench.runner.check_stopped()?;
            row.measure(bench)
        })
    })?;
    let mut table = Table::new(&["work", "server", "host", "IOPS", "p50 us", "p99 us"]);
    for row in &rows {
        table.row([
            &row.work,
            &row.server,
            &row.by.host(),
            &row.spread(|s| s.iops).show(0),
            &row.spread(|s| s.p50_ns / 1e3).show(1),
            &row.spread(|s| s.p99_ns / 1e3).show(1),
        ]);
        if matches!(row.by, By::Fio) {
            section.commands.push(row.job(bench).command());
        }
    }
    section.tables.push(table);
    goals(section, &rows)
}

/// Round by round.
fn goals(section: &mut Section, rows: &[Row<'_>]) -> Result<()> {
    let find = |work, server, host| {
        let is_it = |row: &&Row<'_>| (row.work, row.server, row.by.host()) == (work, server, host);
        let row = rows.iter().find(is_it).context("the row is not measured")?;
        Ok::<_, anyhow::Error>(&row.samples)
    };
    let (this, fio) = ("this program", "fio");
    let pairs = find(SHARED, OURS, this)?.iter().zip(find(SHARED, OURS_NBD, this)?);
    let beyond_us = Spread::new(pairs.map(|(nvme, nbd)| (nvme.p50_ns - nbd.p50_ns) / 1e3));
    section.goal(
        format!("{SHARED}: median latency at most {GOAL_BEYOND_US:.0} us above NBD over TCP"),
        format!("{} us", beyond_us.show(1)),
        beyond_us.median <= GOAL_BEYOND_US,
    );
    let deep = find(DEEP, OURS, this)?;
    for (title, one, other, least) in [
        ("NBD over TCP by fio", deep, find(DEEP, OURS_NBD, fio)?, GOAL_NBD),
        ("NBD over TCP with equal hosts", deep, find(DEEP, OURS_NBD, this)?, GOAL_NBD),
        ("nbdkit's memory plugin over TCP by fio", deep, find(DEEP, NBDKIT, fio)?, GOAL_NBDKIT),
        ("one connection, with four", find(FOUR, OURS, this)?, deep, GOAL_CONNECTIONS),
    ] {
        let pairs = one.iter().zip(other);
        let ratio = Spread::new(pairs.map(|(one, other)| one.iops / other.iops.max(1.0)));
        section.goal(
            format!("{DEEP}: at least {least:.1} times {title}"),
            format!("{} x", ratio.show(2)),
            ratio.median >= least,
        );
    }
    Ok(())
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "nvme-tcp",
        "A simulated drive over NVMe/TCP",
        "Random 4 KiB blocks of a previously written 1 GiB, over the loopback interface. \
         *Unpaced*: virtual time runs as fast as it can, against the same drive over NBD, and \
         nbdkit's memory plugin, which has no model. fio has no host of NVMe/TCP. This program's \
         hosts of both protocols work alike: one thread for each connection sends what it has when \
         nothing received is left. fio's nbd engine stands beside them. One connection at depth 32 \
         already occupies two processors, one with the server and one with the host. At depth 1 \
         the goal is measured on one processor, because waking the other one takes 5 to 20 us, \
         varying by the minute. *Paced*: filled simulated drives in real time, measured as over \
         NBD (see the page of `serve`), with this program's host and the server on one processor.",
    );
    unpaced(bench, &mut section)?;
    paced(bench, &mut section, Front::NvmeTcp)?;
    Ok(section)
}
