//! One-page summaries of runs, to paste into a ticket or a README: the scoreboards as an SVG
//! picture and as Markdown.

use assay_analysis::figure::headline::HeadlineMetric;
use assay_store::read::Run;
use assay_units::text::is_unprintable;
use maud::{Markup, html};

use crate::ReportError;
use crate::drive_set::DriveSet;
use crate::format::{figure, printable};
use crate::grid;
use crate::html::board::{NO_TAILS, leaders, verdict_style};
use crate::html::header::subject;
use crate::html::suites;
use crate::scoreboard::{ScoreRow, Scoreboard, Standing};

/// How a card begins.
pub const CARD_HEAD: &str = "<svg xmlns=";
/// How a Markdown summary begins: a comment, which is not shown.
pub const MARKDOWN_HEAD: &str = "<!-- assay summary -->";

/// The scoreboards of the suites, each with the suite's title.
fn boards<'a>(
    set: &DriveSet<'a>,
    sections: &[grid::Section<'a>],
) -> Vec<(&'a str, Scoreboard<'a>)> {
    let suites = suites(set).into_iter();
    let board = |(name, title)| (title, Scoreboard::new(set, sections, name));
    suites.map(board).filter(|(_, b)| !b.columns.is_empty()).collect()
}

/// A value as shown, with its standing.
fn value(row: &ScoreRow<'_>, column: usize) -> (String, Standing) {
    match &row.scores[column] {
        Some(score) if score.standing == Standing::Tied => {
            (format!("\u{2248} {}", figure(score.value)), score.standing)
        }
        Some(score) => (figure(score.value), score.standing),
        None => ("\u{2013}".to_owned(), Standing::Behind),
    }
}

fn sign(row: &ScoreRow<'_>) -> &'static str {
    row.verdict.map_or("", |v| verdict_style(v.result).1)
}

/// What the marks mean, and which limits apply to the figures.
fn legend<'a>(set: &DriveSet<'_>, mut boards: impl Iterator<Item = &'a Scoreboard<'a>>) -> String {
    let mut text = "bold: best of these runs; \u{2248}: can't be told from the best (difference \
                    within the intervals or under 1 %)"
        .to_owned();
    if boards.any(Scoreboard::has_unranked) {
        text.push_str("; ");
        text.push_str(NO_TAILS);
    }
    let mut scales =
        set.runs.iter().map(|r| r.manifest.scale).filter(|s| (s - 1.0).abs() > f64::EPSILON);
    if let Some(scale) = scales.next() {
        text.push_str(&format!(
            "; durations multiplied by {scale}: not the procedure as published"
        ));
    }
    text
}

/// The scoreboards as Markdown tables. Every name of a simulated drive says so.
///
/// # Errors
/// When no run is given.
pub fn markdown(runs: &[Run]) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let set = DriveSet::new(runs);
    let sections = grid::sections(&set);
    // A name cannot end its cell.
    let cell = |text: &str| printable(text).replace('|', "\\|").replace('<', "&lt;");
    let mut out = format!("{MARKDOWN_HEAD}\n");
    for (title, board) in boards(&set, &sections) {
        out.push_str(&format!("### {}\n\n{}\n\n", cell(title), cell(&subject(&set))));
        let heading = |(metric, _): &(HeadlineMetric, usize)| {
            format!(" {}, {} |", cell(&metric.title), metric.figure.unit.text())
        };
        let headings: Vec<String> = board.columns.iter().map(heading).collect();
        out.push_str(&format!("| | drive |{}\n", headings.concat()));
        out.push_str(&format!("|---|---|{}\n", "---:|".repeat(board.columns.len())));
        for row in &board.rows {
            out.push_str(&format!("| {} | {} |", sign(row), cell(&set.full_name(row.drive))));
            for column in 0..board.columns.len() {
                match value(row, column) {
                    (text, Standing::Best) => out.push_str(&format!(" **{text}** |")),
                    (text, _) => out.push_str(&format!(" {text} |")),
                }
            }
            out.push('\n');
        }
        let leaders = leaders(&set, &board);
        out.push_str(&format!(
            "\n{}{}.\n\n",
            if leaders.is_empty() { leaders } else { cell(&leaders) + " " },
            legend(&set, std::iter::once(&board))
        ));
    }
    Ok(out)
}

/// Widths, heights and sizes of the card, pixels.
const NAME_PX: usize = 250;
const COLUMN_PX: usize = 104;
const ROW_PX: usize = 30;
const HEAD_PX: usize = 104;
const EDGE_PX: usize = 24;
const FOOT_PX: usize = 40;

