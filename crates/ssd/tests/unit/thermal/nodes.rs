use super::*;
use crate::profile::{ControllerNodeProfile, HeatSinkProfile};
use crate::{Profile, Provenance, Sourced};
use proptest::prelude::*;

fn sourced<T>(value: T) -> Sourced<T> {
    Sourced { value, provenance: Provenance::Assumed, source: "a test".to_owned() }
}

/// Board of 10 K/W and 80 s, controller of `[K/W, J/K]`.
fn heat(controller: Option<[f64; 2]>) -> ThermalProfile {
    let mut heat = Profile::builtin("intel-600p").unwrap().thermal;
    heat.resistance_k_per_w.value = 10.0;
    heat.time_constant_s.value = 80.0;
    heat.heat_sink = None;
    heat.controller = controller.map(|[resistance, capacity]| ControllerNodeProfile {
        resistance_k_per_w: sourced(resistance),
        heat_capacity_j_per_k: sourced(capacity),
    });
    heat
}

fn sink(controller_k_per_w: f64, flash_k_per_w: f64, resistance_k_per_w: f64) -> HeatSinkProfile {
    HeatSinkProfile {
        mounted: sourced(true),
        controller_k_per_w: sourced(controller_k_per_w),
        flash_k_per_w: sourced(flash_k_per_w),
        resistance_k_per_w: sourced(resistance_k_per_w),
        heat_capacity_j_per_k: sourced(20.0),
    }
}

fn close(got: f64, expected: f64) -> bool {
    (got - expected).abs() < 1e-9 * (1.0 + expected.abs())
}

/// Against the sums by hand: all heat leaves through the board, the controller is warmer by its own
/// heat.
#[test]
fn the_steady_state_follows_from_the_resistances() {
    let nodes = Nodes::new(&heat(Some([6.0, 2.0])), [1.0, 0.5]);
    assert!(close(nodes.above[1], 15.0) && close(nodes.above[0], 21.0), "{:?}", nodes.above);
    let one = Nodes::new(&heat(None), [1.0, 0.5]);
    assert!(close(one.above[0], 15.0) && close(one.above[1], 15.0));
}

/// One step of any length equals many small explicit ones.
#[test]
fn steps_equal_a_fine_integration() {
    let heat = heat(Some([6.0, 2.0]));
    let mut nodes = Nodes::new(&heat, [0.0, 0.0]);
    let (power, mut fine) = ([3.0, 1.0], [0.0, 0.0]);
    let parts = 2000;
    let step_s = STEP_NS as f64 / 1e9 / f64::from(parts);
    for _ in 0..400 {
        nodes.step(power);
        for _ in 0..parts {
            let flow = (fine[0] - fine[1]) / 6.0;
            fine = [
                fine[0] + step_s * (power[0] - flow) / 2.0,
                fine[1] + step_s * (power[1] + flow - fine[1] / 10.0) / 8.0,
            ];
        }
    }
    for node in 0..2 {
        let off = (nodes.above[node] - fine[node]).abs();
        assert!(off < 1e-4, "{:?} {fine:?}", nodes.above);
    }
}

/// A heat sink cools both nodes and slows them down; a better one does so more.
#[test]
fn a_heat_sink_lowers_every_resistance() {
    let bare = heat(Some([6.0, 2.0]));
    let with = |resistance| {
        let mut heat = bare.clone();
        heat.heat_sink = Some(sink(2.0, 3.0, resistance));
        Nodes::new(&heat, [3.0, 1.0])
    };
    let (bare, small, large) = (Nodes::new(&bare, [3.0, 1.0]), with(20.0), with(5.0));
    for node in 0..2 {
        assert!(bare.above[node] > small.above[node] && small.above[node] > large.above[node]);
    }
    // The total leaves through board and sink in parallel; heat flows add up.
    let mut removed = heat(Some([6.0, 2.0]));
    removed.heat_sink = Some(sink(2.0, 3.0, 5.0));
    removed.heat_sink.as_mut().unwrap().mounted.value = false;
    assert_eq!(Nodes::new(&removed, [3.0, 1.0]).above, bare.above);
    assert!(small.decay[0][0] > bare.decay[0][0], "more heat capacity");
}

proptest! {
    /// Reciprocity, and power in equals heat out: conductances times temperatures are the powers.
    #[test]
    fn heat_is_conserved(r_c in 0.5_f64..20.0, c_c in 0.1_f64..50.0, power in prop::array::uniform2(0.0_f64..20.0)) {
        let nodes = Nodes::new(&heat(Some([r_c, c_c])), power);
        let flow = (nodes.above[0] - nodes.above[1]) / r_c;
        prop_assert!((flow - power[0]).abs() < 1e-9 * (1.0 + power[0]));
        let out = nodes.above[1] / 10.0;
        prop_assert!((out - power[0] - power[1]).abs() < 1e-9 * (1.0 + out));
        // Stable: a deviation never grows, and never changes its sign.
        let mut cooling = nodes.clone();
        cooling.step([0.0, 0.0]);
        for node in 0..2 {
            prop_assert!(cooling.above[node] >= 0.0);
        }
        prop_assert!(cooling.above[0].max(cooling.above[1]) <= nodes.above[0].max(nodes.above[1]) + 1e-12);
    }

    /// The series against known exponentials: of a diagonal matrix, and `exp(a + a) = exp(a)^2`.
    #[test]
    fn exponentials_are_exact(a in -40.0_f64..0.0, b in -40.0_f64..0.0) {
        let got = exponential([[a, 0.0], [0.0, b]]);
        prop_assert!((got[0][0] - a.exp()).abs() < 1e-12 && (got[1][1] - b.exp()).abs() < 1e-12);
        let coupled = [[a, -0.3 * a], [-0.2 * b, b]];
        let twice = exponential(scaled(coupled, 2.0));
        let squared = product(exponential(coupled), exponential(coupled));
        for row in 0..2 {
            for column in 0..2 {
                prop_assert!((twice[row][column] - squared[row][column]).abs() < 1e-9);
            }
        }
    }
}
