//! Random reads of a drive that were not measured, as another crate predicts them.

use assay_units::text::format_size;
use maud::{Markup, html};

use crate::format::figure;
use crate::html::elements;
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::predictive;
use crate::terminal::Style;
use crate::terminal::text::TextPage;

/// Of one drive: every size by every number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedMatrix {
    /// Its label; empty where there is only one.
    pub drive: String,
    /// What it is predicted from.
    pub basis: String,
    /// In the order of the table: by size, and of each size by threads.
    pub rates: Vec<PredictedRate>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedRate {
    /// Each has one read in flight.
    pub threads: u32,
    pub block_bytes: u32,
    /// Rate, and the ends of its interval.
    pub mib_per_s: [f64; 3],
    /// It was measured, and is no prediction.
    pub is_known: bool,
}

pub const NOT_PREDICTED: &str =
    "Not predicted, because drives differ by factors: writes, tails of latency, sequential reads.";

fn table(matrix: &PredictedMatrix) -> Table {
    let first = matrix.rates.first().map_or(0, |rate| rate.block_bytes);
    let row = |rates: &[PredictedRate]| {
        let cell = |rate: &PredictedRate| {
            let [mib_per_s, low, high] = rate.mib_per_s;
            let rounded = figure(mib_per_s.round());
            TableCell::Text(match rate.is_known {
                true => format!("{rounded} measured"),
                false => format!("{rounded} ({})", predictive::text([low, high])),
            })
        };
        let size = format_size(rates[0].block_bytes.into());
        Row::new(Heading::plain(size), rates.iter().map(cell).collect())
    };
    let threads = matrix.rates.iter().take_while(|rate| rate.block_bytes == first);
    let threads: Vec<u32> = threads.map(|rate| rate.threads).collect();
    let drive = match matrix.drive.is_empty() {
        true => String::new(),
        false => format!("{}: ", matrix.drive),
    };
    Table {
        caption: format!("{drive}random read by synchronous threads, predicted, MiB/s"),
        corner: "block".to_owned(),
        columns: threads
            .iter()
            .map(|threads| Column::new(format!("{threads} threads"), ""))
            .collect(),
        rows: matrix.rates.chunks(threads.len().max(1)).map(row).collect(),
        notes: vec![
            format!(
                "Predicted from {}; in brackets the interval in which nine of ten drives are \
                 expected.",
                matrix.basis
            ),
            NOT_PREDICTED.to_owned(),
        ],
    }
}

/// As lines of a terminal.
pub fn text(matrix: &PredictedMatrix, width: usize, style: Style) -> String {
    let mut page = TextPage::new(width, style);
    page.table(&table(matrix));
    page.finish()
}

pub(crate) fn section(id: &str, title: &str, matrices: &[PredictedMatrix]) -> Markup {
    let content = html! {
        @for matrix in matrices { (elements::table(&table(matrix))) }
    };
    elements::titled(id, title, &content)
}
