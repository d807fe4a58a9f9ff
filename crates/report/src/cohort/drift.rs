//! Drift of soaks, in words, tables and on the page.

use assay_analysis::cohort::conclude::Cohort;
use assay_analysis::cohort::drift::{Change, CommonDrift, DriftVerdict, DriveDrift, SoakDrift};
use assay_stats::cohort::errors::AgainstLimit;
use maud::{Markup, html};

use crate::cohort::lines::{amount, span_text};
use crate::cohort::{lines, outline, tables};
use crate::format::{figure, plural};
use crate::html::elements;
use crate::table::{Column, Heading, Row, Table, TableCell};

/// Drives named in a sentence.
const FEW_DRIVES: usize = 5;
fn interval(d: &SoakDrift, change: &Change) -> String {
    let (low, high) = change.interval;
    let low = amount(d, low);
    let number = low.split(' ').next().unwrap_or_default();
    format!("{number} .. {}", amount(d, high))
}

/// The figure's name without the suite where there is one only.
pub fn name<'d>(cohort: &'d Cohort, d: &'d SoakDrift) -> &'d str {
    without_suite(cohort, &d.figure)
}

fn without_suite<'n>(cohort: &Cohort, name: &'n str) -> &'n str {
    let suite = |name: &'n str| name.split_once('/');
    let same = |other: &SoakDrift| other.figure.split('/').next() == name.split('/').next();
    match suite(name) {
        Some((_, own)) if cohort.soaks.iter().all(same) => own,
        _ => name,
    }
}

/// Drives that drift, each with its figures, the farthest first.
pub fn drifting(cohort: &Cohort) -> Vec<(&SoakDrift, &DriveDrift)> {
    let of = |d: &'_ SoakDrift| -> Vec<usize> {
        let mut at: Vec<usize> = (0..d.values.len()).collect();
        at.retain(|at| d.values[*at].verdict == DriftVerdict::Drifts);
        let distance =
            |at: &usize| d.values[*at].distance.map_or(0.0, |(distance, _)| distance.abs());
        at.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        at
    };
    let soaks = cohort.soaks.iter();
    soaks.flat_map(|d| of(d).into_iter().map(move |at| (d, &d.values[at]))).collect()
}

/// Serials of the drives that drift, each once.
pub fn drifting_drives(cohort: &Cohort) -> Vec<usize> {
    crate::format::distinct(drifting(cohort).iter().map(|(_, v)| v.drive))
}

/// Whether chance explains what was found.
pub fn chance(cohort: &Cohort) -> String {
    let calls = cohort.false_calls;
    if calls.drift_figures == 0 {
        return "Drifting drives are not looked for: no figure of a soak has at least 6 drives \
                with different slopes."
            .to_owned();
    }
    let heavy = cohort.soaks.iter().filter(|d| d.heavy_tails == Some(true)).count();
    let heavy = match heavy {
        0 => String::new(),
        n => format!(
            " Tails heavier than normal in {}: there, more than 5 % of cohorts have a drive \
             beyond the limit.",
            plural(n, "figure")
        ),
    };
    format!(
        "By chance, a cohort in which no drive drifts has one beyond the limit in 5 % of figures: \
         {:.1} expected of {}.{heavy}",
        calls.expected_drift_figures,
        plural(calls.drift_figures, "figure"),
    )
}

/// What all drives of a group have in common.
pub fn together(cohort: &Cohort, d: &SoakDrift, c: &CommonDrift) -> String {
    let who = match cohort.groups.len() {
        0 | 1 => "all drives together".to_owned(),
        _ => format!("drives of {} together", outline::group_name(&cohort.groups[c.group])),
    };
    let change = format!(
        "{} in {} ({})",
        amount(d, c.change.change),
        span_text(d.hours),
        interval(d, &c.change)
    );
    match (c.drifts, c.step) {
        (true, Some((hour, height))) => {
            format!("{who}: a step of {} after {}: {change}", amount(d, height), span_text(hour))
        }
        (true, None) => format!("{who}: {change}"),
        (false, _) => format!("{who}: no change beyond chance and the minimum effect: {change}"),
    }
}

pub fn line(cohort: &Cohort, d: &SoakDrift, v: &DriveDrift) -> String {
    let drive = &cohort.drives[v.drive];
    let cause = v.separation.map_or("", outline::separated);
    let limit = match &v.to_limit {
        Some((limit, hours)) => format!(
            "; at its own rate of change it reaches {} {} in {}",
            figure(*limit),
            d.unit,
            span_text(*hours)
        ),
        None => String::new(),
    };
    format!(
        "{} ({}): {} {} in {} against the median of all ({}); {cause}{limit}",
        drive.serial,
        tables::place(&drive.host, &drive.slot),
        name(cohort, d),
        amount(d, v.relative.change),
        span_text(d.hours),
        interval(d, &v.relative),
    )
}

