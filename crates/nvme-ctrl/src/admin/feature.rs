//! Get Features and Set Features (Base 5.15, 5.27).

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{GetFeatures, SetFeatures, select};
use assay_nvme_spec::feature::{
    Arbitration, AsyncEventConfig, AutonomousPower, AutonomousTable, AutonomousTransition,
    ErrorRecovery, FeatureId, HostThermal, InterruptCoalescing, InterruptVector,
    NonOperationalPower, NumberOfQueues, PowerManagement, TemperatureThreshold, Timestamp,
    VolatileWriteCache,
};
use assay_ssd::coalescing::CoalescingSetting;
use assay_ssd::thermal::HostThrottling;
use assay_ssd::{Drive, Telemetry};
use assay_units::Nanos;

use super::{Answer, Outcome};
use crate::controller::Controller;
use crate::memory::HostMemory;
use crate::transfer::DataPointer;

/// The least temperature for Host Controlled Thermal Management in kelvin. Assumed: 0 Celsius.
pub const MIN_THERMAL_KELVIN: u16 = 273;
/// The greatest, in kelvin. Assumed: 100 Celsius.
pub const MAX_THERMAL_KELVIN: u16 = 373;
/// No threshold (Base 5.27.1.3: what sensors have until a host sets one).
const NO_THRESHOLD: u16 = u16::MAX;

/// Whole degrees Celsius in kelvin, as drives count (0 °C is 273 K).
pub(crate) fn kelvin(celsius: u16) -> u16 {
    celsius.saturating_add(273)
}

/// Whole degrees Celsius, perhaps below 0, in kelvin.
pub(crate) fn kelvin_of(celsius: i32) -> u16 {
    u16::try_from(celsius.saturating_add(273)).unwrap_or(0)
}

/// Temperature thresholds in kelvin: composite, then sensors 1 to 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thresholds {
    over: [u16; 9],
    under: [u16; 9],
}

impl Thresholds {
    /// Is the composite temperature, or a sensor's, at or beyond a threshold?
    pub(crate) fn is_crossed(&self, telemetry: &Telemetry) -> bool {
        let readings =
            std::iter::once(telemetry.composite_celsius).chain(telemetry.sensors.iter().copied());
        let limits = self.over.iter().zip(&self.under);
        let mut all = readings.map(kelvin_of).zip(limits);
        all.any(|(reading, (&over, &under))| reading >= over || under > 0 && reading <= under)
    }
}

/// The values of features.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) write_cache: bool,
    pub(crate) async_events: AsyncEventConfig,
    pub(crate) thresholds: Thresholds,
    /// Interrupt coalescing as the drive is switched on.
    pub(crate) coalescing: CoalescingSetting,
    /// Can throttling slow the drive?
    pub(crate) can_throttle: bool,
    /// Power states changed by a host.
    pub(crate) power_state_changes: u64,
    /// What the last telemetry capture found.
    pub(crate) telemetry: Vec<u8>,
    pub(crate) telemetry_generation: u8,
    arbitration: u32,
    error_recovery: u32,
    power: PowerManagement,
    thermal: HostThermal,
    non_operational: u32,
    autonomous: bool,
    table: AutonomousTable,
    /// Milliseconds set by a host, and when.
    timestamp: Option<(u64, u64)>,
}

impl Features {
    pub(crate) fn new(
        drive: &Drive,
        coalescing: Option<CoalescingSetting>,
        power_state: u8,
    ) -> Features {
        let mut power = PowerManagement::default();
        power.set_state(power_state);
        let profile = drive.profile();
        let heat = &profile.thermal;
        let warning = drive
            .identity()
            .warning_celsius
            .map_or(NO_THRESHOLD, kelvin);
        let mut over = [NO_THRESHOLD; 9];
        over[0] = warning;
        let transitions = drive.autonomous_transitions();
        Features {
            write_cache: true,
            async_events: AsyncEventConfig::default(),
            thresholds: Thresholds {
                over,
                under: [0; 9],
            },
            coalescing: coalescing.unwrap_or(CoalescingSetting {
                time_100us: 0,
                threshold: 0,
            }),
            can_throttle: heat.throttle_percent.value > 100,
            power_state_changes: 0,
            telemetry: Vec::new(),
            telemetry_generation: 0,
            arbitration: 0,
            error_recovery: 0,
            power,
            thermal: HostThermal::default(),
            // Housekeeping goes on in non-operational states.
            non_operational: 1,
            autonomous: !transitions.is_empty(),
            table: table_of(drive, &transitions),
            timestamp: None,
        }
    }
}

