//! The thread that does I/O takes them from a buffer: it opens no file, parses nothing and, once
//! the buffers circulate, allocates nothing.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use super::{ReplayCounts, ReplayIo, ReplayPlan, ReplayStream};
use crate::TraceError;

const BATCH: usize = 4096;
const AHEAD: usize = 8;

struct Batch {
    ios: Vec<ReplayIo>,
    counts: ReplayCounts,
    end: Option<Result<(), TraceError>>,
}

pub struct ReplayFeed {
    batches: Receiver<Batch>,
    recycler: SyncSender<Vec<ReplayIo>>,
    batch: Batch,
    at: usize,
    name: String,
}

impl std::fmt::Debug for ReplayFeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplayFeed").field("at", &self.at).finish_non_exhaustive()
    }
}

impl ReplayFeed {
    pub fn start(plan: &ReplayPlan) -> Result<ReplayFeed, TraceError> {
        let stream = ReplayStream::open(plan)?;
        let (sender, batches) = mpsc::sync_channel(AHEAD);
        let (recycler, recycled) = mpsc::sync_channel(AHEAD + 1);
        let builder = thread::Builder::new().name("trace".to_owned());
        let spawned = builder.spawn(move || produce(stream, &sender, &recycled));
        spawned.map_err(|error| TraceError::Unreadable {
            file: plan.options.source.name(),
            why: format!("no thread can be started: {error}"),
        })?;
        let mut feed = ReplayFeed {
            batches,
            recycler,
            batch: Batch { ios: Vec::new(), counts: ReplayCounts::default(), end: None },
            at: 0,
            name: plan.options.source.name(),
        };
        feed.refill();
        Ok(feed)
    }

    #[inline]
    pub fn peek(&mut self) -> Option<ReplayIo> {
        if self.at == self.batch.ios.len() && self.batch.end.is_none() {
            self.refill();
        }
        self.batch.ios.get(self.at).copied()
    }

    #[inline]
    pub fn advance(&mut self) {
        self.at += 1;
    }

    #[cold]
    fn refill(&mut self) {
        while self.at == self.batch.ios.len() && self.batch.end.is_none() {
            // A thread that has ended has sent how, unless it panicked.
            let next = self.batches.recv().unwrap_or_else(|_| Batch {
                ios: Vec::new(),
                counts: self.batch.counts,
                end: Some(Err(TraceError::Unreadable {
                    file: self.name.clone(),
                    why: "the thread that reads it panicked".to_owned(),
                })),
            });
            let used = std::mem::replace(&mut self.batch, next);
            let _ = self.recycler.try_send(used.ios);
            self.at = 0;
        }
    }

    /// Up to the last I/O of the present batch: exact at the end of the trace.
    pub fn counts(&self) -> ReplayCounts {
        self.batch.counts
    }

    pub fn error(&self) -> Option<TraceError> {
        self.batch.end.clone()?.err()
    }
}

fn produce(
    mut stream: ReplayStream,
    sender: &SyncSender<Batch>,
    recycled: &Receiver<Vec<ReplayIo>>,
) {
    loop {
        let mut ios = recycled.try_recv().unwrap_or_default();
        ios.clear();
        ios.reserve(BATCH);
        let mut end = None;
        while ios.len() < BATCH && end.is_none() {
            match stream.next_io() {
                Ok(Some(io)) => ios.push(io),
                Ok(None) => end = Some(Ok(())),
                Err(error) => end = Some(Err(error)),
            }
        }
        let is_last = end.is_some();
        let counts = stream.counts();
        let sent = sender.send(Batch { ios, counts, end });
        // Nobody receives when the replay was stopped.
        if sent.is_err() || is_last {
            return;
        }
    }
}
