//! Thermal model: controller and flash as coupled [`nodes`], throttling with hysteresis, health log
//! counters.
//!
//! The nodes advance by the exact solution every [`STEP_NS`] with the step's mean powers. The
//! composite temperature is that of the node which the drive's sensor measures; throttling follows
//! it.
//!
//! # Throttling
//! A wide gap between a level's start and end temperature gives on/off cycles (M8Pe(G): 177 MiB/s
//! for 10 s, full speed for 30 s; DragonFly NVMe tests), a narrow one holds a temperature (600p).
//! Several levels (BPX: at 80 and 100 C) stretch firmware times in a share of the steps, their
//! duty.
//!
//! # Power
//! Idle power plus the energy of commands at their start and of background work, per step in
//! integer picojoules. The controller node takes idle power, cores, link and transfers to and from
//! flash; the flash node takes senses, programs and erases.

use std::collections::VecDeque;
use std::iter::{Sum, zip};
use std::ops::{AddAssign, SubAssign};

use assay_units::rng::mix;

use crate::power::IdleChange;
use crate::profile::{IdentityProfile, PowerProfile, ThermalNode, ThermalProfile};

mod nodes;
use nodes::Nodes;

/// Length of a thermal step in nanoseconds: 50 ms; less where heat spreads faster.
pub const STEP_NS: u64 = 50_000_000;
/// After so many idle time constants, e^-20 of any difference remains and the temperature is final.
const STEADY_TIME_CONSTANTS: f64 = 20.0;
/// Latest model time, 292 years: the next step's end still fits.
const MAX_TIME_NS: u64 = 1 << 63;

/// Thresholds of Host Controlled Thermal Management in Celsius.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostThrottling {
    /// Light throttling (TMT1): [`HOST_LIGHT_PERCENT`] of the time.
    pub light_celsius: Option<f64>,
    /// Heavy throttling (TMT2).
    pub heavy_celsius: Option<f64>,
}

/// Duty of light host controlled throttling in per cent.
pub const HOST_LIGHT_PERCENT: u32 = 50;
/// Hysteresis of host controlled throttling in kelvin.
pub const HOST_HYSTERESIS_K: f64 = 2.0;

/// Energy by the node that it heats, in nanojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Energy {
    /// Controller, DRAM and interfaces.
    pub controller_nj: u64,
    /// Flash, or media written in place.
    pub flash_nj: u64,
}

impl Energy {
    /// Both nodes together in nanojoules.
    #[inline]
    pub fn total_nj(self) -> u64 {
        self.controller_nj + self.flash_nj
    }
}

/// Milliwatts times nanoseconds are picojoules.
#[inline]
pub fn core_energy_nj(core_ns: u64, core_mw: u64) -> u64 {
    core_ns * core_mw / 1000
}

impl AddAssign for Energy {
    #[inline]
    fn add_assign(&mut self, other: Energy) {
        self.controller_nj += other.controller_nj;
        self.flash_nj += other.flash_nj;
    }
}

impl SubAssign for Energy {
    fn sub_assign(&mut self, other: Energy) {
        self.controller_nj -= other.controller_nj;
        self.flash_nj -= other.flash_nj;
    }
}

impl Sum for Energy {
    fn sum<I: Iterator<Item = Energy>>(all: I) -> Energy {
        let mut sum = Energy::default();
        all.for_each(|energy| sum += energy);
        sum
    }
}

/// Energy of background work, spent evenly over an interval, or at once if that is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BackgroundWork {
    pub from_ns: u64,
    pub until_ns: u64,
    pub energy: Energy,
}

impl BackgroundWork {
    fn take_until(&mut self, end_ns: u64) -> Energy {
        let spent = if self.until_ns <= end_ns {
            self.energy
        } else {
            let (part_ns, all_ns) = (end_ns - self.from_ns, self.until_ns - self.from_ns);
            // Less than the whole, so it fits.
            let part = |nj: u64| (u128::from(part_ns) * u128::from(nj) / u128::from(all_ns)) as u64;
            Energy {
                controller_nj: part(self.energy.controller_nj),
                flash_nj: part(self.energy.flash_nj),
            }
        };
        self.energy -= spent;
        self.from_ns = end_ns;
        spent
    }

    fn only_step(&self, step_ns: u64) -> Option<u64> {
        let step = self.from_ns / step_ns;
        (self.until_ns / step_ns <= step).then_some(step)
    }
}

#[derive(Clone, Copy, Debug)]
struct ThrottleLevel {
    host: Option<usize>,
    on_celsius: f64,
    off_celsius: f64,
    duty_percent: u32,
}

