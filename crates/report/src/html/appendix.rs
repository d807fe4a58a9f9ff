//! The end of the page: preparation, warnings, environment, parameters, suite, provenance.

use assay_store::model::{Audit, Host, Warning};
use assay_store::read::Run;
use assay_units::text::format_size;

use super::write::{self, facts};
use crate::format::{escape, figure, stamp};
use crate::grid::preparations;
use crate::lineup::Lineup;
use crate::table::Table;
use crate::tables::inspect;

/// Everything after the results.
pub fn appendix(lineup: &Lineup<'_>, health: Option<&Table>) -> String {
    let mut out = String::new();
    let prepared = preparations(lineup);
    if !prepared.is_empty() {
        out.push_str("<section id=\"preparation\" aria-labelledby=\"preparation-title\">\n<h2 id=\"preparation-title\">Preparation</h2>\n<p class=\"how\">What was written before anything was measured. Timed, but not a result.</p>\n");
        out.push_str(&write::table(&inspect::preparations(lineup, &prepared)));
        out.push_str("</section>\n");
    }
    if let Some(health) = health {
        out.push_str("<section id=\"health\" aria-labelledby=\"health-title\">\n<h2 id=\"health-title\">Health</h2>\n<p class=\"how\">What the drives said of themselves meanwhile. A drive on which errors are added is not one to trust, however fast.</p>\n");
        out.push_str(&write::table(health));
        out.push_str("</section>\n");
    }
    out.push_str("<section id=\"warnings\" aria-labelledby=\"warnings-title\">\n<h2 id=\"warnings-title\">Warnings</h2>\n");
    let mut any = false;
    for (i, run) in lineup.runs.iter().enumerate() {
        for warning in &run.warnings {
            out.push_str(&self::warning(lineup, i, warning));
            any = true;
        }
    }
    if !any {
        out.push_str("<p>None: nothing was noticed that limits what these results mean.</p>\n");
    }
    out.push_str("</section>\n<section id=\"environment\" aria-labelledby=\"environment-title\">\n<h2 id=\"environment-title\">Environment</h2>\n");
    for (i, run) in lineup.runs.iter().enumerate() {
        out.push_str(&run_heading(lineup, i));
        out.push_str(&environment(run));
    }
    out.push_str("</section>\n<section id=\"provenance\" aria-labelledby=\"provenance-title\">\n<h2 id=\"provenance-title\">Provenance</h2>\n<p class=\"how\">Every figure above is computed from the raw histograms and intervals in the run folder; <code>sha256sum -c SHA256SUMS</code> in it proves that nothing has changed since.</p>\n");
    for (i, run) in lineup.runs.iter().enumerate() {
        out.push_str(&run_heading(lineup, i));
        out.push_str(&provenance(run));
    }
    out.push_str("</section>\n");
    out
}

fn run_heading(lineup: &Lineup<'_>, run: usize) -> String {
    if lineup.runs.len() == 1 {
        return String::new();
    }
    format!(
        "<h3>Run {}: {}</h3>\n",
        run + 1,
        escape(&lineup.runs[run].manifest.run_id)
    )
}

fn warning(lineup: &Lineup<'_>, run: usize, warning: &Warning) -> String {
    let mut about: Vec<String> = Vec::new();
    if lineup.runs.len() > 1 {
        about.push(format!("run {}", run + 1));
    }
    if let Some(position) = warning.drive.and_then(|d| lineup.position(run, d)) {
        about.push(lineup.drives[position].full_name());
    }
    about.extend(warning.cell.clone());
    let about = if about.is_empty() {
        String::new()
    } else {
        format!("<p class=\"about\">{}</p>", escape(&about.join(" \u{b7} ")))
    };
    format!(
        "<article class=\"warning\"><p><code>{}</code> {}</p>{about}<p class=\"advice\"><b>What to do:</b> {}</p></article>\n",
        escape(&warning.code),
        escape(&warning.message),
        escape(&warning.advice)
    )
}

fn environment(run: &Run) -> String {
    let Host {
        kernel,
        cpu_model,
        logical_cpus,
        memory_bytes,
        details,
    } = &run.manifest.host;
    let mut pairs: Vec<(&str, String)> = vec![
        ("processor", cpu_model.clone()),
        ("logical processors", logical_cpus.to_string()),
        ("memory", format_size(*memory_bytes)),
        ("kernel", kernel.clone()),
    ];
    pairs.extend(details.iter().map(|(k, v)| (k.as_str(), v.clone())));
    let mut out = facts(pairs);
    out.push_str("<h4>Self-audit of the lab on this host</h4>\n");
    match &run.audit {
        Some(audit) => out.push_str(&self::audit(audit)),
        None => out.push_str("<p>The run ended before its self-audit.</p>\n"),
    }
    let parameters = &run.manifest.parameters;
    if !parameters.is_empty() {
        out.push_str("<h4>Parameters in force</h4>\n");
        out.push_str(&facts(
            parameters.iter().map(|(k, v)| (k.as_str(), v.clone())),
        ));
    }
    out
}

fn audit(audit: &Audit) -> String {
    let mut out = facts([
        (
            "engine ceiling",
            format!(
                "{} IOPS per thread on the null target, {} ns per I/O",
                figure(audit.null_iops_per_thread),
                figure(audit.engine_ns_per_io)
            ),
        ),
        (
            "clock",
            format!(
                "{} ns to read, steps of {} ns, {} ppm off the kernel's",
                figure(audit.clock_ns),
                audit.clock_step_ns,
                figure(audit.clock_drift_ppm)
            ),
        ),
    ]);
    out.push_str("<p class=\"how\">Results near the engine's ceiling would be limited by the lab, not by the drive; a warning says so where it happens. Latency percentiles hold three significant digits and are never understated.</p>\n");
    out
}

fn provenance(run: &Run) -> String {
    let m = &run.manifest;
    let quoted: Vec<String> = m
        .command_line
        .iter()
        .map(|word| {
            if word.contains(|c: char| c.is_whitespace()) {
                format!("'{word}'")
            } else {
                word.clone()
            }
        })
        .collect();
    let mut out = facts([
        ("run", m.run_id.clone()),
        ("folder", run.path.display().to_string()),
        ("made", stamp(&m.created)),
        ("command", quoted.join(" ")),
        (
            "tool",
            format!(
                "{} {}, commit {}",
                m.tool.name, m.tool.version, m.tool.commit
            ),
        ),
        ("suite", format!("{} ({})", m.suite.title, m.suite.name)),
        ("source of the procedure", m.suite.source.clone()),
        ("seed", m.seed.to_string()),
        ("scale of durations", m.scale.to_string()),
        ("layout of the folder", format!("version {}", m.schema)),
    ]);
    if !m.suite.text.is_empty() {
        out.push_str(&format!(
            "<details><summary>Suite as executed</summary>\n<pre tabindex=\"0\">{}</pre></details>\n",
            escape(&m.suite.text)
        ));
    }
    if !run.damaged_lines.is_empty() {
        out.push_str("<h4>Damaged lines of the journal, left out</h4>\n<ul>");
        for line in &run.damaged_lines {
            out.push_str(&format!("<li>{}</li>", escape(line)));
        }
        out.push_str("</ul>\n");
    }
    out
}
