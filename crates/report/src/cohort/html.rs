//! The cohort as one offline HTML page.

use assay_analysis::cohort::conclude::{Cohort, CohortDrive, CohortFigure};
use assay_analysis::cohort::groups::GroupComparison;
use assay_analysis::cohort::outliers::Outlier;
use assay_analysis::cohort::progress::RunProgress;
use maud::{Markup, html};

use crate::ReportError;
use crate::chart::PALETTE;
use crate::cohort::strip::strip;
use crate::cohort::{drift, outline, tables, words};
use crate::format::{plural, stamp};
use crate::html::{Entry, PageTemplate, elements};
use crate::table::{Column, Heading, Row, Table, TableCell};

/// One self-contained page.
///
/// # Errors
/// When the page's parts cannot be embedded.
pub fn html(cohort: &Cohort, runs: &[RunProgress]) -> Result<String, ReportError> {
    let grouped = cohort.groups.len() > 1;
    let soaked = !cohort.soaks.is_empty() || !cohort.error_rates.is_empty();
    let contents = [
        ("conclusions", "Conclusions"),
        ("outliers", "Outliers"),
        ("drift", "Drift in soaks"),
        ("groups", "Groups"),
        ("figures", "Figures"),
        ("drives", "Drives"),
        ("runs", "Runs"),
        ("left-out", "Left out"),
    ];
    let contents = contents
        .iter()
        .filter(|(id, _)| (grouped || *id != "groups") && (soaked || *id != "drift"))
        .map(|(id, title)| Entry::new(id, title));
    let title = outline::title(cohort);
    let body = html! {
        (conclusions(cohort, runs))
        (outliers(cohort))
        @if soaked { (drift::section(cohort)) }
        @if grouped { (groups(cohort)) }
        (figures(cohort))
        (drives(cohort))
        (self::runs(runs))
        (left_out(cohort))
    };
    PageTemplate {
        title: &title,
        header: &header(cohort, runs, &title),
        contents: &contents.collect::<Vec<Entry>>(),
        body: vec![body],
        charts: Vec::new(),
    }
    .page()
}

fn header(cohort: &Cohort, runs: &[RunProgress], title: &str) -> Markup {
    let stamps = runs.iter().map(|r| r.began.as_str());
    let mut stamps: Vec<&str> = stamps.filter(|s| !s.is_empty()).collect();
    stamps.sort_unstable();
    let when = match (stamps.first(), stamps.last()) {
        (Some(first), Some(last)) if first != last => {
            format!(" \u{b7} {} to {}", stamp(first), stamp(last))
        }
        (Some(one), _) => format!(" \u{b7} {}", stamp(one)),
        _ => String::new(),
    };
    let simulated = cohort.drives.iter().filter(|d| d.simulated).count();
    html! {
        h1 { (title) }
        div.facts-line {
            p { (outline::subject(cohort)) (when) }
            @if simulated > 0 {
                details class="badge simulated" {
                    summary {
                        @if simulated == cohort.drives.len() {
                            "simulated"
                        } @else {
                            "partly simulated"
                        }
                    }
                    div {
                        p {
                            (plural(simulated, "drive"))
                            " of this cohort: simulated. The figures are results of a drive model \
                             in virtual time."
                        }
                    }
                }
            }
        }
    }
}

/// Anchor, name, value and note of a figure of the first screen.
type Tile = (&'static str, &'static str, String, String);

