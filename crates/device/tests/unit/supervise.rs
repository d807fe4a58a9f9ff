use super::*;

/// A process that ends by itself and was not waited for is on its way out; one that runs is not.
#[test]
fn a_process_on_its_way_out_is_seen() {
    let own = rustix::process::getpid();
    assert!(!is_exiting(own));
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = Pid::from_child(&child);
    while !is_exiting(pid) {
        std::thread::yield_now();
    }
    // The kernel marks a process as exiting before it is a zombie: it is seen as exiting from the
    // mark on, and stays so.
    let path = PathBuf::from(format!("/proc/{}", child.id()));
    while state_of(&path).unwrap().0 != 'Z' {
        assert!(is_exiting(pid));
        std::thread::yield_now();
    }
    assert!(is_exiting(pid));
    child.wait().unwrap();
    assert!(!is_exiting(pid));
}

#[test]
fn a_message_names_drive_process_and_what_is_kept() {
    let command = Supervised {
        drives: vec!["/dev/nvme0n1".to_owned()],
        kept: Some("what was measured is in run".to_owned()),
        limit: None,
        streams_out: false,
    };
    let own = rustix::process::getpid();
    let text = message(&command, own, Reason::Told);
    assert!(text.starts_with("/dev/nvme0n1: the storage does not answer: "), "{text}");
    assert!(text.contains(&format!("process {}", own.as_raw_nonzero())), "{text}");
    assert!(text.ends_with("until then; what was measured is in run"), "{text}");
    let limit = Reason::Limit(Nanos::from_secs(130));
    assert!(message(&command, own, limit).contains("it may take 130 s"));
}

#[test]
fn requests_are_signals_that_can_be_sent() {
    for signal in ending_signals().into_iter().chain([SIGUSR1]) {
        for offset in [REQUEST_OFFSET, AT_ONCE_OFFSET] {
            let is_at_once = offset == AT_ONCE_OFFSET;
            assert!(realtime_signal::SENDABLE.contains(&(signal + offset)));
            if signal != SIGUSR1 || !is_at_once {
                assert_eq!(of_request(signal + offset), (signal, is_at_once));
            }
        }
        // Not supervised: signals are requests.
        assert_eq!((requests(&[signal]), requested(signal)), (vec![signal], (signal, false)));
    }
}
