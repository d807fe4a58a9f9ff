//! Published figures other than bandwidth cells, and how the model is asked for each.
//!
//! | figure | what is run, and what of it counts |
//! |---|---|
//! | `write_steady` | 16 GiB written in order, 128 KiB in flight: the mean rate |
//! | `write_first`, `write_full` | the same: the rate of the first and of the last GiB |
//! | `write_cache_gb` | the same: what was written when the rate fell below the middle of first and last |
//! | `zeroed_read` | 32 KiB random reads of 64 threads where only zeroes were written |
//! | `celsius_after_120_s` | soak: 64 KiB random reads of 64 threads; composite temperature after two minutes |
//! | `settled_celsius`, `second_sensor`, `settled_read` | soak of 10 minutes: temperatures and rate of its last 100 s |
//! | `throttle_celsius` | soak: highest temperature before or in the first throttled second |
//! | `throttled_read` | soak: rate of the seconds at the first level of throttling, wholly in it |
//! | `throttled_s`, `recovered_s` | soak: mean length of whole throttled and unthrottled stretches after the first |

use std::error::Error;
use std::path::Path;

use assay_ssd::Profile;
use assay_units::rate::mib_per_second;
use assay_units::{DataClass, GIB, MIB, Nanos, Op};

use crate::host::{AREA_BYTES, Host, Job};

/// Length of a soak in seconds.
const SOAK_S: u64 = 600;
/// What of a soak's end is taken as settled, in seconds.
const SETTLED_S: usize = 100;

/// One published figure.
#[derive(Clone, Debug)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: String,
    pub source: String,
}

impl Figure {
    /// Is the simulated value near enough: 2 C, 25 % of a duration, 5 % of a write, 10 % of anything else?
    pub fn is_met(&self, simulated: f64) -> bool {
        let off = (simulated - self.value).abs();
        match self.unit.as_str() {
            "C" => off <= 2.0,
            "s" => off <= 0.25 * self.value,
            _ if self.name.starts_with("write") => off <= 0.05 * self.value,
            _ => off <= 0.10 * self.value,
        }
    }

    /// What it is, for people.
    pub fn meaning(&self) -> &'static str {
        match self.name.as_str() {
            "write_steady" => "sequential write, 16 GiB",
            "write_first" => "sequential write at first",
            "write_full" => "sequential write once the cache is full",
            "write_cache_gb" => "written before the rate falls",
            "zeroed_read" => "random read of zeroes, 64 x 32 KiB",
            "celsius_after_120_s" => "temperature after 2 min of reading",
            "settled_celsius" => "temperature after 10 min of reading",
            "second_sensor" => "second sensor after 10 min",
            "settled_read" => "rate after 10 min of reading",
            "throttle_celsius" => "throttling begins at",
            "throttled_read" => "rate while throttled (first level)",
            "throttled_s" => "throttled for",
            "recovered_s" => "then back for",
            _ => "?",
        }
    }
}

/// A drive's figures.
pub fn published(dir: &Path, drive: &str) -> Result<Vec<Figure>, Box<dyn Error>> {
    let path = dir.join("figures.csv");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut out = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        if let [name, figure, value, unit, source] = fields[..]
            && name == drive
        {
            out.push(Figure {
                name: figure.to_owned(),
                value: value.parse()?,
                unit: unit.to_owned(),
                source: source.to_owned(),
            });
        }
    }
    Ok(out)
}

/// The model's values, in the order of the figures; `None` where it has nothing to show (a sensor that is not there).
pub fn simulated(
    profile: &Profile,
    figures: &[Figure],
) -> Result<Vec<Option<f64>>, Box<dyn Error>> {
    let (mut writes, mut soaked, mut out) = (None, None, Vec::new());
    for figure in figures {
        let value = match figure.name.as_str() {
            "zeroed_read" => Some(zeroed_read(profile)?),
            name if name.starts_with("write") => {
                if writes.is_none() {
                    writes = Some(write(profile)?);
                }
                writes.as_ref().and_then(|writes| written(writes, name))
            }
            name => {
                if soaked.is_none() {
                    soaked = Some(soak(profile)?);
                }
                soaked.as_ref().and_then(|seconds| heated(seconds, name))
            }
        };
        out.push(value);
    }
    Ok(out)
}

/// MB/s of each 128 MiB of the sequential write.
fn write(profile: &Profile) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut host = Host::new(
        profile,
        Job {
            op: Op::Write,
            ..Job::read(false, 1, 131_072)
        },
    )?;
    let piece = 128 * MIB;
    let mut out = Vec::new();
    for _ in 0..AREA_BYTES / piece {
        let start = host.now;
        let bytes = host.run(piece / 131_072, Nanos::MAX)?;
        out.push(bytes as f64 / (host.now - start).as_secs_f64() / 1e6);
    }
    Ok(out)
}

