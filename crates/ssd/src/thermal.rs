//! Heat: one thermal node fed by the drive's energy, a throttle with hysteresis, and the health log's counters.
//!
//! `dT/dt = (ambient + P * R - T) / tau`, stepped by Euler's method every [`STEP_NS`] with the mean power of the step. The
//! time constants of M.2 drives are tens of seconds, so the step is two to three orders finer. Plain IEEE addition,
//! multiplication and division only: the same on every machine.
//!
//! # Throttle
//! A level of throttling begins at one temperature and ends at a lower one. With a single level and a wide gap this is the on/off
//! cycle of report A's M8Pe(G) (177 MiB/s for 10 s, full speed for 30 s); with a narrow one the drive holds a temperature (600p).
//! Drives with several levels (report A's BPX: at 80 and at 100 C) stretch their firmware times in a share of the thermal steps,
//! the level's duty, spread evenly; NVM Express leaves the means of throttling to the maker.
//!
//! # Power
//! What the drive draws is what it draws idle, which [`crate::power`] changes with the power state at exact times, and the energy of
//! its operations: of commands when they start, of what the drive does by itself when it does it ([`Work`]). A step's energy is an
//! integer, of picojoules, so that the sum over all steps is the energy used, exactly.
//!
//! # Readings
//! The model's temperature is exact; what the drive reports of it can jitter while it idles (report A's BPX).

use std::collections::VecDeque;

use assay_units::rng::mix;

use crate::power::IdleChange;
use crate::profile::{IdentityProfile, PowerProfile, ThermalProfile};

/// Length of a thermal step in nanoseconds: 50 ms.
pub const STEP_NS: u64 = 50_000_000;
/// After this many idle time constants a drive counts as cooled down (e^-20 of any difference remains).
const SETTLED_TIME_CONSTANTS: f64 = 20.0;
/// Time stands still after this: 292 years, so that the next step's end still fits.
const LAST_NS: u64 = 1 << 63;

/// Temperatures in Celsius from which on a host wants the drive throttled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostThrottling {
    /// Lightly: in [`HOST_LIGHT_PERCENT`] of its time.
    pub light_celsius: Option<f64>,
    /// As hard as it can.
    pub heavy_celsius: Option<f64>,
}

/// Share of its time for which a drive throttles at the lighter of a host's two temperatures, in per cent.
pub const HOST_LIGHT_PERCENT: u32 = 50;
/// Throttling for a host ends so many kelvin below where it begins.
pub const HOST_HYSTERESIS_K: f64 = 2.0;

/// Something that the drive does by itself, and its energy, spent evenly from when to when in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Since then.
    pub from_ns: u64,
    /// Until then; all of it at once when that is not later.
    pub until_ns: u64,
    /// Nanojoules.
    pub energy_nj: u64,
}

impl Work {
    /// Take what is spent until `end_ns`.
    fn take_until(&mut self, end_ns: u64) -> u64 {
        let spent_nj = if self.until_ns <= end_ns {
            self.energy_nj
        } else {
            let share = u128::from(end_ns - self.from_ns) * u128::from(self.energy_nj);
            // Less than the whole, so it fits.
            (share / u128::from(self.until_ns - self.from_ns)) as u64
        };
        self.energy_nj -= spent_nj;
        self.from_ns = end_ns;
        spent_nj
    }

    /// Is all of it within one thermal step, which begins at this multiple of [`STEP_NS`]?
    fn only_step(&self) -> Option<u64> {
        let step = self.from_ns / STEP_NS;
        (self.until_ns / STEP_NS <= step).then_some(step)
    }
}

/// One level of throttling.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Which of a host's two temperatures made it, if any.
    host: Option<usize>,
    on_celsius: f64,
    off_celsius: f64,
    duty_percent: u32,
}

/// The profile's levels, mildest first; none where it never throttles.
fn levels(heat: &ThermalProfile) -> Vec<Level> {
    if let Some(levels) = &heat.levels {
        let on = levels.on_celsius.value.iter();
        let off = levels.off_celsius.value.iter();
        let duty = levels.duty_percent.value.iter();
        return on
            .zip(off)
            .zip(duty)
            .map(|((&on_celsius, &off_celsius), &duty_percent)| Level {
                host: None,
                on_celsius,
                off_celsius,
                duty_percent,
            })
            .collect();
    }
    if heat.throttle_on_celsius.value == 0.0 {
        return Vec::new();
    }
    vec![Level {
        host: None,
        on_celsius: heat.throttle_on_celsius.value,
        off_celsius: heat.throttle_off_celsius.value,
        duty_percent: 100,
    }]
}

