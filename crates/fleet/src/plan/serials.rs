//! The list of serials of a plan. One drive per line, `#` comments. Further columns, separated by
//! commas, need a first line with their names:
//!
//! ```text
//! serial,batch
//! S2X6NX0H100001,control
//! S2X6NX0H100002,treated
//! ```

use std::collections::BTreeMap;

use super::error::PlanError;
use crate::Serial;

const SERIAL_COLUMN: &str = "serial";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SerialList {
    pub columns: Vec<String>,
    /// Values of the further columns, by serial.
    pub drives: BTreeMap<Serial, Vec<String>>,
}

impl SerialList {
    /// `file` is the list's name in errors. Fails for a serial that cannot be used or is listed
    /// twice, a line with more or fewer columns than the first, or no serial at all.
    pub fn parse(file: &str, text: &str) -> Result<SerialList, PlanError> {
        let mut list = SerialList::default();
        let mut first = true;
        for (index, line) in text.lines().enumerate() {
            let error =
                |why: String| PlanError::Serials { list: file.to_owned(), line: index + 1, why };
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let mut fields = line.split(',').map(|field| field.trim().to_owned());
            let serial = fields.next().unwrap_or_default();
            let rest: Vec<String> = fields.collect();
            if std::mem::take(&mut first) && serial == SERIAL_COLUMN {
                if let Some(empty) = rest.iter().find(|name| name.is_empty()) {
                    return Err(error(format!("{empty:?} is no name of a column")));
                }
                list.columns = rest;
                continue;
            }
            if rest.len() != list.columns.len() {
                let (given, columns) = (rest.len() + 1, list.columns.len() + 1);
                return Err(error(format!(
                    "has {given} columns and the list has {columns}; name the columns in the \
                     first line: {SERIAL_COLUMN},NAME"
                )));
            }
            let serial = Serial::parse(&serial).map_err(|e| error(e.to_string()))?;
            if list.drives.insert(serial.clone(), rest).is_some() {
                return Err(error(format!("{serial} is listed twice; keep one line")));
            }
        }
        if list.drives.is_empty() {
            return Err(PlanError::Serials {
                list: file.to_owned(),
                line: 1,
                why: "there is no serial in this list; write one per line".to_owned(),
            });
        }
        Ok(list)
    }

    /// Sorted by serial.
    pub fn text(&self) -> String {
        let line = |first: &str, rest: &[String]| {
            let rest: String = rest.iter().map(|field| format!(",{field}")).collect();
            format!("{first}{rest}\n")
        };
        let mut text = match self.columns.as_slice() {
            [] => String::new(),
            columns => line(SERIAL_COLUMN, columns),
        };
        for (serial, rest) in &self.drives {
            text.push_str(&line(serial.as_str(), rest));
        }
        text
    }

    pub fn value(&self, serial: &Serial, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.drives.get(serial)?.get(at).map(String::as_str)
    }
}