fn tiles(cohort: &Cohort, runs: &[RunProgress]) -> Vec<Tile> {
    let progress = tables::progress(runs);
    let done: usize = progress.suites.iter().map(|(_, n)| n[0]).sum();
    let of_primary = |o: &&Outlier| cohort.figures[o.figure].primary;
    let primary = cohort.outliers.iter().filter(of_primary).count();
    let different = |primary: bool| {
        let of = |c: &&GroupComparison| cohort.figures[c.figure].primary == primary;
        let own = cohort.comparisons.iter().filter(of);
        own.filter(|c| outline::is_different(c)).count()
    };
    let mut tiles = Vec::new();
    if !runs.is_empty() {
        tiles.push((
            "runs",
            "Runs done",
            format!("{done} of {}", runs.len()),
            match progress.failures.len() {
                0 => "no failure, no interruption".to_owned(),
                n => format!("{} or interrupted", plural(n, "failure")),
            },
        ));
    }
    tiles.extend([
        (
            "outliers",
            "Drives unlike the others",
            outline::by_drive(cohort).len().to_string(),
            format!("{} in primary figures", plural(primary, "outlier")),
        ),
        (
            "outliers",
            "Hosts unlike the others",
            outline::hosts_off(cohort).len().to_string(),
            match cohort.figures.iter().any(|f| f.hosts.adjusted.is_some()) {
                true => "drives of one host together".to_owned(),
                false => "hosts and drives not separable".to_owned(),
            },
        ),
    ]);
    if !cohort.soaks.is_empty() {
        let together = cohort.soaks.iter().filter(|d| d.common.iter().any(|c| c.drifts));
        tiles.push((
            "drift",
            "Drives that drift",
            drift::drifting_drives(cohort).len().to_string(),
            format!("all together in {}", plural(together.count(), "figure")),
        ));
    }
    if cohort.groups.len() > 1 {
        tiles.push((
            "groups",
            "Differences between groups",
            format!("{} primary", different(true)),
            format!("{} exploratory", different(false)),
        ));
    }
    tiles
}

/// The first screen: what was found, and whether chance can explain it.
fn conclusions(cohort: &Cohort, runs: &[RunProgress]) -> Markup {
    let content = html! {
        dl.strip {
            @for (id, name, value, note) in tiles(cohort, runs) {
                div { dt { a href={ "#" (id) } { (name) } } dd { b { (value) } small { (note) } } }
            }
        }
        ul.notes {
            li { (words::outliers(cohort)) }
            @if !cohort.soaks.is_empty() { li { (drift::chance(cohort)) } }
            @if cohort.groups.len() > 1 { @for text in words::groups(cohort) { li { (text) } } }
        }
    };
    elements::titled("conclusions", "Conclusions", &content)
}

fn outliers(cohort: &Cohort) -> Markup {
    let drives = outline::by_drive(cohort).into_iter();
    let farthest = drives.map(|(_, own)| (own[0], Some(own.len())));
    let farthest: Vec<(&Outlier, Option<usize>)> = farthest.collect();
    let all: Vec<(&Outlier, Option<usize>)> = cohort.outliers.iter().map(|o| (o, None)).collect();
    let all_title = format!("{} by figure", plural(all.len(), "outlier"));
    let (hosts, audits) = (outline::hosts_off(cohort), outline::audits(cohort));
    let least = tables::signed(cohort.settings.minimum_effect);
    let how = html! {
        "Distance: from the median of the drive\u{2019}s group, in robust standard deviations (Q"
        sub { "n" }
        "), with the limit that 95 % of cohorts of this size without an outlier keep. "
        "An outlier is also off by " (least.trim_start_matches('+'))
        " or more, and is suspected until each of at least two runs shows it. "
        "Host: the other drives of its host are off as well. Not separable: its host has no other \
         drive, too few to tell, or is not known."
    };
    let content = html! {
        @if farthest.is_empty() { p { "No drive is unlike the others." } }
        @else {
            @let title = "Drives, each with its first figure";
            (elements::long_table(tables::outliers(cohort, title, &farthest)))
            @if all.len() > farthest.len() {
                (elements::folded(&all_title, &tables::outliers(cohort, &all_title, &all)))
            }
        }
        @if !hosts.is_empty() || !audits.is_empty() {
            ul.notes {
                @for (host, figures) in &hosts { li { "Host " strong { (host) } ": " (figures) } }
                @for text in &audits { li { (text) } }
            }
        }
    };
    let sentence = words::outliers(cohort);
    let sentence = sentence.trim_end_matches('.');
    elements::step("outliers", &html! { "Outliers" }, "", sentence, &how, &content)
}

/// Half of the width of the interval charts, share of 1.
fn reach(comparisons: &[&GroupComparison]) -> f64 {
    let ends = comparisons.iter().flat_map(|c| [c.interval.0.abs(), c.interval.1.abs()]);
    let most = ends.filter(|e| e.is_finite()).fold(0.001, f64::max);
    most.min(0.5)
}

fn interval(c: &GroupComparison, reach: f64, minimum_effect: f64) -> Markup {
    let x = |share: f64| (100.0 + 96.0 * (share / reach).clamp(-1.0, 1.0)).round();
    let (low, high) = (x(c.interval.0), x(c.interval.1));
    let (from, to) = (x(-minimum_effect), x(minimum_effect));
    html! {
        svg.cohort-interval viewBox="0 0 200 18" role="img" aria-label="interval" {
            rect.zone x=(from) width=(to - from) y="0" height="18" {}
            line.base x1="100" x2="100" y1="0" y2="18" {}
            line.bar x1=(low) x2=(high.max(low + 1.0)) y1="9" y2="9" {}
            circle cx=(x(c.difference)) cy="9" r="3.5" {}
        }
    }
}

