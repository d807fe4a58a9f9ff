//! Loss of power while a command replaces its outputs: a fit with its state, profile and residuals;
//! pages and exports. Each file is the one before or the new one, whole, and the same command
//! writes the same again.

use std::collections::BTreeSet;

use crate::fixture::Fixture;
use crate::power_fail_fs::PowerFailFs;
use crate::power_loss::until_power_fails;

/// A profile that the fit replaces.
const EARLIER: &str = include_str!("../../../../profiles/samsung-951.toml");
/// What it replaces of residuals.
const EARLIER_RESIDUALS: &str = "measurement,role\nearlier,target\n";
const PROFILE: &str = "one.toml";
const RESIDUALS: &str = "one.residuals.csv";
const STATE: &str = "one.toml.fit-state";

#[test]
fn a_fit_survives_a_loss_of_power_at_every_change() {
    let fixture = Fixture::in_memory();
    fixture.write(
        "m.csv",
        "rw,block,threads,metric,value\nrandread,4k,16,mib_per_s,500\nrandread,4k,1,median_us,90\n",
    );
    let earlier = [
        (PROFILE, EARLIER.as_bytes().to_vec()),
        (RESIDUALS, EARLIER_RESIDUALS.as_bytes().to_vec()),
    ];
    let words = |files: &PowerFailFs| {
        let path = files.path(PROFILE);
        format!(
            "fit samsung-951 --to m.csv --name one -o {path} --evaluations 18 --free nand.read_ns \
             --free firmware.read_command_ns"
        )
    };
    let outputs = |files: &PowerFailFs| {
        [PROFILE, RESIDUALS].map(|name| files.contents(name).map(|(bytes, _)| bytes))
    };
    let Some(whole) = PowerFailFs::mount(&earlier, u64::MAX) else {
        return;
    };
    let before = outputs(&whole);
    fixture.ok(&words(&whole));
    let (changes, expected) = (whole.changes(), outputs(&whole));
    assert!(changes > 10, "{changes} changes");
    assert!(before[0] != expected[0] && before[1] != expected[1]);
    let mut tried = BTreeSet::new();
    let (mut cases, mut continued, mut replaced) = (0, 0, 0);
    // The last time, after the end of the command.
    for at in 0..=changes {
        let files = PowerFailFs::mount(&earlier, at).unwrap();
        let words_now = words(&files);
        let command = fixture.command(&words_now);
        let ended = until_power_fails(&files, &words_now, command, &files.path("")).is_none();
        for seed in [at, changes + 1 + at] {
            let case = format!("change {at} of {changes}, seed {seed}");
            let files = files.after_power_returns(seed);
            let kept = outputs(&files);
            assert!(!ended || kept == expected, "{case}: the result was not durable");
            for (file, name) in [PROFILE, RESIDUALS].iter().enumerate() {
                assert!(
                    kept[file] == before[file] || kept[file] == expected[file],
                    "{case}: {name} is neither the earlier one nor the new one"
                );
            }
            replaced += u64::from(kept[0] == expected[0]);
            // Several generations before the last change.
            continued += u64::from(files.contents(STATE).is_some());
            cases += 1;
            // The command that is given again sees no more than this of the loss: one fit for all
            // that are alike.
            let left = [PROFILE, RESIDUALS, STATE].map(|name| {
                let temporary = files.has(&format!(".{name}."), ".tmp");
                (files.contents(name).map(|(bytes, _)| bytes), temporary)
            });
            if !tried.insert(left) {
                continue;
            }
            fixture.ok(&words(&files));
            assert!(outputs(&files) == expected, "{case}: another result");
            assert!(files.contents(STATE).is_none(), "{case}: the state is left");
        }
    }
    println!(
        "{changes} changes, {cases} cases, {} that differ, {continued} with a state, {replaced} \
         with the result",
        tried.len()
    );
    assert!(continued > changes / 2 && replaced > 0, "{continued} {replaced}");
}

#[test]
fn outputs_that_are_replaced_survive_a_loss_of_power_at_every_change() {
    let fixture = Fixture::in_memory();
    fixture.ok("job sim:samsung-951 --rw randread --runtime 4ms --interval 1ms --out run");
    // Arguments, the file with its earlier content, of the shape that the command replaces, and
    // every how many changes the power fails: a format of several files writes them one after the
    // other.
    let outputs = [
        ("report run -o", "page.html", "<!DOCTYPE html>\nearlier", 1),
        ("export run --format json -o", "run.json", "{\"earlier\":1}\n", 1),
        ("export run --format fio-json -o", "fio.json", "{\"earlier\":2}\n", 1),
        (
            "export run --format ocp -o",
            "run.jsonl",
            "{\"schemaVersion\":{\"major\":2,\"minor\":0}}\n",
            1,
        ),
        ("export run --format csv -o", "cells.csv", "earlier\n", 11),
        ("export run --format parquet -o", "cells.parquet", "earlier\n", 11),
    ];
    for (arguments, name, earlier, step) in outputs {
        let earlier = [(name, earlier.as_bytes().to_vec())];
        // A format of several files takes the folder.
        let is_folder = step > 1;
        let words = |files: &PowerFailFs| {
            let out = files.path(if is_folder { "" } else { name });
            format!("{arguments} {out}")
        };
        let content = |files: &PowerFailFs| files.contents(name).map(|(bytes, _)| bytes);
        let Some(whole) = PowerFailFs::mount(&earlier, u64::MAX) else {
            return;
        };
        fixture.ok(&words(&whole));
        let (changes, expected) = (whole.changes(), content(&whole));
        assert!(changes >= 4, "{words}: {changes} changes", words = words(&whole));
        let (mut kept_earlier, mut cases) = (0, 0);
        for at in (0..changes).step_by(step).chain([changes]) {
            let files = PowerFailFs::mount(&earlier, at).unwrap();
            let words_now = words(&files);
            let command = fixture.command(&words_now);
            let ended = until_power_fails(&files, &words_now, command, &files.path("")).is_none();
            for seed in [at, changes + 1 + at] {
                let case = format!("{arguments}, change {at} of {changes}, seed {seed}");
                let files = files.after_power_returns(seed);
                let kept = content(&files);
                assert!(!ended || kept == expected, "{case}: {name} was not durable");
                let is_earlier = kept.as_deref() == Some(&earlier[0].1[..]);
                assert!(
                    is_earlier || kept == expected,
                    "{case}: {name} is neither the earlier one nor the new one"
                );
                kept_earlier += u64::from(is_earlier);
                cases += 1;
                // What it leaves is no obstacle.
                if seed == at {
                    fixture.ok(&words(&files));
                    assert!(content(&files) == expected, "{case}: another result");
                }
            }
        }
        assert!(kept_earlier > 0, "{arguments}");
        println!("{arguments}: {changes} changes, {cases} cases");
    }
}
