//! How to read a section, in plain language.

use assay_store::model::{CellKind, View};

use crate::axis::Axis;
use crate::grid::Section;

/// What a reader should look for in a section.
pub fn how_to_read(section: &Section<'_>) -> &'static str {
    if let Some(view) = section.view.filter(|_| section.kind != CellKind::Idle) {
        return viewed(view);
    }
    match section.kind {
        CellKind::Soak => {
            "One long run. A drive that keeps its rate draws a flat line; one that falls while its temperature rises is protecting itself from heat, and one that falls without heating up has run out of a cache. What counts for long jobs is the level it settles at, not where it starts."
        }
        CellKind::AllAboard => {
            "Every drive first alone, then all at once. Near 100 % of alone means that the drives do not get in each other's way; less means that they share a limit: the host's processors (see idle), a PCIe switch or the memory. The table second by second reads like iostat."
        }
        CellKind::Inspect => {
            "What the areas that were read actually hold. Many drives answer reads of blank or compressible areas without touching their flash, so figures from such areas say little about the flash."
        }
        CellKind::Idle => {
            "The drive is left alone and watched: what it draws and how warm it is when nothing is asked of it. Power that falls in steps shows the drive entering its sleep states; a drive without a reading says nothing of its power, and needs a meter. A temperature that stays high at rest is one the next test begins with."
        }
        CellKind::Measure | CellKind::Prepare | CellKind::Purge => measured(section),
    }
}

fn viewed(view: View) -> &'static str {
    match view {
        View::Consistency => {
            "Every dot is one second of random writes, on a logarithmic axis: a tight band is a drive that can be relied on, a cloud or two bands one that stalls its host or throttles. The first fall is where the spare area is used up and collection begins; what counts is the last part, shown again below, whose mean is the score and whose mean over standard deviation is the consistency (twice the value is half the scatter). With more spare area the same drive should settle higher: how much it gains is what over-provisioning is worth on it."
        }
        View::Knee => {
            "The rate rises with the queue depth until the drive is busy; from there on more depth only makes every operation wait longer, which the lower panel shows. The ring marks the lowest depth with 95 % of the best rate, and the table compares drives there, not at one fixed depth that would flatter some and punish others. A low depth at the knee is good, and so is a p99.99 that stays flat up to it."
        }
        View::Load => {
            "Operations are sent when they are due, whether or not earlier ones are done, as a service sees its clients. Latency counts from the moment an operation was due (solid); the dotted line counts from when it was sent, which is all that closed-loop tests can see. The knee (ringed) is the load up to which the tail stays short: plan for less than that, because beyond it waiting grows without end."
        }
        View::Rounds => {
            "The same cells are measured round after round until the tracked one rests, by the rule that stands below the first table (SNIA's unless the suite has another: over five rounds its figures lie within 20 % of their mean, and the line through them rises or falls by at most 10 %). The charts show what the window holds by block size, the way there round by round, and the window that was judged, with its mean, the rule's limits above and below, and the line. Only the figures of that window are in the tables; where steady state was not achieved they are marked, and are no figures of a drive at rest."
        }
        View::Saturation => {
            "One write without end onto a purged drive. The high level at the start is the drive fresh, the steps down are caches that fill and spare area that is used up, and the level at the end is what it does for ever. Shown against capacities written instead of time, drives of different sizes and speeds can be compared: where between one and two the fall ends depends on their spare area."
        }
        View::Thermal => {
            "The drive is worked until its temperature and rate settle. Shaded is where it holds itself back for heat: when that begins, how hot it is then, what rate is left and for how much of the time says what it is worth without better cooling. A drive whose rate stays level while its temperature does too needs none."
        }
        View::Peak | View::Continuous => {
            "A stream of chunks, written or read in order with many in flight, from the first submission to the last completion. At one chunk the set-up of a first command shows; short streams fit into caches and show the peak; at a cliff something is full. The level line is what the stream averages that does not end: a recorder that must never wait can count on that, and on more only for as long as the cache lasts. A drive whose points stay at its line holds its rate."
        }
        View::Capacity => {
            "Every block was written with its own address and number in it and read back. A block that holds another place's data means that addresses share flash: the drive is smaller than it says, or puts writes where they do not belong. Only a drive with nothing found, and all of it verified, holds what it says."
        }
    }
}

