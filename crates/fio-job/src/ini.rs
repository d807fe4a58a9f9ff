//! As `__parse_jobs_ini` in fio's init.c: a line is an option (`name=value` or `name`), a section
//! (`[name]`), an include, empty or a comment. `;` and `#` begin a comment anywhere in a line. A
//! section whose name begins with `global` sets options of all later ones.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::JobFileError;
use crate::line::{COMMAND_LINE, CommandLine};
use crate::substitute::{Substitution, substitute};

const BEHIND_INCLUDE: [char; 3] = [' ', '\t', '='];
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
            // The words of a line are seen without counting.
            _ if *self.file == *COMMAND_LINE => f.write_str(&self.file),
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
        let mut parser = Parser::new(with, read);
        let whole = parser.whole_file(path)?;
        if parser.sections.is_empty() {
            return Err(JobFileError {
                place: whole,
                section: None,
                message: "has no job: a section such as [reads] with options below it".to_owned(),
            });
        }
        Ok(JobFile { file: whole.file, sections: parser.sections })
    }

    /// The jobs of a command line, then those of the files that it names: each file begins when
    /// those before it have ended, and has the global options of all before it, as in fio.
    pub fn of_line<'a>(
        line: &CommandLine,
        with: &'a Substitution<'a>,
        read: &'a mut ReadFile<'a>,
    ) -> Result<JobFile, JobFileError> {
        let mut parser = Parser::new(with, read);
        parser.begin_section("global", Place::of_line(0));
        for option in &line.options {
            match (option.name.as_str(), option.value.as_deref()) {
                ("name", Some(name)) => parser.begin_section(name, option.place.clone()),
                _ => parser.push(option.clone()),
            }
        }
        parser.end_section();
        if line.files.is_empty() && parser.sections.is_empty() {
            // fio names such a job so.
            parser.begin_section("fio", Place::of_line(0));
            parser.end_section();
        }
        for (number, file) in line.files.iter().enumerate() {
            let first = parser.sections.len();
            parser.whole_file(Path::new(file))?;
            if let Some(section) = parser.sections.get_mut(first).filter(|_| number > 0) {
                let place = section.place.clone();
                let name = "stonewall".to_owned();
                section.options.push(FileOption { name, value: None, place });
            }
        }
        let named =
            |section: &Section| line.sections.is_empty() || line.sections.contains(&section.name);
        parser.sections.retain(named);
        if parser.sections.is_empty() {
            let message = "there is no job: --name=NAME begins one, and --section=NAME names \
                           sections that a job file has";
            return Err(JobFileError {
                place: Place::of_line(0),
                section: None,
                message: message.to_owned(),
            });
        }
        Ok(JobFile { file: COMMAND_LINE.into(), sections: parser.sections })
    }
}

impl Place {
    /// `word`: from 1; 0 is the line as a whole.
    pub fn of_line(word: usize) -> Place {
        Place { file: COMMAND_LINE.into(), line: word }
    }
}

/// What is before a comment, without blanks and control characters around it.
fn without_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

impl<'a> Parser<'a> {
    fn new(with: &'a Substitution<'a>, read: &'a mut ReadFile<'a>) -> Parser<'a> {
        Parser { read, with, global: Vec::new(), sections: Vec::new(), current: None, count: 0 }
    }

    /// Returns the place of the file as a whole.
    fn whole_file(&mut self, path: &Path) -> Result<Place, JobFileError> {
        let whole = Place { file: path.display().to_string().into(), line: 0 };
        self.file(&[path], &whole, 0)?;
        self.end_section();
        Ok(whole)
    }

    fn begin_section(&mut self, name: &str, place: Place) {
        self.end_section();
        let section = Section { place, options: Vec::new(), name: name.to_owned() };
        self.current = Some((name.starts_with("global"), section));
    }

    fn push(&mut self, option: FileOption) {
        if let Some((_, section)) = &mut self.current {
            section.options.push(option);
        }
    }

    fn error(&self, place: &Place, message: String) -> JobFileError {
        JobFileError {
            place: place.clone(),
            section: (self.current.as_ref()).map(|(_, section)| section.name.clone()),
            message,
        }
    }

    /// The first of these files that can be read.
    fn file(&mut self, paths: &[&Path], from: &Place, depth: usize) -> Result<(), JobFileError> {
        if depth > MAX_INCLUDE_DEPTH {
            let message = format!("include: more than {MAX_INCLUDE_DEPTH} files within each other");
            return Err(self.error(from, message));
        }
        let mut failed = None;
        let mut found = paths.iter().filter_map(|path| match (self.read)(path) {
            Ok(bytes) => Some((*path, bytes)),
            Err(error) => {
                failed = Some(format!("cannot read {}: {error}", path.display()));
                None
            }
        });
        let Some((path, bytes)) = found.next() else {
            let what = if depth > 0 { "include: " } else { "" };
            return Err(self.error(from, format!("{what}{}", failed.unwrap_or_default())));
        };
        let file: Arc<str> = path.display().to_string().into();
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let place = Place { file: file.clone(), line: number + 1 };
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
            self.begin_section(&name, place);
            return Ok(());
        }
        if self.current.is_none() {
            let message =
                format!("{line:?} is before the first section: write [global] or [NAME] above it");
            return Err(self.error(&place, message));
        }
        // "include" and one character, as fio takes it.
        let included =
            (line.strip_prefix("include")).and_then(|rest| rest.strip_prefix(BEHIND_INCLUDE));
        if let Some(name) = included {
            return self.include(name, path, &place, depth);
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
        self.push(FileOption { name: name.to_owned(), value, place });
        Ok(())
    }

    /// A file in the working directory, else beside the one that includes it, as in fio.
    fn include(
        &mut self,
        name: &str,
        path: &Path,
        place: &Place,
        depth: usize,
    ) -> Result<(), JobFileError> {
        let name = substitute(name.trim(), self.with);
        let name = name.map_err(|message| self.error(place, message))?;
        let beside = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        self.file(&[Path::new(&name), &beside.join(&name)], place, depth + 1)
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
