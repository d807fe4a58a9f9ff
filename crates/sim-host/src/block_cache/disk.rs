//! A disk with 7,200 revolutions per minute: seek, rotation, transfer by zone, command queuing,
//! read-ahead.
//!
//! C. Ruemmler, J. Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994: the
//! time of a seek grows with the square root of its distance (acceleration and braking), tracks are
//! skewed so that a sequential transfer loses no revolution at their ends, the outer zones have
//! more sectors per track. The disk serves one command at a time, of those queued the one that it
//! reaches first, but none waits longer than [`LONGEST_WAIT`]. Its write cache is off.

use assay_units::{Nanos, Op};

/// Commands that the disk orders (Serial ATA native command queuing).
pub const QUEUE_DEPTH: usize = 32;
/// A command that has waited so long is next.
pub const LONGEST_WAIT: Nanos = Nanos::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskProfile {
    pub capacity_bytes: u64,
    pub revolution: Nanos,
    pub track_seek: Nanos,
    /// Mean seek between two random places.
    pub mean_seek: Nanos,
    /// Rate of the medium in the outermost zone.
    pub outer_bytes_per_second: u64,
    /// Rate of the medium in the innermost zone.
    pub inner_bytes_per_second: u64,
    /// Zones, of equally many tracks.
    pub zones: u32,
    pub overhead: Nanos,
    pub buffer_bytes: u64,
}

/// A desktop or near-line disk of 4 TB. Revolution, seeks: Western Digital, Ultrastar DC HC310 OEM
/// specification, 4.5.1 (*published*: 8.33 ms, mean read seek 7.4 ms, single track 0.23 ms). Ratio
/// of the zones' rates: Hitachi, Deskstar 7K500 specification, table 10 (*published*: 64.8 to 31.0
/// MB/s, 30 zones). Outer rate, overhead and buffer: *assumed*.
pub const DISK_7200: DiskProfile = DiskProfile {
    capacity_bytes: 4_000_787_030_016,
    revolution: Nanos(8_333_333),
    track_seek: Nanos(230_000),
    mean_seek: Nanos(7_400_000),
    outer_bytes_per_second: 220_000_000,
    inner_bytes_per_second: 105_000_000,
    zones: 30,
    overhead: Nanos(100_000),
    buffer_bytes: 64 << 20,
};

impl DiskProfile {
    /// Whole sectors.
    fn track_bytes(&self, zone: u32) -> u64 {
        let last = u64::from(self.zones.max(2) - 1);
        let fall = self.outer_bytes_per_second - self.inner_bytes_per_second;
        let rate = self.outer_bytes_per_second - fall * u64::from(zone) / last;
        let bytes = u128::from(rate) * u128::from(self.revolution.0) / 1_000_000_000;
        (bytes as u64 / 512).max(1) * 512
    }

    /// `track + (full - track) sqrt(distance / tracks)`. Over random pairs of places the mean root
    /// of the distance is 8/15, which gives the full stroke from the mean seek.
    fn seek(&self, distance: u64, tracks: u64) -> Nanos {
        if distance == 0 {
            return Nanos::ZERO;
        }
        let rise = (self.mean_seek.0 - self.track_seek.0) as f64 * 15.0 / 8.0;
        let share = distance as f64 / tracks as f64;
        Nanos(self.track_seek.0 + (rise * share.sqrt()).round() as u64)
    }
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    first_byte: u64,
    first_track: u64,
    track_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    track: u64,
    /// Share of a revolution.
    angle: f64,
    track_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskCommand {
    /// The caller's number.
    pub tag: u64,
    pub op: Op,
    pub offset_bytes: u64,
    pub len_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    command: DiskCommand,
    done: Nanos,
}

#[derive(Clone, Debug)]
pub struct Disk {
    profile: DiskProfile,
    zones: Vec<Zone>,
    tracks: u64,
    /// Waiting commands with the instant of their arrival, oldest first.
    queue: Vec<(Nanos, DiskCommand)>,
    active: Option<Active>,
    head: u64,
    /// Where the last read ended, and when.
    ahead: Option<(u64, Nanos)>,
}

impl Disk {
    /// The heads are at the outermost track.
    pub fn new(profile: DiskProfile) -> Disk {
        let sums: Vec<u64> = (0..profile.zones).map(|zone| profile.track_bytes(zone)).collect();
        let per_zone = profile.capacity_bytes.div_ceil(sums.iter().sum::<u64>());
        let mut zones = Vec::with_capacity(sums.len());
        let mut first_byte = 0;
        for (number, track_bytes) in (0..).zip(sums) {
            zones.push(Zone { first_byte, first_track: number * per_zone, track_bytes });
            first_byte += per_zone * track_bytes;
        }
        Disk {
            tracks: per_zone * u64::from(profile.zones),
            profile,
            zones,
            queue: Vec::new(),
            active: None,
            head: 0,
            ahead: None,
        }
    }