/// Temperature, throttle and counters.
#[derive(Clone, Debug)]
pub struct Thermal {
    ambient_celsius: f64,
    resistance_k_per_w: f64,
    /// Share of the difference that one step closes.
    step_share: f64,
    settled_steps: u64,
    /// What the drive draws idle, in milliwatts, and how that will change.
    idle_mw: u32,
    changes: VecDeque<IdleChange>,
    /// What the drive does by itself, in order of its begin.
    works: VecDeque<Work>,
    levels: Vec<Level>,
    /// Those of the profile alone, once a host has added its own.
    own_levels: Option<Vec<Level>>,
    /// How often a host's levels were entered, and for how many steps they were the last entered.
    host_entries: [u32; 2],
    host_steps: [u64; 2],
    /// Levels entered: 0 is full speed.
    level: usize,
    /// What the duty of the present level has left over, in per cent of a step.
    duty_carry: u32,
    idle_jitter_k: f64,
    warning_celsius: f64,
    critical_celsius: f64,
    celsius: f64,
    power_w: f64,
    /// Did the last step have nothing but idle power?
    idling: bool,
    /// Energy of operations in the present step.
    energy_nj: u64,
    /// Energy of all steps past, in picojoules.
    used_pj: u128,
    next_step_ns: u64,
    throttled: bool,
    warning_steps: u64,
    critical_steps: u64,
    throttled_steps: u64,
}

impl Thermal {
    /// A drive that has idled for long, at time 0.
    pub fn new(
        heat: &ThermalProfile,
        power: &PowerProfile,
        identity: &IdentityProfile,
        ambient_celsius: Option<f64>,
    ) -> Thermal {
        let ambient_celsius = ambient_celsius.unwrap_or(heat.ambient_celsius.value);
        let idle_w = f64::from(power.idle_mw.value) / 1000.0;
        let step_s = STEP_NS as f64 / 1e9;
        let or_never = |celsius: f64| if celsius == 0.0 { f64::MAX } else { celsius };
        Thermal {
            ambient_celsius,
            resistance_k_per_w: heat.resistance_k_per_w.value,
            step_share: step_s / heat.time_constant_s.value,
            settled_steps: (SETTLED_TIME_CONSTANTS * heat.time_constant_s.value / step_s) as u64,
            idle_mw: power.idle_mw.value,
            changes: VecDeque::new(),
            works: VecDeque::new(),
            levels: levels(heat),
            own_levels: None,
            host_entries: [0; 2],
            host_steps: [0; 2],
            level: 0,
            duty_carry: 0,
            idle_jitter_k: heat.idle_jitter_k.as_ref().map_or(0.0, |k| k.value),
            warning_celsius: or_never(f64::from(identity.warning_celsius.value)),
            critical_celsius: or_never(f64::from(identity.critical_celsius.value)),
            celsius: ambient_celsius + idle_w * heat.resistance_k_per_w.value,
            power_w: idle_w,
            idling: true,
            energy_nj: 0,
            used_pj: 0,
            next_step_ns: STEP_NS,
            throttled: false,
            warning_steps: 0,
            critical_steps: 0,
            throttled_steps: 0,
        }
    }

    /// Account energy to the present step.
    #[inline]
    pub fn add_energy(&mut self, nanojoules: u64) {
        self.energy_nj += nanojoules;
    }

    /// Is the drive slowing down at this moment (in a throttled step of its level's duty)?
    #[inline]
    pub fn throttled(&self) -> bool {
        self.throttled
    }

    /// Level of throttling: 0 at full speed.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Bring the state to `now_ns`.
    #[inline]
    pub fn advance(&mut self, now_ns: u64) {
        if now_ns >= self.next_step_ns {
            self.step_to(now_ns);
        }
    }

