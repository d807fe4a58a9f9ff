//! The end of the page: preparation, health, warnings, environment, parameters, provenance.

use assay_analysis::warnings::{Cause, by_cause};
use assay_store::read::Run;
use assay_units::text::format_size;
use maud::{Markup, html};

use super::Entry;
use super::elements::{facts, folded, further, table, titled};
use crate::drive_set::DriveSet;
use crate::format::{distinct, figure, stamp};
use crate::grid::{Section, preparations};
use crate::table::Table;
use crate::tables::{endurance, health, inspect, trend};
use crate::warnings::subject;

/// Tables of what the drives report about themselves.
pub struct HealthTables {
    amplification: Option<Table>,
    wear: Option<Table>,
    log: Option<Table>,
    trends: Vec<Table>,
}

impl HealthTables {
    /// Those of the runs.
    pub fn new(set: &DriveSet<'_>) -> HealthTables {
        HealthTables {
            amplification: endurance::table(set),
            wear: endurance::wear(set),
            log: health::table(set),
            trends: trend::tables(set),
        }
    }

    /// Entries of the contents.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let endurance = self.amplification.is_some() || self.wear.is_some();
        let endurance = endurance.then(|| Entry::new("endurance", "Endurance"));
        let log = self.log.is_some().then(|| Entry::new("health", "Health"));
        let trends = !self.trends.is_empty();
        let trends = trends.then(|| Entry::new("health-over-time", "Health over time"));
        endurance.into_iter().chain(log).chain(trends)
    }

    fn html(&self) -> Markup {
        html! {
            @if self.amplification.is_some() || self.wear.is_some() {
                (titled("endurance", "Endurance", &html! {
                    p.how {
                        "What the drives write to their media, by their own counters. A write \
                         amplification of 2 halves what a host may write over the drive's life."
                    }
                    @if let Some(amplification) = &self.amplification {
                        @let rows = amplification.rows.len();
                        (further(rows, "Write amplification", &table(amplification)))
                    }
                    @if let Some(wear) = &self.wear { (folded("Wear of the media", wear)) }
                }))
            }
            @if let Some(log) = &self.log {
                (titled("health", "Health", &html! {
                    p.how {
                        "Health log of the drives during the measurements. A drive whose error \
                         counts increase is not reliable, however fast it is."
                    }
                    (folded("Health log", log))
                }))
            }
            @if !self.trends.is_empty() {
                (titled("health-over-time", "Health over time", &html! {
                    p.how { "The health log of drives that were measured more than once, by date." }
                    @for trend in &self.trends { (table(trend)) }
                }))
            }
        }
    }
}

/// Everything below the results.
pub fn appendix(set: &DriveSet<'_>, health: &HealthTables, left_out: &[Section<'_>]) -> Markup {
    let prepared = preparations(set);
    let any_imported = set.runs.iter().any(is_imported);
    let per_run = |content: fn(&Run) -> Markup| {
        html! {
            @for (i, run) in set.runs.iter().enumerate() {
                @if set.runs.len() > 1 { h3 { "Run " (i + 1) ": " (run.manifest.run_id) } }
                (content(run))
            }
        }
    };
    html! {
        @if !prepared.is_empty() {
            (titled("preparation", "Preparation", &html! {
                p.how { "Data written before the measurements. Timed, but not a result." }
                @let table = inspect::preparations(&prepared, set);
                (folded("Preparation of the measured areas", &table))
            }))
        }
        @if !left_out.is_empty() {
            (titled("left-out", "Not measured", &html! {
                ul { @for section in left_out { li { (section.title) ": " (reasons(section)) } } }
            }))
        }
        (health.html())
        (titled("warnings", "Warnings", &html! {
            div.warnings { @for cause in by_cause(set.warnings()) { (warning(set, &cause)) } }
            @if set.runs.iter().all(|r| r.warnings.is_empty()) {
                p { "None: no condition was detected that limits the results." }
                @if any_imported {
                    p { "Of imported results only what their files say is checked, not the host, \
                         other load or the state of the drive." }
                }
            }
        }))
        (titled("environment", "Environment", &html! {
            details { summary { "Host, self-audit and parameters" } (per_run(environment)) }
        }))
        (titled("provenance", "Provenance", &html! {
            @if !set.runs.iter().all(is_imported) {
                p.how {
                    "Every figure above is computed from the raw histograms and intervals \
                     in the run folder; run "
                    code { "sha256sum -c SHA256SUMS" } " there to verify that no file was changed."
                }
            }
            @if any_imported {
                p.how {
                    "Imported figures are those that the files of the other program state, or \
                     follow from their counts; " code { "manifest.json" } " in the run folder has \
                     the SHA-256 of every file."
                }
            }
            details { summary { "Runs, commands and suites" } (per_run(provenance)) }
        }))
    }
}