/// The table that says what the drive does by itself.
fn table_of(drive: &Drive, transitions: &[(Nanos, u8)]) -> AutonomousTable {
    let mut entries = [AutonomousTransition::default(); 32];
    let states = &drive.identity().power_states;
    let (mut idle_ns, mut from) = (0, 0);
    for &(idle, state) in transitions {
        let idle_ms = (idle.0 - idle_ns).div_ceil(1_000_000);
        let mut entry = AutonomousTransition::default();
        entry.set_state(state).set_idle_ms(
            u32::try_from(idle_ms)
                .unwrap_or(u32::MAX)
                .clamp(1, 0xff_ffff),
        );
        for (place, known) in entries
            .iter_mut()
            .zip(states)
            .take(usize::from(state))
            .skip(from)
        {
            if known.operational || from > 0 {
                *place = entry;
            }
        }
        (idle_ns, from) = (idle.0, usize::from(state));
    }
    let mut table = AutonomousTable::default();
    table.set_transitions(entries);
    table
}

/// The chain of transitions that a table makes for a drive that works in state `working`: idle time since the last command, and state.
fn chain(table: &AutonomousTable, working: u8) -> Vec<(Nanos, u8)> {
    let entries = table.transitions();
    let (mut at, mut idle_ns, mut out) = (working, 0, Vec::new());
    while let Some(entry) = entries.get(usize::from(at))
        && entry.idle_ms() > 0
        && entry.state() > at
    {
        idle_ns += u64::from(entry.idle_ms()) * 1_000_000;
        at = entry.state();
        out.push((Nanos(idle_ns), at));
    }
    out
}

impl Controller {
    pub(super) fn get_features<M: HostMemory>(
        &mut self,
        command: GetFeatures,
        pointer: DataPointer,
        memory: &mut M,
    ) -> Answer {
        let fid = FeatureId(command.fid());
        if command.select() == select::SUPPORTED {
            const CHANGEABLE: u32 = 1 << 2;
            self.feature_value(fid, command.value(), true)?;
            return Ok(Outcome::Done(CHANGEABLE));
        }
        if command.select() > select::SUPPORTED {
            return Err(StatusCode::INVALID_FIELD);
        }
        // Nothing can be saved: the saved value is the one as shipped.
        if command.select() != select::CURRENT {
            std::mem::swap(&mut self.features, &mut self.shipped);
            let answer = self.feature_answer(fid, command.value(), false, pointer, memory);
            std::mem::swap(&mut self.features, &mut self.shipped);
            return answer;
        }
        self.feature_answer(fid, command.value(), true, pointer, memory)
    }

    fn feature_answer<M: HostMemory>(
        &self,
        fid: FeatureId,
        value: u32,
        current: bool,
        pointer: DataPointer,
        memory: &mut M,
    ) -> Answer {
        let dw0 = self.feature_value(fid, value, current)?;
        match fid {
            FeatureId::AUTONOMOUS_POWER => {
                self.answer_with(
                    self.features.table.as_bytes(),
                    AutonomousTable::SIZE,
                    pointer,
                    memory,
                )?;
            }
            FeatureId::TIMESTAMP => {
                let mut stamp = Timestamp::default();
                let (set_ms, at_ns) = self.features.timestamp.unwrap_or((0, 0));
                stamp
                    .set_milliseconds(
                        set_ms.wrapping_add(self.now_ns.saturating_sub(at_ns) / 1_000_000),
                    )
                    .set_origin(u8::from(self.features.timestamp.is_some()));
                self.answer_with(stamp.as_bytes(), Timestamp::SIZE, pointer, memory)?;
            }
            _ => {}
        }
        Ok(Outcome::Done(dw0))
    }

