//! Two coupled thermal nodes, controller and flash, solved exactly.
//!
//! ```text
//! controller ── R_c ── flash and board ── R_a ── ambient
//!     │                  │
//!     └── (heat sink) ───┴── ambient
//! ```
//!
//! `C dT/dt = P - G (T - ambient)` with diagonal heat capacities `C` and conductances `G`, the
//! network model that Zhang et al. compare with CFD and measurements of an M.2 drive (*Transient
//! Thermal Analysis for M.2 SSD Thermal Throttling*, ITherm 2018). At constant power,
//! `T(t) = T_s + exp(-C^-1 G t) (T(0) - T_s)` with `T_s = ambient + G^-1 P`: exact for steps of any
//! length.
//!
//! Of a heat sink only the steady state is solved: its star of conductances becomes a triangle, and
//! its heat capacity is shared between the nodes in proportion to their contact. The matrix
//! exponential (Taylor series, scaling and squaring) uses only operations that round the same
//! everywhere.

use crate::profile::ThermalProfile;
use crate::thermal::STEP_NS;

/// Terms of the Taylor series: below a norm of 1/2, the rest is less than 2^-70.
const TAYLOR_TERMS: u32 = 16;

/// Controller first, then flash.
type Pair = [f64; 2];
type Matrix = [Pair; 2];

/// Temperatures are relative to ambient.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// Kelvin per watt: temperature of a row's node for the power of a column's.
    resistance: Matrix,
    /// Share of a deviation from the steady state that one step leaves.
    decay: Matrix,
    /// Not less than the slowest time constant, in seconds.
    pub slowest_s: f64,
    pub above: Pair,
}

impl Nodes {
    /// Nodes in the steady state of `idle` (watts); of one temperature without a controller node.
    pub fn new(heat: &ThermalProfile, idle: Pair) -> Nodes {
        let (to_ambient, time_s) = (heat.resistance_k_per_w.value, heat.time_constant_s.value);
        let step_s = STEP_NS as f64 / 1e9;
        let mut nodes = match &heat.controller {
            None => {
                let decay = exponential([[-step_s / time_s, 0.0], [0.0, -step_s / time_s]]);
                Nodes {
                    resistance: [[to_ambient; 2]; 2],
                    decay,
                    slowest_s: time_s,
                    above: [0.0; 2],
                }
            }
            Some(controller) => {
                let between = 1.0 / controller.resistance_k_per_w.value;
                let capacities = [controller.heat_capacity_j_per_k.value, time_s / to_ambient];
                Nodes::coupled(heat, [0.0, 1.0 / to_ambient], between, capacities)
            }
        };
        nodes.above = nodes.steady(idle);
        nodes
    }

    fn coupled(
        heat: &ThermalProfile,
        mut to_ambient: Pair,
        mut between: f64,
        mut capacities: Pair,
    ) -> Nodes {
        if let Some(sink) = heat.heat_sink.as_ref().filter(|sink| sink.mounted.value) {
            let contact = [1.0 / sink.controller_k_per_w.value, 1.0 / sink.flash_k_per_w.value];
            let outward = 1.0 / sink.resistance_k_per_w.value;
            let sum = contact[0] + contact[1] + outward;
            between += contact[0] * contact[1] / sum;
            for node in 0..2 {
                to_ambient[node] += contact[node] * outward / sum;
                let share = contact[node] / (contact[0] + contact[1]);
                capacities[node] += share * sink.heat_capacity_j_per_k.value;
            }
        }
        let conductance =
            [[between + to_ambient[0], -between], [-between, between + to_ambient[1]]];
        let determinant =
            conductance[0][0] * conductance[1][1] - conductance[0][1] * conductance[1][0];
        let resistance = [
            [conductance[1][1] / determinant, between / determinant],
            [between / determinant, conductance[0][0] / determinant],
        ];
        let step_s = STEP_NS as f64 / 1e9;
        let rate = |row: usize, column: usize| -conductance[row][column] * step_s / capacities[row];
        let decay = exponential([[rate(0, 0), rate(0, 1)], [rate(1, 0), rate(1, 1)]]);
        // Both eigenvalues are real and positive: the smaller is at least determinant / trace.
        let trace = conductance[0][0] / capacities[0] + conductance[1][1] / capacities[1];
        let slowest_s = trace * capacities[0] * capacities[1] / determinant;
        Nodes { resistance, decay, slowest_s, above: [0.0; 2] }
    }

    pub fn steady(&self, power: Pair) -> Pair {
        times(self.resistance, power)
    }

    #[inline]
    pub fn step(&mut self, power: Pair) {
        let steady = self.steady(power);
        let off = [self.above[0] - steady[0], self.above[1] - steady[1]];
        let left = times(self.decay, off);
        self.above = [steady[0] + left[0], steady[1] + left[1]];
    }
}

#[inline]
fn times(matrix: Matrix, of: Pair) -> Pair {
    [matrix[0][0] * of[0] + matrix[0][1] * of[1], matrix[1][0] * of[0] + matrix[1][1] * of[1]]
}

fn product(a: Matrix, b: Matrix) -> Matrix {
    let entry = |row: usize, column: usize| a[row][0] * b[0][column] + a[row][1] * b[1][column];
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

fn scaled(matrix: Matrix, by: f64) -> Matrix {
    matrix.map(|row| row.map(|entry| entry * by))
}

fn exponential(matrix: Matrix) -> Matrix {
    let norm = |matrix: Matrix| {
        let rows = matrix.map(|row| row[0].abs() + row[1].abs());
        rows[0].max(rows[1])
    };
    let (mut small, mut squarings) = (matrix, 0);
    while norm(small) > 0.5 {
        small = scaled(small, 0.5);
        squarings += 1;
    }
    let identity = [[1.0, 0.0], [0.0, 1.0]];
    let (mut sum, mut term) = (identity, identity);
    for n in 1..=TAYLOR_TERMS {
        term = scaled(product(term, small), 1.0 / f64::from(n));
        for (row, of) in sum.iter_mut().zip(term) {
            row[0] += of[0];
            row[1] += of[1];
        }
    }
    for _ in 0..squarings {
        sum = product(sum, sum);
    }
    sum
}

#[cfg(test)]
#[path = "../../tests/unit/thermal/nodes.rs"]
mod tests;
