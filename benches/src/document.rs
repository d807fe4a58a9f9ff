use std::fmt::{Display, Write as _};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use assay_device::host;

use crate::Bench;

pub struct Table(pub Vec<Vec<String>>);

#[derive(Default)]
pub struct Section {
    /// Names its page.
    pub key: &'static str,
    pub title: &'static str,
    /// What was done and how to read it.
    pub about: String,
    pub tables: Vec<Table>,
    /// Goals with what was reached, as lines of Markdown.
    goals: String,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
    /// Some of the commands, as run.
    pub commands: Vec<String>,
}

impl Section {
    pub fn new(key: &'static str, title: &'static str, about: impl Into<String>) -> Section {
        Section { key, title, about: about.into(), ..Section::default() }
    }

    pub fn goal(&mut self, goal: impl Display, reached: String, met: bool) {
        let verdict = if met { "met" } else { "**not met**" };
        self.goals += &format!("\n- Goal: {goal}. Measured: {reached}; {verdict}.");
    }

    /// States a goal on which these measurements do not decide.
    pub fn undecided_goal(&mut self, goal: impl Display, reached: String, why: String) {
        self.goals += &format!("\n- Goal: {goal}. Measured: {reached}; can't tell: {why}.");
    }

    fn body(&self) -> String {
        let mut text = format!("{}\n{}", self.about, self.goals);
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

    pub fn text(&self) -> String {
        format!("\n## {}\n\n{}", self.title, self.body())
    }

    pub fn write_page(&self, folder: &Path, conditions: &str) -> Result<()> {
        let path = folder.join("benchmarks").join(format!("{}.md", self.key));
        let page = format!("# {}\n\n{conditions}\n\n{}", self.title, self.body());
        fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// A row for each goal that the pages of the sections state, in the order of `keys`.
pub fn goals_table(folder: &Path, keys: &[String]) -> Result<String> {
    let mut table = "\n| | goal | measured | |\n|---|---|---|---|\n".to_owned();
    for key in keys {
        let path = folder.join(format!("benchmarks/{key}.md"));
        let page =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let goals = page.lines().filter_map(|line| line.strip_prefix("- Goal: "));
        for (number, goal) in goals.enumerate() {
            let (goal, rest) = goal.split_once(". Measured: ").unwrap_or((goal, ""));
            let (measured, verdict) = rest.rsplit_once("; ").unwrap_or((rest, ""));
            let section = match number {
                0 => format!("[{key}](benchmarks/{key}.md)"),
                _ => String::new(),
            };
            let verdict = verdict.trim_end_matches('.');
            let _ = writeln!(table, "| {section} | {goal} | {measured} | {verdict} |");
        }
    }
    Ok(table)
}

pub fn write_goals(folder: &Path, keys: &[String]) -> Result<()> {
    let path = folder.join("benchmarks.md");
    let table = goals_table(folder, keys)?;
    let (begin, end) = ("<!-- goals:begin -->", "<!-- goals:end -->");
    let old =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let parts = old.split_once(begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(end)?;
        Some((before, after))
    });
    let Some((before, after)) = parts else {
        bail!("{} has no markers {begin} and {end}", path.display());
    };
    fs::write(&path, format!("{before}{begin}{table}{end}{after}"))
        .with_context(|| format!("cannot write {}", path.display()))
}

impl Table {
    pub fn new(head: &[&str]) -> Table {
        Table(vec![head.iter().map(|&name| name.to_owned()).collect()])
    }

    pub fn row<const N: usize>(&mut self, cells: [&dyn Display; N]) {
        self.0.push(cells.map(|cell| cell.to_string()).into());
    }

    fn text(&self) -> String {
        let Table(rows) = self;
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        let line = |row: &[String]| {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> = cells.map(|(cell, &width)| format!("{cell:width$}")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        let lines = [&rows[0], &rule].into_iter().chain(&rows[1..]);
        lines.map(|row| line(row)).collect()
    }
}

/// Read before anything is measured: the load is that of others.
pub fn conditions(bench: &Bench) -> String {
    let machine = host::HostInfo::read();
    let first_line = |program: &Path, argument: &str| {
        let answer = bench.runner.run(program, &[argument]);
        answer.map_or("not found".to_owned(), |outcome| {
            outcome.stdout.lines().next().unwrap_or_default().to_owned()
        })
    };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let mut remarks = String::new();
    if bench.quick {
        remarks += "; `--quick`: three short rounds, orientation only";
    }
    if load > 0.5 {
        remarks += &format!(
            "; **the machine was busy** (load average {load:.1} before the first run), so these \
             figures are orientation only"
        );
    }
    format!(
        "Taken {} on {} x {}, Linux {}; {}, {}; {} interleaved rounds, median \
         (least-greatest){remarks}.",
        host::wall_clock(),
        machine.logical_cpus,
        machine.cpu_model.as_deref().unwrap_or("processor"),
        machine.kernel.as_deref().unwrap_or("?"),
        first_line(&bench.runner.assay, "--version"),
        first_line(Path::new("fio"), "--version"),
        bench.rounds(),
    )
}
