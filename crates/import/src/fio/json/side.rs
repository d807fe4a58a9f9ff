//! One direction of a job: counts, rates and latencies.

use std::fmt;

use assay_units::Nanos;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::Times;
use super::number::{Percentiles, count, real};
use crate::fio::{rates, submission_blocked};
use crate::{Direction, Note, judge};

/// Share of a rate by which it may differ from the number of I/Os over their time; versions before
/// 3 print whole numbers.
const SAME_RATE: f64 = 0.05;
/// A shorter time is too few milliseconds to compare with.
const SHORTEST_MS: u64 = 100;

/// One direction.
#[derive(Default)]
pub struct Side<'a> {
    io_bytes: u64,
    /// Since version 3, in which `io_bytes` are bytes.
    io_kbytes: u64,
    bw_bytes: u64,
    iops: f64,
    /// Milliseconds.
    pub runtime: u64,
    pub total_ios: u64,
    short_ios: u64,
    clat_ns: Option<Times<'a>>,
    lat_ns: Option<Times<'a>>,
    clat: Option<Times<'a>>,
    lat: Option<Times<'a>>,
}

/// The keys that are read.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    IoBytes,
    IoKbytes,
    BwBytes,
    Iops,
    Runtime,
    TotalIos,
    ShortIos,
    ClatNs,
    LatNs,
    Clat,
    Lat,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Count(#[serde(deserialize_with = "count")] u64);

#[derive(Deserialize)]
struct Real(#[serde(deserialize_with = "real")] f64);

impl<'de: 'a, 'a> Deserialize<'de> for Side<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Side<'a>, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Side<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("counts and latencies of a direction")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Side<'de>, A::Error> {
                Side::read(map)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

impl<'a> Side<'a> {
    /// fio prints all of a direction without I/Os too, which is most of a file: after a number of
    /// I/Os of 0, the rest is passed over.
    fn read<A: MapAccess<'a>>(mut map: A) -> Result<Side<'a>, A::Error> {
        let mut side = Side::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::IoBytes => side.io_bytes = map.next_value::<Count>()?.0,
                Key::IoKbytes => side.io_kbytes = map.next_value::<Count>()?.0,
                Key::BwBytes => side.bw_bytes = map.next_value::<Count>()?.0,
                Key::Iops => side.iops = map.next_value::<Real>()?.0,
                Key::Runtime => side.runtime = map.next_value::<Count>()?.0,
                Key::TotalIos => {
                    side.total_ios = map.next_value::<Count>()?.0;
                    if side.total_ios == 0 {
                        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                        return Ok(side);
                    }
                }
                Key::ShortIos => side.short_ios = map.next_value::<Count>()?.0,
                Key::ClatNs => side.clat_ns = map.next_value()?,
                Key::LatNs => side.lat_ns = map.next_value()?,
                Key::Clat => side.clat = map.next_value()?,
                Key::Lat => side.lat = map.next_value()?,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(side)
    }

    /// `in_flight` are the I/Os in flight at most; 0 where it is not known.
    pub fn direction(
        &self,
        version: u32,
        in_flight: u64,
        reads_percentiles: bool,
        notes: &mut Vec<Note>,
    ) -> Direction {
        let bytes = match self.io_kbytes > 0 || self.bw_bytes > 0 || version >= 3 {
            true => self.io_bytes,
            false => self.io_bytes.saturating_mul(1024),
        };
        let elapsed = Nanos(self.runtime.saturating_mul(1_000_000));
        let mut direction = rates(self.total_ios, bytes, elapsed);
        if self.iops > 0.0 {
            direction.summary.iops = self.iops;
        }
        if self.bw_bytes > 0 {
            direction.summary.mib_per_s = self.bw_bytes as f64 / f64::from(1 << 20);
        }
        direction.summary.errors = self.short_ios;
        self.latency(in_flight, reads_percentiles, &mut direction, notes);
        direction
    }

    /// The whole latency, from the start of the submission as assay measures it, with fio's
    /// percentiles, which are of completion latency (of the whole with `lat_percentiles`). They are
    /// left out where completion latency is wrong (with `sqthread_poll` some versions measure it
    /// from the start of the job), and where the submission blocked, so that completion is the
    /// smaller part.
    fn latency(
        &self,
        in_flight: u64,
        reads_percentiles: bool,
        direction: &mut Direction,
        notes: &mut Vec<Note>,
    ) {
        let all = [
            Times::in_either_unit(self.clat_ns.as_ref(), self.clat.as_ref()),
            Times::in_either_unit(self.lat_ns.as_ref(), self.lat.as_ref()),
        ];
        let iops = direction.summary.iops;
        let [completion, whole] = all.map(|found| {
            found.filter(|(t, ns)| !judge::is_implausible(iops, t.mean * ns, in_flight))
        });
        let Some((times, ns)) = whole.or(completion) else {
            if all.iter().any(Option::is_some) {
                notes.push(Note::ImplausibleLatency);
            }
            return;
        };
        times.fill_moments(direction, ns);
        let mean_ns = times.mean * ns;
        let has_percentiles = completion.is_some();
        let completion = completion.filter(|(t, ns)| !submission_blocked(mean_ns, t.mean * ns));
        for (times, ns) in [completion, whole].into_iter().flatten() {
            let percentiles = match reads_percentiles {
                true => times.percentiles(),
                false => Percentiles::default(),
            };
            if percentiles.has_any() || !times.bins.0.is_empty() {
                times.fill(direction, ns, &percentiles, notes);
                return;
            }
        }
        if has_percentiles && completion.is_none() && reads_percentiles {
            notes.push(Note::SubmissionBlocked);
        }
    }

    /// The file states another rate than that of its counts.
    pub fn is_contradictory(&self) -> bool {
        let counted = self.total_ios as f64 * 1e3 / self.runtime.max(1) as f64;
        let tolerance = (counted * SAME_RATE).max(1.0);
        self.iops > 0.0 && self.runtime >= SHORTEST_MS && (self.iops - counted).abs() > tolerance
    }
}