fn is_imported(run: &Run) -> bool {
    run.manifest.imported.is_some()
}

/// Why the cells of a section were skipped, each reason once.
fn reasons(section: &Section<'_>) -> String {
    let reasons = section.points.iter().filter_map(|p| p.remark());
    distinct(reasons.map(|(short, full)| format!("{short}: {full}"))).join("; ")
}

fn warning(set: &DriveSet<'_>, cause: &Cause<'_>) -> Markup {
    let first = cause.first();
    let subject = subject(set, cause);
    html! {
        article.warning {
            p { code { (first.code) } " " (cause.message()) }
            @if !subject.is_empty() { p.about { (subject) } }
            p.advice { b { "Advice:" } " " (first.advice) }
        }
    }
}

fn environment(run: &Run) -> Markup {
    let host = &run.manifest.host;
    let own = match is_imported(run) {
        true => {
            vec![("host", "unknown: the files of the other program do not describe it".to_owned())]
        }
        false => vec![
            ("processor", host.cpu_model.clone()),
            ("logical processors", host.logical_cpus.to_string()),
            ("memory", format_size(host.memory_bytes)),
            ("kernel", host.kernel.clone()),
        ],
    };
    let details = host.details.iter().map(|(k, v)| (k.as_str(), v.clone()));
    let parameters = run.manifest.parameters.iter();
    let parameters = parameters.map(|(k, v)| (k.as_str(), v.clone()));
    html! {
        (facts(own.into_iter().chain(details)))
        h4 { "Self-audit on this host" }
        @if let Some(audit) = &run.audit {
            (facts([
                ("engine ceiling", format!(
                    "{} IOPS per thread on the null target, {} ns per I/O",
                    figure(audit.null_iops_per_thread), figure(audit.engine_ns_per_io),
                )),
                ("clock", format!(
                    "{} ns per reading, resolution {} ns, drift {} ppm against the kernel's",
                    figure(audit.clock_ns), audit.clock_step_ns, figure(audit.clock_drift_ppm),
                )),
            ]))
            p.how {
                "Results near the engine ceiling are limited by the host, not by the drive; a \
                 warning marks them. Latency percentiles have three significant digits and are \
                 never understated."
            }
        } @else if is_imported(run) {
            p { "None: another program measured." }
        } @else {
            p { "The run ended before its self-audit." }
        }
        @if !run.manifest.parameters.is_empty() { h4 { "Parameters" } (facts(parameters)) }
    }
}

fn provenance(run: &Run) -> Markup {
    let m = &run.manifest;
    let quoted = m.command_line.iter().map(|argument| {
        let spaced = argument.contains(char::is_whitespace);
        let quote = if spaced { "'" } else { "" };
        format!("{quote}{argument}{quote}")
    });
    html! {
        (facts([
            ("run", m.run_id.clone()),
            ("folder", run.path.display().to_string()),
            ("created", stamp(&m.created)),
            ("command", quoted.collect::<Vec<String>>().join(" ")),
            ("tool", format!("{} {}, commit {}", m.tool.name, m.tool.version, m.tool.commit)),
            ("suite", format!("{} ({})", m.suite.title, m.suite.name)),
            ("source of the procedure", m.suite.source.clone()),
            ("seed", m.seed.to_string()),
            ("scale of durations", m.scale.to_string()),
            ("layout of the folder", format!("version {}", m.schema)),
        ]))
        @if !m.suite.text.is_empty() {
            details { summary { "Suite as executed" } pre tabindex="0" { (m.suite.text) } }
        }
        @if !run.damaged_lines.is_empty() {
            h4 { "Damaged lines of the journal, left out" }
            ul { @for line in &run.damaged_lines { li { (line) } } }
        }
    }
}
