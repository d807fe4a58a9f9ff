//! Warnings of a run by their cause: those with the same words are one, whatever their figures, and
//! of programs that used the host, whatever the programs.

use assay_store::model::Warning;
use assay_store::model::warning::OTHER_PROGRAMS;
use serde::Serialize;

/// Warnings with one cause.
#[derive(Debug, PartialEq)]
pub struct Cause<'a> {
    /// In the order in which they were raised, at least one, each with its run.
    pub warnings: Vec<(usize, &'a Warning)>,
}

impl<'a> Cause<'a> {
    pub fn first(&self) -> &'a Warning {
        self.warnings[0].1
    }

    /// The message, its figures as ranges where they differ: `began at 53 to 72 degrees C`.
    pub fn message(&self) -> String {
        let messages = self.warnings.iter().map(|w| w.1.message.as_str());
        match messages.clone().map(|text| text.strip_prefix(OTHER_PROGRAMS)).collect() {
            Some(lists) => format!("{OTHER_PROGRAMS}{}", merged(lists)),
            None => ranged(&messages.collect::<Vec<_>>()),
        }
    }

    /// The cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &'a str> {
        self.warnings.iter().filter_map(|w| w.1.cell.as_deref())
    }
}

/// Programs of a merged list that are named.
const PROGRAMS: usize = 4;

/// Lists of programs and their use as one, the most frequent first; this one is the last of each.
fn merged(lists: Vec<&str>) -> String {
    let mut named: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    let mut own = Vec::new();
    for list in lists {
        let (others, this) = list.rsplit_once(", ").unwrap_or(("", list));
        own.push(this);
        for item in others.split(", ").filter(|item| !item.is_empty()) {
            let words = words_of(item);
            match named.iter_mut().find(|(known, _)| *known == words) {
                Some((_, items)) => items.push(item),
                None => named.push((words, vec![item])),
            }
        }
    }
    named.sort_by_key(|(_, items)| std::cmp::Reverse(items.len()));
    let rest = named.len().saturating_sub(PROGRAMS);
    let mut texts: Vec<String> = named.iter().take(PROGRAMS).map(|(_, i)| ranged(i)).collect();
    if rest > 0 {
        texts.push(format!("{rest} more"));
    }
    texts.push(ranged(&own));
    texts.join(", ")
}

/// Texts of the same words as one, their figures as ranges where they differ.
fn ranged(texts: &[&str]) -> String {
    let mut text = String::new();
    let split: Vec<Vec<(bool, &str)>> = texts.iter().map(|text| parts(text)).collect();
    for (i, (is_figure, first)) in split[0].iter().enumerate() {
        text.push_str(first);
        let value = |parts: &Vec<(bool, &str)>| parts[i].1.replace(',', "").parse::<f64>().ok();
        if !is_figure || split.iter().all(|parts| parts[i].1 == *first) {
            continue;
        }
        let by_value = |a: &&Vec<_>, b: &&Vec<_>| {
            let [a, b] = [a, b].map(|parts| value(parts).unwrap_or(0.0));
            a.total_cmp(&b)
        };
        let ends = split.iter().min_by(by_value).zip(split.iter().max_by(by_value));
        if let Some((low, high)) = ends {
            text.truncate(text.len() - first.len());
            text.push_str(&format!("{} to {}", low[i].1, high[i].1));
        }
    }
    text
}

/// A message as words and figures, each of which begins and ends with a digit.
fn parts(message: &str) -> Vec<(bool, &str)> {
    let mut parts = Vec::new();
    let mut rest = message;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let figure = &rest[start..];
        let end = figure.find(|c: char| !c.is_ascii_digit() && !".,".contains(c));
        let figure = figure[..end.unwrap_or(figure.len())].trim_end_matches(['.', ',']);
        parts.extend([(false, &rest[..start]), (true, figure)]);
        rest = &rest[start + figure.len()..];
    }
    parts.push((false, rest));
    parts
}

/// A text without its figures.
fn words_of(text: &str) -> Vec<&str> {
    let words = parts(text).into_iter().filter(|(is_figure, _)| !is_figure);
    words.map(|(_, words)| words).collect()
}

