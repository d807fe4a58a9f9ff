use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::session::SessionOptions;
use assay_integrity::pattern::PatternPages;
use assay_testbench::{self as testbench, BenchObserver, BenchOptions, TestResult};
use assay_workload::plan::DEFAULT_SEED;
use indicatif::ProgressBar;
use serde_json::json;

use super::stream::range_request;
use super::streamer::{self, OpenStreamer, StreamerRequest};
use crate::args::testbench::TestbenchArguments;
use crate::exit::CommandOutcome;
use crate::progress::bar;
use crate::terminal::{Output, simulated_mark};

/// After Ctrl-C, prints the log of the tests completed.
pub fn run(arguments: TestbenchArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let pages = Arc::new(PatternPages::new());
    let request = range_request(arguments.first, arguments.last, arguments.chunk);
    let session = SessionOptions {
        destroy: arguments.destroy,
        will_write: true,
        keep_data: true,
        generator: Some(pages.clone()),
        ..SessionOptions::default()
    };
    let OpenStreamer { mut host, infos, depth, .. } = streamer::open(StreamerRequest {
        names: &[arguments.drive],
        range: request,
        session,
        simulated_unpermitted: true,
        pages: Some(pages),
        depth: arguments.iodepth,
        direct: None,
        direct_if_supported: true,
        calls: arguments.engine,
        core: &arguments.core,
    })?;
    let simulated = infos.iter().any(|info| info.simulated);
    let options = BenchOptions {
        first: request.first,
        last: request.last,
        chunk_bytes: request.chunk_bytes,
        depth,
        seed: arguments.seed.unwrap_or_else(|| seed_of(simulated)),
        span_bytes: arguments.span,
    };
    let mut progress = BenchProgress {
        bar: bar(output, 1),
        stop: super::stop_flag()?,
        mark: simulated_mark(simulated),
    };
    let report = testbench::run(host.as_mut(), &options, &mut progress);
    progress.bar.finish_and_clear();
    let report = report?;
    output.show(|| testbench::render(&report), || json!(report))?;
    Ok(CommandOutcome::from_flags(report.failed > 0, report.interrupted))
}

/// Simulated drives are reproducible; on others, data of an earlier run must not match.
fn seed_of(simulated: bool) -> u64 {
    if simulated {
        return DEFAULT_SEED;
    }
    // Random keys of the hasher; 32 bits are exact in a JSON number.
    RandomState::new().build_hasher().finish() >> 32
}

struct BenchProgress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
    mark: &'static str,
}

impl BenchObserver for BenchProgress {
    fn began(&mut self, id: &'static str, name: &'static str) {
        self.bar.set_message(format!("{id} {name}{}", self.mark));
    }

    fn progress(&mut self, done_bytes: u64, total_bytes: u64) {
        self.bar.set_length(total_bytes);
        self.bar.set_position(done_bytes);
    }

    fn ended(&mut self, result: &TestResult) {
        // On a terminal a failure is printed at once.
        if result.result == testbench::TestOutcome::Fail {
            self.bar.println(testbench::line(result));
        }
    }

    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
