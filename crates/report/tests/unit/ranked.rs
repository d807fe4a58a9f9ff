use assay_analysis::rank::Standing;

use super::*;

fn figure_of(metric: &str, procedure: &str) -> RankedFigure {
    let standing = |value| Standing { model: "MODEL".to_owned(), value };
    RankedFigure {
        cell: "c".to_owned(),
        workload: "4 KiB random read, depth 64".to_owned(),
        metric: metric.to_owned(),
        value: 311_000.0,
        rank: 7,
        of: 30,
        class: Some(InClass { link: "PCIe 3 x4".to_owned(), rank: 2, of: 12 }),
        best: standing(900_000.0),
        median: 200_000.0,
        last: 9_000.0,
        same_model: Some([309_000.0, 312_000.0]),
        procedure: procedure.to_owned(),
    }
}

#[test]
fn a_table_for_each_procedure_with_rank_and_class() {
    let figures = vec![
        figure_of("iops", "a/b: 16GiB file; filled"),
        figure_of("p99", "c/d: device; steady"),
        figure_of("mean", "a/b: 16GiB file; filled"),
    ];
    let ranking = Ranking { figures, unlike: Vec::new() };
    let found = tables("x", &ranking);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].caption, "x: beside a/b: 16GiB file; filled");
    assert_eq!(found[0].rows.len(), 2);
    let cells = &found[0].rows[0].cells;
    assert_eq!(cells[1], TableCell::text("7th of 30"));
    assert_eq!(cells[2], TableCell::text("2nd of 12, up to PCIe 3 x4"));
    assert_eq!(cells[3], TableCell::text("309,000 to 312,000"));
    let text = text(&ranking, 80, Style::Plain);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn ordinals() {
    let texts = [1, 2, 3, 4, 11, 12, 13, 21, 111, 122].map(ordinal);
    assert_eq!(
        texts,
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th", "122nd"]
    );
}

/// Most workloads that are not compared are only counted.
#[test]
fn what_is_not_compared_is_named_or_counted() {
    let one = assay_analysis::rank::Unlike {
        workload: "w".to_owned(),
        repository: "a/b".to_owned(),
        reason: "an area of another length",
    };
    let ranking = Ranking { figures: Vec::new(), unlike: vec![one; UNLIKE_SHOWN + 2] };
    let lines = unlike(&ranking);
    assert_eq!(lines.len(), UNLIKE_SHOWN + 1);
    assert_eq!(lines[0], "w: an area of another length (a/b)");
    assert!(lines[UNLIKE_SHOWN].starts_with("and 2 more"));
    assert!(text(&ranking, 80, Style::Plain).starts_with("no public figure"));
}
