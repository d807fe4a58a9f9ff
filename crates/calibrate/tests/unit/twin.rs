//! Twins: alternative structures, figures of the search, and a structure found again.

use toml::Value;

use super::structure::{MECHANISMS, STRUCTURE, alternatives, core_limits};
use super::*;
use crate::measurement::{AccessPattern, ReferenceMetric, ReferenceWorkload};
use crate::numbers::{get, put};
use crate::simulate::{Effort, simulate};

fn base(name: &str) -> ReferenceDrive {
    ReferenceDrive::new(name).unwrap()
}

fn target(read: ReferenceWorkload) -> Measurement {
    Measurement { role: Role::Target, ..Measurement::to_simulate(read, "truth") }
}

fn random(threads: u32, kib: u32, metric: ReferenceMetric) -> Measurement {
    Measurement {
        metric,
        ..target(ReferenceWorkload::read(AccessPattern::Random, threads, kib << 10))
    }
}

fn sequential(queue_depth: u32, kib: u32) -> Measurement {
    target(ReferenceWorkload {
        queue_depth,
        ..ReferenceWorkload::read(AccessPattern::Sequential, 1, kib << 10)
    })
}

#[test]
fn alternatives_are_drives_of_the_same_capacity_or_refused() {
    for name in ["samsung-951", "plextor-m8pe-g", "memblaze-pblaze5-c916"] {
        let template = template(&base(name), None);
        let all = alternatives(&template.table);
        assert!(all.len() > 15, "{name}: {}", all.len());
        let bytes = |table: &toml::Table| {
            let number = |path| get(table, path).and_then(Value::as_integer).unwrap();
            let blocks = number("nand.blocks_per_plane") * number("nand.dies");
            blocks
                * number("nand.planes")
                * number("nand.page_bytes")
                * number("nand.pages_per_block")
        };
        let before = bytes(&template.table);
        let mut valid = 0;
        for structure in all {
            assert!(structure.keys().all(|path| STRUCTURE.contains(&path.as_str())));
            let mut table = template.table.clone();
            for (path, value) in &structure {
                assert_ne!(get(&table, path), value.as_ref(), "{path} is as before");
            }
            apply(&mut table, &structure);
            assert!(bytes(&table) >= before);
            valid += usize::from(Profile::from_table(table).is_ok());
        }
        assert!(valid > 12, "{name}: {valid}");
    }
}

#[test]
fn a_template_has_the_measured_capacity_and_every_cost_of_a_read() {
    let template = template(&base("samsung-951"), Some(512_110_190_592));
    let profile = template.profile(&Structure::new(), &template.wide.mean).unwrap();
    assert_eq!(profile.identity.capacity_bytes.value, 512_110_190_592);
    for (path, _) in MECHANISMS {
        assert!(template.paths.iter().any(|known| known == path), "{path}");
    }
    assert!(template.paths.iter().all(|path| !path.contains("program")));
    // The point of the priors' means is the profile itself.
    let before = Profile::builtin("samsung-951").unwrap();
    assert_eq!(profile.nand.read_ns.value, before.nand.read_ns.value);
}

#[test]
fn high_percentiles_of_the_shortest_reads_are_searched() {
    let all = [4, 16]
        .into_iter()
        .flat_map(|kib| {
            [ReferenceMetric::MibPerS, ReferenceMetric::MedianUs, ReferenceMetric::P99Us]
                .map(|metric| random(1, kib, metric))
        })
        .collect::<Vec<_>>();
    let kept = searched(all.clone());
    assert_eq!(kept.len(), 5);
    assert!(kept.contains(&all[2]) && !kept.contains(&all[5]));
}

/// The truth has another number of cores, slower flash and no read-ahead, of which the profile from
/// which the twin begins has one. A window below every measured length is found: it explains the
/// figures as none does.
#[test]
fn a_structure_is_found_again_and_predicts_other_cells() {
    let base = base("samsung-951");
    let mut table = base.table.clone();
    put(&mut table, "firmware.cores", Value::Integer(2));
    put(&mut table, "prefetch.window_bytes", Value::Integer(0));
    let slower: Vec<Value> = get(&base.table, "nand.read_ns")
        .and_then(Value::as_array)
        .unwrap()
        .iter()
        .map(|ns| Value::Integer(ns.as_integer().unwrap() * 5 / 4))
        .collect();
    put(&mut table, "nand.read_ns", Value::Array(slower));
    let truth = Profile::from_table(table).unwrap();
    let filled = |cells: Vec<Measurement>| {
        let figures = simulate(&truth, &cells, Effort::Full, 2).unwrap();
        let both = cells.into_iter().zip(figures);
        both.map(|(cell, value)| Measurement { value: value.unwrap(), ..cell }).collect::<Vec<_>>()
    };
    let rates = |threads: &[u32], lengths: &[u32]| {
        let cells = threads.iter().flat_map(|&threads| {
            let cell = move |&kib: &u32| random(threads, kib, ReferenceMetric::MibPerS);
            lengths.iter().map(cell).collect::<Vec<_>>()
        });
        filled(cells.collect())
    };
    let settings = TwinSettings {
        name: "again".to_owned(),
        label: "run of the truth".to_owned(),
        capacity_bytes: None,
        bases: vec!["samsung-951".to_owned()],
        threads: 2,
    };
    let mut measured = rates(&[1, 8, 64], &[4, 16, 64]);
    measured.extend(filled(vec![sequential(1, 64), sequential(1, 128), sequential(8, 128)]));
    let mut stages = Vec::new();
    let stop = AtomicBool::new(false);
    let found = twin(&measured, &settings, &stop, &mut |p| {
        stages.push((p.stage.to_owned(), p.log_evidence));
    });
    let found = found.unwrap().unwrap();
    assert!(
        found
            .structure
            .iter()
            .any(|n| n.path == "prefetch.window_bytes" && n.to.parse::<u64>().unwrap() < 64 << 10),
        "{:?}",
        found.structure
    );
    let evidence: Vec<f64> = stages.iter().map(|s| s.1).collect();
    assert!(evidence.is_sorted() && stages[0].0 == STAGE_PROFILES);
    let text = &found.fit.text;
    assert!(text.contains("name = \"again\"") && text.contains("fitted = \"run of the truth"));
    let profile = Profile::from_toml(text).unwrap();
    assert_eq!(profile.bench.max_io_bytes, None, "of the host of the published figures");
    let mut further = rates(&[4, 32], &[8, 32]);
    further.extend(filled(vec![sequential(2, 64)]));
    let figures = simulate(&profile, &further, Effort::Full, 2).unwrap();
    for (cell, figure) in further.iter().zip(figures) {
        let error = figure.unwrap() / cell.value - 1.0;
        assert!(error.abs() < 0.07, "{}: {error:+.3}", cell.key());
    }
}

