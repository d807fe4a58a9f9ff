//! Get Features and Set Features (Base 5.15, 5.27).

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::admin::{GetFeatures, SetFeatures, select};
use assay_nvme_spec::feature::{
    AsyncEventConfig, AutonomousTable, AutonomousTransition, ErrorRecovery, FeatureId,
    FeatureSwitch, HostMemoryAttributes, HostMemoryBuffer, HostThermal, InterruptCoalescing,
    InterruptVector, NumberOfQueues, PowerManagement, TemperatureThreshold, Timestamp,
};
use assay_ssd::coalescing::CoalescingSetting;
use assay_ssd::thermal::HostThrottling;
use assay_ssd::{Drive, Telemetry};
use assay_units::Nanos;

use super::fdp::events::EVENT_TYPES;
use super::host_memory::sizes_in_pages;
use super::{AdminCommand, AdminOutcome, AdminResult};
use crate::controller::Controller;

/// Assumed: 0 °C.
pub const MIN_THERMAL_KELVIN: u16 = 273;
/// Assumed: 100 °C.
pub const MAX_THERMAL_KELVIN: u16 = 373;
/// Default threshold of sensors (Base 5.27.1.3).
const NO_THRESHOLD: u16 = u16::MAX;

/// 0 °C is 273 K, as usual for drives.
pub(crate) fn kelvin(celsius: i32) -> u16 {
    celsius.saturating_add(273).clamp(0, i32::from(u16::MAX)) as u16
}

/// In kelvin by Threshold Type Select (over, under): composite, then sensors 1 to 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thresholds([[u16; 9]; 2]);

impl Thresholds {
    pub(crate) fn is_crossed(&self, telemetry: &Telemetry) -> bool {
        let Thresholds([over, under]) = self;
        let sensors = telemetry.sensors.iter().copied();
        let readings = std::iter::once(telemetry.composite_celsius).chain(sensors);
        let mut all = readings.map(kelvin).zip(over.iter().zip(under));
        all.any(|(reading, (&over, &under))| reading >= over || under > 0 && reading <= under)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) write_cache: FeatureSwitch,
    pub(crate) async_events: AsyncEventConfig,
    pub(crate) thresholds: Thresholds,
    pub(crate) coalescing: CoalescingSetting,
    /// Throttling has an effect on this drive.
    pub(crate) can_throttle: bool,
    pub(crate) power_state_changes: u64,
    pub(crate) telemetry: Vec<u8>,
    pub(crate) telemetry_generation: u8,
    pub(crate) host_memory: Option<Box<HostMemoryAttributes>>,
    arbitration: u32,
    error_recovery: u32,
    power: PowerManagement,
    thermal: HostThermal,
    non_operational: FeatureSwitch,
    autonomous: FeatureSwitch,
    table: AutonomousTable,
    /// Milliseconds set by a host, and the time of the command in nanoseconds.
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
        let warning = drive.identity().warning_celsius;
        let mut over = [NO_THRESHOLD; 9];
        over[0] = warning.map_or(NO_THRESHOLD, |celsius| kelvin(celsius.into()));
        let transitions = drive.autonomous_transitions();
        Features {
            write_cache: switch(true),
            async_events: AsyncEventConfig::default(),
            thresholds: Thresholds([over, [0; 9]]),
            coalescing: coalescing.unwrap_or_default(),
            can_throttle: drive.profile().thermal.throttle_percent.value > 100,
            power_state_changes: 0,
            telemetry: Vec::new(),
            telemetry_generation: 0,
            host_memory: None,
            arbitration: 0,
            error_recovery: 0,
            power,
            thermal: HostThermal::default(),
            // Background operations continue in non-operational states.
            non_operational: switch(true),
            autonomous: switch(!transitions.is_empty()),
            table: table_of(drive, &transitions),
            timestamp: None,
        }
    }

    pub(super) fn timestamp_ms(&self, now_ns: u64) -> u64 {
        self.timestamp_at(now_ns).milliseconds()
    }

    /// `now_ns` is not before the time at which the timestamp was set.
    fn timestamp_at(&self, now_ns: u64) -> Timestamp {
        let (set_ms, at_ns) = self.timestamp.unwrap_or((0, 0));
        let mut timestamp = Timestamp::default();
        timestamp
            .set_milliseconds(set_ms + (now_ns - at_ns) / 1_000_000)
            .set_origin(u8::from(self.timestamp.is_some()));
        timestamp
    }
}

