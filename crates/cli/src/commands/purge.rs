//! `assay purge DRIVE`.

use std::sync::atomic::Ordering;

use assay_device::session::SessionOptions;
use assay_execute::drive_state_cache::DriveStateCache;
use serde_json::json;

use crate::args::PurgeArguments;
use crate::exit::CommandOutcome;
use crate::progress::bar;
use crate::terminal::{Output, simulated_mark};

const STEPS: u64 = 1000;

pub fn run(arguments: PurgeArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let options = SessionOptions {
        destroy: arguments.destroy,
        will_write: true,
        ..SessionOptions::default()
    };
    let mut drives = super::open_drives(std::slice::from_ref(&arguments.drive), &options)?;
    let session = &mut drives[0];
    let stop = super::stop_flag()?;
    let drive_states = DriveStateCache::for_user();
    if let Err(error) = drive_states.record_purge_start(session.info()) {
        eprintln!("assay: {error}");
    }
    let bar = bar(output, STEPS);
    bar.set_message(format!("purging {}", session.info().spec));
    let purged = session.purge_as(arguments.how, &mut |share| {
        bar.set_position((share * STEPS as f64) as u64);
        !stop.load(Ordering::Relaxed)
    });
    bar.finish_and_clear();
    let purged = purged?;
    let info = session.info();
    if !info.simulated {
        // The purge succeeded even if it cannot be recorded.
        if let Err(error) = drive_states.record_purge(info, purged.how, purged.complete) {
            eprintln!("assay: {error}");
        }
    }
    let text = || {
        let effect = match purged.complete {
            true => "no earlier data can be read back",
            false => {
                "the drive may retain data, and a drive that was full may start slower than a \
                 fresh one"
            }
        };
        let (mark, how, scope) = (simulated_mark(info.simulated), purged.how, &purged.scope);
        format!("{}{mark}: {how}; reached: {scope}\n{effect}\n", info.spec)
    };
    let json = || {
        json!({
            "drive": info,
            "how": purged.how,
            "scope": purged.scope,
            "complete": purged.complete,
            "simulated": info.simulated,
        })
    };
    output.show(text, json)
}