    /// Dword 0 of a feature; `value` is the command's dword 11, by which some are selected. What the interrupts have is `current`; else it
    /// is as shipped.
    fn feature_value(&self, fid: FeatureId, value: u32, current: bool) -> Result<u32, StatusCode> {
        let features = &self.features;
        Ok(match fid {
            FeatureId::ARBITRATION => features.arbitration,
            FeatureId::POWER_MANAGEMENT => features.power.raw(),
            FeatureId::TEMPERATURE_THRESHOLD => {
                let asked = TemperatureThreshold::from_raw(value);
                let limits = match asked.threshold_type() {
                    0 => &features.thresholds.over,
                    1 => &features.thresholds.under,
                    _ => return Err(StatusCode::INVALID_FIELD),
                };
                let limit = limits
                    .get(usize::from(asked.sensor()))
                    .ok_or(StatusCode::INVALID_FIELD)?;
                u32::from(*limit)
            }
            FeatureId::ERROR_RECOVERY => features.error_recovery,
            FeatureId::VOLATILE_WRITE_CACHE => {
                let mut cache = VolatileWriteCache::default();
                cache.set_enabled(features.write_cache);
                cache.raw()
            }
            FeatureId::NUMBER_OF_QUEUES => self.granted(u16::MAX - 1, u16::MAX - 1),
            FeatureId::INTERRUPT_COALESCING => {
                let setting = if current {
                    self.interrupts.setting()
                } else {
                    features.coalescing
                };
                let mut coalescing = InterruptCoalescing::default();
                coalescing
                    .set_threshold(setting.threshold)
                    .set_time_100us(setting.time_100us);
                coalescing.raw()
            }
            FeatureId::INTERRUPT_VECTOR => {
                let asked = InterruptVector::from_raw(value);
                let disabled = self
                    .interrupts
                    .is_disabled(asked.vector())
                    .ok_or(StatusCode::INVALID_FIELD)?;
                let mut vector = InterruptVector::default();
                vector
                    .set_vector(asked.vector())
                    .set_coalescing_disabled(disabled && current);
                vector.raw()
            }
            FeatureId::WRITE_ATOMICITY => 0,
            FeatureId::ASYNC_EVENT => features.async_events.raw(),
            FeatureId::AUTONOMOUS_POWER if self.sleeps() => {
                let mut autonomous = AutonomousPower::default();
                autonomous.set_enabled(features.autonomous);
                autonomous.raw()
            }
            FeatureId::TIMESTAMP => 0,
            FeatureId::HOST_THERMAL if features.can_throttle => features.thermal.raw(),
            FeatureId::NON_OPERATIONAL_POWER if self.sleeps() => features.non_operational,
            _ => return Err(StatusCode::INVALID_FIELD),
        })
    }

    /// Does the drive have states to sleep in?
    fn sleeps(&self) -> bool {
        self.drive
            .identity()
            .power_states
            .iter()
            .any(|state| !state.operational)
    }

    /// Number of Queues granted of those asked for, less one each.
    fn granted(&self, submission: u16, completion: u16) -> u32 {
        let most = self.queue_pairs - 1;
        let mut granted = NumberOfQueues::default();
        granted
            .set_submission(submission.min(most))
            .set_completion(completion.min(most));
        granted.raw()
    }

    pub(super) fn set_features<M: HostMemory>(
        &mut self,
        now_ns: u64,
        command: SetFeatures,
        pointer: DataPointer,
        memory: &mut M,
    ) -> Answer {
        let (fid, value) = (FeatureId(command.fid()), command.value());
        if fid != FeatureId::INTERRUPT_VECTOR && fid != FeatureId::TEMPERATURE_THRESHOLD {
            // Is there such a feature at all?
            self.feature_value(fid, value, true)?;
        }
        if command.save() {
            return Err(StatusCode::FEATURE_NOT_SAVEABLE);
        }
        match fid {
            FeatureId::ARBITRATION => {
                self.features.arbitration = Arbitration::from_raw(value).raw()
            }
            FeatureId::POWER_MANAGEMENT => {
                self.choose_power_state(now_ns, PowerManagement::from_raw(value))?
            }
            FeatureId::TEMPERATURE_THRESHOLD => {
                self.set_threshold(TemperatureThreshold::from_raw(value))?
            }
            FeatureId::ERROR_RECOVERY => {
                if ErrorRecovery::from_raw(value).deallocated_errors() {
                    return Err(StatusCode::INVALID_FIELD);
                }
                self.features.error_recovery = value & 0xffff;
            }
            FeatureId::VOLATILE_WRITE_CACHE => {
                self.features.write_cache = VolatileWriteCache::from_raw(value).enabled();
            }
            FeatureId::NUMBER_OF_QUEUES => {
                let asked = NumberOfQueues::from_raw(value);
                if asked.submission() == u16::MAX || asked.completion() == u16::MAX {
                    return Err(StatusCode::INVALID_FIELD);
                }
                if self.has_io_queues() {
                    return Err(StatusCode::COMMAND_SEQUENCE_ERROR);
                }
                return Ok(Outcome::Done(
                    self.granted(asked.submission(), asked.completion()),
                ));
            }
            FeatureId::INTERRUPT_COALESCING => {
                let asked = InterruptCoalescing::from_raw(value);
                self.interrupts.set(CoalescingSetting {
                    time_100us: asked.time_100us(),
                    threshold: asked.threshold(),
                });
            }
            FeatureId::INTERRUPT_VECTOR => {
                let asked = InterruptVector::from_raw(value);
                self.interrupts
                    .is_disabled(asked.vector())
                    .ok_or(StatusCode::INVALID_FIELD)?;
                self.interrupts
                    .disable(asked.vector(), asked.coalescing_disabled());
            }
            FeatureId::ASYNC_EVENT => {
                self.features.async_events = AsyncEventConfig::from_raw(value)
            }
            FeatureId::AUTONOMOUS_POWER => {
                let mut table = AutonomousTable::default();
                pointer.gather(memory, table.as_bytes_mut(), self.page_bytes)?;
                self.set_autonomous(now_ns, AutonomousPower::from_raw(value).enabled(), table)?;
            }
            FeatureId::TIMESTAMP => {
                let mut stamp = Timestamp::default();
                pointer.gather(memory, stamp.as_bytes_mut(), self.page_bytes)?;
                self.features.timestamp = Some((stamp.milliseconds(), now_ns));
            }
            FeatureId::HOST_THERMAL => {
                self.set_host_thermal(now_ns, HostThermal::from_raw(value))?
            }
            FeatureId::NON_OPERATIONAL_POWER => {
                self.features.non_operational = NonOperationalPower::from_raw(value).raw() & 1;
            }
            _ => return Err(StatusCode::FEATURE_NOT_CHANGEABLE),
        }
        Ok(Outcome::Done(0))
    }

