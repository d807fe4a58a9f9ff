//! Published figures of the drives that profiles model, to be shown beside simulated ones.
//!
//! The figures are those of `reference/*.csv` at the repository's root, embedded here. The model never reads them: a profile's
//! numbers were fitted to some of them, and nothing else connects the two.

/// Who published the bandwidths: the report, by name.
pub const BANDWIDTH_SOURCE: &str = "DragonFly: NVMe M.2 bandwidth tests (M. Dillon)";

const RANDOM_READ: &str = include_str!("../../../reference/random_read_bandwidth.csv");
const SEQUENTIAL_READ: &str = include_str!("../../../reference/sequential_read_bandwidth.csv");

/// A published read bandwidth: one block in flight per thread, on an area filled with incompressible data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadBandwidth {
    /// Random, or each thread sequential in its own region.
    pub random: bool,
    /// Threads, one I/O in flight each.
    pub threads: u32,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// All threads together.
    pub mib_per_s: f64,
}

impl ReadBandwidth {
    /// How far a simulated figure is from this one, in per cent of this one; negative when it is lower.
    pub fn error_pct(&self, simulated_mib_per_s: f64) -> f64 {
        (simulated_mib_per_s / self.mib_per_s - 1.0) * 100.0
    }
}

/// The published read bandwidths of the drive that a profile models; empty where none were.
pub fn read_bandwidths(profile: &str) -> Vec<ReadBandwidth> {
    [(RANDOM_READ, true), (SEQUENTIAL_READ, false)]
        .into_iter()
        .flat_map(|(text, random)| text.lines().filter_map(move |line| row(line, random)))
        .filter(|(name, _)| *name == profile)
        .map(|(_, figure)| figure)
        .collect()
}

/// `drive,threads,block_bytes,mib_per_s`; `None` for the heading.
fn row(line: &str, random: bool) -> Option<(&str, ReadBandwidth)> {
    let mut fields = line.trim().split(',');
    let name = fields.next()?;
    let figure = ReadBandwidth {
        random,
        threads: fields.next()?.parse().ok()?,
        block_bytes: fields.next()?.parse().ok()?,
        mib_per_s: fields.next()?.parse().ok()?,
    };
    Some((name, figure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_figure() {
        for (text, random) in [(RANDOM_READ, true), (SEQUENTIAL_READ, false)] {
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some("drive,threads,block_bytes,mib_per_s"));
            for line in lines {
                let (_, figure) = row(line, random).unwrap_or_else(|| panic!("{line}"));
                assert!(figure.mib_per_s > 0.0 && figure.block_bytes.is_power_of_two());
            }
        }
    }

    #[test]
    fn figures_are_found_by_profile() {
        let figures = read_bandwidths("samsung-951");
        let found = |random, threads, block_bytes| {
            let same = |f: &&ReadBandwidth| {
                (f.random, f.threads, f.block_bytes) == (random, threads, block_bytes)
            };
            figures.iter().find(same).map(|f| f.mib_per_s)
        };
        assert_eq!(found(true, 64, 32_768), Some(1660.0));
        assert_eq!(found(false, 1, 65_536), Some(1090.0));
        assert!(read_bandwidths("no such drive").is_empty());
    }
}
