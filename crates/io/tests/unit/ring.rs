//! Rings with completing and with abandoned I/Os.

use std::cell::Cell;
use std::io::{PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::rc::Rc;

use assay_units::{DataClass, Op};
use io_uring::opcode;
use io_uring::types::Fixed;

use super::*;

/// Reads of one pipe, which complete when data is written to it.
struct Reads {
    _pipe: io::PipeReader,
    abandoned: Rc<Cell<bool>>,
}

// SAFETY: every entry's buffer is the slot's, and the registered pipe is kept open.
unsafe impl Encode for Reads {
    type Sqe = squeue::Entry;
    type Cqe = cqueue::Entry;
    const MAY_MERGE: bool = true;

    fn entry(&mut self, io: &Io, buffer: *mut u8, _fixed: bool) -> squeue::Entry {
        let read = opcode::Read::new(Fixed(0), buffer, io.len_bytes);
        read.build().user_data(u64::from(io.slot))
    }

    fn decode(user_data: u64, result: i32) -> Completion {
        Completion { slot: user_data as u32, result }
    }

    fn drop_cached(&self, _offset_bytes: u64, _len_bytes: u64) -> ReadSource {
        ReadSource::Drive
    }

    fn reset_zone(&self, _offset_bytes: u64, _len_bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn abandon(&mut self) {
        self.abandoned.set(true);
    }
}

fn reads() -> (RingTarget<Reads>, PipeWriter, Rc<Cell<bool>>) {
    let (pipe, writer) = io::pipe().unwrap();
    let ring = Ring::new("pipe", &[pipe.as_raw_fd()], 2, 4096, &UringOptions::default()).unwrap();
    let abandoned = Rc::new(Cell::new(false));
    let encoder = Reads { _pipe: pipe, abandoned: Rc::clone(&abandoned) };
    (RingTarget::over(ring, encoder), writer, abandoned)
}

const READ: Io = Io {
    op: Op::Read,
    data: DataClass::Incompressible,
    slot: 1,
    len_bytes: 8,
    offset_bytes: 0,
    fua: false,
    priority: 0,
};

#[test]
fn completed_buffers_are_freed_and_abandoned_ones_are_not() {
    let (mut target, mut writer, abandoned) = reads();
    target.submit(&[READ]).unwrap();
    writer.write_all(&[7; 8]).unwrap();
    drop(target);
    assert!(!abandoned.get(), "it came back while it was waited for");
    let (mut target, _writer, abandoned) = reads();
    target.submit(&[READ]).unwrap();
    drop(target);
    assert!(abandoned.get(), "no data was written");
}
