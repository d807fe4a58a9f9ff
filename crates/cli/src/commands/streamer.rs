use std::sync::Arc;

use assay_cosim::host::{self, CoreDrive, CoreHost, CoreHostOptions};
use assay_device::identity::DriveInfo;
use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::pattern::PatternPages;
use assay_store::replace::check_replaceable;
use assay_stream::drives::{IoCalls, QueueOptions, SoftwareHost, media};
use assay_stream::range::{RangeRequest, StreamRange};
use assay_stream::streamer::StreamHost;

use crate::args::stream::CoreArguments;
use crate::exit::{UsageError, bail_usage};

/// Per drive of a software streamer.
const DEFAULT_DEPTH: u32 = 32;

/// Width of the core's bus.
const DEFAULT_BUS_BITS: u32 = 128;

/// Type and length of the header of an FST file.
const FST_HEAD: &str = "\0\0\0\0\0\0\0\u{1}I";

pub struct StreamerRequest<'a> {
    pub names: &'a [String],
    pub range: RangeRequest,
    /// With `will_write`, drives are opened for writing.
    pub session: SessionOptions,
    /// Simulated drives are written without a permit.
    pub simulated_unpermitted: bool,
    /// Set if `session` has a generator.
    pub pages: Option<Arc<PatternPages>>,
    /// `--iodepth`: chunks in flight per drive.
    pub depth: Option<u32>,
    pub direct: Option<bool>,
    /// Without `--direct`: `O_DIRECT` only if all drives support it.
    pub direct_if_supported: bool,
    /// `--engine`: system calls for I/O on real drives.
    pub calls: Option<IoCalls>,
    pub core: &'a CoreArguments,
}

pub struct OpenStreamer {
    pub host: Box<dyn StreamHost>,
    pub infos: Vec<DriveInfo>,
    pub range: StreamRange,
    /// Chunks in flight per drive.
    pub depth: u32,
    pub is_core: bool,
}

/// The one place where names select a streamer: the co-simulated core for `rtl:` names, otherwise
/// software.
pub fn open(request: StreamerRequest<'_>) -> anyhow::Result<OpenStreamer> {
    let is_core = |name: &&String| name.starts_with(host::PREFIX);
    let cores = request.names.iter().filter(is_core).count();
    if cores == 0 {
        let CoreArguments { bus_bits, wave } = request.core;
        let option = match (bus_bits, wave) {
            (Some(_), _) => "--bus-bits",
            (_, Some(_)) => "--wave",
            (None, None) => return software(request),
        };
        bail_usage!(
            "{option} is for the co-simulated core (rtl:sim:PROFILE); {} is none",
            request.names.join(", ")
        );
    }
    if cores < request.names.len() {
        bail_usage!(
            "{}: one stream goes either through the co-simulated core or through software; name \
             all drives with rtl:, or none",
            request.names.join(", ")
        );
    }
    core(&request)
}

/// The range is checked after the bring-up of the drives: the core knows their size.
fn core(request: &StreamerRequest<'_>) -> anyhow::Result<OpenStreamer> {
    let software_only = [
        (
            "--iodepth",
            request.depth.is_some(),
            "the chunks that a core has in flight are a parameter of its RTL",
        ),
        ("--direct", request.direct.is_some(), "no page cache is in its path"),
        ("--engine", request.calls.is_some(), "it makes no system calls"),
    ];
    if let Some((option, _, reason)) = software_only.iter().find(|(_, given, _)| *given) {
        bail_usage!(
            "{option} is for streams through software, not for the co-simulated core ({}): \
             {reason}",
            request.names.join(", ")
        );
    }
    if let Some(wave) = &request.core.wave {
        check_replaceable(wave, FST_HEAD)?;
    }
    let keep_data = request.session.keep_data;
    let drives = request.names.iter();
    let drives: Result<Vec<_>, _> = drives.map(|name| CoreDrive::parse(name, keep_data)).collect();
    let options = CoreHostOptions {
        data_width: request.core.bus_bits.unwrap_or(DEFAULT_BUS_BITS),
        chunk_bytes: request.range.chunk_bytes,
        pages: request.pages.clone(),
        wave: request.core.wave.clone(),
        ..CoreHostOptions::default()
    };
    let host = CoreHost::new(drives?, &options)?;
    let infos = host.infos().to_vec();
    let serials: Vec<&str> = infos.iter().map(|info| info.serial.as_str()).collect();
    super::check_destroy_serials(&serials, &request.session.destroy)?;
    let range = StreamRange::new(&request.range, &host.extents());
    let range = range.map_err(|error| UsageError(error.to_string()))?;
    Ok(OpenStreamer {
        depth: host.configuration().slots,
        is_core: true,
        host: Box::new(host),
        infos,
        range,
    })
}

/// The range is checked before the interlock asks for permission to write.
fn software(request: StreamerRequest<'_>) -> anyhow::Result<OpenStreamer> {
    let writes = request.session.will_write;
    let read_only = SessionOptions {
        will_write: false,
        destroy: Vec::new(),
        only_looks: writes,
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
        depth: request.depth.unwrap_or(DEFAULT_DEPTH),
        chunk_bytes: range.chunk_bytes,
        direct: request.direct.unwrap_or_else(|| {
            !request.direct_if_supported || infos.iter().all(|info| info.direct_io)
        }),
        calls: request.calls.unwrap_or(IoCalls::Auto),
    };
    let depth = queues.depth;
    let mut host = SoftwareHost::new(sessions, queues);
    if let Some(pages) = request.pages {
        host = host.with_pages(pages);
    }
    Ok(OpenStreamer { host: Box::new(host), infos, range, depth, is_core: false })
}
