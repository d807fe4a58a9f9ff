use proptest::prelude::*;

use super::*;
use crate::table::{Column, Heading, Row};

proptest! {
    #[test]
    fn wrapped_text_fits_and_loses_nothing(text in "[a-z ]{0,200}", width in 10usize..60) {
        let lines = wrap(&text, width);
        prop_assert!(lines.iter().all(|l| l.chars().count() <= width));
        let squeezed = |s: &str| s.replace(' ', "");
        prop_assert_eq!(squeezed(&lines.concat()), squeezed(&text));
    }

    #[test]
    fn shortened_text_fits(text in "\\PC{0,80}", most in 0usize..60) {
        prop_assert!(shortened(&text, most).chars().count() <= most);
    }
}

/// A table of one drive, a row for each pair of texts, and figures in columns that do not fit
/// beside each other.
fn wide(rows: &[(&str, &str)]) -> String {
    let columns = ["step", "state", "first figure", "second figure", "third figure"];
    let columns = columns.map(|label| Column::new(label, ""));
    let rows = rows.iter().enumerate().map(|(n, (step, state))| {
        let figure = |k: usize| TableCell::number(format!("{}", 10 * n + k));
        let texts = [step, state].map(|text| TableCell::text(*text));
        let cells = texts.into_iter().chain((0..3).map(figure)).collect();
        Row::new(Heading::plain("a drive"), cells)
    });
    let table = Table::of_drives("Steps".to_owned(), columns.to_vec(), rows.collect(), Vec::new());
    let mut page = TextPage::new(50, Style::Plain);
    page.table(&table);
    page.finish()
}

#[test]
fn a_split_table_repeats_what_names_its_rows() {
    insta::assert_snapshot!(wide(&[("write", "new"), ("read", "new")]), @r"
    Steps
    drive     step  state  first figure  second figure
    a drive  write    new             0              1
    a drive   read    new            10             11
    drive     step  third figure
    a drive  write             2
    a drive   read            12
    ");
    insta::assert_snapshot!(wide(&[("write", "new"), ("write", "old")]), @r"
    Steps
    drive     step  state  first figure  second figure
    a drive  write    new             0              1
    a drive  write    old            10             11
    drive     step  state  third figure
    a drive  write    new             2
    a drive  write    old            12
    ");
}
