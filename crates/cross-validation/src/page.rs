//! The section of docs/fidelity.md on predictions, from the tables in `reference/`.

use std::fmt::Write as _;

use assay_calibrate::figure_kind::FigureKind;

use crate::score::{FoldScore, Scored, intervals, summary};

const INTRODUCTION: &str = "\
## Cross-validation

The tables above show how closely a profile repeats figures to which it was fitted. That says
little of figures that it has not seen, so here figures are left out and predicted without them.
`make predictions PART=folds` repeats it in minutes.

- **What is left out.** One drive at a time: one of its two columns of random reads, its long
  blocks, all that `assay run quick` does not measure, or everything. The rest of the drive and
  all figures of the other drives are known, and nothing else. Of the Samsung 960 EVO one read
  that `quick` measures was not published, 128 KiB by 64 threads: 256 KiB, the next longer block
  by as many threads, stands for it.
- **What predicts.** A simulation, whose numbers and structure follow from hardware facts, the
  other drives and the known figures; and a curve of five numbers (latency and rate of a read,
  most reads and most bytes per second, the host's time per read), which learns from the same
  drives what is usual. The prediction is the mean of both in logarithms. Neither is more of what
  the data sheet allows than any known drive gave of its own: at most 0.92 of it, so far.
- **What an interval promises.** The true figure of a drive lies in it nine times of ten. Its
  width comes from differences between drives, not between cells: the cells of a drive err
  together, so seven drives count as seven, not as 118 figures.

Errors, half-widths of the intervals and naive guesses are in per cent (median / nine of ten
within). Winkler's score is the width of the interval in logarithms, plus twenty times the
distance of a figure that lies outside: less is better.

";

const LIMITS: &str = "
Read it with care. Seven drives of 2015 to 2017, read by one laboratory in one way (synchronous
threads), are few: that an interval held in nine of ten figures of seven drives does not show that
it holds for a drive of another kind. The shape of the curve is chosen anew in each fold without
the drive. But the mechanisms of curve and simulation, the shape from which the search begins, and
how far intervals follow the errors of other drives were chosen with these results in view; and
those errors are of folds in which the drive was among the known ones.

**What is not predicted.** Writes, tails of latency, temperatures and throttling of a drive that
no fit has seen: reports print no interval for them. Sequential reads are predicted within the
factor below, since read-ahead cannot be told from random reads.

| figure of a simulated drive | its fit knew | from drives | true figure is expected at |
|---|---|--:|---|
";

/// A row of the goals: fold, and the largest median, 90th percentile and half-width.
const GOALS: [(&str, &str, [f64; 3]); 2] = [
    ("threads=64", "left-out column of 64 threads", [7.0, 24.0, 35.0]),
    ("quick", "rest of the matrix of a drive of which `quick` was run", [6.0, 15.0, 25.0]),
];

fn known(situation: &str) -> &str {
    match situation {
        "another_block" => "other block sizes",
        "another_depth" => "other numbers in flight",
        "other_kinds" => "random reads only",
        "facts_only" => "hardware facts only",
        other => other,
    }
}

fn pair(of: Option<(f64, f64)>) -> String {
    of.map_or_else(|| "-".to_owned(), |(median, p90)| format!("{median:.1} / {p90:.1}"))
}

fn row(s: &FoldScore) -> String {
    let [median, p90, worst] = s.errors;
    format!(
        "| {} | {} {}s of {} drives | {median:.1} / {p90:.1} | {worst:.0} | {:.0} % | {:.0} | \
         {:.2} | {} |\n",
        s.fold,
        s.count,
        s.kind.name().replace('_', " "),
        s.drives,
        s.coverage,
        s.half_width,
        s.winkler,
        s.alone.map(pair).join(" | ")
    )
}

pub fn markdown(all: &[Scored]) -> String {
    let mut out = INTRODUCTION.to_owned();
    out.push_str(
        "| left out | figures | error | worst | in the interval | half-width | Winkler | \
         simulation alone | curve alone | 0.8 x data sheet | nearest figure |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let scores = summary(all);
    scores.iter().for_each(|s| out.push_str(&row(s)));
    out.push_str("\n| goal | reached | |\n|---|---|---|\n");
    for (fold, title, [median, p90, half_width]) in GOALS {
        let is = |s: &&FoldScore| s.fold == fold && s.kind == FigureKind::RandomRead;
        let Some(s) = scores.iter().find(is) else {
            continue;
        };
        let is_met = s.errors[0] <= median
            && s.errors[1] <= p90
            && s.half_width <= half_width
            && (88.0..=97.0).contains(&s.coverage);
        let _ = writeln!(
            out,
            "| {title}: median {median} %, nine of ten within {p90} %, 88 to 97 % in intervals of \
             at most +-{half_width} % | {:.1} %, {:.1} %, {:.0} %, +-{:.0} % | {} |",
            s.errors[0],
            s.errors[1],
            s.coverage,
            s.half_width,
            if is_met { "met" } else { "**not met**" }
        );
    }
    out.push_str(LIMITS);
    for one in intervals(all) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.2} to {:.2} times the simulated one |",
            one.kind.name().replace('_', " "),
            known(one.situation.name()),
            one.drives,
            one.low,
            one.high
        );
    }
    out
}
