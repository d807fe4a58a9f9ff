use super::*;

fn put(folder: &Path, files: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn content(folder: &Path) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = names(folder)
        .unwrap()
        .into_iter()
        .map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap()))
        .collect();
    all.sort();
    all
}

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn a_partition_is_created_exchanged_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let target = root.join("plan=a/month=2026-11");
    put(&staging(root).unwrap(), &[("x", "1"), ("y", "1")]);
    install(root, &target).unwrap();
    assert_eq!(content(&target), pairs(&[("x", "1"), ("y", "1")]));
    put(&staging(root).unwrap(), &[("x", "2")]);
    install(root, &target).unwrap();
    assert_eq!(content(&target), pairs(&[("x", "2")]), "a file that is no longer there");
    remove(root, &target).unwrap();
    assert_eq!(names(root).unwrap(), Vec::<String>::new());
}

/// What file systems without an exchange of directories get.
#[test]
fn files_are_replaced_one_by_one() {
    let root = tempfile::tempdir().unwrap();
    let (staged, target) = (root.path().join("new"), root.path().join("old"));
    put(&target, &[("x", "1"), ("z", "1")]);
    put(&staged, &[("x", "2"), ("y", "2")]);
    replace_each(&staged, &target).unwrap();
    assert_eq!(content(&target), pairs(&[("x", "2"), ("y", "2")]));
}

#[test]
fn a_second_process_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let held = lock(root.path()).unwrap();
    assert!(matches!(lock(root.path()), Err(ExportError::Busy(_))));
    drop(held);
    lock(root.path()).unwrap();
}