fn levels(heat: &ThermalProfile) -> Vec<ThrottleLevel> {
    let level = |on_celsius: f64, off_celsius: f64, duty_percent: u32| ThrottleLevel {
        host: None,
        on_celsius,
        off_celsius,
        duty_percent,
    };
    let on = heat.throttle_on_celsius.value;
    match &heat.levels {
        Some(levels) => {
            let limits = zip(&levels.on_celsius.value, &levels.off_celsius.value);
            let levels = zip(limits, &levels.duty_percent.value);
            levels.map(|((&on, &off), &duty)| level(on, off, duty)).collect()
        }
        None if on == 0.0 => Vec::new(),
        None => vec![level(on, heat.throttle_off_celsius.value, 100)],
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Thermal {
    step_ns: u64,
    ambient_celsius: f64,
    nodes: Nodes,
    composite: usize,
    steady_steps: u64,
    idle_mw: u32,
    changes: VecDeque<IdleChange>,
    work: VecDeque<BackgroundWork>,
    levels: Vec<ThrottleLevel>,
    own_levels: Vec<ThrottleLevel>,
    host_entries: [u32; 2],
    host_steps: [u64; 2],
    pub level: usize,
    /// Entries into throttling from full speed.
    pub throttling_events: u64,
    duty_carry: u32,
    idle_jitter_k: f64,
    warning_celsius: f64,
    critical_celsius: f64,
    celsius: f64,
    pub power_w: f64,
    /// The last step had idle power only.
    idling: bool,
    energy: Energy,
    used_pj: u128,
    next_step_ns: u64,
    pub throttled: bool,
    warning_steps: u64,
    critical_steps: u64,
    throttled_steps: u64,
}

impl Thermal {
    pub fn new(
        heat: &ThermalProfile,
        power: &PowerProfile,
        identity: &IdentityProfile,
        ambient_celsius: Option<f64>,
    ) -> Thermal {
        let ambient_celsius = ambient_celsius.unwrap_or(heat.ambient_celsius.value);
        let idle_w = f64::from(power.idle_mw.value) / 1000.0;
        let step_s = STEP_NS as f64 / 1e9;
        // The nodes know steps of [`STEP_NS`] alone: shorter ones are a faster clock.
        let step_ns = STEP_NS / u64::from(heat.times_faster.unwrap_or(1).max(1));
        let or_never = |celsius: f64| if celsius == 0.0 { f64::MAX } else { celsius };
        let nodes = Nodes::new(heat, [idle_w, 0.0]);
        let composite = (heat.composite_node.as_ref()).map_or(ThermalNode::Controller, |n| n.value);
        let composite = composite as usize;
        Thermal {
            ambient_celsius,
            composite,
            steady_steps: (STEADY_TIME_CONSTANTS * nodes.slowest_s / step_s) as u64,
            idle_mw: power.idle_mw.value,
            levels: levels(heat),
            own_levels: levels(heat),
            idle_jitter_k: heat.idle_jitter_k.as_ref().map_or(0.0, |k| k.value),
            warning_celsius: or_never(f64::from(identity.warning_celsius.value)),
            critical_celsius: or_never(f64::from(identity.critical_celsius.value)),
            celsius: ambient_celsius + nodes.above[composite],
            nodes,
            power_w: idle_w,
            idling: true,
            step_ns,
            next_step_ns: step_ns,
            ..Thermal::default()
        }
    }

    #[inline]
    pub fn add_energy(&mut self, energy: Energy) {
        self.energy += energy;
    }

    #[inline]
    pub fn advance(&mut self, now_ns: u64) {
        if now_ns >= self.next_step_ns {
            self.step_to(now_ns);
        }
    }

    /// Changes come in order of time, not before the last step's end.
    pub fn set_idle_power(&mut self, change: IdleChange) {
        self.changes.push_back(change);
    }

    /// Work comes in order of begin, not before the last step's end.
    pub fn add_background_work(&mut self, work: BackgroundWork) {
        if let Some(last) = self.work.back_mut()
            && let Some(step) = work.only_step(self.step_ns)
            && last.only_step(self.step_ns) == Some(step)
        {
            last.energy += work.energy;
            return;
        }
        self.work.push_back(work);
    }

    /// Next change of idle power or begin of work, `u64::MAX` for never.
    fn quiet_until_ns(&self) -> u64 {
        let change_ns = self.changes.front().map_or(u64::MAX, |next| next.from_ns);
        change_ns.min(self.work.front().map_or(u64::MAX, |work| work.from_ns))
    }

    fn step_to(&mut self, now_ns: u64) {
        let now_ns = now_ns.min(MAX_TIME_NS);
        let mut quiet_steps = 0;
        while now_ns >= self.next_step_ns {
            if quiet_steps > self.steady_steps {
                self.skip(now_ns);
                quiet_steps = 0;
                continue;
            }
            self.step();
            let quiet = self.quiet_until_ns() >= self.next_step_ns;
            quiet_steps = if quiet { quiet_steps + 1 } else { 0 };
        }
    }

    fn skip(&mut self, now_ns: u64) {
        let start_ns = self.next_step_ns - self.step_ns;
        let steps = (now_ns.min(self.quiet_until_ns()) - start_ns) / self.step_ns;
        self.used_pj += u128::from(steps) * u128::from(self.step_ns) * u128::from(self.idle_mw);
        self.count(steps);
        if let Some(entered) = self.level.checked_sub(1) {
            let duty = u64::from(self.levels[entered].duty_percent) * (steps % 100);
            self.duty_carry = ((u64::from(self.duty_carry) + duty) % 100) as u32;
        }
        self.next_step_ns += steps * self.step_ns;
        if now_ns >= self.next_step_ns {
            self.step();
        }
    }

    fn step(&mut self) {
        let idle_pj = self.idle_energy_pj();
        let worked = self.energy_of_work();
        self.energy += worked;
        let energy = std::mem::take(&mut self.energy);
        let used_pj = u128::from(idle_pj) + u128::from(energy.total_nj()) * 1000;
        self.used_pj += used_pj;
        let step_ns = self.step_ns as f64;
        let watts = |nj: u64| nj as f64 / step_ns;
        let idle_w = idle_pj as f64 / (step_ns * 1000.0);
        self.power_w = idle_w + watts(energy.total_nj());
        self.idling = energy == Energy::default();
        self.nodes.step([idle_w + watts(energy.controller_nj), watts(energy.flash_nj)]);
        self.celsius = self.ambient_celsius + self.nodes.above[self.composite];
        let was_throttling = self.level > 0;
        self.throttled = self.throttle();
        self.throttling_events += u64::from(!was_throttling && self.level > 0);
        self.count(1);
        self.next_step_ns += self.step_ns;
    }

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

    fn energy_of_work(&mut self) -> Energy {
        let end_ns = self.next_step_ns;
        let under_way = self.work.iter_mut().take_while(|work| work.from_ns < end_ns);
        let spent = under_way.map(|work| work.take_until(end_ns)).sum();
        let is_done = |work: &BackgroundWork| work.energy == Energy::default();
        while self.work.front().is_some_and(is_done) {
            self.work.pop_front();
        }
        spent
    }

    /// Milliwatts times nanoseconds are picojoules.
    fn idle_energy_pj(&mut self) -> u64 {
        let end_ns = self.next_step_ns;
        let mut at_ns = end_ns - self.step_ns;
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

    pub fn set_host(&mut self, throttling: HostThrottling) {
        let mut levels = self.own_levels.clone();
        let wanted =
            [(throttling.light_celsius, HOST_LIGHT_PERCENT), (throttling.heavy_celsius, 100)];
        for (host, (celsius, duty_percent)) in wanted.into_iter().enumerate() {
            levels.extend(celsius.map(|on_celsius| ThrottleLevel {
                host: Some(host),
                on_celsius,
                off_celsius: on_celsius - HOST_HYSTERESIS_K,
                duty_percent,
            }));
        }
        levels.sort_by(|a, b| a.on_celsius.total_cmp(&b.on_celsius));
        let (mut duty_percent, mut off_celsius) = (0, f64::MIN);
        for level in &mut levels {
            // A hotter level throttles no less and ends no later than those below.
            duty_percent = level.duty_percent.max(duty_percent);
            off_celsius = level.off_celsius.max(off_celsius);
            (level.duty_percent, level.off_celsius) =
                (duty_percent, off_celsius.min(level.on_celsius));
        }
        self.levels = levels;
        self.level = 0;
        self.duty_carry = 0;
    }

    /// Per host controlled threshold: entries and seconds.
    pub fn host_counts(&self) -> [(u32, u64); 2] {
        [0, 1].map(|host| (self.host_entries[host], self.seconds(self.host_steps[host])))
    }

    fn throttle(&mut self) -> bool {
        while let Some(next) = self.levels.get(self.level)
            && self.celsius >= next.on_celsius
        {
            if let Some(host) = next.host {
                self.host_entries[host] += 1;
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

    /// Reported composite temperature in Celsius: jitters while idle, constant within a step.
    pub fn celsius(&self) -> f64 {
        self.celsius + self.jitter_k()
    }

    /// Reported temperature in Celsius of a sensor at this node, as [`Thermal::celsius`].
    pub fn node_celsius(&self, node: ThermalNode) -> f64 {
        self.ambient_celsius + self.nodes.above[node as usize] + self.jitter_k()
    }

    fn jitter_k(&self) -> f64 {
        if self.idle_jitter_k == 0.0 || !self.idling {
            return 0.0;
        }
        let unit = (mix(self.next_step_ns, 0) >> 11) as f64 / (1_u64 << 53) as f64;
        self.idle_jitter_k * (2.0 * unit - 1.0)
    }

    /// Energy used until the end of the last step, in microjoules.
    pub fn used_uj(&self) -> u64 {
        u64::try_from(self.used_pj / 1_000_000).expect("1 kW for 292 years fits")
    }

    fn seconds(&self, steps: u64) -> u64 {
        (u128::from(steps) * u128::from(self.step_ns) / 1_000_000_000) as u64
    }

    pub fn stepped_ns(&self) -> u64 {
        self.next_step_ns - self.step_ns
    }

    /// Seconds at or above warning and critical temperature, and throttled.
    pub fn counters_s(&self) -> (u64, u64, u64) {
        let steps = (self.warning_steps, self.critical_steps, self.throttled_steps);
        (self.seconds(steps.0), self.seconds(steps.1), self.seconds(steps.2))
    }
}

#[cfg(test)]
#[path = "../tests/unit/thermal.rs"]
mod tests;
