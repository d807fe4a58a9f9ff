//! What a benchmark came to, for the terminal and for a Markdown file.

use std::fmt::{Display, Write as _};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use assay_device::host;

use crate::Bench;

/// A table: a header row and rows of the same length.
pub struct Table {
    /// Column names.
    pub head: Vec<&'static str>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// A figure that was to be reached.
pub struct Goal {
    /// What and how much.
    pub goal: String,
    /// What was measured.
    pub reached: String,
    /// Was it enough?
    pub met: bool,
}

/// One benchmark's result.
pub struct Section {
    /// Names its markers in the file.
    pub key: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What was done and how to read it.
    pub about: String,
    /// Figures.
    pub tables: Vec<Table>,
    /// Goals.
    pub goals: Vec<Goal>,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
    /// Some of the commands, as run.
    pub commands: Vec<String>,
}

impl Section {
    /// Empty.
    pub fn new(key: &'static str, title: &'static str, about: impl Into<String>) -> Section {
        Section {
            key,
            title,
            about: about.into(),
            tables: Vec::new(),
            goals: Vec::new(),
            notes: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// State a goal.
    pub fn goal(&mut self, goal: impl Into<String>, reached: String, met: bool) {
        self.goals.push(Goal {
            goal: goal.into(),
            reached,
            met,
        });
    }

    fn body(&self) -> String {
        let mut text = format!("{}\n", self.about);
        for goal in &self.goals {
            let Goal { goal, reached, met } = goal;
            let verdict = if *met { "met" } else { "**not met**" };
            let _ = write!(text, "\n- Goal: {goal}. Measured: {reached}; {verdict}.");
        }
        if !self.goals.is_empty() {
            text.push('\n');
        }
        for table in &self.tables {
            let _ = write!(text, "\n{}", table.text());
        }
        for note in &self.notes {
            let _ = write!(text, "\n{note}\n");
        }
        if !self.commands.is_empty() {
            let _ = write!(text, "\n```text\n{}\n```\n", self.commands.join("\n"));
        }
        text
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        format!("\n## {}\n\n{}", self.title, self.body())
    }

    /// Put between `<!-- KEY:begin -->` and `<!-- KEY:end -->` of the file, replacing what is there.
    pub fn write_into(&self, path: &Path, conditions: &str) -> Result<()> {
        let shown = path.display();
        let old = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let begin = format!("<!-- {}:begin -->", self.key);
        let end = format!("<!-- {}:end -->", self.key);
        let parts = old.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(&end)?;
            Some((before, after))
        });
        let Some((before, after)) = parts else {
            bail!("{shown} has no markers {begin} and {end}");
        };
        let body = self.body();
        let new = format!("{before}{begin}\n{conditions}\n\n{body}{end}{after}");
        fs::write(path, new).with_context(|| format!("cannot write {shown}"))
    }
}

impl Table {
    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [&dyn Display; N]) {
        self.rows.push(cells.map(|cell| cell.to_string()).into());
    }

    /// With these columns.
    pub fn new(head: &[&'static str]) -> Table {
        Table {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    fn text(&self) -> String {
        let head: Vec<String> = self.head.iter().map(|&name| name.to_owned()).collect();
        let width = |column: usize| {
            let cells = self
                .rows
                .iter()
                .chain([&head])
                .filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let line = |row: &[String]| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| format!("{cell:width$}"))
                .collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        let mut text = line(&head) + &line(&rule);
        self.rows.iter().for_each(|row| text.push_str(&line(row)));
        text
    }
}

/// One sentence on the conditions under which the figures are taken, read before anything is measured: the load is that of others.
pub fn conditions(bench: &Bench) -> String {
    let machine = host::HostInfo::read();
    let first_word = |program: &Path, argument: &str| {
        let answer = bench.runner.run(program, &[argument]);
        answer.map_or("not found".to_owned(), |outcome| {
            outcome.stdout.trim().to_owned()
        })
    };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load
        .split(' ')
        .next()
        .and_then(|load| load.parse().ok())
        .unwrap_or(0.0);
    let busy = if load > 0.5 {
        format!(
            "; **the machine was busy** (load average {load:.1} before the first run), so these figures are orientation only"
        )
    } else {
        String::new()
    };
    let quick = if bench.quick {
        "; `--quick`: three short rounds, orientation only"
    } else {
        ""
    };
    format!(
        "Taken {} on {} x {}, Linux {}; {}, {}; {} interleaved rounds, median (least-greatest){quick}{busy}.",
        host::wall_clock(),
        machine.logical_cpus,
        machine.cpu_model.as_deref().unwrap_or("processor"),
        machine.kernel.as_deref().unwrap_or("?"),
        first_word(&bench.runner.assay, "--version"),
        first_word(Path::new("fio"), "--version"),
        bench.rounds(),
    )
}
