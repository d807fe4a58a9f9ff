use super::*;

#[test]
fn priorities_and_working_sets_are_meant() {
    let of = |more: &str| line(&format!("[a]\nfilename=/dev/x\nrw=write\n{more}\n"));
    for (text, expected) in [
        ("prioclass=1\nprio=3", "--ioprio rt:3"),
        ("prio=7", "--ioprio be:7"),
        ("prioclass=3", "--ioprio idle"),
        ("prioclass=2\npriohint=3", "--ioprio be:0:3"),
        (
            "ioengine=libaio\ncmdprio_percentage=20,30\ncmdprio_class=2,3\ncmdprio=5",
            ";cmdprio_bssplit=0/20/16389,0/30/24581,'",
        ),
        (
            "ioengine=io_uring\ncmdprio_bssplit=8k/10/2/1:4k/20:16k/:4k/5/3/0",
            ";cmdprio_bssplit=4096/20/8192:4096/5/24576:8192/10/16385,",
        ),
        (
            "dedupe_percentage=30\ndedupe_mode=working_set\nsize=1m\nbs=8k\n\
             dedupe_working_set_percentage=25",
            "--dedupe_percentage 30 --dedupe_working_set 32",
        ),
    ] {
        assert!(of(text).contains(expected), "{}", of(text));
    }
    assert!(!of("prio=0\nprioclass=0").contains("ioprio"));
    for (text, expected) in [
        ("prio=8", "from 0 to 7"),
        ("prioclass=4", "from 0 to 3"),
        ("dedupe_percentage=30\ndedupe_mode=working_set", "needs size="),
        ("cmdprio_percentage=20", "ioengine=psync gives its I/Os no priority"),
        ("ioengine=libaio\ncmdprio_percentage=20\ncmdprio_bssplit=4k/10", "exclude one another"),
        ("ioengine=libaio\ncmdprio_bssplit=4k/60/1/2:4k/50", "at most 100 percent"),
    ] {
        let error = converted(&format!("[a]\nrw=write\n{text}\n"), Some("/dev/x")).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn what_is_verified_at_a_time_is_no_more_than_a_write() {
    let of = |more: &str| line(&format!("[a]\nfilename=/dev/x\nrw=write\nverify=md5\n{more}\n"));
    assert!(of("bs=512\nverify_interval=1m").contains("--verify_interval 512"));
    assert!(of("bs=1m\nverify_interval=512").contains("--verify_interval 512"));
}

/// As in fio, which refuses them, too, or does what assay does not.
#[test]
fn what_fio_refuses_is_refused() {
    for (text, expected) in [
        ("zonesize=64k", "zonesize needs zonemode"),
        ("zonesize=64k\nzonemode=none", "zonesize needs zonemode"),
        ("zonemode=strided", "needs zonesize"),
        ("fill_device=1", "give size="),
        ("size=64k\ndedupe_percentage=50\ndedupe_mode=working_set", "0 blocks of 4096 bytes"),
    ] {
        let error = converted(&format!("[a]\nrw=write\n{text}\n"), None).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let drive = converted("[a]\nfilename=/dev/x\nrw=write\nfill_device=1", None).unwrap();
    assert_eq!(drive.jobs[0].options.size, None);
}
