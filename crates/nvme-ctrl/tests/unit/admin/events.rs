use super::*;

fn event(kind: AsyncEventType, information: u8) -> AsyncEvent {
    let mut event = AsyncEvent::default();
    event.set_event_type(kind.0).set_information(information);
    event
}

#[test]
fn a_type_is_silent_until_its_log_is_read() {
    let mut events = Events::default();
    let (hot, error) = (
        event(AsyncEventType::SMART, 1),
        event(AsyncEventType::ERROR, 1),
    );
    events.raise(hot);
    events.raise(hot);
    assert_eq!(events.next(), None, "nobody asks");
    for cid in 0..4 {
        assert_eq!(events.request(cid), Ok(Outcome::Waits));
    }
    assert_eq!(events.request(9), Err(StatusCode::AER_LIMIT_EXCEEDED));
    assert_eq!(events.next(), Some((0, hot)));
    events.raise(hot);
    events.raise(error);
    assert_eq!(events.next(), Some((1, error)), "the other type");
    assert!(!events.has_answer() && !events.is_awaited(AsyncEventType::SMART));
    events.log_was_read(LogId::SMART);
    assert_eq!(events.next(), None, "it was in the log");
    events.raise(hot);
    assert_eq!(events.next(), Some((2, hot)));
    assert!(events.withdraw(3) && !events.withdraw(3));
    for _ in 0..100 {
        events.raise(event(AsyncEventType::VENDOR, events.pending.len() as u8));
    }
    assert_eq!(events.pending.len(), KEPT);
}
