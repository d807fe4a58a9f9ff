//! What to remember a drive by of each view of the review lab's suites.

use assay_store::model::View;
use assay_units::Op;
use assay_units::text::format_size;

use super::Key;
use crate::format::figure;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::tables::{capacity, consistency, knee, load, rounds, saturation, stream, thermal};

/// What the section's view concludes.
pub(super) fn keys(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    position: usize,
    points: &[&Point<'_>],
) -> Vec<Key> {
    let key = |label: String, value: String, unit, detail: String| Key {
        label,
        value,
        unit,
        detail,
    };
    let title = section.title;
    match section.view {
        Some(View::Consistency) => points
            .iter()
            .filter_map(|p| {
                let score = consistency::score(p)?.score;
                let variant = p.plan().variant.as_ref();
                let label = variant.map_or_else(String::new, |v| format!(", {v}"));
                let over = score.consistency.map_or_else(
                    || "every second the same".to_owned(),
                    |c| format!("mean \u{f7} std dev {}", figure(c)),
                );
                let detail = format!("{over}, slowest second {}", figure(score.min));
                Some(key(
                    format!("{title}{label}"),
                    figure(score.mean),
                    "IOPS",
                    detail,
                ))
            })
            .collect(),
        Some(View::Knee) => section
            .series()
            .iter()
            .filter(|s| s[0].drive == position)
            .filter_map(|series| {
                let point = series[knee::knees(series)?];
                let result = point.result()?;
                let place = section.place(point.row, point.column);
                let tail = crate::format::micros(result.latency().p99_99 as f64);
                let (value, unit) = if knee::small_blocks(section) {
                    (result.iops(), "IOPS")
                } else {
                    (result.mib_per_s(), "MiB/s")
                };
                let detail = format!("knee at {place}, p99.99 {tail} \u{b5}s");
                Some(key(title.to_owned(), figure(value), unit, detail))
            })
            .collect(),
        Some(View::Load) => load::offers(lineup, section)
            .iter()
            .filter(|o| o[0].point.drive == position)
            .map(|offers| match load::knee(offers) {
                Some(at) => {
                    let offer = &offers[at];
                    let p99 = crate::format::micros(offer.latency.p99 as f64);
                    let detail =
                        format!("{} % of its best, p99 {p99} \u{b5}s", figure(offer.percent));
                    key(
                        format!("{title}, knee"),
                        figure(offer.offered),
                        "IOPS",
                        detail,
                    )
                }
                None => key(
                    title.to_owned(),
                    "none".to_owned(),
                    "",
                    "not even the lightest load was sustained".to_owned(),
                ),
            })
            .collect(),
        Some(View::Rounds) => rounds::of_section(lineup, section)
            .iter()
            .filter(|d| d.drive == position)
            .flat_map(|drive| {
                drive.steady.iter().map(|s| {
                    let place = drive.place_of(s).map(|(r, c)| section.place(r, c));
                    let state = if s.achieved {
                        format!("steady in rounds {} to {}", s.window.0, s.window.1)
                    } else {
                        rounds::NOT_ACHIEVED.to_uppercase()
                    };
                    let detail = format!("{}, {state}", place.unwrap_or_default());
                    key(format!("{title}, {}", s.figure), figure(s.mean), "", detail)
                })
            })
            .collect(),
        Some(View::Saturation) => saturation::courses(lineup, section)
            .iter()
            .filter(|c| c.point.drive == position)
            .filter_map(|course| {
                let (first, last) = course.ends()?;
                let detail = format!("{} at first", figure(first));
                Some(key(
                    format!("{title}, at the end"),
                    figure(last),
                    "IOPS",
                    detail,
                ))
            })
            .collect(),
        Some(View::Thermal) => points
            .iter()
            .filter_map(|p| thermal::throttling(lineup, p).map(|t| (p, t)))
            .map(|(_, t)| {
                let at = t
                    .onset_c
                    .map_or_else(String::new, |c| format!(" at {c:.0} \u{b0}C"));
                let after = crate::format::duration((t.onset_s * 1e9) as u64);
                let of = t.before.map_or_else(String::new, |before| {
                    format!("of {} MiB/s; ", figure(before.mib_per_s))
                });
                let detail = format!("{of}throttles{at} after {after}");
                let rate = figure(t.after_mib_per_s);
                key(format!("{title}, hot"), rate, "MiB/s", detail)
            })
            .collect(),
        Some(View::Capacity) => points
            .iter()
            .filter_map(|p| {
                let verify = p.result()?.verify.as_ref()?;
                let wrong = capacity::wrong(p);
                let value = if wrong == 0 {
                    "all as written"
                } else {
                    "WRONG DATA"
                };
                let detail = format!(
                    "{} of {} blocks wrong",
                    assay_units::text::group_digits(wrong),
                    assay_units::text::group_digits(verify.blocks_checked)
                );
                Some(key(title.to_owned(), value.to_owned(), "", detail))
            })
            .collect(),
        Some(View::Peak | View::Continuous) => stream::courses(lineup, section)
            .iter()
            .filter(|c| c.drive == position)
            .flat_map(|course| stream::WAYS.map(|(op, word)| streamed(course, op, word)))
            .flatten()
            .map(|(label, value, detail)| key(label, value, "MiB/s", detail))
            .collect(),
        None => Vec::new(),
    }
}

/// The stream without end where there is one, else the best short one.
fn streamed(course: &stream::Course, op: Op, word: &str) -> Option<(String, String, String)> {
    let peak = course.peak(op);
    let Some(endless) = course.continuous(op) else {
        let peak = peak?;
        let at = format!("a stream of {}", format_size(peak.length_bytes));
        return Some((format!("Peak {word}"), figure(peak.mib_per_s), at));
    };
    let detail = match (peak, op, course.cache()) {
        (Some(peak), Op::Write, Some(cache)) => {
            format!("peak {}, write cache {cache}", figure(peak.mib_per_s))
        }
        (Some(peak), ..) => format!("peak {}", figure(peak.mib_per_s)),
        (None, Op::Write, Some(cache)) => format!("write cache {cache}"),
        (None, ..) => format!(
            "a stream of {}",
            crate::format::capacity(endless.length_bytes)
        ),
    };
    Some((
        format!("Continuous {word}"),
        figure(endless.mib_per_s),
        detail,
    ))
}