    /// What the drive draws idle changes; in order of time, and not before the last step's end.
    pub fn idles_at(&mut self, change: IdleChange) {
        self.changes.push_back(change);
    }

    /// The drive does something by itself; in order of when that begins, and not before the last step's end.
    pub fn works(&mut self, work: Work) {
        if let Some(last) = self.works.back_mut()
            && let Some(step) = work.only_step()
            && last.only_step() == Some(step)
        {
            last.energy_nj += work.energy_nj;
            return;
        }
        self.works.push_back(work);
    }

    /// When the drive next stops doing nothing, or when what that draws changes; `u64::MAX` for never.
    fn quiet_until_ns(&self) -> u64 {
        let change_ns = self.changes.front().map_or(u64::MAX, |next| next.from_ns);
        change_ns.min(self.works.front().map_or(u64::MAX, |work| work.from_ns))
    }

    fn step_to(&mut self, now_ns: u64) {
        let now_ns = now_ns.min(LAST_NS);
        let mut quiet_steps = 0;
        while now_ns >= self.next_step_ns {
            if quiet_steps > self.settled_steps {
                // A long sleep ends at the temperature of its power.
                self.skip(now_ns);
                quiet_steps = 0;
                continue;
            }
            self.step();
            // The first step may have had work; those after it are idle, until there is some or what idle means changes.
            quiet_steps = if self.quiet_until_ns() < self.next_step_ns {
                0
            } else {
                quiet_steps + 1
            };
        }
    }

    /// Skip whole steps of nothing but idle power up to `now_ns` or the next change, and do one.
    fn skip(&mut self, now_ns: u64) {
        let start_ns = self.next_step_ns - STEP_NS;
        let steps = (now_ns.min(self.quiet_until_ns()) - start_ns) / STEP_NS;
        self.used_pj += u128::from(steps) * u128::from(STEP_NS) * u128::from(self.idle_mw);
        self.count(steps);
        if let Some(entered) = self.level.checked_sub(1) {
            let duty = u64::from(self.levels[entered].duty_percent) * (steps % 100);
            self.duty_carry = ((u64::from(self.duty_carry) + duty) % 100) as u32;
        }
        self.next_step_ns += steps * STEP_NS;
        if now_ns >= self.next_step_ns {
            self.step();
        }
    }

    fn step(&mut self) {
        let idle_pj = self.idle_energy_pj();
        self.energy_nj += self.work_nj();
        let used_pj = u128::from(idle_pj) + u128::from(self.energy_nj) * 1000;
        self.used_pj += used_pj;
        self.power_w =
            idle_pj as f64 / (STEP_NS * 1000) as f64 + self.energy_nj as f64 / STEP_NS as f64;
        self.idling = self.energy_nj == 0;
        self.energy_nj = 0;
        let target = self.ambient_celsius + self.power_w * self.resistance_k_per_w;
        self.celsius += (target - self.celsius) * self.step_share;
        self.throttled = self.throttle();
        self.count(1);
        self.next_step_ns += STEP_NS;
    }

    /// So many steps ended at the present temperature and level.
    fn count(&mut self, steps: u64) {
        self.warning_steps += steps * u64::from(self.celsius >= self.warning_celsius);
        self.critical_steps += steps * u64::from(self.celsius >= self.critical_celsius);
        let Some(entered) = self.level.checked_sub(1) else {
            return;
        };
        self.throttled_steps += steps;
        if let Some(host) = self.levels[entered].host {
            self.host_steps[host] += steps;
        }
    }

    /// Energy in the present step of what the drive does by itself.
    fn work_nj(&mut self) -> u64 {
        let end_ns = self.next_step_ns;
        let under_way = self.works.iter_mut();
        let spent_nj = under_way
            .take_while(|work| work.from_ns < end_ns)
            .map(|work| work.take_until(end_ns))
            .sum();
        while self.works.front().is_some_and(|work| work.energy_nj == 0) {
            self.works.pop_front();
        }
        spent_nj
    }

