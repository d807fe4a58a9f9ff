use super::*;

#[test]
fn a_completion_queue_is_full_one_short_of_its_size_and_inverts_its_phase() {
    let mut queue = CompletionQueue::new(0x1000, 3, 0, true);
    assert_eq!(queue.advance(), (0x1000, true));
    assert_eq!(queue.advance(), (0x1010, true));
    assert!(queue.is_full());
    assert!(!queue.release(3), "no such entry");
    assert!(queue.release(1) && !queue.is_full());
    assert!(!queue.release(0), "backwards");
    assert_eq!(queue.advance(), (0x1020, true));
    assert!(queue.is_full() && queue.has_entries());
    assert!(queue.release(0) && !queue.has_entries());
    assert_eq!(queue.advance(), (0x1000, false));
}

#[test]
fn entries_are_contiguous_up_to_the_wrap() {
    let mut queue = SubmissionQueue::new(0x4000, 8, 1);
    queue.tail = 6;
    assert_eq!((queue.contiguous_entries(), queue.head_address()), (6, 0x4000));
    queue.consume(6);
    queue.tail = 3;
    assert_eq!((queue.contiguous_entries(), queue.head_address()), (2, 0x4180));
    queue.consume(2);
    assert_eq!((queue.contiguous_entries(), queue.head, queue.has_entries()), (3, 0, true));
}
