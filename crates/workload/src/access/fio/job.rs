//! What a job of fio says about its I/Os, and the areas of its threads.

use super::files::FioFiles;
use super::random::{FILE_SIZE_OFF, Seeds, Tausworthe};
use super::{Law, PerDirection, PriorityShare, SpRandom, ZoneJob};
use crate::access::StridedZones;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    #[default]
    Tausworthe,
    Tausworthe64,
    /// A shift register, which needs no map.
    Lfsr,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioSizes {
    pub least_bytes: u64,
    pub most_bytes: u64,
    /// `bssplit`: lengths and their percentages, the smallest percentage first.
    pub split: Vec<(u64, u32)>,
}

/// What a job of fio says about its I/Os.
#[derive(Clone, Debug, PartialEq)]
pub struct FioAccess {
    pub reads: bool,
    pub writes: bool,
    pub trims: bool,
    pub random: bool,
    /// `rw=read:8k`.
    pub gap_bytes: i64,
    /// `rw=randread:8`.
    pub run: u32,
    pub read_percent: u32,
    pub sizes: PerDirection<FioSizes>,
    pub align_bytes: PerDirection<u64>,
    /// `bs_is_seq_rand`: the sizes of reads for sequential I/Os, those of writes for random ones.
    pub sizes_by_order: bool,
    pub unaligned: bool,
    pub has_map: bool,
    pub generator: Generator,
    pub sprandom: Option<SpRandom>,
    pub law: Law,
    /// `percentage_random`.
    pub random_percent: PerDirection<u32>,
    /// `rw_sequencer=identical`.
    pub identical: bool,
    pub zones: Option<StridedZones>,
    /// `zonemode=zbd`.
    pub zoned: Option<ZoneJob>,
    pub time_based: bool,
    pub loops: u64,
    /// `io_size`, 0 without.
    pub io_bytes: u64,
    pub ios: Option<u64>,
    /// Bytes per second, 0 without a limit.
    pub rates: PerDirection<u64>,
    /// The engine queues I/Os.
    pub is_async: bool,
    pub verifies: bool,
    /// What a pass has written is read back after it (`do_verify`).
    pub reads_back: bool,
    pub reads_back_meanwhile: bool,
    /// Each pass begins with an empty page cache.
    pub drops_cache: bool,
    /// Each pass begins with the random numbers of the first.
    pub repeats: bool,
    /// `do_verify=0`: a file at its end has no turn in a further pass either, unless passes are
    /// asked for (`reset_io_counters`).
    pub keeps_ends: bool,
    /// I/Os with a priority of their own.
    pub priorities: PerDirection<Vec<PriorityShare>>,
    /// Of the first thread.
    pub seeds: Seeds,
    /// The file's name, on which the places of hot blocks depend.
    pub file: String,
    pub files: FioFiles,
}

impl FioAccess {
    pub fn least_bytes(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.least_bytes).min().unwrap_or(0)
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.sizes.iter().map(|sizes| sizes.most_bytes).max().unwrap_or(0)
    }

    pub(super) fn mixes(&self) -> bool {
        self.reads && self.writes
    }

    pub(super) fn trims_and_writes(&self) -> bool {
        self.trims && self.writes
    }
}

/// The area of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioPart {
    pub offset_bytes: u64,
    /// `io_size` of the file in fio's source.
    pub area_bytes: u64,
    /// `size`: a pass ends after so many.
    pub pass_bytes: u64,
    /// Length of the file or the drive.
    pub capacity_bytes: u64,
}

/// The areas of a job's threads, as `setup_files` of fio 3.33 finds them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioArea {
    pub capacity_bytes: u64,
    pub offset: Extent,
    pub increment: Extent,
    /// `None`: to the end.
    pub size: Option<Extent>,
    pub file_bytes: Option<u64>,
    /// Where it is at random, of each thread.
    pub file_sizes: Option<FileSizes>,
    pub io_percent: Option<u64>,
    /// Percentages of offsets are rounded up to it.
    pub offset_align_bytes: u64,
    /// Percentages of sizes are rounded down to it.
    pub least_bytes: u64,
    /// The number of the first thread among the clones of its section, and the threads; fio counts
    /// the clones behind the first backwards.
    pub first_clone: u64,
    pub threads: u64,
    /// Each of so many threads has its own part, where they would overwrite one another.
    pub split: Option<u64>,
    /// Length of the zones in whole ones of which a job works that writes.
    pub whole_zones_bytes: Option<u64>,
}