    fn place(&self, offset_bytes: u64) -> Place {
        let zone = self.zones.partition_point(|zone| zone.first_byte <= offset_bytes);
        let zone = &self.zones[zone.saturating_sub(1)];
        let within = offset_bytes - zone.first_byte;
        let track = zone.first_track + within / zone.track_bytes;
        // A track begins where the heads arrive after a seek from the one before.
        let skew = self.profile.track_seek.0 as f64 / self.profile.revolution.0 as f64;
        let share = (within % zone.track_bytes) as f64 / zone.track_bytes as f64;
        Place { track, angle: (share + track as f64 * skew).fract(), track_bytes: zone.track_bytes }
    }

    /// When the transfer of a command would begin, if the heads began to move at `at`.
    fn begin(&self, command: &DiskCommand, at: Nanos) -> Nanos {
        let place = self.place(command.offset_bytes);
        let arrived = at
            + self.profile.overhead
            + self.profile.seek(place.track.abs_diff(self.head), self.tracks);
        let revolution = self.profile.revolution.0;
        let angle = (arrived.0 % revolution) as f64 / revolution as f64;
        let wait = (place.angle - angle).rem_euclid(1.0);
        arrived + Nanos((wait * revolution as f64).round() as u64)
    }

    /// Time of a transfer, with the changes of track in it.
    fn transfer(&self, command: &DiskCommand) -> Nanos {
        let (first, last) = (
            self.place(command.offset_bytes),
            self.place(command.offset_bytes + command.len_bytes - 1),
        );
        let bytes = u128::from(command.len_bytes) * u128::from(self.profile.revolution.0);
        let media = Nanos((bytes / u128::from(first.track_bytes)) as u64);
        media + Nanos(self.profile.track_seek.0 * (last.track - first.track))
    }

    /// When a read that continues the last one has its data, if the disk has read ahead.
    fn read_ahead(&self, command: &DiskCommand, at: Nanos) -> Option<Nanos> {
        let (next, since) = self.ahead?;
        if command.op != Op::Read || command.offset_bytes != next {
            return None;
        }
        // The disk has read on since the last read, up to the size of its buffer.
        let ready = since + self.transfer(command);
        let full = self.profile.buffer_bytes >= command.len_bytes;
        full.then(|| ready.max(at + self.profile.overhead))
    }

    pub fn submit(&mut self, at: Nanos, command: DiskCommand) {
        assert!(command.len_bytes > 0, "a command of the disk has bytes");
        assert!(
            command.offset_bytes + command.len_bytes <= self.profile.capacity_bytes,
            "a command of the disk is on it"
        );
        self.queue.push((at, command));
        self.start(at);
    }

    /// Begin the next command, if the heads are free.
    fn start(&mut self, now: Nanos) {
        if self.active.is_some() || self.queue.is_empty() {
            return;
        }
        let window = self.queue.len().min(QUEUE_DEPTH);
        let reached = |at: usize| {
            let (_, command) = &self.queue[at];
            self.read_ahead(command, now).unwrap_or_else(|| self.begin(command, now))
        };
        let next = match now - self.queue[0].0 >= LONGEST_WAIT {
            true => 0,
            false => (0..window).min_by_key(|&at| reached(at)).unwrap_or(0),
        };
        let (_, command) = self.queue.remove(next);
        let read_ahead = self.read_ahead(&command, now);
        let done =
            read_ahead.unwrap_or_else(|| self.begin(&command, now) + self.transfer(&command));
        let end = command.offset_bytes + command.len_bytes;
        self.head = self.place(end - 1).track;
        let read_until = match read_ahead {
            // The medium was read before the command asked for it.
            Some(_) => self.ahead.map(|(_, since)| since + self.transfer(&command)),
            None => Some(done),
        };
        self.ahead = read_until.filter(|_| command.op == Op::Read).map(|since| (end, since));
        self.active = Some(Active { command, done });
    }

    /// When the present command completes; [`Nanos::MAX`] while idle.
    pub fn next_event(&self) -> Nanos {
        self.active.map_or(Nanos::MAX, |active| active.done)
    }

    pub fn is_idle(&self) -> bool {
        self.active.is_none() && self.queue.is_empty()
    }

    /// The command that completes at [`Disk::next_event`], if that is not after `until`.
    pub fn advance(&mut self, until: Nanos) -> Option<(Nanos, DiskCommand)> {
        let active = self.active.filter(|active| active.done <= until)?;
        self.active = None;
        self.start(active.done);
        Some((active.done, active.command))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/block_cache/disk.rs"]
mod tests;