fn measured(section: &Section<'_>) -> &'static str {
    let rw = section
        .points
        .first()
        .map_or("", |p| p.plan().workload.rw.as_str());
    let buffered = section.points.iter().all(|p| !p.plan().workload.direct);
    if section.varying().contains(&Axis::Data) {
        return "The same reads from an area of random data and from one that is blank or zeroed. Equal figures mean that the drive reads its flash in both cases; a ratio well above 1 means that it knows the blank area holds nothing and answers without reading. Benchmarks on blank drives measure the latter.";
    }
    if buffered && rw.contains("read") {
        return "Through the file system and its page cache, as an ordinary program reads. Read-ahead can make one thread much faster here than with direct reads; data still in memory would be faster than any drive.";
    }
    match rw {
        "read" | "write" | "randread" | "randwrite"
            if section.row_axis == Some(Axis::BlockSize) && section.points.iter().all(alone) =>
        {
            "One operation at a time, from the smallest transfer to the largest: what a program waits that cannot go on without its data. Bandwidth that still rises at the right edge means that the drive had not enough to do; a step at 4 KiB or below shows what smaller transfers cost on a drive that maps by larger units."
        }
        "read" | "write" | "randread" | "randwrite"
            if section.row_axis == Some(Axis::TotalDepth) =>
        {
            "The depth is what all threads have in flight together. Where a line turns flat the drive is saturated: one that does so at depth 1 or 2 is as fast for a single program as for a busy server, one that needs 32 shows its figure on the box only there. Compare the percentiles at the depth that you work at; rate and latency can be looked at on linear and logarithmic axes."
        }
        "randread" if section.row_axis == Some(Axis::BlockSize) => {
            "Each thread reads one block at a random place, waits for it and takes the next, so the number of threads is the number of reads in flight. Small blocks show how many operations the drive can do; large ones how much data. Where more threads bring nothing, the drive is saturated; where they bring less, they get in each other's way."
        }
        "randread" => {
            "Reads at random places. More in flight keeps more of the flash busy, up to the point where only the waiting grows."
        }
        "read" => {
            "Each thread reads its own region from front to back, one block in flight. One thread shows how well the drive reads ahead by itself; a drive that gains from more threads was waiting for its host."
        }
        "write" => {
            "Writing from front to back. Many drives write into a fast cache first: the lower level in the chart over time is what they do when it is full, and the one that counts for large copies."
        }
        "randwrite" => {
            "Writes at random places, the hardest work for flash: the drive must clear old data while it takes new. Look at how steady the rate is over time, and at the high percentiles."
        }
        _ if section.varying().contains(&Axis::ReadShare) => {
            "Reads and writes mixed, from all writes to all reads. A drive that falls below the straight line between its two ends loses time between the two kinds of work; the latency of each is drawn by itself, because it is the reads that wait behind the writes."
        }
        "rw" | "randrw" | "readwrite" => {
            "Reads and writes mixed. Reads behind writes wait longest: compare the high percentiles of reads with those of reads alone."
        }
        _ => "One row per workload; the chart over time shows whether the figure was steady.",
    }
}

fn alone(point: &crate::grid::Point<'_>) -> bool {
    point.plan().workload.iodepth * point.plan().workload.numjobs == 1
}

/// How to read a latency percentile curve.
pub const PERCENTILES: &str = "Percentile curves: at 99 % the curve shows the latency that 99 of 100 operations stay within; every further nine gets the same room. Lower and flatter is better; where a curve turns up is where waiting begins.";
