use std::path::Path;

use anyhow::{Context, Result, bail};
use assay_units::Nanos;
use serde_json::Value;

use crate::child::{Outcome, Runner};

#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub ios: f64,
    /// I/Os per second, as the program reports.
    pub iops: f64,
    /// assay from submission; fio `lat` where that was asked for, else `clat`.
    pub p50_ns: f64,
    /// 99th percentile likewise.
    pub p99_ns: f64,
    /// Mean latency likewise, of fio always `lat`.
    pub mean_ns: f64,
    pub cpu_s: f64,
    /// Of it spent in the kernel.
    pub system_s: f64,
    /// Of it spent before and after the job, where that was measured; see
    /// [`crate::rounds::start_up_s`].
    pub start_up_s: f64,
    /// Bytes per second of a stream, as the program reports.
    pub bytes_per_s: f64,
    pub max_rss_bytes: f64,
}

impl Sample {
    pub fn cost(outcome: &Outcome) -> Sample {
        Sample {
            cpu_s: outcome.cpu_s(),
            system_s: outcome.system_s,
            max_rss_bytes: outcome.max_rss_bytes as f64,
            ..Sample::default()
        }
    }

    /// Of the latencies of the I/Os that completed within the span, nanoseconds.
    pub fn of_latencies(mut times: Vec<u64>, span: Nanos) -> Sample {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0) as f64;
        let total_ns: u64 = times.iter().sum();
        Sample {
            ios: times.len() as f64,
            iops: times.len() as f64 / span.as_secs_f64(),
            p50_ns: at(50),
            p99_ns: at(99),
            mean_ns: total_ns as f64 / times.len().max(1) as f64,
            ..Sample::default()
        }
    }

    /// Below the depth asked for, the program spent the difference between taking a completion and
    /// starting the next I/O, outside the latency that it reports.
    pub fn in_flight(&self) -> f64 {
        self.iops * self.mean_ns / 1e9
    }

    /// I/Os per processor-second, after the program's start-up cost is taken off.
    pub fn ios_per_cpu_s(&self) -> f64 {
        self.ios / (self.cpu_s - self.start_up_s).max(1e-3)
    }

    /// I/Os per processor-second, start-up included.
    pub fn gross_ios_per_cpu_s(&self) -> f64 {
        self.ios / self.cpu_s.max(1e-3)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Assay,
    Fio,
}

#[derive(Clone, Debug)]
pub struct Variant {
    pub tool: Tool,
    pub label: String,
    pub arguments: Vec<String>,
    pub start_up_s: f64,
}

/// util-linux's `taskset` becomes the program that it runs, the same process.
pub fn on_processor(processor: &str, program: &Path) -> [String; 4] {
    let program = program.display().to_string();
    ["taskset", "-c", processor, &program].map(str::to_owned)
}

impl Variant {
    pub fn new(tool: Tool, label: &str, arguments: &str) -> Variant {
        Variant {
            tool,
            label: label.to_owned(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            start_up_s: 0.0,
        }
    }

    /// `assay job DRIVE --rw randread --bs 4k` with more options, for so long.
    pub fn assay(label: &str, drive: &str, options: &str, span_ms: u64) -> Variant {
        let job = format!("job {drive} --rw randread --bs 4k {options}");
        Variant::new(Tool::Assay, label, &format!("{job} --runtime {span_ms}ms --json"))
    }

    /// Its job runs as a thread, which is its cheapest way.
    pub fn fio(label: &str, file: Option<&str>, options: &str, span_ms: u64) -> Variant {
        // Opening must not write back or drop anything: the device was filled just before.
        let file = file.map(|file| format!("--filename={file} --direct=1 --invalidate=0"));
        let job = "--name=bench --thread --rw=randread --bs=4k --time_based";
        let end = format!("--runtime={span_ms}ms --output-format=json");
        let arguments = format!("{job} {} {options} {end}", file.unwrap_or_default());
        Variant::new(Tool::Fio, label, &arguments)
    }

    pub fn job_file(tool: Tool, label: &str, file: &Path) -> Variant {
        let file = file.display();
        let arguments = match tool {
            Tool::Assay => format!("job --fio {file} --json"),
            Tool::Fio => format!("{file} --output-format=json"),
        };
        Variant::new(tool, label, &arguments)
    }

    pub fn less(self, start_up_s: f64) -> Variant {
        Variant { start_up_s, ..self }
    }

    /// Value of an option in either program's syntax.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut words = self.arguments.iter().map(String::as_str);
        let value = |rest: &&str| rest.is_empty() || rest.starts_with('=');
        let rest = words.find_map(|word| word.strip_prefix(name).filter(value))?;
        rest.strip_prefix('=').or_else(|| words.next())
    }

