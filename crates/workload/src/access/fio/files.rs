//! The files of a job in turn: `set_io_u_file` and `get_next_file` of fio 3.33.

use super::random::{self, Seeds, ShiftRegister, Tausworthe};
use super::{FioAccess, FioAddresses, FioPart, Generator, Hashed, Law, PerDirection, RandomMap};
use super::{READ, WRITE};

/// `file_service_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    #[default]
    RoundRobin,
    Sequential,
    Random,
    /// By a law, some more often than others; a file at its end begins anew.
    ByLaw,
}

/// One of several files that are one address space.
#[derive(Clone, Debug, PartialEq)]
pub struct FioFile {
    /// Its name, on which the places of hot blocks depend.
    pub name: String,
    /// Where it begins.
    pub start_bytes: u64,
    pub area: super::FioArea,
}

/// Several files of a job; none of a job of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioFiles {
    pub all: Vec<FioFile>,
    pub service: Service,
    pub law: Option<Law>,
    /// I/Os of a file before the next one's turn.
    pub ios_in_turn: u64,
    /// `openfiles`.
    pub most_open: usize,
    /// `size` beside `filesize`; 0 without.
    pub size_bytes: u64,
}

impl FioFiles {
    /// Bytes of a pass over all files, of the bytes of their parts.
    pub fn pass_bytes(&self, of_parts: u64) -> u64 {
        match self.size_bytes {
            0 => of_parts,
            most => of_parts.min(most),
        }
    }
}

/// Ranks of the law of each file (`FIO_FSERVICE_SHIFT`).
const RANKS_SHIFT: u32 = 10;
/// Attempts in a row without an I/O, after which no file has room for one; fio goes on for ever.
const MOST_ATTEMPTS: u32 = 10_000;

/// Numbers of files at random.
#[derive(Clone, Debug)]
pub(super) enum FileDraws {
    Alike(Tausworthe),
    ByLaw(Hashed),
}

impl FileDraws {
    pub(super) fn new(files: &FioFiles, seed: u64, wide: bool) -> FileDraws {
        let ranks = (files.all.len() as u64) << RANKS_SHIFT;
        let law = files.law.as_ref();
        match law.and_then(|law| Hashed::new(law, ranks, seed as u32)) {
            Some(law) => FileDraws::ByLaw(law.in_order()),
            None => FileDraws::Alike(Tausworthe::new(seed, wide)),
        }
    }

    fn next(&mut self, files: usize) -> usize {
        let file = match self {
            FileDraws::Alike(random) => (files as f64 * random.share()) as usize,
            FileDraws::ByLaw(law) => (law.next() >> RANKS_SHIFT) as usize,
        };
        file.min(files.saturating_sub(1))
    }
}

/// Where a thread is in a file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileState {
    pub(super) part: FioPart,
    pub(super) hashed: Option<Hashed>,
    pub(super) map: Option<RandomMap>,
    pub(super) register: Option<ShiftRegister>,
    /// Begin of the area, or of the zone.
    pub(super) base_bytes: u64,
    pub(super) last_end: PerDirection<u64>,
    pub(super) last_start: PerDirection<Option<u64>>,
}

impl FileState {
    pub(super) fn new(access: &FioAccess, seeds: Seeds, part: FioPart, name: &str) -> FileState {
        let bytes = part.area_bytes.min(part.capacity_bytes);
        let of_map = access.zones.map_or(bytes, |zones| zones.range_bytes);
        let blocks = of_map / access.least_bytes().max(1);
        let is_lfsr = access.random && access.generator == Generator::Lfsr;
        let least = access.sizes[READ].least_bytes.min(access.sizes[WRITE].least_bytes);
        let seed = match access.repeats {
            true => random::jenkins_hash(name.as_bytes()).wrapping_mul(seeds.thread as u32),
            false => seeds.of_offsets() as u32,
        };
        FileState {
            hashed: (access.random)
                .then(|| Hashed::new(&access.law, bytes.div_ceil(least.max(1)), seed))
                .flatten(),
            map: (access.random && access.has_map && !is_lfsr).then(|| RandomMap::new(blocks)),
            register: is_lfsr.then(|| ShiftRegister::new(blocks, seeds.of_offsets())),
            base_bytes: part.offset_bytes,
            last_end: [part.offset_bytes; 3],
            last_start: [None; 3],
            part,
        }
    }

    /// `fio_file_reset`.
    pub(super) fn restart(&mut self, seeds: Seeds) {
        self.last_end = [self.base_bytes; 3];
        self.last_start = [None; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(register) = &mut self.register {
            register.reset(seeds.of_offsets());
        }
    }
}

/// Whose turn it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// States of the files but the current one, whose place is taken by a void one.
    others: Vec<FileState>,
    current: usize,
    is_open: Vec<bool>,
    is_done: Vec<bool>,
    done: usize,
    attempts: u32,
    next: usize,
    serving: Option<usize>,
    left: u64,
    /// The file of an I/O that waits for its rate.
    is_chosen: bool,
}