fn comparisons(cohort: &Cohort, caption: &str, comparisons: &[&GroupComparison]) -> Markup {
    let reach = reach(comparisons);
    html! {
        div.scroll role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { span.cap { (caption) } }
                thead { tr {
                    th scope="col" { "figure" } th scope="col" { "group" }
                    th scope="col" { "result" } th scope="col" class="num" { "difference" }
                    th scope="col" class="num" { "95 % interval" }
                    th scope="col" {
                        "interval, \u{b1}" (tables::signed(reach).trim_start_matches('+'))
                    }
                    th scope="col" class="num" { "p, corrected" } th scope="col" { "drives" }
                } }
                tbody {
                    @for c in comparisons {
                        @let f = &cohort.figures[c.figure];
                        tr {
                            th scope="row" { (tables::name(cohort, f)) }
                            td.t { (outline::group_name(&cohort.groups[c.group])) }
                            td.t {
                                @if outline::is_different(c) {
                                    strong { (tables::answer(f, c.answer)) }
                                } @else {
                                    (tables::answer(f, c.answer))
                                }
                            }
                            td { (tables::signed(c.difference)) }
                            td {
                                (tables::signed(c.interval.0)) " .. " (tables::signed(c.interval.1))
                            }
                            td.t { (interval(c, reach, cohort.settings.minimum_effect)) }
                            td { (tables::probability(c.adjusted)) }
                            td.t {
                                @if c.paired {
                                    (c.drives.0) " pairs"
                                } @else {
                                    (c.drives.0) " and " (c.drives.1)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn groups(cohort: &Cohort) -> Markup {
    let is_primary = |c: &&GroupComparison| cohort.figures[c.figure].primary;
    let (primary, others): (Vec<&GroupComparison>, Vec<&GroupComparison>) =
        cohort.comparisons.iter().partition(is_primary);
    let different = others.iter().filter(|c| outline::is_different(c)).count();
    let how = html! {
        "The drive is the unit: runs of a drive are one value. Different drives: Welch\u{2019}s t; \
         the same drives before and after: paired. "
        "The interval is that of the single comparison; p is corrected for their number. Same: the \
         whole interval is within the minimum effect, which is shaded. "
        "Can\u{2019}t tell is not \u{201c}no difference\u{201d}: the interval \
         says what is excluded."
    };
    let content = html! {
        @if !primary.is_empty() { (comparisons(cohort, "Primary figures", &primary)) }
        @if !others.is_empty() {
            details open[primary.is_empty()] {
                summary {
                    "Exploration: " (plural(others.len(), "comparison")) ", " (different)
                    " different"
                }
                (comparisons(cohort, "Other figures", &others))
            }
        }
        @if cohort.comparisons.is_empty() {
            p {
                "No figure can be compared: a group has fewer than two drives, or all \
                 values are equal."
            }
        }
        (elements::notes(&words::groups(cohort)))
    };
    let title = html! { (outline::groups_title(cohort)) };
    elements::step("groups", &title, "", "", &how, &content)
}

fn one_figure(cohort: &Cohort, f: &CohortFigure, at: usize) -> Markup {
    let mut facts = vec![plural(f.drives, "drive")];
    if let Some(limit) = f.limit {
        facts.push(format!("spread {}", tables::spread(f, f.spread)));
        facts.push(format!("outliers beyond \u{b1}{}", tables::spread(f, limit)));
    }
    facts.extend(f.run_share.map(|s| format!("{:.0} % of the variance is run to run", 100.0 * s)));
    if f.heavy_tails == Some(true) {
        facts.push("heavy tails".to_owned());
    }
    html! {
        div.cohort-figure id={ "figure-" (at + 1) } {
            h4 { (tables::name(cohort, f)) @if f.primary { " " span.cohort-primary { "primary" } } }
            p.workload { (facts.join(" \u{b7} ")) }
            (strip(cohort, f, at))
            (elements::notes(&f.notes))
        }
    }
}

fn figures(cohort: &Cohort) -> Markup {
    // Headline metrics have no step in their names.
    let is_front = |f: &CohortFigure| f.primary || !f.figure.contains('/');
    let any_front = cohort.figures.iter().any(is_front);
    let (front, behind): (Vec<_>, Vec<_>) =
        cohort.figures.iter().enumerate().partition(|(_, f)| !any_front || is_front(f));
    let content = html! {
        @if cohort.groups.len() > 1 {
            p.key {
                @for (n, group) in cohort.groups.iter().enumerate() {
                    span.swatch style={ "--c:var(--c" (n % PALETTE) ")" } {}
                    (outline::group_name(group)) " \u{2003}"
                }
            }
        }
        div.cohort-figures { @for (at, f) in front { (one_figure(cohort, f, at)) } }
        @if !behind.is_empty() {
            details {
                summary { (plural(behind.len(), "figure")) " of single cells" }
                div.cohort-figures { @for (at, f) in &behind { (one_figure(cohort, f, *at)) } }
            }
        }
        @let table = tables::figures(cohort, "Figures", cohort.figures.iter());
        (elements::folded("All figures as a table", &table))
    };
    let how = html! {
        "Its place is the mean of its runs. Large red dots are outliers: the pointer shows their \
         serials. The vertical line is the median of the group. "
        "The axis is logarithmic where all values are positive. Of more than 2,000 drives, bands \
         show where 50, 90 and 98 % of them are."
    };
    elements::step("figures", &html! { "Figures" }, "", "Each dot is a drive", &how, &content)
}

fn drives(cohort: &Cohort) -> Markup {
    let mut outliers = vec![0usize; cohort.drives.len()];
    for o in &cohort.outliers {
        outliers[o.drive] += 1;
    }
    let row = |(d, outliers): (&CohortDrive, &usize)| {
        let cells = vec![
            TableCell::text(d.model.clone()),
            TableCell::text(d.firmware.clone()),
            TableCell::text(tables::place(&d.host, &d.slot)),
            TableCell::number(d.runs.to_string()),
            match outliers {
                0 => TableCell::Empty,
                n => TableCell::number(n.to_string()),
            },
        ];
        let heading = Heading { text: d.serial.clone(), simulated: d.simulated };
        Row::new(heading, cells)
    };
    let rows = cohort.drives.iter().zip(&outliers).map(row).collect();
    let columns = Column::list([
        ("model", ""),
        ("firmware", ""),
        ("place", ""),
        ("runs", ""),
        ("outlier in", "figures"),
    ]);
    let all = plural(cohort.drives.len(), "drive");
    let table = Table::of_drives(all.clone(), columns, rows, Vec::new());
    elements::titled("drives", "Drives", &elements::folded(&all, &table))
}

fn runs(runs: &[RunProgress]) -> Markup {
    let progress = tables::progress(runs);
    let row = |(suite, counts): &(String, [usize; 3])| {
        let counts = counts.iter().map(|n| TableCell::number(n.to_string()));
        Row::new(Heading::plain(suite), counts.collect())
    };
    let columns = Column::list([("done", ""), ("interrupted", ""), ("unfinished", "")]);
    let rows = progress.suites.iter().map(row).collect();
    let mut table = Table::of_drives("Runs by suite".to_owned(), columns, rows, Vec::new());
    table.corner = "suite".to_owned();
    let failure = |[serial, place, suite, what]: &[String; 4]| {
        let cells = [place, suite, what].map(TableCell::text);
        Row::new(Heading::plain(serial), cells.to_vec())
    };
    let columns = Column::list([("place", ""), ("suite", ""), ("what", "")]);
    let rows = progress.failures.iter().map(failure).collect();
    let failures = Table::of_drives("Failures".to_owned(), columns, rows, Vec::new());
    let content = html! {
        (elements::table(&table))
        @if runs.is_empty() {
            p { "The tables of a lake hold no outcomes of runs; name run folders for them." }
        }
        @else if progress.failures.is_empty() { p { "No run failed or was interrupted." } }
        @else { (elements::long_table(failures)) }
    };
    elements::titled("runs", "Runs", &content)
}

fn left_out(cohort: &Cohort) -> Markup {
    let content = html! {
        @if cohort.left_out.is_empty() {
            p { "Nothing." }
        } @else {
            ul.notes { @for reason in &cohort.left_out { li { (reason) } } }
        }
    };
    elements::titled("left-out", "Left out", &content)
}
