//! The scoreboard as HTML: a sortable table of several drives, a strip of key figures of one.

use assay_analysis::figure::headline::HeadlineMetric;
use assay_store::model::{ReasonWeight, Verdict, VerdictResult};
use maud::{Markup, html};

use super::elements::{drive_name, table as plain_table, titled};
use super::repeats;
use crate::drive_set::DriveSet;
use crate::format::{figure, plural};
use crate::scoreboard::{Score, ScoreRow, Scoreboard, Standing};
use crate::tables::predictive;

/// Class, symbol and text of a verdict.
pub fn verdict_style(result: VerdictResult) -> (&'static str, &'static str, &'static str) {
    match result {
        VerdictResult::Recommended => ("recommended", "\u{2713}", "Recommended"),
        VerdictResult::Conditionally => ("conditionally", "!", "Conditionally recommended"),
        VerdictResult::NotRecommended => ("not", "\u{2717}", "Not recommended"),
        VerdictResult::Undecided => ("undecided", "?", "Undecided: insufficient measurements"),
    }
}

/// Class and name of a reason's weight.
pub fn weight_style(weight: ReasonWeight) -> (&'static str, &'static str) {
    match weight {
        ReasonWeight::For => ("for", "for"),
        ReasonWeight::Caution => ("caution", "caution"),
        ReasonWeight::Against => ("against", "against"),
        ReasonWeight::Missing => ("missing", "not measured"),
    }
}

/// The scoreboard of a suite; nothing without metrics. `ids`: of the sections.
pub fn board(
    set: &DriveSet<'_>,
    scores: &Scoreboard<'_>,
    id: &str,
    title: &str,
    ids: &[String],
) -> Markup {
    let content = match scores.rows.as_slice() {
        _ if scores.columns.is_empty() => return html! {},
        [only] => strip(scores, only, ids),
        // No run is the best: each is a sample.
        _ if are_repeats(set, scores) => plain_table(&repeats::of_scores(set, scores)),
        _ => table(set, scores, title, ids),
    };
    html! { div.quiet { (titled(id, title, &content)) } }
}

fn are_repeats(set: &DriveSet<'_>, scores: &Scoreboard<'_>) -> bool {
    let drives: Vec<usize> = scores.rows.iter().map(|row| row.drive).collect();
    set.are_repeats(&drives)
}

/// What a ranking of single runs does not say.
pub const SINGLE_RUNS: &str = "repeat runs to tell drives apart";
/// Why tail percentiles have no best value.
pub const NO_TAILS: &str = "tail percentiles of single runs are not ranked";

/// Which drives have the best values, and how often.
pub fn leaders(set: &DriveSet<'_>, scores: &Scoreboard<'_>) -> String {
    if are_repeats(set, scores) {
        return format!("{} of one drive.", plural(scores.rows.len(), "run"));
    }
    let of = scores.columns.len();
    let text = |(n, (drive, best, alone)): (usize, (usize, usize, usize))| {
        let name = &set.drives[drive].heading.text;
        let of = if n == 0 { format!(" of {}", plural(of, "metric")) } else { String::new() };
        let sure = match alone {
            0 => String::new(),
            n if n == best => " (beyond the intervals)".to_owned(),
            n => format!(" ({n} of them beyond the intervals)"),
        };
        format!("{name} in {best}{of}{sure}")
    };
    let leaders = scores.leaders().into_iter().take(4).enumerate();
    let leaders: Vec<String> = leaders.map(text).collect();
    if leaders.is_empty() {
        String::new()
    } else {
        format!("Best of these runs: {}.", leaders.join(", "))
    }
}

fn table(set: &DriveSet<'_>, scores: &Scoreboard<'_>, title: &str, ids: &[String]) -> Markup {
    html! {
        div class="scroll board" role="region" tabindex="0" aria-label=(title) {
            table {
                caption { span.cap { (leaders(set, scores)) } }
                thead {
                    tr {
                        th scope="col" { "drive" }
                        @for (n, (metric, section)) in scores.columns.iter().enumerate() {
                            (heading(metric, scores.depth(n), &ids[*section], n == 0))
                        }
                    }
                }
                tbody {
                    @for row in &scores.rows {
                        tr {
                            th scope="row" {
                                (symbol(row.verdict, row.drive)) (swatch(row.drive))
                                (drive_name(&set.drives[row.drive].heading))
                            }
                            @for (column, score) in row.scores.iter().enumerate() {
                                (cell(scores, column, score.as_ref()))
                            }
                        }
                    }
                }
            }
        }
        p.key {
            b { "bold" } " best of these runs \u{b7} \u{2248} within the intervals or 1 % of it"
            " \u{b7} line below a value: its share of the column's largest \u{b7} " (SINGLE_RUNS)
            @if scores.rows.iter().any(|r| r.verdict.is_some()) {
                " \u{b7} verdict: \u{2713} recommended, ! conditionally, \u{2717} not \
                 recommended, ? undecided"
            }
            @if scores.has_unranked() { " \u{b7} " (NO_TAILS) }
        }
    }
}

