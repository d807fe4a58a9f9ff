use assay_units::text::{format_size, parse_size};

use super::WorkloadRecord;

impl WorkloadRecord {
    /// The sizes of a mix as `--bs` gives them, `4k/90:64k/10`, or as a range of fio, `4k-64k`;
    /// where reads and writes differ with a comma between them; `None` of one size. Taken from the
    /// options, which every version of the run folder has.
    pub fn block_size_mix(&self) -> Option<&str> {
        let mut words = self.options.split_whitespace();
        words.find(|word| *word == "--bs")?;
        let sizes = words.next()?;
        let used = match (sizes.split_once(','), self.rw.as_str()) {
            (Some((reads, _)), "read" | "randread") => reads,
            (Some((_, writes)), "write" | "randwrite") => writes,
            (Some((reads, writes)), _) if reads == writes => reads,
            _ => sizes,
        };
        Some(used).filter(|sizes| sizes.contains(['/', ':', ',', '-']))
    }

    /// Whether it went past the page cache; `None` where that is not known.
    pub fn known_direct(&self) -> Option<bool> {
        (!self.cache_unknown).then_some(self.direct)
    }

    /// The block size, nothing of a mix: the largest one times I/Os is not what was transferred.
    pub fn single_bs_bytes(&self) -> Option<u64> {
        self.block_size_mix().is_none().then_some(self.bs_bytes)
    }

    /// The block size for people: `4 KiB`, `4 KiB 90 %, 64 KiB 10 %`, `reads 4 KiB, writes 8 KiB`.
    pub fn block_size_text(&self) -> String {
        match self.block_size_mix() {
            None => format_size(self.bs_bytes),
            Some(mix) => match mix.split_once(',') {
                None => sizes_text(mix),
                Some((reads, writes)) => {
                    let [reads, writes] = [reads, writes].map(sizes_text);
                    format!("reads {reads}, writes {writes}")
                }
            },
        }
    }
}

/// Description of fio's `rw`.
pub fn rw_text(rw: &str) -> &str {
    match rw {
        "read" => "sequential read",
        "write" => "sequential write",
        "randread" => "random read",
        "randwrite" => "random write",
        "rw" | "readwrite" => "sequential mixed",
        "randrw" => "random mixed",
        "trim" => "sequential trim",
        "randtrim" => "random trim",
        "trace" => "trace replay",
        other => other,
    }
}

/// The sizes of one direction; what is no size stays as it was given.
fn sizes_text(sizes: &str) -> String {
    let size_text = |size: &str| parse_size(size).map_or_else(|_| size.to_owned(), format_size);
    let one = |part: &str| {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let size = match size.split_once('-') {
            Some((least, most)) => format!("{} to {}", size_text(least), size_text(most)),
            None => size_text(size),
        };
        match share.trim_end_matches('%') {
            "" => size,
            share => format!("{size} {share} %"),
        }
    };
    sizes.split(':').map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "../../tests/unit/model/block_sizes.rs"]
mod tests;
