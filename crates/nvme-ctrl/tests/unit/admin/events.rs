use super::*;

const SMART: (AsyncEventType, u8, LogId) = (AsyncEventType::SMART, 1, LogId::SMART);
const ERROR: (AsyncEventType, u8, LogId) = (AsyncEventType::ERROR, 1, LogId::ERROR);

fn raise(events: &mut AsyncEvents, (event_type, information, lid): (AsyncEventType, u8, LogId)) {
    events.raise(event_type, information, lid);
}

/// Request, event type, information and log page of the next event.
fn next(events: &mut AsyncEvents) -> Option<(u16, (AsyncEventType, u8, LogId))> {
    let (cid, event) = events.next()?;
    let event_type = AsyncEventType(event.event_type());
    Some((cid, (event_type, event.information(), LogId(event.lid()))))
}

#[test]
fn an_event_type_is_masked_until_its_log_page_is_read() {
    let mut events = AsyncEvents::default();
    raise(&mut events, SMART);
    raise(&mut events, SMART);
    assert_eq!(next(&mut events), None, "no request");
    for cid in 0..4 {
        assert_eq!(events.request(cid), Ok(AdminOutcome::Outstanding));
    }
    assert_eq!(events.request(9), Err(StatusCode::AER_LIMIT_EXCEEDED));
    assert_eq!(next(&mut events), Some((0, SMART)));
    raise(&mut events, SMART);
    raise(&mut events, ERROR);
    assert_eq!(next(&mut events), Some((1, ERROR)), "the other type");
    assert!(!events.has_completion() && !events.is_awaited(AsyncEventType::SMART));
    events.log_was_read(LogId::SMART);
    assert_eq!(next(&mut events), None, "reported in the log page");
    raise(&mut events, SMART);
    assert_eq!(next(&mut events), Some((2, SMART)));
    assert!(events.withdraw(3) && !events.withdraw(3));
    for _ in 0..100 {
        let information = events.pending.len() as u8;
        events.raise(AsyncEventType::VENDOR, information, LogId::SMART);
    }
    assert_eq!(events.pending.len(), MAX_PENDING);
}