/// `filesize=64k-128k`: `get_rand_file_size` of fio 3.33, for files of other lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSizes {
    pub least_bytes: u64,
    pub most_bytes: u64,
    /// Lengths are multiples of it.
    pub align_bytes: u64,
    /// Files before it that have drawn.
    pub place: u32,
    /// Of the first thread.
    pub seeds: Seeds,
    pub wide: bool,
}

impl FileSizes {
    pub fn has(&self, bytes: u64) -> bool {
        (self.least_bytes..=self.most_bytes).contains(&bytes)
    }

    pub fn draw(&self, worker: u32) -> u64 {
        let seeds = self.seeds.of_worker(worker).of_thread();
        let mut random = Tausworthe::new(seeds[FILE_SIZE_OFF], self.wide);
        for _ in 0..self.place {
            random.next();
        }
        let range = self.most_bytes.saturating_sub(self.least_bytes);
        let bytes = self.least_bytes + (range as f64 * random.share()) as u64;
        bytes - bytes % self.align_bytes.max(1)
    }
}

/// A length, or a share of the file or drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Bytes(u64),
    Percent(u64),
}

fn percent_of(bytes: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

impl FioArea {
    /// `get_start_offset`.
    fn start(&self, clone: u64) -> Option<u64> {
        let (increment, mut aligns) = match self.increment {
            Extent::Bytes(bytes) => (bytes, false),
            Extent::Percent(percent) => (percent_of(self.capacity_bytes, percent), percent > 0),
        };
        let first = match self.offset {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(percent) => {
                aligns |= percent > 0;
                percent_of(self.capacity_bytes, percent)
            }
        };
        let offset = first.checked_add(clone.checked_mul(increment)?)?;
        match aligns {
            true => offset.checked_next_multiple_of(self.offset_align_bytes.max(1)),
            false => Some(offset),
        }
    }

    /// `None`: it begins behind the end.
    pub fn part(&self, worker: u32) -> Option<FioPart> {
        let clone = match worker {
            0 => 0,
            worker => self.threads.saturating_sub(worker.into()),
        };
        let offset_bytes = self.start(self.first_clone + clone)?;
        let room = self.capacity_bytes.checked_sub(offset_bytes)?;
        let of_worker = |sizes: FileSizes| sizes.draw(worker).min(self.capacity_bytes);
        let file_bytes = self.file_sizes.map(of_worker).or(self.file_bytes);
        let file = file_bytes.unwrap_or(self.capacity_bytes);
        let mut area_bytes = match (file_bytes, self.size) {
            (Some(file), _) => file.checked_sub(offset_bytes)?,
            (None, Some(Extent::Bytes(bytes))) => bytes,
            _ => room,
        };
        if let Some(Extent::Percent(percent)) = self.size
            && percent != 100
        {
            let bytes = percent_of(file, percent).min(area_bytes);
            area_bytes = bytes - bytes % self.least_bytes.max(1);
        }
        // A file that exists is not made longer.
        area_bytes = area_bytes.min(room);
        let mut part = FioPart {
            offset_bytes,
            area_bytes,
            pass_bytes: match self.size {
                Some(Extent::Bytes(bytes)) => bytes.min(area_bytes),
                _ => area_bytes,
            },
            capacity_bytes: self.capacity_bytes,
        };
        if let Some(percent) = self.io_percent {
            part.pass_bytes = part.pass_bytes.min(percent_of(area_bytes, percent));
        }
        if let Some(parts) = self.split {
            let own = area_bytes / parts;
            let own = own - own % self.least_bytes.max(1);
            part.offset_bytes += u64::from(worker) * own;
            (part.area_bytes, part.pass_bytes) = (own, part.pass_bytes.min(own));
        }
        if let Some(zone) = self.whole_zones_bytes.filter(|&zone| zone > 0) {
            // `zbd_zone_align_file_sizes`.
            let end = part.offset_bytes + part.area_bytes;
            part.offset_bytes = part.offset_bytes.next_multiple_of(zone);
            part.area_bytes = (end - end % zone).saturating_sub(part.offset_bytes);
        }
        Some(part)
    }
}
