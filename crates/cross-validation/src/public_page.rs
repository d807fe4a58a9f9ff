//! The section of docs/fidelity.md on public drives.

use std::fmt::Write as _;

use assay_calibrate::public_reads::PublicRead;
use assay_calibrate::read_curve::kind::Kind;

use crate::public::{Held, held, host, of_kind};

const INTRODUCTION: &str = "\
## Public drives, from their ratings alone

The section above leaves out drives of which everything else was chosen with them in view. These
public drives no part of `assay predict` had seen: the two ratings of reads and the capacity go in
(`reference/public/ratings.csv`, `drives.csv`), and its prediction of 4 KiB random reads is
compared with what others measured (`reference/public/measurements.csv.zst`; for SATA and 3D
XPoint, of which that has one drive each, also the texts of reviews:
`reference/public/reviews.csv`). `make predictions PART=public` repeats it in seconds.

Two predictions stand side by side: by the seven drives of the section above alone, as it was
before this test; and as `assay predict` says now, which knows four kinds of drives. What is usual
of a kind is learned from the other public drives of it, without the drive and its model.

| drive | rated IOPS, MB/s | in flight | measured | seven drives alone | held | now | held |
|---|--:|--:|--:|--:|---|--:|---|
";

const HOST: &str = "
Where one process of the host was the limit, or may have been, the interval is that of hosts, not
of the drive: a factor of 1.6 either way from a current one.

| drive | rated IOPS, MB/s | in flight | measured | one process | held |
|---|--:|--:|--:|--:|---|
";

const SUMS: &str = "
Errors: median, nine of ten within, worst.

| drives | number | seven alone | held | now | held |
|---|--:|--:|--:|--:|--:|
";

const FINDINGS: &str = "
**From the seven drives alone the intervals held for 5 of 14 drives.** The causes, and what follows
from them in the curve (`crates/calibrate/src/read_curve/kind.rs`):

- **Three bits per cell.** Data sheets of such drives rate reads of the SLC cache, and a read of
  data outside of it keeps its die busy for nearly as long as it takes, about 80 us. So the dies are
  the limit: of `n` reads in flight on `d` dies `n d / (n + d - 1)` are served, the others wait.
  How many dies there are follows from the capacity (of 256 Gbit, or of 512 where more than PCIe 3
  carries is rated). Where the capacity is not known, the share of the rating is learned.
- **SATA.** The interface is the limit, not the flash: 100,000 reads/s of 100 us keep ten dies
  busy, and the drives have more. They give what they are rated for, beside an SLC cache too.
- **3D XPoint.** A read takes 10 us, so 16 in flight saturate the drive, and the limit is bytes/s:
  the rated MB/s, since there is neither page nor read-ahead. Random reads are rated at 4 or 16 in
  flight, where something is left.

**Other numbers in flight.** The figures of three bits per cell above all have 64 in flight. Two
drives of 2 TB were measured at others, and no source states both of their ratings; whatever they
are taken to be (400,000 to 1,000,000 reads/s), the predictions are within 40 % and in their
intervals (`crates/calibrate/tests/unit/read_curve.rs`): a Rocket 4 Plus with 2, 8, 32 and 64
threads, a Samsung EVO with 1, 8 and 16 in flight. An earlier form of the curve, which let a single
read take longer instead, gave a third of the EVO's reads with 16 in flight. The time of a single
read is that of these two drives.

**What this does not show.** The causes were found in these very drives, so only drives that come
later can test them. Three SATA drives and two with 3D XPoint are few: beside them the intervals
rest on assumed widths (a quarter of a rating), which count as three drives. The depth of the two
SATA figures from reviews is not stated; the interface allows no more than 32. One 3D XPoint figure
is \"about 1300 MB/s\". That all 5 intervals hold shows little.

**What is not explained.** Dies of one size differ: eight of 256 Gbit give 82,000 to 135,000
reads/s, sixteen 174,000 to 241,000; and how large a drive's dies are is assumed. The SATA drive 870
is an 870 EVO by its ratings; the source says 870.
";

fn kilo(iops: f64) -> String {
    format!("{:.0}k", iops / 1e3)
}

fn interval([centre, low, high]: [f64; 3]) -> String {
    format!("{} ({} to {})", kilo(centre), kilo(low), kilo(high))
}

fn is_inside(r: &PublicRead, [_, low, high]: [f64; 3]) -> &'static str {
    if (low..=high).contains(&r.iops) { "yes" } else { "**no**" }
}

fn row(r: &PublicRead) -> String {
    let family = if r.is_of_family { " (family)" } else { "" };
    let (seven, all) = (r.by_flash, r.predicted);
    format!(
        "| {} | {}{family}, {} | {} | {} | {} | {} | {} | {} |\n",
        r.drive,
        kilo(r.rated_iops),
        r.rated_mb,
        r.in_flight,
        kilo(r.iops),
        interval(seven),
        is_inside(r, seven),
        interval(all),
        is_inside(r, all)
    )
}

fn host_row(r: &PublicRead) -> String {
    format!(
        "| {} | {}, {} | {} | {} | {} | {} |\n",
        r.drive,
        kilo(r.rated_iops),
        r.rated_mb,
        r.in_flight,
        kilo(r.iops),
        interval(host()),
        is_inside(r, host())
    )
}

fn score(held: Option<Held>) -> String {
    held.map_or_else(String::new, |Held { errors, inside, of }| {
        let [median, nine, worst] = errors;
        format!("{median:.0} / {nine:.0} / {worst:.0} % | {inside} of {of}")
    })
}

fn title(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Cached) => "NVMe, three bits per cell",
        Some(Kind::Flash) => "NVMe, two bits per cell",
        Some(Kind::Sata) => "SATA",
        Some(Kind::XPoint) => "3D XPoint",
        None => "limited by the host, by its interval",
    }
}

pub fn markdown(all: &[PublicRead]) -> String {
    let mut out = INTRODUCTION.to_owned();
    let mut sums = SUMS.to_owned();
    for kind in Kind::ALL.map(Some).into_iter().chain([None]) {
        let these = of_kind(all, kind);
        let now = match kind {
            None => {
                out.push_str(HOST);
                these.iter().for_each(|r| out.push_str(&host_row(r)));
                held(&these, |_| host())
            }
            Some(_) => {
                these.iter().for_each(|r| out.push_str(&row(r)));
                held(&these, |r| r.predicted)
            }
        };
        let seven = score(held(&these, |r| r.by_flash));
        let (title, number) = (title(kind), these.len());
        if number > 0 {
            let _ = writeln!(sums, "| {title} | {number} | {seven} | {} |", score(now));
        }
    }
    out + &sums + FINDINGS
}
