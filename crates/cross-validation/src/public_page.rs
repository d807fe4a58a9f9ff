//! The section of docs/fidelity.md on public drives.

use std::fmt::Write as _;

use assay_calibrate::public_reads::{Group, PublicRead};

use crate::public::{Held, held, host, of_group};

const INTRODUCTION: &str = "\
## Public drives, from their ratings alone

The section above leaves out drives of which everything else was chosen with them in view. These
public drives no part of `assay predict` had seen: the two ratings of reads go in
(`reference/public/ratings.csv`), and its prediction of 4 KiB random reads is compared with what
others measured (`reference/public/measurements.csv.zst`). `make predictions PART=public` repeats
it in seconds.

Two predictions stand side by side: by the seven drives of the section above alone, as it was
before this test; and as `assay predict` says now, where the other public drives with three or
more bits per cell say what is left of the rated reads beside an SLC cache. That number of a drive
is learned without the drive and its model.

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
**From the seven drives alone the intervals held for 4 of 9 drives with an SLC cache; in the other
five the true rate lay below them.** The likely cause: data sheets of such drives rate reads of the
cache, and data outside of it are sensed by pages of three bits per cell, which takes longer. It
fits that of two SN720 with the same flash the one of twice the capacity reads 1.91 times as fast:
a limit of dies. The seven were read right after their area was written, and most have two bits per
cell. With what the other public drives leave of the rated reads, 7 of 9 intervals hold. When nine
are promised at 90 % each, 7 or fewer hold in 23 of 100 cases by chance: nine drives do not tell
whether the promise is kept. And the cause was found in these very drives, so only drives that come
later can test it.

**What is not explained.** The A2000, of the lowest rating, gives more of it than the others, and
the SN770, of the highest, less. Perhaps the controller limits the one and the dies the other; two
ratings do not tell. For 3D XPoint and SATA `assay predict` is wrong: no such drive is among those
that teach (the SATA drive is an 870 EVO by its ratings; the source says 870).
";

fn kilo(iops: f64) -> String {
    format!("{:.0}k", iops / 1e3)
}

fn interval([centre, low, high]: [f64; 3]) -> String {
    format!("{} ({} to {})", kilo(centre), kilo(low), kilo(high))
}

fn is_inside(r: &PublicRead, [_, low, high]: [f64; 3]) -> &'static str {
    if (low..=high).contains(&r.iops) {
        "yes"
    } else {
        "**no**"
    }
}

fn row(r: &PublicRead) -> String {
    let family = if r.is_of_family { " (family)" } else { "" };
    let (seven, all) = (r.predicted, r.beside_cache);
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

fn title(group: Group) -> &'static str {
    match group {
        Group::Cached => "NVMe, three bits per cell",
        Group::Uncached => "3D XPoint",
        Group::Sata => "SATA",
        Group::Host => "limited by the host, by its interval",
    }
}

pub fn markdown(all: &[PublicRead]) -> String {
    let mut out = INTRODUCTION.to_owned();
    let mut sums = SUMS.to_owned();
    for group in Group::ALL {
        let these = of_group(all, group);
        let now = match group {
            Group::Host => {
                out.push_str(HOST);
                these.iter().for_each(|r| out.push_str(&host_row(r)));
                held(&these, |_| host())
            }
            _ => {
                these.iter().for_each(|r| out.push_str(&row(r)));
                held(&these, |r| r.beside_cache)
            }
        };
        let seven = score(held(&these, |r| r.predicted));
        let (title, number) = (title(group), these.len());
        let _ = writeln!(sums, "| {title} | {number} | {seven} | {} |", score(now));
    }
    out + &sums + FINDINGS
}
