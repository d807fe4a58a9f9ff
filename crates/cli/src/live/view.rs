//! The screen of the live view: a pure function of a snapshot and the size of the terminal.

use assay_execute::live::{DriveSnapshot, LiveSnapshot, Phase};
use assay_store::model::Warning;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};

use crate::progress::clock_text;
use crate::terminal::simulated_mark;

mod drives;

pub const LEAST_COLUMNS: u16 = 60;
pub const LEAST_ROWS: u16 = 15;

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().fg(Color::DarkGray);
const PLAIN: Style = Style::new();
const CHART: Style = Style::new().fg(Color::Cyan);
const CAUTION: Style = Style::new().fg(Color::Yellow);

#[derive(Clone, Debug, Default)]
pub struct Screen {
    pub live: LiveSnapshot,
    pub folder: String,
    /// Errors since the start, shown with the warnings.
    pub notes: Vec<String>,
    pub stopping: bool,
    /// Cells can be skipped and the run can be resumed.
    pub resumable: bool,
    pub help: bool,
}

/// Rows from the top of an area to its bottom.
struct Rows<'a> {
    buffer: &'a mut Buffer,
    left: Rect,
}

impl Rows<'_> {
    fn take(&mut self, rows: u16) -> Option<Rect> {
        if self.left.height < rows || rows == 0 {
            return None;
        }
        let taken = Rect { height: rows, ..self.left };
        self.left.y += rows;
        self.left.height -= rows;
        Some(taken)
    }

    fn line(&mut self, line: impl Into<Line<'static>>) {
        if let Some(row) = self.take(1) {
            let line = line.into();
            self.buffer.set_line(row.x, row.y, &line, row.width);
        }
    }

    /// The left text is cut off where it meets the right one.
    fn ends(&mut self, left: impl Into<Line<'static>>, right: impl Into<Line<'static>>) {
        if let Some(row) = self.take(1) {
            let right = right.into();
            let width = (right.width() as u16).min(row.width);
            let room = row.width.saturating_sub(width + 1);
            self.buffer.set_line(row.x, row.y, &left.into(), room);
            self.buffer.set_line(row.right() - width, row.y, &right, width);
        }
    }

    fn rule(&mut self) {
        let width = usize::from(self.left.width);
        self.line(Span::styled("─".repeat(width), DIM));
    }
}

pub fn draw(buffer: &mut Buffer, area: Rect, screen: &Screen) {
    if area.width < LEAST_COLUMNS || area.height < LEAST_ROWS {
        let text = format!("the live view needs {LEAST_COLUMNS} x {LEAST_ROWS}; q quits");
        buffer.set_stringn(area.x, area.y, text, usize::from(area.width), PLAIN);
        return;
    }
    let inside = Rect { x: area.x + 1, width: area.width - 2, ..area };
    let mut rows = Rows { buffer, left: inside };
    header(&mut rows, screen);
    // The last two rows are for the keys.
    rows.left.height -= 2;
    match screen.help {
        true => help(&mut rows, screen),
        false => {
            drives::draw(&mut rows, &screen.live);
            warnings(&mut rows, screen);
        }
    }
    rows.left = Rect { y: area.bottom() - 2, height: 2, ..inside };
    keys(&mut rows, screen);
}

fn host_text(live: &LiveSnapshot) -> String {
    match live.host {
        Some(load) => format!(
            "host CPU {:.0} % busy (user {:.0}, system {:.0}, irq {:.0}, iowait {:.0}, steal \
             {:.0})",
            load.busy_pct(),
            load.user_pct,
            load.system_pct,
            load.irq_pct,
            load.iowait_pct,
            load.steal_pct
        ),
        None if live.drives.iter().all(|drive| drive.simulated) => {
            "simulated drives: their figures do not depend on this host".to_owned()
        }
        None => "host CPU -".to_owned(),
    }
}

fn header(rows: &mut Rows<'_>, screen: &Screen) {
    let live = &screen.live;
    let labels: Vec<String> = live.drives.iter().map(name).collect();
    let elapsed = clock_text(live.elapsed);
    let times = match live.ended {
        true => format!("{elapsed} elapsed"),
        false => format!("{elapsed} elapsed, {} left", clock_text(live.left)),
    };
    let title = |drives: String| {
        Line::from(vec![
            Span::styled(format!("assay {}", live.suite), BOLD),
            Span::raw(format!("  {drives}")),
        ])
    };
    let mut left = title(labels.join(", "));
    if labels.len() > 1 && !fits(&left, &times, rows) {
        left = title(format!("{} drives", labels.len()));
    }
    rows.ends(left, times);
    let cells = live.cells;
    let mut text = format!("cell {} of {}", cells.all() - cells.left + 1, cells.all());
    if cells.left == 0 {
        text = format!("{} of {} cells done", cells.done, cells.all());
    }
    for (count, what) in [(cells.skipped, "skipped"), (cells.failed, "failed")] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    let state = match (screen.stopping, live.paused) {
        (true, _) => Some("stopping: what is measured is kept"),
        (false, true) if live.drives.iter().all(is_waiting) => Some("paused: p continues"),
        (false, true) => Some("pausing after this cell"),
        (false, false) => None,
    };
    let width = usize::from(rows.left.width).min(100) / 3;
    let full = ((live.done_share * width as f64) as usize).min(width);
    let bar = format!("{}{}", "━".repeat(full), "─".repeat(width - full));
    let (done, open) = bar.split_at(full * "━".len());
    let progress = Line::from(vec![
        Span::styled(done.to_owned(), CHART),
        Span::styled(open.to_owned(), DIM),
        Span::raw(format!(" {:>3.0} %  {text}", live.done_share * 100.0)),
    ]);
    match state {
        Some(state) => {
            rows.ends(progress, Span::styled(state, CAUTION.add_modifier(Modifier::BOLD)))
        }
        // The folder of a single job is temporary.
        None if !screen.resumable || !fits(&progress, &screen.folder, rows) => rows.line(progress),
        None => rows.ends(progress, Span::styled(screen.folder.clone(), DIM)),
    }
    rows.line(Span::styled(host_text(live), DIM));
    rows.rule();
}