fn switch(enabled: bool) -> FeatureSwitch {
    FeatureSwitch::from_raw(enabled.into())
}

fn table_of(drive: &Drive, transitions: &[(Nanos, u8)]) -> AutonomousTable {
    let mut entries = [AutonomousTransition::default(); 32];
    let states = &drive.identity().power_states;
    let (mut idle_ns, mut from) = (0, 0);
    for &(idle, state) in transitions {
        let idle_ms = (idle.0 - idle_ns).div_ceil(1_000_000);
        let mut entry = AutonomousTransition::default();
        // Limited to the 24 bits of the field.
        entry.set_state(state).set_idle_ms(idle_ms.clamp(1, 0xff_ffff) as u32);
        let before = usize::from(state);
        for (to, known) in entries.iter_mut().zip(states).take(before).skip(from) {
            if known.operational || from > 0 {
                *to = entry;
            }
        }
        (idle_ns, from) = (idle.0, usize::from(state));
    }
    let mut table = AutonomousTable::default();
    table.set_transitions(entries);
    table
}

/// Idle time since the last command, and state, from the operational state `working` on.
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
    pub(super) fn get_features(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let get: GetFeatures = command.view();
        let fid = FeatureId(get.fid());
        // No feature can be saved: the saved values are the defaults.
        let is_current = match get.select() {
            select::CURRENT | select::SUPPORTED => true,
            select::DEFAULT | select::SAVED => false,
            _ => return Err(StatusCode::INVALID_FIELD),
        };
        let dw0 = self.feature_value(fid, get.value(), is_current)?;
        if get.select() == select::SUPPORTED {
            const CHANGEABLE: u32 = 1 << 2;
            return Ok(AdminOutcome::Done(CHANGEABLE));
        }
        let features = self.features(is_current);
        let (timestamp, host_memory, fdp_events);
        let host_id = self.association.host_id;
        let data: &[u8] = match fid {
            FeatureId::AUTONOMOUS_POWER => features.table.as_bytes(),
            FeatureId::TIMESTAMP => {
                timestamp = features.timestamp_at(command.now_ns);
                timestamp.as_bytes()
            }
            FeatureId::HOST_MEMORY_BUFFER => {
                host_memory = features.host_memory.as_deref().copied().unwrap_or_default();
                host_memory.as_bytes()
            }
            FeatureId::HOST_IDENTIFIER => &host_id,
            FeatureId::FDP_EVENTS => {
                fdp_events = self.event_descriptors(get.value(), is_current)?;
                &fdp_events
            }
            _ => return Ok(AdminOutcome::Done(dw0)),
        };
        command.reply(data, data.len(), self.page_bytes)?;
        Ok(AdminOutcome::Done(dw0))
    }

    fn features(&self, is_current: bool) -> &Features {
        if is_current { &self.features } else { &self.default_features }
    }

    /// Dword 0 of a feature. `value` is dword 11 of the command, which selects among some values.
    fn feature_value(
        &self,
        fid: FeatureId,
        value: u32,
        is_current: bool,
    ) -> Result<u32, StatusCode> {
        let features = self.features(is_current);
        let is_remote = self.options.fabrics.is_some();
        Ok(match fid {
            FeatureId::ARBITRATION => features.arbitration,
            FeatureId::POWER_MANAGEMENT => features.power.raw(),
            FeatureId::TEMPERATURE_THRESHOLD => {
                let selected = TemperatureThreshold::from_raw(value);
                let limits = features.thresholds.0.get(usize::from(selected.threshold_type()));
                let limit = limits.and_then(|limits| limits.get(usize::from(selected.sensor())));
                u32::from(*limit.ok_or(StatusCode::INVALID_FIELD)?)
            }
            FeatureId::ERROR_RECOVERY => features.error_recovery,
            FeatureId::VOLATILE_WRITE_CACHE => features.write_cache.raw(),
            FeatureId::NUMBER_OF_QUEUES => self.queues_granted(u16::MAX - 1, u16::MAX - 1),
            FeatureId::KEEP_ALIVE if is_remote => self.association.keep_alive_ms,
            FeatureId::HOST_IDENTIFIER if is_remote => 0,
            // Of PCIe.
            FeatureId::INTERRUPT_COALESCING | FeatureId::INTERRUPT_VECTOR if is_remote => {
                return Err(StatusCode::INVALID_FIELD);
            }
            FeatureId::INTERRUPT_COALESCING => {
                let current = is_current.then_some(self.interrupts.setting);
                let setting = current.unwrap_or(features.coalescing);
                let mut coalescing = InterruptCoalescing::default();
                coalescing.set_threshold(setting.threshold).set_time_100us(setting.time_100us).raw()
            }
            FeatureId::INTERRUPT_VECTOR => {
                let selected = InterruptVector::from_raw(value).vector();
                let disabled = self.interrupts.is_coalescing_disabled(selected);
                let disabled = disabled.ok_or(StatusCode::INVALID_FIELD)?;
                let mut vector = InterruptVector::default();
                vector.set_vector(selected).set_coalescing_disabled(disabled && is_current).raw()
            }
            FeatureId::WRITE_ATOMICITY | FeatureId::TIMESTAMP => 0,
            FeatureId::ASYNC_EVENT => features.async_events.raw(),
            FeatureId::HOST_MEMORY_BUFFER if sizes_in_pages(self).is_some() => {
                let mut buffer = HostMemoryBuffer::default();
                buffer.set_enabled(features.host_memory.is_some()).raw()
            }
            FeatureId::HOST_THERMAL if features.can_throttle => features.thermal.raw(),
            FeatureId::AUTONOMOUS_POWER if self.has_non_operational_states() => {
                features.autonomous.raw()
            }
            FeatureId::FLEXIBLE_DATA_PLACEMENT => self.placement_feature(value)?,
            // The number of descriptors in the data.
            FeatureId::FDP_EVENTS => {
                let asked = self.event_selection(value)?.types();
                EVENT_TYPES.len().min(asked.into()) as u32
            }
            FeatureId::NON_OPERATIONAL_POWER if self.has_non_operational_states() => {
                features.non_operational.raw()
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        })
    }

    pub(super) fn has_non_operational_states(&self) -> bool {
        let states = &self.drive.identity().power_states;
        states.iter().any(|state| !state.operational)
    }

    fn queues_granted(&self, submission: u16, completion: u16) -> u32 {
        let most = self.queue_pairs - 1;
        let mut granted = NumberOfQueues::default();
        granted.set_submission(submission.min(most)).set_completion(completion.min(most)).raw()
    }

    fn set_queues(&self, requested: NumberOfQueues) -> AdminResult {
        let (submission, completion) = (requested.submission(), requested.completion());
        let is_invalid = submission == u16::MAX || completion == u16::MAX;
        StatusCode::INVALID_FIELD.fail_if(is_invalid)?;
        StatusCode::COMMAND_SEQUENCE_ERROR.fail_if(self.has_io_queues())?;
        let granted = self.queues_granted(submission, completion);
        Ok(AdminOutcome::Done(granted))
    }

    pub(super) fn set_features(&mut self, command: &mut AdminCommand<'_>) -> AdminResult {
        let (now_ns, set): (u64, SetFeatures) = (command.now_ns, command.view());
        let (fid, value) = (FeatureId(set.fid()), set.value());
        if fid != FeatureId::INTERRUPT_VECTOR && fid != FeatureId::TEMPERATURE_THRESHOLD {
            // Rejects unsupported features.
            self.feature_value(fid, value, true)?;
        }
        StatusCode::FEATURE_NOT_SAVEABLE.fail_if(set.save())?;
        let enabled = FeatureSwitch::from_raw(value & 1);
        match fid {
            FeatureId::ARBITRATION => self.features.arbitration = value,
            FeatureId::POWER_MANAGEMENT => {
                self.set_power_state(now_ns, PowerManagement::from_raw(value))?
            }
            FeatureId::TEMPERATURE_THRESHOLD => {
                self.set_threshold(TemperatureThreshold::from_raw(value))?
            }
            FeatureId::ERROR_RECOVERY => {
                let recovery = ErrorRecovery::from_raw(value);
                StatusCode::INVALID_FIELD.fail_if(recovery.deallocated_errors())?;
                self.features.error_recovery = value & 0xffff;
            }
            FeatureId::VOLATILE_WRITE_CACHE => self.features.write_cache = enabled,
            FeatureId::NUMBER_OF_QUEUES => return self.set_queues(NumberOfQueues::from_raw(value)),
            FeatureId::INTERRUPT_COALESCING => {
                let setting = InterruptCoalescing::from_raw(value);
                self.interrupts.set(CoalescingSetting {
                    time_100us: setting.time_100us(),
                    threshold: setting.threshold(),
                });
            }
            FeatureId::INTERRUPT_VECTOR => {
                let (setting, vectors) = (InterruptVector::from_raw(value), self.vectors());
                StatusCode::INVALID_FIELD.fail_if(setting.vector() >= vectors)?;
                let disabled = setting.coalescing_disabled();
                self.interrupts.disable_coalescing(setting.vector(), disabled);
            }
            FeatureId::ASYNC_EVENT => {
                self.features.async_events = AsyncEventConfig::from_raw(value)
            }
            FeatureId::AUTONOMOUS_POWER => {
                let mut table = AutonomousTable::default();
                command.receive(table.as_bytes_mut(), self.page_bytes)?;
                self.set_autonomous(now_ns, enabled, table)?;
            }
            FeatureId::TIMESTAMP => {
                let mut stamp = Timestamp::default();
                command.receive(stamp.as_bytes_mut(), self.page_bytes)?;
                self.features.timestamp = Some((stamp.milliseconds(), now_ns));
            }
            FeatureId::HOST_MEMORY_BUFFER => return self.set_host_memory(command),
            FeatureId::HOST_THERMAL => {
                self.set_host_thermal(now_ns, HostThermal::from_raw(value))?
            }
            FeatureId::FLEXIBLE_DATA_PLACEMENT => self.set_placement(set.second_value())?,
            FeatureId::FDP_EVENTS => {
                let selection = self.event_selection(value)?;
                let mut kinds = vec![0; usize::from(selection.types())];
                command.receive(&mut kinds, self.page_bytes)?;
                self.set_fdp_events(selection, &kinds, set.second_value())?;
            }
            FeatureId::NON_OPERATIONAL_POWER => self.features.non_operational = enabled,
            FeatureId::KEEP_ALIVE => self.association.keep_alive_ms = value,
            _ => return Err(StatusCode::FEATURE_NOT_CHANGEABLE),
        }
        Ok(AdminOutcome::Done(0))
    }

    fn set_power_state(&mut self, now_ns: u64, power: PowerManagement) -> Result<(), StatusCode> {
        self.drive
            .set_power_state(Nanos(now_ns), power.state())
            .map_err(|_| StatusCode::INVALID_FIELD)?;
        self.features.power = power;
        self.features.power_state_changes += 1;
        self.apply_autonomous(now_ns);
        Ok(())
    }

    fn set_threshold(&mut self, threshold: TemperatureThreshold) -> Result<(), StatusCode> {
        const ALL: u8 = 0xf;
        let thermal = &self.drive.profile().thermal;
        let stuck = thermal.stuck_sensors_celsius.as_ref();
        let stuck = stuck.map_or(0, |list| list.value.len());
        let sensors = (thermal.sensor_offsets_k.value.len() + stuck).min(8);
        let limits = &mut self.features.thresholds.0;
        let limits = limits.get_mut(usize::from(threshold.threshold_type()));
        let limits = limits.ok_or(StatusCode::INVALID_FIELD)?;
        match threshold.sensor() {
            ALL => limits[..=sensors].fill(threshold.kelvin()),
            sensor if usize::from(sensor) <= sensors => {
                limits[usize::from(sensor)] = threshold.kelvin()
            }
            _ => return Err(StatusCode::INVALID_FIELD),
        }
        Ok(())
    }

    fn set_autonomous(
        &mut self,
        now_ns: u64,
        enabled: FeatureSwitch,
        table: AutonomousTable,
    ) -> Result<(), StatusCode> {
        let states = &self.drive.identity().power_states;
        for entry in table.transitions() {
            let target = states.get(usize::from(entry.state()));
            let is_invalid = target.is_none_or(|state| state.operational);
            StatusCode::INVALID_FIELD.fail_if(entry.idle_ms() > 0 && is_invalid)?;
        }
        self.features.autonomous = enabled;
        self.features.table = table;
        self.apply_autonomous(now_ns);
        Ok(())
    }

    fn apply_autonomous(&mut self, now_ns: u64) {
        let transitions = match self.features.autonomous.enabled() {
            // The last operational state counts, also if a host selected a non-operational one.
            true => chain(&self.features.table, self.drive.working_power_state()),
            false => Vec::new(),
        };
        self.drive.set_autonomous_transitions(Nanos(now_ns), &transitions);
    }

    fn set_host_thermal(&mut self, now_ns: u64, thermal: HostThermal) -> Result<(), StatusCode> {
        let (light, heavy) = (thermal.light_kelvin(), thermal.heavy_kelvin());
        let range = MIN_THERMAL_KELVIN..=MAX_THERMAL_KELVIN;
        let valid = |kelvin: u16| kelvin == 0 || range.contains(&kelvin);
        let in_order = light == 0 || heavy == 0 || light < heavy;
        StatusCode::INVALID_FIELD.fail_if(!valid(light) || !valid(heavy) || !in_order)?;
        let celsius = |kelvin: u16| (kelvin > 0).then(|| f64::from(kelvin) - 273.0);
        let throttling =
            HostThrottling { light_celsius: celsius(light), heavy_celsius: celsius(heavy) };
        self.drive.set_host_throttling(Nanos(now_ns), throttling);
        self.features.thermal = thermal;
        Ok(())
    }

    /// Controller reset: default values, except the timestamp, counters and telemetry.
    pub(crate) fn reset_features(&mut self, now_ns: u64) {
        let old = std::mem::replace(&mut self.features, self.default_features.clone());
        self.features.telemetry = old.telemetry;
        self.features.telemetry_generation = old.telemetry_generation;
        self.features.timestamp = old.timestamp;
        self.features.power_state_changes = old.power_state_changes;
        if old.host_memory.is_some() {
            self.drive.lend_host_memory(Nanos(now_ns), None);
        }
        let power_state = self.features.power.state();
        if old.power.state() != power_state {
            let set = self.drive.set_power_state(Nanos(now_ns), power_state);
            set.expect("the drive was in this state at power-on");
        }
        if old.thermal != HostThermal::default() {
            self.drive.set_host_throttling(Nanos(now_ns), HostThrottling::default());
        }
        self.apply_autonomous(now_ns);
    }
}
