//! How near one pass comes to steady state on simulated drives, whose truth can be written out.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::Bench;
use crate::document::{Section, Table};

/// Each with the divisor of its small copy.
const DRIVES: [(&str, u32); 15] = [
    ("plextor-m8pe-y", 64),
    ("samsung-951", 64),
    ("toshiba-rd400", 64),
    ("wd-black", 64),
    ("mydigitalssd-bpx", 64),
    ("intel-p3700", 256),
    ("intel-p4510", 256),
    ("samsung-983-dct", 256),
    ("samsung-983-zet", 256),
    ("samsung-960-evo", 64),
    ("samsung-980-pro", 64),
    ("crucial-mx300", 64),
    ("intel-600p", 64),
    ("memblaze-pblaze5-c916", 256),
    ("samsung-pm9d3a", 256),
];
const QUICK: usize = 2;

const HEAD: &str = r#"
name = "preconditioning"
title = "Preconditioning"
summary = "A recipe, then random writes."
source = "assay-bench"
duration = "minutes"
[[step]]
id = "purge"
title = "Purge"
kind = "purge"
needs = ["write"]
"#;
const FILL: &str = r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
needs = ["write"]
job = { rw = "write", bs = "128k", iodepth = 32, io_size = "FILLED" }
"#;
const LONG: &str = r#"
[[step]]
id = "random"
title = "Random writes"
kind = "prepare"
needs = ["write"]
job = { rw = "randwrite", bs = "4k", iodepth = 32, LENGTH }
"#;
const STEADY: &str = r#"
[[step]]
id = "pass"
title = "To steady state"
kind = "prepare"
needs = ["write"]
precondition = "steady"
job = { rw = "randwrite", bs = "4k", iodepth = 32 }
"#;
/// The random writes whose rate is compared.
const AFTER: &str = r#"
[[step]]
id = "after"
title = "Random writes"
kind = "soak"
needs = ["write"]
job = { rw = "randwrite", bs = "4k", iodepth = 32, io_size = "MEASURED", interval = "20ms" }
"#;

/// What a recipe wrote, and what random writes do after it.
struct Outcome {
    written_areas: f64,
    spare_pct: Option<f64>,
    iops: f64,
    amplification: f64,
    p99_ns: f64,
}

fn after(bench: &Bench, drive: &str, recipe: &str, measured: &str) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (suite, out, table) = (path("suite.toml"), path("run"), path("run.json"));
    let text = format!("{HEAD}{recipe}{}", AFTER.replace("MEASURED", measured));
    std::fs::write(&suite, text)?;
    let runner = &bench.runner;
    runner.run_assay(&format!("run {suite} {drive} --out {out}"))?;
    runner.run_assay(&format!("export {out} -o {table}"))?;
    outcome(Path::new(&table)).with_context(|| format!("{drive}: no figures in its run"))
}

fn outcome(table: &Path) -> Option<Outcome> {
    let run: Value = serde_json::from_slice(&std::fs::read(table).ok()?).ok()?;
    let cells = run["cells"].as_array()?;
    let result = |cell: &Value| cell["results"][0]["result"].clone();
    let last = cells.last()?;
    let (figures, span_bytes) = (result(last), last["workload"]["span_bytes"].as_f64()?);
    let recipe = cells.iter().take(cells.len() - 1).map(result);
    let written = recipe.filter_map(|result| result["write"]["bytes"].as_f64());
    let spare = |cell: &Value| result(cell)["values"]["spare_pct"].as_f64();
    Some(Outcome {
        written_areas: written.sum::<f64>() / span_bytes,
        spare_pct: cells.iter().find_map(spare),
        iops: figures["write"]["iops"].as_f64()?,
        amplification: figures["values"]["write_amplification"].as_f64()?,
        p99_ns: figures["write"]["latency_ns"]["p99"].as_f64()?,
    })
}

fn recipes() -> [(&'static str, String); 3] {
    let fill = |filled: &str| FILL.replace("FILLED", filled);
    let random = |length: &str| LONG.replace("LENGTH", length);
    [
        ("one pass", STEADY.to_owned()),
        ("fill, two random passes", fill("100%") + &random(r#"io_size = "200%""#)),
        ("two sequential writes", fill("200%")),
    ]
}

/// The truth: a fill, then random writes of seven capacities, and those of one more measured.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "preconditioning",
        "Preconditioning to steady state",
        "4 KiB random writes at queue depth 32 on small copies of simulated drives: the truth is a \
         sequential fill and random writes of seven capacities, then of one more, measured. \
         Errors are those of the random writes of a fifth of the capacity right after a recipe, \
         in percent of the truth. *Written*: writes of the recipe over the capacity.",
    );
    let head = [
        "drive",
        "recipe",
        "spare found, %",
        "written",
        "IOPS (truth)",
        "rate",
        "write amplification",
        "p99",
    ];
    let mut table = Table::new(&head);
    let count = if bench.quick { QUICK } else { DRIVES.len() };
    for (name, shrink) in DRIVES.into_iter().take(count) {
        eprintln!("preconditioning: {name}");
        let drive = format!("sim:{name},shrink={shrink}");
        let long = r#"io_size = "700%", random_distribution = "random""#;
        let long = FILL.replace("FILLED", "100%") + &LONG.replace("LENGTH", long);
        let truth = after(bench, &drive, &long, "100%")?;
        for (title, recipe) in recipes() {
            let found = after(bench, &drive, &recipe, "20%")?;
            let error = |found: f64, truth: f64| format!("{:+.1}", (found / truth - 1.0) * 100.0);
            let spare = found.spare_pct.map(|pct| format!("{pct:.1}"));
            table.row([
                &drive,
                &title,
                &spare.unwrap_or_default(),
                &format!("{:.2}", found.written_areas),
                &format!("{:.0}", truth.iops),
                &error(found.iops, truth.iops),
                &error(found.amplification, truth.amplification),
                &error(found.p99_ns, truth.p99_ns),
            ]);
        }
    }
    section.tables.push(table);
    section.commands.push("assay-bench preconditioning".to_owned());
    Ok(section)
}