fn heading(metric: &HeadlineMetric, depth: Option<String>, section: &str, sorted: bool) -> Markup {
    let lower = metric.figure.is_lower_better();
    let order = match (sorted, lower) {
        (false, _) => "none",
        (true, true) => "ascending",
        (true, false) => "descending",
    };
    html! {
        th scope="col" class="num" aria-sort=(order) data-lower[lower] {
            a href={ "#" (section) } title="to the section" { (metric.title) }
            span.unit { (metric.figure.unit.text()) " " @if let Some(depth) = depth { (depth) " " }
                button type="button" class="sort" title="sort"
                    aria-label={ "Sort by " (metric.title) } {
                    @if lower { "\u{25b4}" } @else { "\u{25be}" }
                }
            }
        }
    }
}

/// The colour of a drive, with its marker.
pub fn swatch(drive: usize) -> Markup {
    html! {
        span.swatch aria-hidden="true"
            style={ "--c:var(--c" (drive % crate::chart::PALETTE) ")" } {}
    }
}

/// A verdict as a symbol that leads to the drive's card, its reasons on hover.
fn symbol(verdict: Option<&Verdict>, drive: usize) -> Markup {
    let Some(verdict) = verdict else {
        return html! {};
    };
    let (class, sign, text) = verdict_style(verdict.result);
    let reasons = verdict.reasons.iter();
    let reasons: Vec<String> =
        reasons.map(|r| format!("\n{}: {}", weight_style(r.weight).1, r.text)).collect();
    html! {
        a class={ "sign verdict " (class) } href={ "#drive-" (drive + 1) }
            title={ (text) (reasons.concat()) } aria-label=(text) {
            (sign)
        }
    }
}

/// Where the value comes from and how certain it is.
fn details(metric: &HeadlineMetric, score: &Score) -> String {
    let most = score.most.unwrap_or(f64::INFINITY);
    let interval = score.interval.map(|ends| predictive::text_up_to(ends, most));
    let interval = match (interval, score.predictive) {
        (Some(ends), true) => format!("real drive expected at {ends} (90 %)"),
        (Some(ends), false) => format!("95 % confidence interval {ends}"),
        (None, _) => "no interval".to_owned(),
    };
    let tied = match score.standing {
        Standing::Tied => "; can\u{2019}t be told from the best",
        Standing::Unranked => "; not ranked",
        _ => "",
    };
    let unit = metric.figure.unit.text();
    format!("{} {unit} in {}; {interval}{tied}", figure(score.value), score.cell)
}

fn cell(scores: &Scoreboard<'_>, column: usize, score: Option<&Score>) -> Markup {
    let Some(score) = score else {
        return html! { td.missing title="not measured" { "\u{2013}" } };
    };
    let metric = &scores.columns[column].0;
    html! {
        td style={ "--f:" (format!("{:.3}", scores.share(column, score))) }
            title=(details(metric, score)) data-v=(score.value) {
            @match score.standing {
                Standing::Best => strong { (figure(score.value)) },
                Standing::Tied => { span.tied { "\u{2248}" } " " (figure(score.value)) },
                Standing::Behind | Standing::Unranked => (figure(score.value)),
            }
            @if let Some(mark) = &score.mark { small { (mark) } }
        }
    }
}

/// The key figures of the only drive.
fn strip(scores: &Scoreboard<'_>, row: &ScoreRow<'_>, ids: &[String]) -> Markup {
    html! {
        dl.strip {
            @if let Some(verdict) = row.verdict {
                @let (class, sign, text) = verdict_style(verdict.result);
                div {
                    dt { "Verdict" }
                    dd {
                        a class={ "verdict " (class) } href={ "#drive-" (row.drive + 1) } {
                            (sign) " " (text)
                        }
                    }
                }
            }
            @let columns = scores.columns.iter().zip(&row.scores);
            @for (n, ((metric, section), score)) in columns.enumerate() {
                @if let Some(score) = score {
                    div title=(details(metric, score)) {
                        dt {
                            a href={ "#" (ids[*section]) } { (metric.title) }
                            @if let Some(depth) = scores.depth(n) { " " (depth) }
                        }
                        dd {
                            b { (figure(score.value)) } " " (metric.figure.unit.text())
                            @if let Some(ends) = score.interval.filter(|_| !score.predictive) {
                                small { (predictive::text(ends)) }
                            }
                            @if let Some(mark) = &score.mark { small.mark { (mark) } }
                        }
                    }
                }
            }
        }
    }
}
