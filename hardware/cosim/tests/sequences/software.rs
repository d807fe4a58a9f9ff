//! The software streamer over a simulated drive.

use assay_io::{Completion, Io, Nanos, Op, Target, TargetError};
use assay_sim_host::SimTarget;
use assay_ssd::{DriveOptions, Profile};
use assay_stream::queue::StreamQueue;
use assay_stream::range::DriveExtent;
use assay_stream::streamer::SoftwareStreamer;

use super::{CHUNK, REGION_BYTES};
use crate::common::slot::SharedPlan;

/// Slots of a drive: those of the core, and one that the software reserves for an index.
const SLOTS: u32 = 9;

/// `errno` of a command without completion, and of a failed one.
const EIO: i32 = 5;
const ENODATA: i32 = 61;

/// A target whose commands fail as planned.
struct Planned<'t> {
    inner: &'t mut SimTarget,
    plan: SharedPlan,
    failed: Vec<Completion>,
}

impl Target for Planned<'_> {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            let is_write = io.op == Op::Write;
            let mut plan = self.plan.get();
            let fails = match io.op {
                Op::Read | Op::Write => {
                    plan.begin(is_write, io.offset_bytes, u64::from(io.len_bytes))
                }
                _ => plan.lost.then_some(true),
            };
            match fails {
                None => self.inner.submit(&[*io])?,
                Some(is_lost) => self.failed.push(Completion {
                    slot: io.slot,
                    result: if is_lost { -EIO } else { -ENODATA },
                }),
            }
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let failed = self.failed.len();
        out.append(&mut self.failed);
        self.inner.reap(min.saturating_sub(failed), until, out)
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        self.inner.buffer(slot)
    }
}

/// A simulated drive.
pub struct Software {
    target: SimTarget,
    pub plan: SharedPlan,
    pub extent: DriveExtent,
}

impl Software {
    pub fn new(profile: Profile, options: DriveOptions) -> Software {
        let mut target = SimTarget::new("drive 0", profile, options).expect("a drive");
        target.begin_job(1, SLOTS, CHUNK as u32).expect("buffers");
        let identity = target.identity();
        let extent = DriveExtent {
            drive: "drive 0".to_owned(),
            capacity_bytes: identity.capacity_bytes,
            min_io_bytes: identity.logical_block_bytes as u32,
        };
        Software { target, plan: SharedPlan::default(), extent }
    }

    pub fn streamer(&mut self) -> SoftwareStreamer<'_> {
        let target =
            Planned { inner: &mut self.target, plan: self.plan.clone(), failed: Vec::new() };
        let queue = StreamQueue::new("drive 0", target, SLOTS, CHUNK as u32);
        SoftwareStreamer::new(vec![queue], vec![self.extent.clone()])
    }

    fn io(&mut self, op: Op, offset_bytes: u64) {
        let io = Io {
            op,
            data: assay_io::DataClass::default(),
            slot: 0,
            len_bytes: CHUNK as u32,
            offset_bytes,
            fua: false,
            priority: 0,
        };
        self.target.submit(&[io]).expect("the model runs");
        let mut out = Vec::new();
        self.target.reap(1, Nanos::MAX, &mut out).expect("the model runs");
        assert!(out.len() == 1 && out[0].moved(CHUNK as u32), "{out:?}");
    }

    /// Content of the region.
    pub fn content(&mut self) -> Vec<u8> {
        let mut content = Vec::new();
        for at in (0..REGION_BYTES).step_by(CHUNK as usize) {
            self.io(Op::Read, at);
            let buffer = self.target.buffer(0).expect("kept data");
            content.extend_from_slice(&buffer[..CHUNK as usize]);
        }
        content
    }

    /// Replace a chunk.
    pub fn write(&mut self, offset_bytes: u64, chunk: &[u8]) {
        let buffer = self.target.buffer(0).expect("kept data");
        buffer[..chunk.len()].copy_from_slice(chunk);
        self.io(Op::Write, offset_bytes);
    }
}
