//! Section `[thermal]`, see [`crate::thermal`].

use serde::Deserialize;

use super::validate::{Validity, absent_or, rules};
use crate::sourced::Sourced;

/// A thermal node, as sensors measure it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThermalNode {
    /// Controller and DRAM.
    #[default]
    Controller,
    /// Flash and board.
    Flash,
}

/// Thermal nodes and a throttle, see [`crate::thermal`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalProfile {
    /// Ambient temperature in Celsius.
    pub ambient_celsius: Sourced<f64>,
    /// Flash and board (without `controller`, the drive) to ambient, in kelvin per watt.
    pub resistance_k_per_w: Sourced<f64>,
    /// Time constant of flash and board (without `controller`, of the drive) in seconds.
    pub time_constant_s: Sourced<f64>,
    /// The controller as a node of its own. Absent: controller and flash have one temperature.
    pub controller: Option<ControllerNodeProfile>,
    /// Heat sink; needs `controller`. Absent: none.
    pub heat_sink: Option<HeatSinkProfile>,
    /// The node whose temperature the composite temperature is. Absent: the controller.
    pub composite_node: Option<Sourced<ThermalNode>>,
    /// Further sensors: offset of each from the temperature that it measures, in kelvin.
    pub sensor_offsets_k: Sourced<Vec<f64>>,
    /// The node that each further sensor measures. Absent: that of the composite temperature.
    pub sensor_nodes: Option<Sourced<Vec<ThermalNode>>>,
    /// Constant readings of stuck sensors in Celsius, listed last. Absent: none.
    pub stuck_sensors_celsius: Option<Sourced<Vec<f64>>>,
    /// Uniform jitter (both directions) of the idle composite temperature in kelvin. Absent: 0.
    pub idle_jitter_k: Option<Sourced<f64>>,
    /// Throttling starts at this composite temperature in Celsius; 0: never, or by `levels`.
    pub throttle_on_celsius: Sourced<f64>,
    /// Throttling ends at this composite temperature in Celsius.
    pub throttle_off_celsius: Sourced<f64>,
    /// Firmware and data path time while throttled (lower clock rate), in percent of normal.
    pub throttle_percent: Sourced<u32>,
    /// Throttling in levels; `throttle_on_celsius` is then 0.
    pub levels: Option<ThrottleLevels>,
    /// Heat spreads so many times as fast ([`super::Profile::shrunk`]). Absent: once.
    #[serde(skip)]
    pub times_faster: Option<u32>,
}

/// The controller as a thermal node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerNodeProfile {
    /// Thermal resistance between controller and board in kelvin per watt.
    pub resistance_k_per_w: Sourced<f64>,
    /// Heat capacity in joules per kelvin.
    pub heat_capacity_j_per_k: Sourced<f64>,
}

/// A heat sink or heat spreader over controller and flash.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatSinkProfile {
    /// Whether the drive has it; the drive option `heatsink=on` or `off` overrides this.
    pub mounted: Sourced<bool>,
    /// Thermal resistance between controller and heat sink in kelvin per watt.
    pub controller_k_per_w: Sourced<f64>,
    /// Thermal resistance between flash and heat sink in kelvin per watt.
    pub flash_k_per_w: Sourced<f64>,
    /// Thermal resistance of the heat sink to ambient in kelvin per watt, beside that of the board.
    pub resistance_k_per_w: Sourced<f64>,
    /// Heat capacity in joules per kelvin.
    pub heat_capacity_j_per_k: Sourced<f64>,
}

impl ThermalProfile {
    /// Divide all heat capacities by `factor`: the same temperatures in less time.
    pub fn speed_up(&mut self, factor: f64) {
        self.time_constant_s.value /= factor;
        if let Some(controller) = &mut self.controller {
            controller.heat_capacity_j_per_k.value /= factor;
        }
        if let Some(sink) = &mut self.heat_sink {
            sink.heat_capacity_j_per_k.value /= factor;
        }
    }

    pub(super) fn validate_nodes(&self) -> Validity {
        let controller = self.controller.iter();
        let controller =
            controller.flat_map(|node| [&node.resistance_k_per_w, &node.heat_capacity_j_per_k]);
        let sink = self.heat_sink.iter().flat_map(|sink| {
            let resistances =
                [&sink.controller_k_per_w, &sink.flash_k_per_w, &sink.resistance_k_per_w];
            resistances.into_iter().chain([&sink.heat_capacity_j_per_k])
        });
        let in_range = |number: &Sourced<f64>| (0.001..=10_000.0).contains(&number.value);
        let sensors = self.sensor_offsets_k.value.len();
        rules! {
            controller.chain(sink).all(in_range)
                => "resistances and heat capacities of thermal.controller and thermal.heat_sink \
                    must be 0.001 to 10000";
            self.controller.is_none() || in_range(&self.resistance_k_per_w)
                => "thermal.resistance_k_per_w must be 0.001 to 10000 with thermal.controller";
            self.controller.is_some() || self.heat_sink.is_none()
                => "thermal.heat_sink needs thermal.controller";
            absent_or(&self.sensor_nodes, |nodes| nodes.len() == sensors)
                => "thermal.sensor_nodes needs as many entries as thermal.sensor_offsets_k";
        }
        Ok(())
    }
}

/// Throttling levels, see [`crate::thermal`]. One entry per level, mildest first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThrottleLevels {
    /// The level starts at this composite temperature in Celsius.
    pub on_celsius: Sourced<Vec<f64>>,
    /// The level ends (the one before resumes) at this composite temperature in Celsius.
    pub off_celsius: Sourced<Vec<f64>>,
    /// Share of time throttled to `throttle_percent` at this level, in percent.
    pub duty_percent: Sourced<Vec<u32>>,
}
