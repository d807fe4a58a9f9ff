use super::*;

#[test]
fn a_full_buffer_makes_data_wait_for_the_oldest_program() {
    let mut buffer = WriteBuffer::new(2);
    assert_eq!(buffer.acquire(10), Some(10));
    assert_eq!(buffer.acquire(11), Some(11));
    assert_eq!(buffer.acquire(12), None, "nothing is being programmed");
    buffer.release(100, 1);
    buffer.release(90, 1);
    assert_eq!(buffer.drained_ns(), 100, "in order");
    assert_eq!(buffer.acquire(12), Some(100));
    assert_eq!(buffer.acquire(200), Some(200));
    assert_eq!(buffer.unprogrammed_units(), 2);
}

/// When waiting data takes the first slot of a program, the other slots are free at that program's
/// end, not before.
#[test]
fn slots_released_together_are_free_at_the_same_time() {
    let mut buffer = WriteBuffer::new(4);
    for _ in 0..4 {
        assert_eq!(buffer.acquire(0), Some(0));
    }
    buffer.release(100, 3);
    buffer.release(170, 1);
    let slots: Vec<_> = (0..4).map(|_| buffer.acquire(10)).collect();
    assert_eq!(slots, [Some(100), Some(100), Some(100), Some(170)]);
    buffer.release(200, 2);
    assert_eq!(buffer.acquire_run(10, 1), Some(200), "not before its time");
    assert_eq!(buffer.acquire(300), Some(300));
}

/// Four slots, of which two are used after the buffer was full, until nothing was in it for 50 ns.
#[test]
fn an_overflowed_buffer_is_drained_and_partly_used_until_idle_time() {
    let mut buffer = WriteBuffer::with_overflow(4, 2, 50);
    for _ in 0..4 {
        assert_eq!(buffer.acquire(0), Some(0));
    }
    buffer.release(100, 2);
    buffer.release(200, 2);
    assert_eq!(buffer.acquire(10), Some(200), "all of it goes first");
    assert_eq!(buffer.acquire(210), Some(210));
    assert_eq!(buffer.acquire(220), None, "two slots now");
    buffer.release(300, 1);
    assert_eq!(buffer.acquire(220), Some(300));
    buffer.release(400, 2);
    assert_eq!(buffer.acquire(430), Some(430), "too short a pause");
    assert_eq!(buffer.acquire(431), Some(431));
    assert_eq!(buffer.acquire(432), None);
    buffer.release(500, 2);
    for at in 550..554 {
        assert_eq!(buffer.acquire(at), Some(at), "as new");
    }
}

/// Slots granted ahead are not durable before their time; those behind a late one wait for it.
#[test]
fn data_is_durable_when_its_slot_is_free() {
    let mut buffer = WriteBuffer::new(2);
    buffer.track();
    assert_eq!(buffer.acquire_run(0, 2), Some(0));
    buffer.release(100, 1);
    buffer.release(50, 1);
    assert_eq!(buffer.acquire(10), Some(100));
    assert_eq!((buffer.accepted_units, buffer.durable_units(99)), (3, 0));
    assert_eq!(buffer.durable_units(100), 2);
}

#[test]
fn slots_are_allocated_atomically() {
    let mut buffer = WriteBuffer::new(4);
    assert_eq!(buffer.acquire_run(0, 3), Some(0));
    assert_eq!(buffer.acquire_run(0, 2), None);
    buffer.release(50, 2);
    let mut single = buffer.clone();
    assert_eq!(buffer.acquire_run(10, 3), Some(50));
    let slots = [10, 10, 10].map(|at| single.acquire(at));
    assert_eq!(slots, [Some(10), Some(50), Some(50)]);
    assert_eq!(buffer.acquire(60), None);
    assert_eq!(single.acquire(60), None);
}
