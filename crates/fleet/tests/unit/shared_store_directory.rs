//! A writer that is killed between any two of its system calls.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// The system's files, until a number of calls have been made: then every call fails, as for a
/// process that is no more.
struct Mortal {
    left: AtomicU32,
}

impl Mortal {
    fn call<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let take = |left: u32| left.checked_sub(1);
        let alive = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        alive.map_err(|_| io::Error::other("killed"))?;
        call()
    }
}

impl Files for Mortal {
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Three system calls: the file is there, half of it, all of it.
        self.call(|| File::create_new(path))?;
        self.call(|| std::fs::write(path, &bytes[..bytes.len() / 2]))?;
        self.call(|| std::fs::write(path, bytes))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|| SystemFiles.link(from, to))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|| SystemFiles.rename(from, to))
    }
    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.call(|| SystemFiles.unlink(path))
    }
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.call(|| SystemFiles.make_folder(path))
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.call(|| SystemFiles.sync_folder(path))
    }
}

const KEY: &str = "claims/plan-0123456789ab/S1.json";

fn get(store: &impl SharedStore) -> Option<String> {
    let found = store.get(KEY).unwrap();
    found.map(|(bytes, _)| String::from_utf8(bytes).unwrap())
}

/// Writes of a process that is killed after `calls` system calls: make the document, replace it,
/// replace it without condition, delete it. Returns the states that it saw completed.
fn mortal_writes(root: &Path, calls: u32) -> Vec<Option<&'static str>> {
    let left = AtomicU32::new(calls);
    let store = DirectoryStore::with(root, Mortal { left }).unwrap();
    let mut done = vec![None];
    let Ok(PutOutcome::Stored(first)) = store.put(KEY, b"first", Condition::Absent) else {
        return done;
    };
    done.push(Some("first"));
    let Ok(PutOutcome::Stored(_)) = store.put(KEY, b"second", Condition::Is(first)) else {
        return done;
    };
    done.push(Some("second"));
    let Ok(PutOutcome::Stored(_)) = store.put(KEY, b"third", Condition::Any) else {
        return done;
    };
    done.push(Some("third"));
    if store.delete(KEY).is_ok() {
        done.push(None);
    }
    done
}

#[test]
fn a_writer_killed_between_two_system_calls_leaves_whole_documents() {
    const STATES: [Option<&str>; 5] = [None, Some("first"), Some("second"), Some("third"), None];
    let mut completed_in_the_end = false;
    for calls in 0..64 {
        let folder = tempfile::TempDir::new().unwrap();
        let done = mortal_writes(folder.path(), calls);
        let store = DirectoryStore::open(folder.path()).unwrap();
        let found = get(&store);
        // The last completed state, or the one that was being written.
        let completed = done.len() - 1;
        let possible = &STATES[completed..(completed + 2).min(STATES.len())];
        assert!(
            possible.contains(&found.as_deref()),
            "killed after {calls} calls: {found:?}, completed {done:?}"
        );
        let listed = store.list("claims/").unwrap();
        assert_eq!(listed.len(), usize::from(found.is_some()), "{calls}");
        // Another writer goes on from there.
        let condition = match store.get(KEY).unwrap() {
            Some((_, version)) => Condition::Is(version),
            None => Condition::Absent,
        };
        let PutOutcome::Stored(version) = store.put(KEY, b"other", condition.clone()).unwrap()
        else {
            panic!("killed after {calls} calls: the next writer is refused");
        };
        assert_eq!(get(&store).as_deref(), Some("other"));
        assert_eq!(store.put(KEY, b"late", condition).unwrap(), PutOutcome::Conflict);
        store.put(KEY, b"last", Condition::Is(version)).unwrap();
        assert_eq!(get(&store).as_deref(), Some("last"));
        completed_in_the_end |= completed == STATES.len() - 1;
    }
    assert!(completed_in_the_end, "64 calls do not complete the writes");
}

#[test]
fn what_no_host_put_there_is_named_not_followed_and_not_tried_again() {
    let outside = tempfile::TempDir::new().unwrap();
    let plants: [fn(&Path, &Path); 4] = [
        |at, _| std::fs::write(at, "x").unwrap(),
        |at, outside| std::os::unix::fs::symlink(outside, at).unwrap(),
        |at, _| std::os::unix::fs::symlink("nowhere", at).unwrap(),
        |at, _| drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
    ];
    for (number, plant) in plants.into_iter().enumerate() {
        // In place of a folder of the store, and of the one below it.
        for at in ["claims", "claims/plan-0123456789ab", TEMPORARY] {
            let folder = tempfile::TempDir::new().unwrap();
            let store = DirectoryStore::open(folder.path()).unwrap();
            let at = folder.path().join(at);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            plant(&at, outside.path());
            let error = store.put(KEY, b"x", Condition::Any).unwrap_err();
            assert!(!error.is_temporary(), "{number}: {error}");
            let text = error.to_string();
            assert!(text.contains(at.to_str().unwrap()), "{number}: {text}");
            assert!(text.contains("remove it"), "{number}: {text}");
        }
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    // In place of a document.
    let folder = tempfile::TempDir::new().unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    std::fs::create_dir_all(folder.path().join(KEY)).unwrap();
    let error = store.get(KEY).unwrap_err();
    assert!(!error.is_temporary(), "{error}");
}

#[test]
fn a_directory_that_is_gone_is_an_error_and_not_an_empty_store() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().join("store");
    assert!(matches!(DirectoryStore::open(&root), Err(SharedStoreError::Location { .. })));
    std::fs::create_dir(&root).unwrap();
    let store = DirectoryStore::open(&root).unwrap();
    store.put(KEY, b"x", Condition::Any).unwrap();
    std::fs::rename(&root, folder.path().join("away")).unwrap();
    assert!(store.get(KEY).is_err());
    assert!(store.list("").is_err());
    assert!(store.put(KEY, b"y", Condition::Any).is_err());
    assert!(!root.exists());
    std::fs::rename(folder.path().join("away"), &root).unwrap();
    assert_eq!(get(&store).as_deref(), Some("x"));
}

#[test]
fn superseded_versions_take_no_space_and_their_names_stay() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    for n in 0..20 {
        let text = n.to_string();
        store.put(KEY, text.as_bytes(), Condition::Any).unwrap();
    }
    assert_eq!(get(&store).as_deref(), Some("19"));
    let lengths = (1..=20).map(|n| std::fs::metadata(store.path(KEY, n)).unwrap().len());
    assert_eq!(lengths.sum::<u64>(), 2);
    let late = Condition::Is(Version::new("3".to_owned()));
    assert_eq!(store.put(KEY, b"late", late).unwrap(), PutOutcome::Conflict);
    assert_eq!(std::fs::read_dir(folder.path().join(TEMPORARY)).unwrap().count(), 0);
}

#[test]
fn what_is_no_object_is_an_error_and_no_endless_attempt() {
    let root = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(root.path()).unwrap();
    let path = root.path().join(KEY);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let fails = |what: &str| {
        for error in [
            store.put(KEY, b"x", Condition::Absent).err(),
            store.get(KEY).err(),
            store.delete(KEY).err(),
        ] {
            let error = error.expect(what).to_string();
            assert!(error.contains("remove it"), "{what}: {error}");
        }
    };
    std::fs::create_dir(&path).unwrap();
    fails("a folder");
    std::fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    fails("a link");
    std::fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fails("a FIFO");
}