    pub fn command(&self) -> String {
        let program = match self.tool {
            Tool::Assay => "assay",
            Tool::Fio => "fio",
        };
        format!("{program} {}", self.arguments.join(" "))
    }

    fn program<'a>(&self, runner: &'a Runner) -> &'a Path {
        match self.tool {
            Tool::Assay => runner.assay.as_path(),
            Tool::Fio => Path::new("fio"),
        }
    }

    pub fn outcome(&self, runner: &Runner) -> Result<Outcome> {
        runner.run(self.program(runner), &self.arguments)
    }

    pub fn run(&self, runner: &Runner) -> Result<Sample> {
        self.sample(&self.outcome(runner)?)
    }

    /// Run it on one processor, but for threads that its own options put elsewhere.
    pub fn run_on(&self, runner: &Runner, processor: &str) -> Result<Sample> {
        let [taskset, words @ ..] = on_processor(processor, self.program(runner));
        let words = [&words[..], &self.arguments].concat();
        self.sample(&runner.run(Path::new(&taskset), &words)?)
    }

    pub fn document(&self, outcome: &Outcome) -> Result<Value> {
        // fio prints notes before its document.
        let begin = outcome.stdout.find('{').unwrap_or(0);
        serde_json::from_str(&outcome.stdout[begin..])
            .with_context(|| format!("{}: not JSON", self.command()))
    }

    /// Fails when that is no result, or holds errors.
    pub fn sample(&self, outcome: &Outcome) -> Result<Sample> {
        let document = self.document(outcome)?;
        let mut sample = Sample { start_up_s: self.start_up_s, ..Sample::cost(outcome) };
        // A job file of assay is a run of cells.
        let cell = document.pointer("/runs/0/cells/0");
        let job = cell.unwrap_or(&document["jobs"][0]);
        // One direction per job.
        let read = match job["read"]["total_ios"].as_f64() {
            Some(0.0) => &job["write"],
            _ => &job["read"],
        };
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        sample.iops = number(&read["iops"]);
        match self.tool {
            Tool::Assay => {
                sample.ios = number(&read["ios"]);
                sample.mean_ns = number(&read["latency_ns"]["mean"]);
                sample.p50_ns = number(&read["latency_ns"]["p50"]);
                sample.p99_ns = number(&read["latency_ns"]["p99"]);
            }
            Tool::Fio => {
                sample.ios = number(&read["total_ios"]);
                // `lat` has percentiles only where they were asked for; `clat`, fio's default,
                // otherwise.
                let has_lat = read["lat_ns"]["percentile"].is_object();
                let kind = if has_lat { "lat_ns" } else { "clat_ns" };
                let at = |p: &str| number(&read[kind]["percentile"][p]);
                sample.mean_ns = number(&read["lat_ns"]["mean"]);
                sample.p50_ns = at("50.000000");
                sample.p99_ns = at("99.000000");
            }
        }
        if sample.ios == 0.0 || number(&read["errors"]) > 0.0 || number(&job["error"]) > 0.0 {
            bail!("{}: no I/O, or errors", self.command());
        }
        Ok(sample)
    }
}
