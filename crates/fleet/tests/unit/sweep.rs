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
    assert_eq!(sweep.points(), 12);
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
fn the_rows_of_a_point_have_its_values_and_figures() {
    let sweep = sweep(TEXT);
    let figure = |name: &str| PointResult::Figure(name.to_owned(), "IOPS".to_owned(), 0.5);
    let rows = sweep.rows(&sweep.point(3), &[figure("a"), figure("b,c")]);
    let table = sweep.header() + &rows;
    assert!(
        table.starts_with(
            "point,seed,nand.program_ns,nand.read_ns,figure,unit,value,no_drive_because\n3,"
        ),
        "{table}"
    );
    assert!(table.contains("\"b,c\",IOPS,0.5,\n"), "{table}");
}

const FIT: &str = r#"
name = "my-drive"
[fit]
profile = "samsung-951"
to = "figures.csv"
starts = 8
chunk = 3
[store]
at = "/nowhere"
"#;

#[test]
fn a_file_has_one_of_two_sections() {
    let read = |text: &str| SweepFile::parse("file.toml", text);
    assert!(matches!(read(TEXT).unwrap(), SweepFile::Sweep(_)));
    let SweepFile::Fit(fit) = read(FIT).unwrap() else {
        panic!("a fit");
    };
    assert_eq!((fit.fit.evaluations, fit.run.seed), (2000, 1));
    let SweepFile::Fit(other) = read(&FIT.replace("chunk = 3", "chunk = 1")).unwrap() else {
        panic!("a fit");
    };
    let id = |fit: &Fit| fit.id("profile", "figures", "1.0").unwrap();
    assert_eq!(id(&fit), id(&other), "chunks are not part of the id");
    assert_ne!(id(&fit), fit.id("profile", "other figures", "1.0").unwrap());
    for (text, why) in [
        (FIT.replace("starts = 8", "starts = 0"), "whole numbers from 1"),
        (FIT.replace("starts = 8", "start = 8"), "start"),
        (FIT.replace("[fit]", "[fitting]"), "0 of the sections"),
        (format!("{FIT}[sweep]\nprofile = \"samsung-951\"\n"), "2 of the sections"),
        (FIT.replace("my-drive", "a/b"), "a/b"),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn what_is_wrong_with_a_sweep_is_said() {
    for (from, to, why) in [
        ("chunk = 5", "chunk = 0", "whole numbers from 1"),
        ("[40_000, 50_000, 60_000]", "[]", "nand.read_ns"),
        ("repeats = 2", "repeats = 99_999_999", "points"),
        ("repeats = 2", "repetitions = 2", "repetitions"),
        ("[ { suite = \"quick\", set = { runtime = \"1s\" } } ]", "[]", "suites"),
        ("name = \"program-time\"", "name = \"a/b\"", "a/b"),
        ("[store]", "[run]\nscale = 0.0\n[store]", "run.scale"),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        let error = Sweep::parse("sweep.toml", &text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