fn written(rates: &[f64], name: &str) -> Option<f64> {
    // Equal amounts at different rates: the mean rate is the harmonic one.
    let rate = |list: &[f64]| list.len() as f64 / list.iter().map(|rate| 1.0 / rate).sum::<f64>();
    let gib = (GIB / (128 * MIB)) as usize;
    let (first, last) = (
        rate(rates.get(..gib)?),
        rate(rates.get(rates.len() - gib..)?),
    );
    match name {
        "write_steady" => Some(rate(rates)),
        "write_first" => Some(first),
        "write_full" => Some(last),
        "write_cache_gb" => {
            let fast = rates
                .iter()
                .take_while(|&&rate| rate > (first + last) / 2.0)
                .count();
            Some((fast as u64 * 128 * MIB) as f64 / 1e9)
        }
        _ => None,
    }
}

fn zeroed_read(profile: &Profile) -> Result<f64, Box<dyn Error>> {
    let mut host = Host::new(
        profile,
        Job {
            op: Op::Write,
            data: DataClass::Zero,
            ..Job::read(false, 1, 1 << 20)
        },
    )?;
    host.run(AREA_BYTES >> 20, Nanos::MAX)?;
    host.drain();
    host.set_job(Job::read(true, 64, 32_768));
    host.run(1_000, Nanos::MAX)?;
    let start = host.now;
    let bytes = host.run(100_000, Nanos::MAX)?;
    Ok(mib_per_second(bytes, host.now - start))
}

/// One second of a soak.
#[derive(Clone, Debug)]
struct Second {
    mib_per_s: f64,
    celsius: f64,
    second_sensor: Option<f64>,
    /// Seconds of throttling that the drive has counted so far.
    throttled_s: u64,
}

fn soak(profile: &Profile) -> Result<Vec<Second>, Box<dyn Error>> {
    let mut host = Host::new(profile, Job::read(true, 64, 65_536))?;
    let mut out = Vec::new();
    for second in 1..=SOAK_S {
        let bytes = host.run(u64::MAX, Nanos::from_secs(second))?;
        let health = host.health();
        out.push(Second {
            mib_per_s: mib_per_second(bytes, Nanos::from_secs(1)),
            celsius: f64::from(health.composite_celsius),
            second_sensor: health.sensors.first().copied().map(f64::from),
            throttled_s: health.throttled_time_s,
        });
    }
    Ok(out)
}

fn heated(seconds: &[Second], name: &str) -> Option<f64> {
    let settled = &seconds[seconds.len() - SETTLED_S..];
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
        (count > 0).then(|| sum / f64::from(count))
    };
    // Throttling shows in the rate, as it did to those who published it.
    let cool = seconds.first()?.mib_per_s;
    let first = seconds.iter().position(|second| second.throttled_s > 0);
    let slow = |second: &Second| second.mib_per_s < 0.8 * cool;
    match name {
        "celsius_after_120_s" => Some(seconds.get(119)?.celsius),
        "settled_celsius" => mean(&mut settled.iter().map(|second| second.celsius)),
        "settled_read" => mean(&mut settled.iter().map(|second| second.mib_per_s)),
        "second_sensor" => mean(&mut settled.iter().filter_map(|second| second.second_sensor)),
        "throttle_celsius" => {
            let until = &seconds[..=first?];
            until
                .iter()
                .map(|second| second.celsius)
                .max_by(f64::total_cmp)
        }
        "throttled_read" => {
            // The stretch from the first slow second on, less its ends, up to where the rate changes again.
            let from = seconds.iter().position(slow)? + 1;
            let rate = seconds.get(from)?.mib_per_s;
            let stretch = seconds[from..]
                .iter()
                .take_while(|second| (second.mib_per_s / rate - 1.0).abs() < 0.1);
            mean(&mut stretch.map(|second| second.mib_per_s))
        }
        "throttled_s" => mean_stretch(seconds, true, &slow),
        "recovered_s" => mean_stretch(seconds, false, &slow),
        _ => None,
    }
}

/// Mean length of the stretches of slow (or not slow) seconds that begin and end within the soak, the first slow one excluded.
fn mean_stretch(seconds: &[Second], wanted: bool, slow: &dyn Fn(&Second) -> bool) -> Option<f64> {
    let stretches: Vec<(bool, usize)> = seconds
        .chunk_by(|a, b| slow(a) == slow(b))
        .map(|stretch| (slow(&stretch[0]), stretch.len()))
        .collect();
    let whole = stretches.get(2..stretches.len().checked_sub(1)?)?;
    let lengths: Vec<usize> = whole
        .iter()
        .filter(|(is_slow, _)| *is_slow == wanted)
        .map(|&(_, length)| length)
        .collect();
    (!lengths.is_empty()).then(|| lengths.iter().sum::<usize>() as f64 / lengths.len() as f64)
}