    /// Idle power over the present step, its changes followed: milliwatts times nanoseconds are picojoules.
    fn idle_energy_pj(&mut self) -> u64 {
        let end_ns = self.next_step_ns;
        let mut at_ns = end_ns - STEP_NS;
        let mut energy_pj = 0;
        while let Some(change) = self.changes.front()
            && change.from_ns < end_ns
        {
            let from_ns = change.from_ns.max(at_ns);
            energy_pj += (from_ns - at_ns) * u64::from(self.idle_mw);
            at_ns = from_ns;
            self.idle_mw = change.idle_mw;
            self.changes.pop_front();
        }
        energy_pj + (end_ns - at_ns) * u64::from(self.idle_mw)
    }

    /// Throttle for a host too, from the next step on.
    pub fn set_host(&mut self, throttling: HostThrottling) {
        let mut levels = self
            .own_levels
            .get_or_insert_with(|| self.levels.clone())
            .clone();
        let wanted = [throttling.light_celsius, throttling.heavy_celsius];
        for (host, (celsius, duty_percent)) in wanted
            .into_iter()
            .zip([HOST_LIGHT_PERCENT, 100])
            .enumerate()
        {
            levels.extend(celsius.map(|on_celsius| Level {
                host: Some(host),
                on_celsius,
                off_celsius: on_celsius - HOST_HYSTERESIS_K,
                duty_percent,
            }));
        }
        levels.sort_by(|a, b| a.on_celsius.total_cmp(&b.on_celsius));
        let (mut duty_percent, mut off_celsius) = (0, f64::MIN);
        for level in &mut levels {
            // A hotter level throttles no less than those below it, and is left no later.
            duty_percent = level.duty_percent.max(duty_percent);
            off_celsius = level.off_celsius.max(off_celsius);
            (level.duty_percent, level.off_celsius) =
                (duty_percent, off_celsius.min(level.on_celsius));
        }
        self.levels = levels;
        self.level = 0;
        self.duty_carry = 0;
    }

    /// How often each of a host's levels was entered, and for how many seconds it set the throttling.
    pub fn host_counts(&self) -> [(u32, u64); 2] {
        let seconds = |steps: u64| steps * (STEP_NS / 1_000_000) / 1000;
        [0, 1].map(|host| (self.host_entries[host], seconds(self.host_steps[host])))
    }

    /// Enter or leave levels; is the next step a throttled one?
    fn throttle(&mut self) -> bool {
        while let Some(next) = self.levels.get(self.level)
            && self.celsius >= next.on_celsius
        {
            if let Some(host) = next.host {
                self.host_entries[host] = self.host_entries[host].saturating_add(1);
            }
            self.level += 1;
        }
        while self.level > 0 && self.celsius <= self.levels[self.level - 1].off_celsius {
            self.level -= 1;
        }
        let Some(entered) = self.level.checked_sub(1) else {
            self.duty_carry = 0;
            return false;
        };
        self.duty_carry += self.levels[entered].duty_percent;
        let throttled = self.duty_carry >= 100;
        self.duty_carry -= if throttled { 100 } else { 0 };
        throttled
    }

    /// Composite temperature in Celsius as the sensor has it: off by its jitter while the drive idles, the same at any moment of a
    /// thermal step.
    pub fn celsius(&self) -> f64 {
        if self.idle_jitter_k == 0.0 || !self.idling {
            return self.celsius;
        }
        let unit = (mix(self.next_step_ns, 0) >> 11) as f64 / (1_u64 << 53) as f64;
        self.celsius + self.idle_jitter_k * (2.0 * unit - 1.0)
    }

    /// Mean power of the last step in watts.
    pub fn power_w(&self) -> f64 {
        self.power_w
    }

    /// Energy used until the end of the last step, in microjoules.
    pub fn used_uj(&self) -> u64 {
        u64::try_from(self.used_pj / 1_000_000).unwrap_or(u64::MAX)
    }

    /// End of the last step in nanoseconds.
    pub fn stepped_ns(&self) -> u64 {
        self.next_step_ns - STEP_NS
    }

    /// Seconds at or above the warning temperature, at or above the critical one, and throttled.
    pub fn counters_s(&self) -> (u64, u64, u64) {
        let seconds = |steps: u64| steps * (STEP_NS / 1_000_000) / 1000;
        (
            seconds(self.warning_steps),
            seconds(self.critical_steps),
            seconds(self.throttled_steps),
        )
    }
}

#[cfg(test)]
#[path = "../tests/unit/thermal.rs"]
mod tests;
