//! Continuous recording and replay of byte streams on block devices, with integrity checks.
//!
//! # Purpose
//! Software counterpart of a hardware streaming core (MLE NVMe Streamer): records a stream at the
//! drive's full rate, replays it in order, and checks every beat of a test pattern.
//!
//! # Architecture
//! - [`registers`]: control and status registers of a streaming core, as atomics.
//! - [`range`]: checked addresses, and striping of chunks over drives.
//! - [`queue`]: one drive with its ring of buffers, over any `assay_io::Target`. [`drives`]: opens
//!   them.
//! - [`source`]: sources and sinks; [`endpoint`]: their names. [`pattern_stream`]: the LFSR pattern
//!   of [`assay_integrity`] as source and sink.
//! - [`record`](mod@record), [`replay`](mod@replay): the two loops. `checkpoint` makes a recording
//!   durable while it continues.
//! - [`index`]: on-media index by which a recording is found, verified and replayed after a crash.
//! - [`streamer`]: the interface of all this, which a hardware core has as well.
//! - [`buffer_table`]: buffer needed per source rate. [`status`]: results of a stream.
//!
//! # Example
//! ```
//! use assay_io::null::NullTarget;
//! use assay_stream::queue::StreamQueue;
//! use assay_stream::range::{DEFAULT_CHUNK_BYTES, DriveExtent, RangeRequest, StreamRange};
//! use assay_stream::record::{RecordOptions, record};
//! use assay_stream::registers::{Registers, StatusBits};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let slots = 33; // a ring of 32 chunks, and one for the index
//! let target = NullTarget::new(slots);
//! let mut queues = [StreamQueue::new("null:", target, slots, DEFAULT_CHUNK_BYTES)];
//! let drive = "null:".to_owned();
//! let drives = [DriveExtent { drive, capacity_bytes: 1 << 30, min_io_bytes: 512 }];
//! let request = RangeRequest { first: None, last: None, chunk_bytes: DEFAULT_CHUNK_BYTES };
//! let range = StreamRange::new(&request, &drives)?;
//! let stream = vec![7; 300_000];
//! let registers = Registers::default();
//! let options = RecordOptions::default();
//! let recorded = record(&mut queues, &range, &mut &stream[..], &options, &registers)?;
//! assert_eq!(recorded.status.bytes, 300_000);
//! assert_eq!(recorded.status.last_address_written, Some(2 * u64::from(DEFAULT_CHUNK_BYTES)));
//! assert!(registers.status().has(StatusBits::EARLY_LAST));
//! # Ok(())
//! # }
//! ```
//!
//! # Memory and copies
//! The ring, plus tables of fixed size: the longest 64 stalls, 1113 rates, the index entries since
//! the last checkpoint but one. Nothing grows with the length of the stream. One copy, in the
//! kernel, between a pipe, socket or file and the ring; I/O to the drive is `O_DIRECT` with
//! registered buffers where the target supports it, and a pattern is generated and checked in the
//! ring.
//!
//! # Non-goals
//! No file system, no container format, no network protocol. No threads: a stream is observed and
//! ended through its registers.
//!
//! # Key constants
//! [`range::DEFAULT_CHUNK_BYTES`] (128 KiB), [`registers::BEAT_BYTES`] (16),
//! [`record::DEFAULT_CHECKPOINT_BYTES`] (64 MiB), [`index::ENTRIES`] (504 chunks per block).
#![forbid(unsafe_code)]

pub mod buffer_table;
mod checkpoint;
pub mod drives;
pub mod endpoint;
mod error_class;
pub mod index;
mod pacing;
pub mod pattern_stream;
pub mod queue;
pub mod range;
pub mod record;
pub mod registers;
pub mod replay;
pub mod source;
pub mod status;
pub mod streamer;
