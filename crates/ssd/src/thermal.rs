//! Heat: one thermal node fed by the drive's energy, a two-point throttle, and the health log's counters.
//!
//! `dT/dt = (ambient + P * R - T) / tau`, stepped by Euler's method every [`STEP_NS`] with the mean power of the step. The
//! time constants of M.2 drives are tens of seconds, so the step is two to three orders finer. Plain IEEE addition,
//! multiplication and division only: the same on every machine.

use crate::profile::{IdentityProfile, PowerProfile, ThermalProfile};

/// Length of a thermal step in nanoseconds: 50 ms.
pub const STEP_NS: u64 = 50_000_000;
/// After this many idle time constants a drive counts as cooled down (e^-20 of any difference remains).
const SETTLED_TIME_CONSTANTS: f64 = 20.0;

/// Temperature, throttle and counters.
#[derive(Clone, Debug)]
pub struct Thermal {
    ambient_celsius: f64,
    resistance_k_per_w: f64,
    /// Share of the difference that one step closes.
    step_share: f64,
    settled_steps: u64,
    idle_w: f64,
    throttle_on_celsius: f64,
    throttle_off_celsius: f64,
    warning_celsius: f64,
    critical_celsius: f64,
    celsius: f64,
    power_w: f64,
    energy_nj: u64,
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
            idle_w,
            throttle_on_celsius: or_never(heat.throttle_on_celsius.value),
            throttle_off_celsius: heat.throttle_off_celsius.value,
            warning_celsius: or_never(f64::from(identity.warning_celsius.value)),
            critical_celsius: or_never(f64::from(identity.critical_celsius.value)),
            celsius: ambient_celsius + idle_w * heat.resistance_k_per_w.value,
            power_w: idle_w,
            energy_nj: 0,
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

    /// Is the drive slowing down?
    #[inline]
    pub fn throttled(&self) -> bool {
        self.throttled
    }

    /// Bring the state to `now_ns`.
    #[inline]
    pub fn advance(&mut self, now_ns: u64) {
        if now_ns >= self.next_step_ns {
            self.step_to(now_ns);
        }
    }

    fn step_to(&mut self, now_ns: u64) {
        self.step();
        if now_ns < self.next_step_ns {
            return;
        }
        let left = (now_ns - self.next_step_ns) / STEP_NS + 1;
        // Everything after the first step is idle time; a long sleep ends at the idle temperature.
        let stepped = left.min(self.settled_steps);
        for _ in 0..stepped {
            self.step();
        }
        self.next_step_ns = self
            .next_step_ns
            .saturating_add((left - stepped).saturating_mul(STEP_NS));
    }

    fn step(&mut self) {
        self.power_w = self.idle_w + self.energy_nj as f64 / STEP_NS as f64;
        self.energy_nj = 0;
        let target = self.ambient_celsius + self.power_w * self.resistance_k_per_w;
        self.celsius += (target - self.celsius) * self.step_share;
        self.throttled = if self.throttled {
            self.celsius > self.throttle_off_celsius
        } else {
            self.celsius >= self.throttle_on_celsius
        };
        self.warning_steps += u64::from(self.celsius >= self.warning_celsius);
        self.critical_steps += u64::from(self.celsius >= self.critical_celsius);
        self.throttled_steps += u64::from(self.throttled);
        self.next_step_ns = self.next_step_ns.saturating_add(STEP_NS);
    }

    /// Composite temperature in Celsius.
    pub fn celsius(&self) -> f64 {
        self.celsius
    }

    /// Mean power of the last step in watts.
    pub fn power_w(&self) -> f64 {
        self.power_w
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
mod tests {
    use super::*;
    use crate::Profile;

    fn with(on: f64, off: f64) -> Thermal {
        let mut profile = Profile::builtin("intel-600p").unwrap();
        profile.thermal.ambient_celsius.value = 25.0;
        profile.thermal.resistance_k_per_w.value = 10.0;
        profile.thermal.time_constant_s.value = 20.0;
        profile.thermal.throttle_on_celsius.value = on;
        profile.thermal.throttle_off_celsius.value = off;
        profile.power.idle_mw.value = 1000;
        Thermal::new(&profile.thermal, &profile.power, &profile.identity, None)
    }

    /// One time constant closes 1 - 1/e = 63.2 % of the difference; Euler at 50 ms over 20 s is within 0.1 % of that.
    #[test]
    fn follows_the_exponential() {
        let mut heat = with(0.0, 0.0);
        assert_eq!(heat.celsius(), 35.0);
        for step in 1..=400_u64 {
            heat.add_energy(4 * STEP_NS); // 4 W above idle: the target is 25 + 5 * 10 = 75
            heat.advance(step * STEP_NS);
        }
        let expected = 75.0 - 40.0 * 0.367_879;
        assert!(
            (heat.celsius() - expected).abs() < 0.05,
            "{}",
            heat.celsius()
        );
    }

    #[test]
    fn throttles_between_its_two_points_and_counts() {
        let mut heat = with(60.0, 55.0);
        let (mut went_on, mut went_off) = (None, None);
        for step in 1..=4000_u64 {
            heat.add_energy(if heat.throttled() { 0 } else { 4 * STEP_NS });
            heat.advance(step * STEP_NS);
            if heat.throttled() && went_on.is_none() {
                went_on = Some(heat.celsius());
            }
            if !heat.throttled() && went_on.is_some() && went_off.is_none() {
                went_off = Some(heat.celsius());
            }
        }
        let (on, off) = (went_on.unwrap(), went_off.unwrap());
        assert!((60.0..60.3).contains(&on), "{on}");
        assert!((54.7..=55.0).contains(&off), "{off}");
        let (warning, critical, throttled) = heat.counters_s();
        assert_eq!((warning, critical), (0, 0));
        assert!(throttled > 10 && throttled < 200, "{throttled}");
    }

    #[test]
    fn a_long_sleep_ends_cold_at_once() {
        let mut heat = with(0.0, 0.0);
        heat.add_energy(1000 * STEP_NS);
        heat.advance(STEP_NS);
        assert!(heat.celsius() > 50.0);
        heat.advance(u64::MAX - 1);
        assert!((heat.celsius() - 35.0).abs() < 1e-3, "{}", heat.celsius());
        heat.advance(u64::MAX);
    }
}
