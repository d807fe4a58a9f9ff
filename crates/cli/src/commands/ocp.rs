//! Open Compute's output of a run: `assay run --ocp FILE`.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use assay_export::ExportError;
use assay_export::ocp::{Follower, HEAD, RuleFigures};
use assay_output::open_to_rewrite;
use assay_store::replace::check_output;

const PERIOD: Duration = Duration::from_millis(100);

pub struct OcpOutput {
    file: PathBuf,
    close: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), ExportError>>,
}

impl OcpOutput {
    /// Called before anything is measured.
    pub fn check(file: &Path) -> anyhow::Result<()> {
        Ok(check_output(file, HEAD)?)
    }

    pub fn start(file: &Path, folder: &Path) -> anyhow::Result<OcpOutput> {
        let out =
            open_to_rewrite(file).with_context(|| format!("cannot write {}", file.display()))?;
        let close = Arc::new(AtomicBool::new(false));
        let (closed, folder) = (Arc::clone(&close), folder.to_owned());
        let builder = thread::Builder::new().name("ocp".to_owned());
        let body = move || {
            let figures = RuleFigures::read(&folder)?;
            let of_drive = |drive: usize| figures.of_drive(drive);
            let mut follower = Follower::open(&folder, &of_drive, BufWriter::new(out))?;
            loop {
                // Loaded first: what was written before the flag was set is read below.
                let is_last = closed.load(Ordering::SeqCst);
                follower.advance()?;
                if is_last {
                    return follower.close();
                }
                thread::park_timeout(PERIOD);
            }
        };
        Ok(OcpOutput {
            file: file.to_owned(),
            close,
            thread: builder.spawn(body).context("cannot start a thread")?,
        })
    }

    /// Writes the rest. The run folder has everything that an incomplete output lacks.
    pub fn finish(self, folder: &Path) -> io::Result<()> {
        self.close.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
        let why = match self.thread.join() {
            Ok(Ok(())) => return Ok(()),
            // Without the advice for a command that only exports.
            Ok(Err(error)) => anyhow::Error::from(error).root_cause().to_string(),
            Err(_) => "its thread panicked".to_owned(),
        };
        let [file, folder] = [self.file.as_path(), folder].map(Path::display);
        Err(io::Error::other(format!(
            "{file} is incomplete: {why}; the run folder has everything: write the file again with \
             assay export {folder} --format ocp -o {file}"
        )))
    }
}