/// Code, message and advice without their figures, and without the programs of a list.
fn words(warning: &Warning) -> (&str, [Vec<&str>; 2]) {
    let message = match warning.message.starts_with(OTHER_PROGRAMS) {
        true => OTHER_PROGRAMS,
        false => &warning.message,
    };
    (&warning.code, [message, &warning.advice].map(words_of))
}

/// Warnings of one cause as one, in the order of their first occurrence. Each comes with its run.
pub fn by_cause<'a>(warnings: impl Iterator<Item = (usize, &'a Warning)>) -> Vec<Cause<'a>> {
    group(warnings, |a, b| words(a) == words(b))
}

fn group<'a>(
    warnings: impl Iterator<Item = (usize, &'a Warning)>,
    same: impl Fn(&Warning, &Warning) -> bool,
) -> Vec<Cause<'a>> {
    let mut causes: Vec<Cause<'a>> = Vec::new();
    for warning in warnings {
        match causes.iter_mut().find(|c| same(c.first(), warning.1)) {
            Some(cause) => cause.warnings.push(warning),
            None => causes.push(Cause { warnings: vec![warning] }),
        }
    }
    causes
}

/// The warnings of one cause on one drive, as JSON documents have them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct DriveWarning<'a> {
    code: &'a str,
    /// The drive they are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    drive: Option<usize>,
    count: usize,
    /// The cells they are about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<&'a str>,
    message: String,
    advice: &'a str,
}

/// One entry per cause and drive, in the order of their first occurrence.
pub fn by_drive(warnings: &[Warning]) -> Vec<DriveWarning<'_>> {
    fn of_drive(cause: Cause<'_>) -> DriveWarning<'_> {
        let first = cause.first();
        DriveWarning {
            code: &first.code,
            drive: first.drive,
            count: cause.warnings.len(),
            cells: cause.cells().collect(),
            message: cause.message(),
            advice: &first.advice,
        }
    }
    let causes =
        group(warnings.iter().map(|w| (0, w)), |a, b| a.drive == b.drive && words(a) == words(b));
    causes.into_iter().map(of_drive).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(cell: Option<&str>, message: &str, drive: usize) -> Warning {
        Warning {
            code: "host-limited".to_owned(),
            cell: cell.map(str::to_owned),
            drive: Some(drive),
            message: message.to_owned(),
            advice: "use more threads".to_owned(),
        }
    }

    #[test]
    fn programs_that_used_the_host_are_one_cause() {
        let beside = |list: &str| warning(Some(list), &format!("{OTHER_PROGRAMS}{list}"), 0);
        let all = [
            beside("rustc 166 %, kworker 59 %, this program 14 %"),
            beside("cc1 34 %, rustc 63 %, ld 5 %, this program 50 %"),
            beside("rustc 100 %, a 3 %, b2 2 %, this program 14 %"),
        ];
        let causes = by_cause(all.iter().map(|w| (0, w)));
        assert_eq!(causes.len(), 1);
        let list =
            "rustc 63 to 166 %, kworker 59 %, cc1 34 %, ld 5 %, 2 more, this program 14 to 50 %";
        assert_eq!(causes[0].message(), format!("{OTHER_PROGRAMS}{list}"));
    }

    #[test]
    fn the_same_words_are_one_cause_whatever_their_figures() {
        let all = [
            warning(Some("a/1"), "0 % idle", 0),
            warning(Some("a/2"), "1 % idle", 0),
            warning(Some("b/1"), "4 % idle", 1),
            warning(None, "hot", 1),
        ];
        let causes = by_cause(all.iter().map(|w| (0, w)));
        let messages: Vec<String> = causes.iter().map(Cause::message).collect();
        assert_eq!(messages, ["0 to 4 % idle", "hot"]);
        assert!(causes[0].cells().eq(["a/1", "a/2", "b/1"]));
        let found = by_drive(&all);
        let of_drive = |n: usize, drive, count, cells, message: &str| {
            let expected = DriveWarning {
                code: "host-limited",
                drive: Some(drive),
                count,
                cells,
                message: message.to_owned(),
                advice: "use more threads",
            };
            assert_eq!(found[n], expected);
        };
        of_drive(0, 0, 2, vec!["a/1", "a/2"], "0 to 1 % idle");
        of_drive(1, 1, 1, vec!["b/1"], "4 % idle");
        of_drive(2, 1, 1, vec![], "hot");
        assert_eq!(found.len(), 3);
    }
}
