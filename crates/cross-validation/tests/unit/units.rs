use super::*;

#[test]
fn units_are_those_of_the_tables() {
    let all = Part::Folds.units(&[]).unwrap();
    let name = |text: &str| vec![text.to_owned()];
    let writes = Part::Folds.units(&name("writes")).unwrap();
    assert!(
        writes
            .iter()
            .all(|unit| unit.group == Some(FoldGroup::Writes))
    );
    assert!(writes.len() > 3 && writes.len() < all.len());
    for row in score::embedded().unwrap() {
        let is = |unit: &Unit| unit.profile == row.drive && unit.group == FoldGroup::of(&row.fold);
        assert!(all.iter().any(is), "{} of {}", row.fold, row.drive);
    }
    let twin = Part::Twins.units(&name("wd-black")).unwrap();
    assert_eq!(twin.len(), 1);
    assert_eq!(twin[0].name(), "wd-black");
    assert!(Part::Ensembles.units(&[]).unwrap().len() > 5);
    let error = Part::Folds.units(&name("read")).unwrap_err().to_string();
    assert!(
        error.contains("reads, writes, heat, percentiles"),
        "{error}"
    );
}

#[test]
fn a_fold_is_the_same_with_others_and_alone_and_the_tables_are_joined_from_all() {
    // The cheapest folds; those of reads take minutes.
    let units = Part::Folds.units(&["writes".to_owned()]).unwrap();
    let pair = &units[..2];
    let together = Part::Folds.compute(pair, 2).unwrap();
    let apart: String = pair
        .iter()
        .map(|unit| Part::Folds.compute(std::slice::from_ref(unit), 1).unwrap())
        .collect();
    assert_eq!(together, apart);
    let (files, summary) = Part::Folds.join(pair, &together).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    assert_eq!(names, ["cross_validation.csv", "predictive_intervals.csv"]);
    assert!(summary.contains("## Cross-validation"), "{summary}");
    // The repository's tables are what its program writes: replacing rows by the same changes
    // nothing.
    let committed = [
        include_str!("../../../../reference/cross_validation.csv"),
        include_str!("../../../../reference/predictive_intervals.csv"),
    ];
    for ((name, text), committed) in files.iter().zip(committed) {
        let mut lines = text.lines().zip(committed.lines());
        assert_eq!(lines.find(|(a, b)| a != b), None, "{name}");
        assert_eq!(text.lines().count(), committed.lines().count(), "{name}");
    }
}

#[test]
fn ensembles_are_divided_by_profile_and_small_ones_left_out() {
    let line = "0.1,1\n";
    let text = format!(
        "profile a\nweight,x\n{}profile b\nweight,x\n{line}",
        line.repeat(30)
    );
    let (files, summary) = Part::Ensembles.join(&[], &text).unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(
        files[0],
        ("a.csv".to_owned(), format!("weight,x\n{}", line.repeat(30)))
    );
    assert!(
        summary.contains("| b | 1 | too few: not written |"),
        "{summary}"
    );
}

#[test]
fn twins_of_some_truths_replace_theirs() {
    let all = twin_cells::embedded().unwrap();
    let of: Vec<_> = all
        .iter()
        .filter(|c| c.truth == "wd-black")
        .cloned()
        .collect();
    let units = Part::Twins.units(&["wd-black".to_owned()]).unwrap();
    let table = twin_cells::table(&of);
    let (files, _) = Part::Twins.join(&units, without_heading(&table)).unwrap();
    assert_eq!(files[0].0, "twins.csv");
    assert_eq!(files[0].1, include_str!("../../../../reference/twins.csv"));
}
