//! Summaries: a picture that any program reads, and a Markdown table; simulated drives say so.

use crate::common;

use assay_report::summary::{card, markdown};

#[test]
fn the_markdown_table_has_a_row_per_drive() {
    let run = common::seven();
    let text = markdown(std::slice::from_ref(&run)).unwrap();
    let rows: Vec<&str> = text.lines().filter(|l| l.starts_with('|')).collect();
    assert_eq!(rows.len(), 2 + 7, "{text}");
    let columns = rows[0].matches('|').count();
    assert!((8..=13).contains(&columns), "{text}");
    for row in &rows {
        assert_eq!(row.matches('|').count(), columns, "{row}");
    }
    for drive in &run.manifest.drives {
        let marked = format!("| {} (simulated) |", drive.label);
        assert_eq!(text.matches(&marked).count(), 1, "{marked}: {text}");
    }
    // The highest random read rate of all drives is the best of its column.
    let rate = |c: &assay_store::read::CellRecord| c.drives[0].result.as_ref().unwrap().mib_per_s();
    let reads = run.cells.iter().filter(|c| c.plan.step == "random-read");
    let best = reads.map(rate).fold(0.0, f64::max).round() as u64;
    let shown = format!(" **{}** |", assay_units::text::group_digits(best));
    assert!(text.contains(&shown), "{shown}: {text}");
    assert!(text.contains("durations multiplied by 0.05"), "{text}");
}

#[test]
fn a_job_has_a_summary_too() {
    let text = markdown(&[common::job()]).unwrap();
    assert!(text.contains("| zram0 |") && !text.contains("simulated"), "{text}");
}

#[test]
fn the_card_is_well_formed_and_marks_simulated_drives() {
    let mut run = common::seven();
    run.manifest.drives[3].label = "<script>&\"\u{1b}".to_owned();
    let text = card(&[run]).unwrap();
    common::page::assert_well_formed(&text);
    assert!(text.starts_with(assay_report::summary::CARD_HEAD));
    assert!(!text.contains("<script") && !text.contains('\u{1b}'));
    assert_eq!(text.matches(">simulated</tspan>").count(), 7);
}

#[test]
fn no_summary_without_runs() {
    assert!(card(&[]).is_err() && markdown(&[]).is_err());
}