fn fits(line: &Line<'_>, text: &str, rows: &Rows<'_>) -> bool {
    line.width() + text.chars().count() < usize::from(rows.left.width)
}

fn is_waiting(drive: &DriveSnapshot) -> bool {
    matches!(drive.phase, Phase::Paused | Phase::Waiting)
}

fn name(drive: &DriveSnapshot) -> String {
    format!("{}{}", drive.label, simulated_mark(drive.simulated))
}

fn warnings(rows: &mut Rows<'_>, screen: &Screen) {
    let live = &screen.live;
    if live.warning_count() == 0 && screen.notes.is_empty() {
        return;
    }
    rows.rule();
    let text = |warning: &Warning| {
        let about = warning.cell.as_ref();
        let about = about.map_or(String::new(), |cell| format!("{cell}: "));
        format!("{about}{}", warning.message)
    };
    let mut lines: Vec<(String, String)> =
        live.warnings.iter().map(|warning| (warning.code.clone(), text(warning))).collect();
    lines.extend(screen.notes.iter().map(|note| ("error".to_owned(), note.clone())));
    let room = usize::from(rows.left.height);
    let hidden = lines.len().saturating_sub(room.saturating_sub(1));
    let all = live.warning_count() + screen.notes.len();
    let earlier = match hidden {
        0 => String::new(),
        hidden => format!(", {hidden} earlier not shown"),
    };
    let noun = if all == 1 { "warning" } else { "warnings" };
    rows.line(Span::styled(format!("{all} {noun}{earlier}"), BOLD));
    for (code, text) in lines.into_iter().skip(hidden) {
        rows.line(Line::from(vec![Span::styled(format!("{code}  "), CAUTION), Span::raw(text)]));
    }
}

fn keys(rows: &mut Rows<'_>, screen: &Screen) {
    rows.rule();
    let pause = match screen.live.paused {
        true => "continue",
        false => "pause after this cell",
    };
    let narrow = rows.left.width < 78;
    let keys = match (screen.help, screen.resumable) {
        (true, _) => vec![("?", "back")],
        (false, true) if narrow => {
            vec![("p", "pause"), ("s", "skip"), ("q", "quit"), ("?", "help")]
        }
        (false, true) => vec![
            ("p", pause),
            ("s", "skip this cell"),
            ("q", "quit, keep everything"),
            ("?", "help"),
        ],
        (false, false) => vec![("q", "quit, keep what was measured"), ("?", "help")],
    };
    let mut spans = Vec::new();
    for (key, what) in keys {
        spans.push(Span::styled(key, BOLD));
        spans.push(Span::raw(format!(" {what}   ")));
    }
    rows.line(Line::from(spans));
}

const HELP: &[(&str, &str)] = &[
    ("p", "pause when the present cell has ended, or continue; a real"),
    ("", "drive idles meanwhile, which the run records as a warning"),
    ("s", "skip the present cell of every drive: its intervals stay in"),
    ("", "the journal, it has no result"),
    ("q", "quit; the run can be resumed, as after Ctrl-C"),
    ("?", "this help"),
    ("", ""),
    ("", "Figures: the last interval, usually a second. Charts: the last"),
    ("", "minutes, earlier cells in grey, the greatest value at the right."),
    ("", "State: what the drive reports, and the cause that the detectors"),
    ("", "of the report prove; nothing where nothing is proven."),
];

fn help(rows: &mut Rows<'_>, screen: &Screen) {
    rows.line("");
    for (key, what) in HELP {
        if !screen.resumable && ["p", "s"].contains(key) {
            rows.line(Line::from(format!("  {key}   only in suites")));
            continue;
        }
        rows.line(Line::from(vec![Span::styled(format!("  {key:4}"), BOLD), Span::raw(*what)]));
    }
}

#[cfg(test)]
#[path = "../../tests/unit/live/view.rs"]
mod tests;
