//! Warnings of a run, those of several cells with the same words as one.

use assay_store::model::Warning;

/// Cells named of a warning; of the others the number.
const NAMED_CELLS: usize = 3;

/// A warning and the cells that it is about.
#[derive(Debug, PartialEq)]
pub struct WarningOfCells<'a> {
    /// The first of them.
    pub warning: &'a Warning,
    cells: Vec<&'a str>,
}

impl WarningOfCells<'_> {
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

/// Warnings of one drive with one code, message and advice as one, in the order of their first
/// occurrence.
pub fn by_cells(warnings: &[Warning]) -> Vec<WarningOfCells<'_>> {
    let mut out: Vec<WarningOfCells<'_>> = Vec::new();
    for warning in warnings {
        let words = |w: &Warning| (w.code.clone(), w.drive, w.message.clone(), w.advice.clone());
        let same = out
            .iter_mut()
            .find(|other| words(other.warning) == words(warning));
        let cell = warning.cell.as_deref();
        match same {
            Some(same) => same.cells.extend(cell),
            None => out.push(WarningOfCells {
                warning,
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
    fn only_the_same_words_about_the_same_drive_are_one() {
        let all = [
            warning(Some("a/1"), "0 % idle", 0),
            warning(Some("a/2"), "1 % idle", 0),
            warning(Some("a/3"), "0 % idle", 0),
            warning(Some("b/1"), "0 % idle", 1),
            warning(None, "hot", 1),
        ];
        let grouped = by_cells(&all);
        let cells: Vec<String> = grouped.iter().map(WarningOfCells::cells).collect();
        assert_eq!(cells, ["a/1, a/3", "a/2", "b/1", ""]);
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