    fn choose_power_state(
        &mut self,
        now_ns: u64,
        asked: PowerManagement,
    ) -> Result<(), StatusCode> {
        self.drive
            .set_power_state(Nanos(now_ns), asked.state())
            .map_err(|_| StatusCode::INVALID_FIELD)?;
        self.features.power = asked;
        self.features.power_state_changes += 1;
        self.apply_autonomous(now_ns);
        Ok(())
    }

    fn set_threshold(&mut self, asked: TemperatureThreshold) -> Result<(), StatusCode> {
        const ALL: u8 = 0xf;
        let sensors = self.drive.profile().thermal.sensor_offsets_k.value.len();
        let stuck = &self.drive.profile().thermal.stuck_sensors_celsius;
        let sensors = (sensors + stuck.as_ref().map_or(0, |list| list.value.len())).min(8);
        let limits = match asked.threshold_type() {
            0 => &mut self.features.thresholds.over,
            1 => &mut self.features.thresholds.under,
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        match asked.sensor() {
            ALL => limits[..=sensors].fill(asked.kelvin()),
            sensor if usize::from(sensor) <= sensors => {
                limits[usize::from(sensor)] = asked.kelvin()
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        }
        Ok(())
    }

    fn set_autonomous(
        &mut self,
        now_ns: u64,
        enabled: bool,
        table: AutonomousTable,
    ) -> Result<(), StatusCode> {
        let states = &self.drive.identity().power_states;
        for entry in table.transitions() {
            let target = states.get(usize::from(entry.state()));
            if entry.idle_ms() > 0 && target.is_none_or(|state| state.operational) {
                return Err(StatusCode::INVALID_FIELD);
            }
        }
        self.features.autonomous = enabled;
        self.features.table = table;
        self.apply_autonomous(now_ns);
        Ok(())
    }

    /// Tell the drive which states it enters by itself from the one it works in.
    fn apply_autonomous(&mut self, now_ns: u64) {
        let transitions = if self.features.autonomous {
            // A host that sends the drive to sleep chooses no other state to work in.
            chain(&self.features.table, self.drive.working_power_state())
        } else {
            Vec::new()
        };
        self.drive
            .set_autonomous_transitions(Nanos(now_ns), &transitions);
    }

    fn set_host_thermal(&mut self, now_ns: u64, asked: HostThermal) -> Result<(), StatusCode> {
        let (light, heavy) = (asked.light_kelvin(), asked.heavy_kelvin());
        let range = MIN_THERMAL_KELVIN..=MAX_THERMAL_KELVIN;
        let possible = |kelvin: u16| kelvin == 0 || range.contains(&kelvin);
        if !possible(light) || !possible(heavy) || light > 0 && heavy > 0 && light >= heavy {
            return Err(StatusCode::INVALID_FIELD);
        }
        let celsius = |kelvin: u16| (kelvin > 0).then(|| f64::from(kelvin) - 273.0);
        let throttling = HostThrottling {
            light_celsius: celsius(light),
            heavy_celsius: celsius(heavy),
        };
        self.drive.set_host_throttling(Nanos(now_ns), throttling);
        self.features.thermal = asked;
        Ok(())
    }

    /// A controller reset: all features as shipped.
    pub(crate) fn reset_features(&mut self, now_ns: u64) {
        let old = &self.features;
        let (changes, power, thermal) = (old.power_state_changes, old.power, old.thermal);
        let (capture, generation, stamp) = (
            old.telemetry.clone(),
            old.telemetry_generation,
            old.timestamp,
        );
        self.features = self.shipped.clone();
        (self.features.telemetry, self.features.telemetry_generation) = (capture, generation);
        self.features.timestamp = stamp;
        self.features.power_state_changes = changes;
        if power.state() != self.features.power.state() {
            // It was there when the drive was switched on.
            let first = self.first_power_state;
            let _ = self.drive.set_power_state(Nanos(now_ns), first);
        }
        if thermal != HostThermal::default() {
            self.drive
                .set_host_throttling(Nanos(now_ns), HostThrottling::default());
        }
        self.apply_autonomous(now_ns);
    }
}
