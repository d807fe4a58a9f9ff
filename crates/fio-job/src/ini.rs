//! As `__parse_jobs_ini` in fio's init.c: a line is an option (`name=value` or `name`), a section
//! (`[name]`), an include, empty or a comment. `;` and `#` begin a comment anywhere in a line. A
//! section whose name begins with `global` sets options of all later ones.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::JobFileError;
use crate::substitute::{Substitution, substitute};

/// Includes within includes; deeper ones are taken for a cycle.
pub const MAX_INCLUDE_DEPTH: usize = 16;
/// Included files are counted each time: an include that multiplies itself ends here.
pub const MAX_OPTIONS: usize = 100_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: Arc<str>,
    /// From 1; 0 is the file as a whole.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOption {
    pub name: String,
    /// What is behind `=`, variables replaced; `None` without `=`.
    pub value: Option<String>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub place: Place,
    /// In the order of the file; a later one overrides an earlier one of its name.
    pub options: Vec<FileOption>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    pub file: Arc<str>,
    /// The sections that are jobs, in order.
    pub sections: Vec<Section>,
}

pub type ReadFile<'a> = dyn FnMut(&Path) -> std::io::Result<Vec<u8>> + 'a;

struct Parser<'a> {
    read: &'a mut ReadFile<'a>,
    with: &'a Substitution<'a>,
    global: Vec<FileOption>,
    sections: Vec<Section>,
    /// The section being read; `true`: a global one.
    current: Option<(bool, Section)>,
    count: usize,
}

impl JobFile {
    pub fn read<'a>(
        path: &Path,
        with: &'a Substitution<'a>,
        read: &'a mut ReadFile<'a>,
    ) -> Result<JobFile, JobFileError> {
        let file: Arc<str> = path.display().to_string().into();
        let whole = Place {
            file: file.clone(),
            line: 0,
        };
        let mut parser = Parser {
            read,
            with,
            global: Vec::new(),
            sections: Vec::new(),
            current: None,
            count: 0,
        };
        parser.file(path, &whole, 0)?;
        parser.end_section();
        if parser.sections.is_empty() {
            return Err(JobFileError {
                place: whole,
                section: None,
                message: "has no job: a section such as [reads] with options below it".to_owned(),
            });
        }
        Ok(JobFile {
            file,
            sections: parser.sections,
        })
    }
}

/// What is before a comment, without blanks and control characters around it.
fn without_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

impl Parser<'_> {
    fn error(&self, place: &Place, message: String) -> JobFileError {
        JobFileError {
            place: place.clone(),
            section: (self.current.as_ref()).map(|(_, section)| section.name.clone()),
            message,
        }
    }

    fn file(&mut self, path: &Path, from: &Place, depth: usize) -> Result<(), JobFileError> {
        if depth > MAX_INCLUDE_DEPTH {
            let message = format!("include: more than {MAX_INCLUDE_DEPTH} files within each other");
            return Err(self.error(from, message));
        }
        let bytes = (self.read)(path).map_err(|error| {
            let what = if depth > 0 { "include: " } else { "" };
            self.error(
                from,
                format!("{what}cannot read {}: {error}", path.display()),
            )
        })?;
        let file: Arc<str> = path.display().to_string().into();
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let place = Place {
                file: file.clone(),
                line: number + 1,
            };
            self.line(without_comment(line), place, path, depth)?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        line: &str,
        place: Place,
        path: &Path,
        depth: usize,
    ) -> Result<(), JobFileError> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(name) = line.strip_prefix('[') {
            if depth > 0 {
                let message = format!("an included file has options only, not a section {line}");
                return Err(self.error(&place, message));
            }
            let name = name.strip_suffix(']').unwrap_or(name).to_owned();
            if name.is_empty() {
                return Err(self.error(&place, "a section needs a name: [reads]".to_owned()));
            }
            self.end_section();
            let section = Section {
                place,
                options: Vec::new(),
                name,
            };
            self.current = Some((section.name.starts_with("global"), section));
            return Ok(());
        }
        if self.current.is_none() {
            let message =
                format!("{line:?} is before the first section: write [global] or [NAME] above it");
            return Err(self.error(&place, message));
        }
        // "include" and one character, as fio takes it.
        let included = line
            .strip_prefix("include")
            .filter(|rest| rest.starts_with([' ', '\t']));
        if let Some(name) = included {
            let name = substitute(name.trim(), self.with);
            let name = name.map_err(|message| self.error(&place, message))?;
            let beside = path.parent().map_or_else(PathBuf::new, Path::to_owned);
            return self.file(&beside.join(name), &place, depth + 1);
        }
        self.count += 1;
        if self.count > MAX_OPTIONS {
            return Err(self.error(&place, format!("more than {MAX_OPTIONS} options")));
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.trim_start())),
            None => (line, None),
        };
        let value = value.map(|value| substitute(value, self.with)).transpose();
        let value = value.map_err(|message| self.error(&place, format!("{name}: {message}")))?;
        let option = FileOption {
            name: name.to_owned(),
            value,
            place,
        };
        if let Some((_, section)) = &mut self.current {
            section.options.push(option);
        }
        Ok(())
    }

    fn end_section(&mut self) {
        match self.current.take() {
            Some((true, section)) => self.global.extend(section.options),
            Some((false, mut section)) => {
                section.options.splice(0..0, self.global.iter().cloned());
                self.sections.push(section);
            }
            None => {}
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/ini.rs"]
pub(crate) mod tests;
