use super::*;
use assay_io::null::NullTarget;

#[test]
fn nothing_longer_than_a_slot_is_submitted() {
    let mut queue = StreamQueue::new("null:", NullTarget::new(2), 2, 8192);
    let slot = queue.take_slot().unwrap();
    let read =
        |queue: &mut StreamQueue<'_>, len_bytes| queue.submit(slot, None, Op::Read, 0, len_bytes);
    let refused = read(&mut queue, 8193);
    assert!(matches!(refused, Err(TargetError::Io { .. })));
    assert_eq!(queue.in_flight(), 0);
    read(&mut queue, 8192).unwrap();
    assert_eq!(queue.in_flight(), 1);
}

/// A drive whose I/Os complete only when it is told, on a clock that passes while it is waited for.
#[derive(Default)]
struct Silent {
    now: Nanos,
    answers: bool,
    slots: Vec<u32>,
}

impl Target for Silent {
    fn now(&mut self) -> Nanos {
        self.now
    }
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        self.slots.extend(batch.iter().map(|io| io.slot));
        Ok(())
    }
    fn reap(
        &mut self,
        _: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        match self.answers {
            true => out.extend(self.slots.drain(..).map(|slot| Completion { slot, result: 512 })),
            false => self.now = self.now.max(until),
        }
        Ok(())
    }
    fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
        None
    }
}

#[test]
fn a_drive_that_never_answers_is_given_up_after_the_timeout() {
    let mut drive = Silent::default();
    let mut ended = Vec::new();
    let mut queue =
        StreamQueue::new("silent", &mut drive, 2, 8192).with_io_timeout(Nanos::from_secs(240));
    // Idle time does not count.
    queue.wait_until(Nanos::from_secs(1000), &mut ended).unwrap();
    let slot = queue.take_slot().unwrap();
    queue.submit(slot, None, Op::Read, 0, 512).unwrap();
    queue.reap(1, Nanos::from_secs(1239), &mut ended).unwrap();
    // Waits as far as the timeout, and looks once more.
    queue.reap(1, Nanos::MAX, &mut ended).unwrap();
    assert_eq!(queue.now(), Nanos::from_secs(1240));
    let error = queue.reap(1, Nanos::MAX, &mut ended).unwrap_err();
    assert!(
        matches!(error, TargetError::Unanswered { ios: 1, waited, .. } if waited == Nanos::from_secs(240)),
        "{error}"
    );
    assert!(error.to_string().starts_with("silent: no answer to 1 I/Os for 240 s"), "{error}");
}

#[test]
fn an_answer_after_the_timeout_counts_where_the_clock_jumped() {
    let mut drive = Silent { answers: true, ..Silent::default() };
    let mut ended = Vec::new();
    let mut queue =
        StreamQueue::new("resumed", &mut drive, 2, 8192).with_io_timeout(Nanos::from_secs(240));
    let slot = queue.take_slot().unwrap();
    queue.submit(slot, None, Op::Read, 0, 512).unwrap();
    // Suspended for a day: the completion is there.
    queue.reap(1, Nanos::from_secs(86_400), &mut ended).unwrap();
    assert_eq!((ended.len(), queue.in_flight()), (1, 0));
    let slot = queue.take_slot().unwrap();
    queue.submit(slot, None, Op::Read, 0, 512).unwrap();
    queue.reap(1, Nanos::MAX, &mut ended).unwrap();
    assert_eq!(ended.len(), 2);
}
