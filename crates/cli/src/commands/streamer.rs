//! The streamer of a command.

use std::sync::Arc;

use assay_device::identity::DriveInfo;
use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::pattern::PatternPages;
use assay_stream::drives::{IoCalls, QueueOptions, SoftwareHost, media};
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::streamer::StreamHost;

use crate::exit::UsageError;

/// What a command needs.
pub struct StreamerRequest<'a> {
    /// Names of the drives.
    pub names: &'a [String],
    /// The range on each.
    pub range: RangeRequest,
    /// How they are opened; with `will_write`, for writing.
    pub session: SessionOptions,
    /// Simulated drives are written without a permit.
    pub simulated_unpermitted: bool,
    /// Generator of pages, if `session` has it.
    pub pages: Option<Arc<PatternPages>>,
    /// Chunks in flight per drive.
    pub depth: u32,
    /// `O_DIRECT`; `None`: if all drives support it.
    pub direct: Option<bool>,
    /// System calls for I/O on real drives.
    pub calls: IoCalls,
}

/// A streamer with its drives, and the checked range.
pub struct OpenStreamer {
    pub host: Box<dyn StreamHost>,
    pub infos: Vec<DriveInfo>,
    pub range: StreamRange,
}

/// The streamer for these names, with its drives. This is the one place where names select a streamer: at present they are all names of drives, and the
/// streamer is software. A co-simulated core is another [`StreamHost`], made here for names of its own.
pub fn open(request: StreamerRequest<'_>) -> anyhow::Result<OpenStreamer> {
    software(request)
}

/// The range is checked before the interlock asks for permission to write.
fn software(request: StreamerRequest<'_>) -> anyhow::Result<OpenStreamer> {
    let writes = request.session.will_write;
    let read_only = SessionOptions {
        will_write: false,
        destroy: Vec::new(),
        ..request.session.clone()
    };
    let mut sessions = super::open_drives(request.names, &read_only)?;
    let extents: Vec<_> = sessions.iter().map(|s| media(s.info())).collect();
    let range = StreamRange::new(&request.range, &extents);
    let range = range.map_err(|error| UsageError(error.to_string()))?;
    let simulated = sessions.iter().all(|session| session.info().simulated);
    if writes && !(simulated && request.simulated_unpermitted) {
        drop(sessions);
        sessions = super::open_drives(request.names, &request.session)?;
    }
    let infos: Vec<DriveInfo> = sessions.iter().map(DriveSession::info).cloned().collect();
    let queues = QueueOptions {
        writes,
        depth: request.depth,
        chunk_bytes: range.chunk_bytes,
        direct: request
            .direct
            .unwrap_or_else(|| infos.iter().all(|info| info.direct_io)),
        calls: request.calls,
    };
    let mut host = SoftwareHost::new(sessions, queues);
    if let Some(pages) = request.pages {
        host = host.with_pages(pages);
    }
    Ok(OpenStreamer {
        host: Box::new(host),
        infos,
        range,
    })
}