/// Errors against their limit, a line per soak.
pub fn errors(cohort: &Cohort) -> Vec<(bool, String)> {
    let figures = crate::format::distinct(cohort.error_rates.iter().map(|e| e.figure.as_str()));
    let of = |figure: &str| {
        let own: Vec<_> = cohort.error_rates.iter().filter(|e| e.figure == figure).collect();
        let is = |result| own.iter().filter(move |e| e.result == result);
        let beyond: Vec<String> = is(AgainstLimit::Exceeded)
            .take(FEW_DRIVES)
            .map(|e| {
                format!(
                    "{} ({})",
                    cohort.drives[e.drive].serial,
                    plural(usize::try_from(e.errors).unwrap_or(usize::MAX), "error")
                )
            })
            .collect();
        let count = is(AgainstLimit::Exceeded).count();
        let limit = own.first().map_or(0.0, |e| e.limit);
        let mut parts = Vec::new();
        if count > 0 {
            let more = match count - beyond.len() {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            parts.push(format!("exceeded by {}{more}", beyond.join(", ")));
        }
        let counts = [
            (AgainstLimit::Within, "within it"),
            (AgainstLimit::CannotTell, "cannot be told from it: too little was transferred"),
        ];
        for (result, text) in counts {
            if is(result).count() > 0 {
                parts.push(format!("{} {text}", plural(is(result).count(), "drive")));
            }
        }
        let name = without_suite(cohort, figure);
        (count > 0, format!("{name}, limit {limit:e}: {}", parts.join("; ")))
    };
    figures.into_iter().map(of).collect()
}

/// Drives of a figure, or of several.
fn table(
    cohort: &Cohort,
    caption: &str,
    shown: &[(&SoakDrift, &DriveDrift)],
    several: bool,
) -> Table {
    let row = |(d, v): &(&SoakDrift, &DriveDrift)| {
        let drive = &cohort.drives[v.drive];
        let of_own = |own: &Change| TableCell::number(amount(d, own.change));
        let cells = vec![
            match several {
                true => TableCell::text(name(cohort, d)),
                false => TableCell::Empty,
            },
            TableCell::number(amount(d, v.relative.change))
                .with(|n| n.alarm = v.worse == Some(true)),
            TableCell::number(interval(d, &v.relative)),
            match v.distance {
                Some((distance, limit)) => {
                    TableCell::number(format!("{:.1} of {limit:.1}", distance.abs()))
                }
                None => TableCell::Empty,
            },
            // All of those of several figures drift.
            match several {
                true => TableCell::Empty,
                false => TableCell::text(v.verdict.label()),
            },
            v.separation.map_or(TableCell::Empty, |s| TableCell::text(s.label())),
            v.own.as_ref().map_or(TableCell::Empty, of_own),
            match &v.to_limit {
                Some((limit, hours)) => {
                    TableCell::text(format!("{}: {}", figure(*limit), span_text(*hours)))
                }
                None => TableCell::Empty,
            },
            match v.spans {
                1 => TableCell::Empty,
                n => TableCell::number((n - 1).to_string()),
            },
            TableCell::text(tables::place(&drive.host, &drive.slot)),
        ];
        let heading = Heading { text: drive.serial.clone(), simulated: drive.simulated };
        Row::new(heading, cells)
    };
    let columns = Column::list([
        ("figure", ""),
        ("against median", ""),
        ("95 % interval", ""),
        ("distance, limit", "Q\u{2099}"),
        ("result", ""),
        ("host or drive", ""),
        ("by itself", ""),
        ("limit reached in", ""),
        ("gaps", ""),
        ("place", ""),
    ]);
    let rows = shown.iter().map(row).collect();
    Table::of_drives(caption.to_owned(), columns, rows, Vec::new()).without_empty_columns()
}

/// The section of the page.
pub fn section(cohort: &Cohort) -> Markup {
    let found = drifting(cohort);
    let how = html! {
        "What all drives have in common (ambient temperature, a shared host, the suite) is their \
         median at each time of the soak; a drive is judged by the slope that is left without it. "
        "Drifts: its slope is beyond the limit that 95 % of cohorts of this size without a \
         drifting drive keep, its own interval excludes zero, and the change over the soak is at \
         least the minimum effect. "
        "Alike: the whole interval is within the minimum effect. Gaps are never bridged: the level \
         after one says nothing. "
        "By itself: the change of the drive, with what all have in common; the time to a limit \
         follows from it, and is given only where its interval excludes zero."
    };
    let one = |d: &SoakDrift| {
        let all: Vec<(&SoakDrift, &DriveDrift)> = d.values.iter().map(|v| (d, v)).collect();
        let title = format!("{}: all drives", name(cohort, d));
        let mut facts = vec![plural(d.values.len(), "drive"), span_text(d.hours)];
        if let Some((spread, limit)) = d.spread_and_limit {
            facts.push(format!("spread of the changes {}", size(d, spread)));
            facts.push(format!("drift beyond \u{b1}{}", size(d, limit)));
        }
        html! {
            div.cohort-figure {
                h4 { (name(cohort, d)) }
                p.workload { (facts.join(" \u{b7} ")) }
                (lines::drives(cohort, d))
                (lines::common(d))
                ul.notes {
                    @for c in &d.common {
                        li {
                            @if c.drifts {
                                strong { (together(cohort, d, c)) }
                            } @else {
                                (together(cohort, d, c))
                            }
                        }
                    }
                }
                (elements::notes(&d.notes))
                (elements::folded(&title, &table(cohort, &title, &all, false)))
            }
        }
    };
    let content = html! {
        @if found.is_empty() { p { "No drive drifts away from the others." } }
        @else { (elements::long_table(table(cohort, "Drives that drift", &found, true))) }
        ul.notes {
            @for (beyond, text) in errors(cohort) {
                li { @if beyond { strong { (text) } } @else { (text) } }
            }
        }
        div.cohort-figures { @for d in &cohort.soaks { (one(d)) } }
    };
    let sentence = chance(cohort);
    let sentence = sentence.trim_end_matches('.');
    elements::step("drift", &html! { "Drift in soaks" }, "", sentence, &how, &content)
}

/// A spread on the figure's scale.
fn size(d: &SoakDrift, value: f64) -> String {
    match d.logarithmic {
        true => format!("{:.2} %", 100.0 * value),
        false => format!("{} {}", figure(value), d.unit),
    }
}
