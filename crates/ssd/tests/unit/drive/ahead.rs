use assay_units::{DataClass, Op};
use proptest::prelude::*;

use super::*;
use crate::command::Command;
use crate::options::DriveOptions;
use crate::profile::Profile;

/// A write-heavy drive with an SLC cache that folds in idle time, and one of two queues that wait
/// for cores.
const PROFILES: [&str; 2] = ["samsung-960-evo", "intel-600p"];

fn drive(name: &str) -> Drive {
    Drive::new(Profile::builtin(name).unwrap(), DriveOptions::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Completions, and telemetry at the end, are those of a caller that takes each completion
    /// before the next command.
    #[test]
    fn commands_submitted_ahead_do_the_same(
        profile in 0_usize..2,
        commands in prop::collection::vec((any::<u16>(), 0_u64..30_000, any::<bool>(), 1_u32..9), 1..150),
        // Some gaps are long enough for work in the background.
        pause_ms in 0_u64..400,
        pause_at in 0_usize..150,
    ) {
        let (mut one_by_one, mut ahead) = (drive(PROFILES[profile]), drive(PROFILES[profile]));
        prop_assert!(ahead.accepts_ahead());
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut at = Nanos::ZERO;
        for (number, (offset, gap_ns, is_write, units)) in commands.into_iter().enumerate() {
            at += Nanos(gap_ns);
            if number == pause_at {
                at += Nanos::from_millis(pause_ms);
            }
            let command = Command {
                tag: number as u32,
                queue: number as u16 % 2,
                op: if is_write { Op::Write } else { Op::Read },
                offset_bytes: u64::from(offset) * 4096,
                len_bytes: units * 4096,
                data: DataClass::Incompressible,
                fua: false,
            };
            one_by_one.advance(at, &mut expected);
            one_by_one.submit(at, command);
            ahead.submit(at, command);
            // Only some of the completions by now are taken.
            if number % 3 == 0 {
                found.extend(ahead.advance_to_completion(at));
            }
        }
        let end = at + Nanos::from_secs(2);
        one_by_one.advance(end, &mut expected);
        while let Some(completion) = ahead.advance_to_completion(end) {
            found.push(completion);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(ahead.telemetry(end), one_by_one.telemetry(end));
    }
}
