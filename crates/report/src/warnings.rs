//! Warnings of a run, those of several cells with the same words as one, whatever their figures.

use assay_store::model::Warning;

/// Cells named of a warning; of the others the number.
const NAMED_CELLS: usize = 3;

/// A warning and the cells that it is about.
#[derive(Debug, PartialEq)]
pub struct WarningOfCells<'a> {
    /// The first of them.
    pub warning: &'a Warning,
    /// The message of each.
    messages: Vec<&'a str>,
    cells: Vec<&'a str>,
}

impl WarningOfCells<'_> {
    /// The message, its figures as ranges where they differ: `began at 53 to 72 degrees C`.
    pub fn message(&self) -> String {
        let mut text = String::new();
        let split: Vec<Vec<(bool, &str)>> = self.messages.iter().map(|m| parts(m)).collect();
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
            let ends = split
                .iter()
                .min_by(by_value)
                .zip(split.iter().max_by(by_value));
            if let Some((low, high)) = ends {
                text.truncate(text.len() - first.len());
                text.push_str(&format!("{} to {}", low[i].1, high[i].1));
            }
        }
        text
    }

    /// The cells, the first three by name; empty for a warning about a drive or a run.
    pub fn cells(&self) -> String {
        let named = self.cells.len().min(NAMED_CELLS);
        let mut text = self.cells[..named].join(", ");
        let others = self.cells.len() - named;
        if others > 0 {
            text += &format!(" and {others} more cells");
        }
        text
    }
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

/// Messages and advice without their figures.
fn cause(warning: &Warning) -> (String, Option<usize>, [Vec<String>; 2]) {
    let words = |text: &str| -> Vec<String> {
        let words = parts(text).into_iter().filter(|(is_figure, _)| !is_figure);
        words.map(|(_, words)| words.to_owned()).collect()
    };
    let texts = [&warning.message, &warning.advice].map(|text| words(text));
    (warning.code.clone(), warning.drive, texts)
}

/// Warnings of one drive with one cause as one, in the order of their first occurrence.
pub fn by_cells(warnings: &[Warning]) -> Vec<WarningOfCells<'_>> {
    let mut out: Vec<WarningOfCells<'_>> = Vec::new();
    for warning in warnings {
        let words = cause(warning);
        let same = out.iter_mut().find(|other| cause(other.warning) == words);
        let cell = warning.cell.as_deref();
        match same {
            Some(same) => {
                same.messages.push(&warning.message);
                same.cells.extend(cell);
            }
            None => out.push(WarningOfCells {
                warning,
                messages: vec![&warning.message],
                cells: cell.into_iter().collect(),
            }),
        }
    }
    out
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
    fn the_same_words_about_the_same_drive_are_one_whatever_their_figures() {
        let all = [
            warning(Some("a/1"), "0 % idle", 0),
            warning(Some("a/2"), "1 % idle", 0),
            warning(Some("a/3"), "0 % idle", 0),
            warning(Some("b/1"), "0 % idle", 1),
            warning(None, "hot", 1),
        ];
        let grouped = by_cells(&all);
        let cells: Vec<String> = grouped.iter().map(WarningOfCells::cells).collect();
        assert_eq!(cells, ["a/1, a/2, a/3", "b/1", ""]);
        assert_eq!(grouped[0].message(), "0 to 1 % idle");
        assert_eq!(grouped[1].message(), "0 % idle");
    }

    #[test]
    fn three_cells_are_named_and_the_others_counted() {
        let names: Vec<String> = (1..=9).map(|n| format!("a/{n}")).collect();
        let all: Vec<Warning> = names
            .iter()
            .map(|name| warning(Some(name), "0 % idle", 0))
            .collect();
        let grouped = by_cells(&all);
        assert_eq!(grouped.len(), 1);
        assert_eq!(grouped[0].cells(), "a/1, a/2, a/3 and 6 more cells");
    }
}
