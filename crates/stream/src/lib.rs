//! Record, replay and prove: continuous streams to and from drives, with every byte accounted for.
//!
//! # Purpose
//! What MLE's NVMe Streamer (report C) does with an FPGA, in software and with the same words: a stream that goes onto a drive and comes back at the
//! drive's full rate; a pattern by which every beat of it can be proved; a test bench that finds out whether a drive keeps what it says.
//!
//! # Architecture
//! - [`registers`]: what a streamer is told and tells, as registers of a core.
//! - [`range`]: checked addresses; which chunk goes to which drive.
//! - [`queue`]: one drive of a stream with its ring of buffers, over any `assay_io::Target`.
//! - [`drives`]: opening them. [`source`]: where streams come from and go to; [`endpoint`]: their names.
//! - [`proof`]: the pattern of [`assay_integrity`] as a source and its checker as a sink.
//! - [`record`](mod@record), [`replay`](mod@replay): the two loops. `checkpoint` makes a recording durable as it goes on.
//! - [`index`]: recordings that describe themselves, so that they can be found, verified and replayed after anything.
//! - [`buffer_table`]: which buffer a rate needs, which rate a buffer bears. [`status`]: what came of a stream.
//!
//! # Example
//! ```
//! use assay_stream::lane::Lane;
//! use assay_stream::range::{DEFAULT_CHUNK_BYTES, Media, Range, RangeRequest};
//! use assay_stream::record::{RecordOptions, record};
//! use assay_stream::registers::{Registers, StatusBits};
//! use assay_stream::source::Bytes;
//! use assay_io::null::NullTarget;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let slots = 33; // a ring of 32 chunks, and one for the index
//! let mut lanes = [StreamQueue::new("null:", NullTarget::new(slots), slots, DEFAULT_CHUNK_BYTES)];
//! let media = [DriveExtent { drive: "null:".to_owned(), capacity_bytes: 1 << 30, min_io_bytes: 512 }];
//! let request = RangeRequest { first: None, last: None, chunk_bytes: DEFAULT_CHUNK_BYTES };
//! let range = Range::new(&request, &media)?;
//! let stream = vec![7; 300_000];
//! let registers = Registers::default();
//! let recorded = record(&mut lanes, &range, &mut Bytes::new(&stream), &RecordOptions::default(), &registers)?;
//! assert_eq!(recorded.status.bytes, 300_000);
//! assert_eq!(recorded.status.last_address_written, Some(2 * u64::from(DEFAULT_CHUNK_BYTES)));
//! assert!(registers.status().has(StatusBits::EARLY_LAST));
//! # Ok(())
//! # }
//! ```
//!
//! # Memory
//! The ring, and what has a fixed size: stalls kept are the longest 64, the table of rates has 1113 rows, the index in memory is that since the
//! last checkpoint but one. Nothing grows with the stream.
//!
//! # Copies
//! One, which the kernel forces: between a pipe, socket or file and the ring. The drive's part is `O_DIRECT` from and to registered buffers, as far as the
//! target does that. A pattern is made in the ring and checked in it.
//!
//! # Non-goals
//! No file system, no container format, no network protocol: bytes in, the same bytes out. No thread: whoever wants to watch or end a stream does it
//! through its registers.
//!
//! # Key constants
//! [`range::DEFAULT_CHUNK_BYTES`] (128 KiB), [`registers::BEAT_BYTES`] (16), [`record::DEFAULT_CHECKPOINT_BYTES`] (64 MiB), [`index::ENTRIES`] (504 chunks per block).

pub mod buffer_table;
mod checkpoint;
pub mod drives;
pub mod endpoint;
pub mod index;
mod pacing;
pub mod pattern_stream;
mod placement;
pub mod queue;
pub mod range;
pub mod record;
pub mod registers;
pub mod replay;
pub mod source;
pub mod status;