/// The scoreboards as an SVG picture: no font, script or other file is needed.
///
/// # Errors
/// When no run is given.
pub fn card(runs: &[Run]) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let set = DriveSet::new(runs);
    let sections = grid::sections(&set);
    let boards = boards(&set, &sections);
    let most = boards.iter().map(|(_, b)| b.columns.len()).max().unwrap_or(0);
    let width = 2 * EDGE_PX + NAME_PX + COLUMN_PX * most.max(4);
    let mut top = EDGE_PX;
    let mut parts = Vec::new();
    for (title, board) in &boards {
        parts.push(board_picture(&set, title, board, top, width));
        top += HEAD_PX + ROW_PX * board.rows.len() + FOOT_PX;
    }
    let height = top + EDGE_PX;
    let note = legend(&set, boards.iter().map(|(_, board)| board));
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg"
            width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) }
            font-family="system-ui, 'Segoe UI', Roboto, 'Noto Sans', \
                'Liberation Sans', sans-serif" font-size="13" fill="#16191d" {
            rect width="100%" height="100%" fill="#ffffff" {}
            @for part in &parts { (part) }
            text x=(EDGE_PX) y=(height - EDGE_PX) font-size="11" fill="#4a525b" { (note) }
        }
    };
    let unprintable = |c: char| is_unprintable(c) && c != '\n';
    Ok(picture.into_string().replace(unprintable, "\u{fffd}"))
}

/// Colours of the drives, as those of the page's light theme.
const COLOURS: [&str; crate::chart::PALETTE] =
    ["#0072b2", "#c84e00", "#00805b", "#a4467f", "#8a6100", "#5b4fc0", "#007d8a", "#5a5f66"];

fn board_picture(
    set: &DriveSet<'_>,
    title: &str,
    board: &Scoreboard<'_>,
    top: usize,
    width: usize,
) -> Markup {
    let right = |column: usize| EDGE_PX + NAME_PX + COLUMN_PX * (column + 1) - 8;
    let line = |row: usize| top + HEAD_PX + ROW_PX * row;
    let simulated = set.any_simulated();
    html! {
        text x=(EDGE_PX) y=(top + 16) font-size="18" font-weight="700" { (title) }
        text x=(EDGE_PX) y=(top + 36) fill="#4a525b" {
            (subject(set)) @if simulated { " \u{b7} simulated drives are marked" }
        }
        text x=(EDGE_PX) y=(top + 56) font-weight="600" { (leaders(set, board)) }
        @for (i, (metric, _)) in board.columns.iter().enumerate() {
            @for (n, words) in halves(&metric.title).iter().enumerate() {
                text x=(right(i)) y=(top + 72 + 13 * n)
                    text-anchor="end" font-size="11" font-weight="600" {
                    (words)
                }
            }
            text x=(right(i)) y=(top + 98) text-anchor="end" font-size="10" fill="#4a525b" {
                (metric.figure.unit.text())
            }
        }
        @for (r, row) in board.rows.iter().enumerate() {
            line x1=(EDGE_PX) x2=(width - EDGE_PX) y1=(line(r)) y2=(line(r)) stroke="#d9dcdf" {}
            rect x=(EDGE_PX + 18) y=(line(r) + 10) width="9" height="9"
                fill=(COLOURS[row.drive % COLOURS.len()]) {}
            text x=(EDGE_PX) y=(line(r) + 19) font-weight="700" { (sign(row)) }
            text x=(EDGE_PX + 34) y=(line(r) + 19) {
                (set.drives[row.drive].heading.text)
                @if set.drives[row.drive].heading.simulated {
                    " " tspan font-size="10" fill="#4b2a86" { "simulated" }
                }
            }
            @for column in 0..board.columns.len() {
                @let (text, standing) = value(row, column);
                @let best = standing == Standing::Best;
                @let share = row.scores[column].as_ref().map_or(0.0, |s| board.share(column, s));
                @let length = (share * (COLUMN_PX - 16) as f64).round() as usize;
                rect x=(right(column) - length) y=(line(r) + 25)
                    width=(length) height="3" fill="#9cc4e0" {}
                text x=(right(column)) y=(line(r) + 19) text-anchor="end"
                    font-weight=(if best { "700" } else { "400" })
                    fill=(if best { "#12633a" } else { "#16191d" }) {
                    (text)
                }
            }
        }
    }
}

/// A title in two lines of about equal length.
fn halves(title: &str) -> [String; 2] {
    let words: Vec<&str> = title.split(' ').collect();
    let imbalance = |at: &usize| words[..*at].concat().len().abs_diff(words[*at..].concat().len());
    let at = (0..words.len()).min_by_key(imbalance).unwrap_or(0);
    [words[..at].join(" "), words[at..].join(" ")]
}