impl Turns {
    pub(super) fn new(access: &FioAccess, seeds: Seeds, worker: u32) -> Turns {
        let state = |file: &FioFile| {
            let part = file.area.part(worker).unwrap_or_default();
            FileState::new(access, seeds, part, &file.name)
        };
        let others: Vec<FileState> = access.files.all.iter().map(state).collect();
        Turns {
            is_open: vec![false; others.len()],
            is_done: vec![false; others.len()],
            others,
            ..Turns::default()
        }
    }

    /// The file of the first turn.
    pub(super) fn take_first(&mut self) -> Option<FileState> {
        self.others.first_mut().map(std::mem::take)
    }

    /// Bytes of a pass over all files; none of one file.
    pub(super) fn pass_bytes(&self, access: &FioAccess) -> Option<u64> {
        let bytes = self.others.iter().map(|file| file.part.pass_bytes).sum();
        (!self.others.is_empty()).then(|| access.files.pass_bytes(bytes))
    }

    /// No file has a turn in this pass any more.
    pub(super) fn are_done(&self) -> bool {
        self.done >= self.others.len()
    }

    pub(super) fn issued(&mut self) {
        self.is_chosen = false;
        self.attempts = 0;
    }

    /// `__get_next_file`.
    fn choose(&mut self, files: &FioFiles, draws: &mut FileDraws) -> Option<usize> {
        if self.are_done() {
            return None;
        }
        if let Some(serving) = self.serving.filter(|&file| self.is_open[file]) {
            if files.service == Service::Sequential {
                return Some(serving);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(serving);
            }
        }
        let file = match files.service {
            Service::Random | Service::ByLaw => self.at_random(files, draws)?,
            _ => self.in_turn(files)?,
        };
        self.is_open[file] = true;
        self.serving = Some(file);
        self.left = files.ios_in_turn.saturating_sub(1);
        Some(file)
    }

    /// A file that is not open waits where as many as may be are open.
    fn may_serve(&self, files: &FioFiles, file: usize) -> bool {
        let open = self.is_open.iter().filter(|&&is_open| is_open).count();
        !self.is_done[file] && (self.is_open[file] || open < files.most_open)
    }

    /// `get_next_file_rr`.
    fn in_turn(&mut self, files: &FioFiles) -> Option<usize> {
        let count = self.others.len();
        let mut turns = (self.next..self.next + count).map(|file| file % count);
        let file = turns.find(|&file| self.may_serve(files, file))?;
        self.next = (file + 1) % count;
        Some(file)
    }

    /// `get_next_file_rand`.
    fn at_random(&self, files: &FioFiles, draws: &mut FileDraws) -> Option<usize> {
        (0..self.others.len()).find(|&file| self.may_serve(files, file))?;
        loop {
            let file = draws.next(self.others.len());
            if self.may_serve(files, file) {
                return Some(file);
            }
        }
    }
}

impl FioAddresses {
    /// The file of the next I/O becomes the current one; returns whether there is one.
    pub(super) fn choose_file(&mut self) -> bool {
        if self.turns.others.is_empty() || self.turns.is_chosen {
            return true;
        }
        let draws = &mut self.draws.files;
        let Some(file) = self.turns.choose(&self.access.files, draws) else {
            return false;
        };
        let current = std::mem::replace(&mut self.turns.current, file);
        std::mem::swap(&mut self.file, &mut self.turns.others[current]);
        std::mem::swap(&mut self.file, &mut self.turns.others[file]);
        self.turns.is_chosen = true;
        true
    }

    /// The current file has no place for a further I/O; returns whether none has.
    pub(super) fn end_file(&mut self) -> bool {
        let turns = &mut self.turns;
        turns.is_chosen = false;
        if turns.others.is_empty() {
            return true;
        }
        turns.is_open[turns.current] = false;
        if self.access.files.service == Service::ByLaw && turns.attempts < MOST_ATTEMPTS {
            turns.attempts += 1;
            self.file.restart(self.seeds);
            return false;
        }
        turns.is_done[turns.current] = true;
        turns.done += 1;
        turns.is_done.iter().all(|&is_done| is_done)
    }

    /// Where the current file begins.
    pub(super) fn file_start(&self) -> u64 {
        self.start_of(self.turns.current)
    }

    /// A flush has its turn, too; returns where its file begins.
    pub fn flush_place(&mut self) -> Option<u64> {
        let has_file = self.choose_file();
        self.turns.issued();
        has_file.then(|| self.file_start())
    }

    /// Files of the job, at least one.
    pub fn files(&self) -> usize {
        self.access.files.all.len().max(1)
    }

    /// Where the file of this number begins.
    pub fn start_of(&self, number: usize) -> u64 {
        let file = self.access.files.all.get(number);
        file.map_or(0, |file| file.start_bytes)
    }

    /// `clear_io_state`, for a further pass.
    pub(super) fn restart_files(&mut self) {
        let turns = &mut self.turns;
        for file in &mut turns.others {
            file.base_bytes = file.part.offset_bytes;
            file.restart(self.seeds);
        }
        self.file.base_bytes = self.file.part.offset_bytes;
        turns.is_open.fill(false);
        turns.is_done.fill(false);
        if !self.access.keeps_ends {
            turns.done = 0;
        }
    }
}
