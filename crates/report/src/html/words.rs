//! How to read a section, in plain language.

use assay_store::model::CellKind;

use crate::axis::Axis;
use crate::grid::Section;

/// What a reader should look for in a section.
pub fn how_to_read(section: &Section<'_>) -> &'static str {
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
            "The drive is left alone and watched: what it draws and how warm it is when nothing is asked of it."
        }
        CellKind::Measure | CellKind::Prepare | CellKind::Purge => measured(section),
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
        "rw" | "randrw" | "readwrite" => {
            "Reads and writes mixed. Reads behind writes wait longest: compare the high percentiles of reads with those of reads alone."
        }
        _ => "One row per workload; the chart over time shows whether the figure was steady.",
    }
}

/// How to read a latency percentile curve.
pub const PERCENTILES: &str = "Percentile curves: at 99 % the curve shows the latency that 99 of 100 operations stay within; every further nine gets the same room. Lower and flatter is better; where a curve turns up is where waiting begins.";
