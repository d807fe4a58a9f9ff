//! The text format of OpenMetrics 1.0 (github.com/prometheus/OpenMetrics), in the subset that the
//! older Prometheus format shares: node_exporter reads that one, and refuses the types `info` and
//! `stateset`.

use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// A sum that only grows; its sample ends in `_total`.
    Counter,
    Gauge,
    /// Quantiles, with sum and count.
    Summary,
}

impl FamilyKind {
    pub fn name(self) -> &'static str {
        match self {
            FamilyKind::Counter => "counter",
            FamilyKind::Gauge => "gauge",
            FamilyKind::Summary => "summary",
        }
    }
}

/// Escapes label values and help texts (OpenMetrics 1.0, section 3.2 "ABNF").
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            // Control characters in a model or serial would break a terminal.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[derive(Debug, Default)]
pub struct Encoder {
    text: String,
    /// Name of the open family.
    name: String,
    labels: &'static str,
}

impl Encoder {
    /// `unit` is the end of the name, or empty; `labels` are all that samples have.
    pub fn family(
        &mut self,
        name: &str,
        kind: FamilyKind,
        unit: &str,
        labels: &'static str,
        help: &str,
    ) {
        let help = escaped(help);
        let kind = kind.name();
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        name.clone_into(&mut self.name);
        self.labels = labels;
    }

    /// Leaves out values that are no number.
    pub fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        if !value.is_finite() {
            return;
        }
        let known = |label: &str| self.labels.split(", ").any(|known| known == label);
        debug_assert!(labels.iter().all(|(label, _)| known(label)), "{labels:?}");
        let name = &self.name;
        let _ = write!(self.text, "{name}{suffix}");
        if !labels.is_empty() {
            let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
            let labels: Vec<String> = labels.iter().map(label).collect();
            let _ = write!(self.text, "{{{}}}", labels.join(","));
        }
        let _ = writeln!(self.text, " {value}");
    }

    pub fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

#[cfg(test)]
#[path = "../tests/unit/encode.rs"]
mod tests;
