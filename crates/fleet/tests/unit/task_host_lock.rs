use super::*;

#[test]
fn a_task_of_all_drives_is_alone_and_tasks_of_single_drives_exclude_their_own_drive() {
    let folder = tempfile::tempdir().unwrap();
    let host = |name| HostName::parse(name).unwrap();
    let (a, b) = (Serial::parse("A/1").unwrap(), Serial::parse("B 1").unwrap());
    let take = |host: &HostName, serial: Option<&Serial>| {
        HostLock::try_take(folder.path(), host, serial).unwrap()
    };
    let h1 = host("h1");
    let all = take(&h1, None);
    assert!(all.is_some());
    assert!(take(&h1, None).is_none() && take(&h1, Some(&a)).is_none());
    assert!(take(&host("h2"), None).is_some(), "another host of a test");
    drop(all);
    let first = take(&h1, Some(&a));
    assert!(first.is_some() && take(&h1, Some(&a)).is_none());
    let second = take(&h1, Some(&b));
    assert!(second.is_some() && take(&h1, None).is_none());
    drop((first, second));
    assert!(take(&h1, None).is_some());
    let no_folder = HostLock::try_take(Path::new("/dev/null/x"), &h1, None);
    assert!(no_folder.is_err());
}