#[test]
fn nothing_is_made_of_nothing_or_after_a_stop() {
    let settings = TwinSettings {
        name: "none".to_owned(),
        label: "nothing".to_owned(),
        capacity_bytes: None,
        bases: vec!["samsung-951".to_owned()],
        threads: 1,
    };
    let stop = AtomicBool::new(false);
    let held_out = Measurement { role: Role::HeldOut, ..random(1, 4, ReferenceMetric::MibPerS) };
    let error = twin(&[held_out], &settings, &stop, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
    let target = random(1, 4, ReferenceMetric::MibPerS);
    let stopped = twin(&[target], &settings, &AtomicBool::new(true), &mut |_| {});
    assert!(stopped.unwrap().is_none());
}

#[test]
fn costs_are_exchanged_without_a_change_of_their_sum() {
    let drive = base("mle-brief-960gb");
    let from = template(&drive, None);
    let number = |point: &[f64], path: &str| {
        let at = from.paths.iter().position(|known| known == path).unwrap();
        point[at].exp()
    };
    let mean = from.wide.mean.clone();
    let all = changes(&from.table);
    let (kib, page) = ("firmware.read_kib_ns", "firmware.read_page_ns");
    let is = |c: &&Change| c.moved.contains_key(kib) && c.moved[kib] < number(&mean, kib).ln();
    // With pieces of 4 and 8 KiB in place of pages, and with the page.
    let by_piece: Vec<&Change> = all.iter().filter(is).collect();
    assert_eq!(by_piece.len(), 3);
    assert!(by_piece[0].structure.contains_key("nand.planes"));
    assert!(number(&by_piece[0].start(&from, &mean), page) < 605.0 * 4.0);
    let change = by_piece[2];
    assert!(change.structure.is_empty());
    let point = change.start(&from, &mean);
    // The core time of a page of 16 KiB.
    let sum = |point: &[f64]| 16.0 * number(point, kib) + number(point, page);
    assert!((sum(&point) / sum(&mean) - 1.0).abs() < 1e-9);
    assert!(number(&point, page) > 50.0 * number(&mean, page));
    assert!(change.with(change).is_none());
    let other = all.iter().find(|c| !c.structure.is_empty()).unwrap();
    assert_eq!(change.with(other).unwrap().structure, other.structure);
}

#[test]
fn the_limit_of_the_data_path_becomes_core_time_of_pages() {
    let drive = base("mle-brief-960gb");
    let mut from = template(&drive, None);
    let (path, kib, page) =
        ("data_path.direct_bytes_per_second", "firmware.read_kib_ns", "firmware.read_page_ns");
    // Its core time of a KiB is more than its data path has: there is no other limit to try.
    assert!(core_limits(&from.table).is_empty());
    put(&mut from.table, path, Value::Integer(1 << 30));
    put(&mut from.table, kib, Value::Integer(200));
    let all = core_limits(&from.table);
    let pieces: Vec<i64> = all
        .iter()
        .map(|c| match c.structure.get("nand.page_bytes") {
            Some(Some(bytes)) => bytes.as_integer().unwrap(),
            _ => 16_384,
        })
        .collect();
    assert_eq!(pieces, [4096, 4096, 4096, 8192, 8192, 8192, 16_384, 16_384, 16_384]);
    for (change, piece) in all.iter().zip(pieces) {
        // On one core a GiB takes a second, as on the path before.
        let per_kib_ns = change.moved[page].exp() * 1024.0 / piece as f64 + 200.0;
        assert!((per_kib_ns * (1 << 20) as f64 / 1e9 - 1.0).abs() < 1e-9);
        assert!(change.moved[path].exp() > 1.2 * (1u64 << 30) as f64);
        let mut table = from.table.clone();
        apply(&mut table, &change.structure);
        assert!(Profile::from_table(table).is_ok());
    }
}

#[test]
fn a_profile_with_the_figures_of_a_better_one_is_no_other_start() {
    let one = |name, figure: f64| Ranked {
        cost: figure,
        name,
        template: template(&base("samsung-951"), None),
        figures: vec![figure, figure],
    };
    let ranked = vec![one("a", 3.0), one("b", 3.01), one("c", 3.2)];
    let kept = distinct(ranked).into_iter().map(|one| one.name);
    assert_eq!(kept.collect::<Vec<_>>(), ["a", "c"]);
}
