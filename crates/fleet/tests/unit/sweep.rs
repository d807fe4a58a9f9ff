use super::*;

const TEXT: &str = r#"
name = "program-time"
suites = [ { suite = "quick", set = { runtime = "1s" } } ]
[sweep]
profile = "samsung-951"
repeats = 2
chunk = 5
[sweep.keys]
"nand.read_ns" = [40_000, 50_000, 60_000]
"nand.program_ns" = [[600_000, 1_500_000], [700_000, 1_700_000]]
[store]
at = "/nowhere"
"#;

fn sweep(text: &str) -> Sweep {
    Sweep::parse("sweep.toml", text).unwrap()
}

#[test]
fn every_combination_is_a_point_as_often_as_asked() {
    let sweep = sweep(TEXT);
    assert_eq!((sweep.points(), sweep.chunks()), (12, 3));
    let points: Vec<Point> = (0..12).map(|i| sweep.point(i)).collect();
    let mut seen = BTreeMap::new();
    for point in &points {
        let values: Vec<String> = point.values.values().map(ToString::to_string).collect();
        *seen.entry(values.join(" ")).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.values().all(|&count| count == 2));
    let mut seeds: Vec<u64> = points.iter().map(|point| point.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 12, "a seed of its own for every point");
    // The chunks are all points, each once.
    let all: Vec<u64> = (0..3).flat_map(|c| sweep.chunk(c).unwrap()).collect();
    assert_eq!(all, (0..12).collect::<Vec<_>>());
    assert!(matches!(
        sweep.chunk(3),
        Err(SweepError::NoSuchChunk { chunk: 3, last: 2 })
    ));
}

#[test]
fn a_point_and_the_id_do_not_depend_on_the_chunks() {
    let (first, second) = (sweep(TEXT), sweep(&TEXT.replace("chunk = 5", "chunk = 7")));
    assert!((0..12).all(|i| first.point(i) == second.point(i)));
    let id = |sweep: &Sweep, profile: &str| sweep.id(profile, "1.0").unwrap();
    assert_eq!(id(&first, "text"), id(&second, "text"));
    assert_ne!(id(&first, "text"), id(&first, "other text"));
    let other = sweep(&TEXT.replace("40_000", "41_000"));
    assert_ne!(id(&first, "text"), id(&other, "text"));
}

#[test]
fn joined_tables_are_equal_whatever_the_chunks_and_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let table = |name: &str, chunk: u64, reversed: bool| {
        let mut sweep = sweep(TEXT);
        sweep.store.at = folder.path().join(name);
        sweep.sweep.chunk = chunk;
        let id = sweep.id("text", "1.0").unwrap();
        assert!(matches!(
            sweep.join(&id),
            Err(SweepError::Incomplete { first: 0, .. })
        ));
        let mut chunks: Vec<u64> = (0..sweep.chunks()).collect();
        if reversed {
            chunks.reverse();
        }
        for chunk in chunks {
            assert!(!sweep.is_measured(&id, chunk).unwrap());
            let points = sweep.chunk(chunk).unwrap().map(|i| sweep.point(i));
            let rows: String = points
                .map(|p| {
                    let value = p.seed as f64 / 3.0;
                    let figure =
                        |name: &str| PointResult::Figure(name.to_owned(), "IOPS".to_owned(), value);
                    sweep.rows(&p, &[figure("a"), figure("b,c")])
                })
                .collect();
            sweep.store_chunk(&id, chunk, &rows).unwrap();
            // Another task that measured the same.
            sweep.store_chunk(&id, chunk, &rows).unwrap();
            assert!(sweep.is_measured(&id, chunk).unwrap());
        }
        sweep.join(&id).unwrap()
    };
    let first = table("first", 5, false);
    assert_eq!(first, table("second", 1, true));
    assert_eq!(first, table("third", 100, false));
    assert_eq!(first.lines().count(), 1 + 24);
    assert!(
        first.starts_with(
            "point,seed,nand.program_ns,nand.read_ns,figure,unit,value,no_drive_because\n0,"
        ),
        "{first}"
    );
    assert!(first.contains("\"b,c\",IOPS,"), "{first}");
}

#[test]
fn what_is_wrong_with_a_sweep_is_said() {
    for (from, to, why) in [
        ("chunk = 5", "chunk = 0", "whole numbers from 1"),
        ("[40_000, 50_000, 60_000]", "[]", "nand.read_ns"),
        ("repeats = 2", "repeats = 99_999_999", "points"),
        ("repeats = 2", "repetitions = 2", "repetitions"),
        (
            "[ { suite = \"quick\", set = { runtime = \"1s\" } } ]",
            "[]",
            "suites",
        ),
        ("name = \"program-time\"", "name = \"a/b\"", "a/b"),
        ("[store]", "[run]\nscale = 0.0\n[store]", "run.scale"),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        let error = Sweep::parse("sweep.toml", &text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
