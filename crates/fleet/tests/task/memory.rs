//! A shared store in memory: away on request, and with lost answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_fleet::shared_store::{
    Condition, PutOutcome, SharedStore, SharedStoreError, Version, check_key,
};

#[derive(Default)]
pub struct MemoryStore {
    documents: Mutex<BTreeMap<String, (Vec<u8>, u64)>>,
    versions: Mutex<u64>,
    pub away: AtomicBool,
    /// The next put takes effect, and its answer is lost.
    pub lose_answer: AtomicBool,
}

impl MemoryStore {
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let documents = self.documents.lock().unwrap();
        let pairs = documents.iter();
        pairs.map(|(key, (bytes, _))| (key.clone(), bytes.clone())).collect()
    }

    fn reachable(&self, key: &str) -> Result<(), SharedStoreError> {
        match self.away.load(Ordering::SeqCst) {
            true => Err(failure(key)),
            false => Ok(()),
        }
    }
}

fn failure(key: &str) -> SharedStoreError {
    SharedStoreError::Io {
        at: "memory".to_owned(),
        action: "reach",
        key: key.to_owned(),
        why: "it is away".to_owned(),
    }
}

impl SharedStore for MemoryStore {
    fn get(&self, key: &str) -> Result<Option<(Vec<u8>, Version)>, SharedStoreError> {
        check_key(key)?;
        self.reachable(key)?;
        let documents = self.documents.lock().unwrap();
        let found = documents.get(key);
        Ok(found.map(|(bytes, version)| (bytes.clone(), Version::new(version.to_string()))))
    }

    fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Condition,
    ) -> Result<PutOutcome, SharedStoreError> {
        check_key(key)?;
        self.reachable(key)?;
        let mut documents = self.documents.lock().unwrap();
        let there = documents.get(key).map(|(_, version)| version.to_string());
        let holds = match &condition {
            Condition::Any => true,
            Condition::Absent => there.is_none(),
            Condition::Is(version) => there.as_deref() == Some(version.name()),
        };
        if !holds {
            return Ok(PutOutcome::Conflict);
        }
        // What is shipped never changes.
        if key.starts_with("runs/") {
            assert!(there.is_none(), "{key} was overwritten");
        }
        let mut versions = self.versions.lock().unwrap();
        *versions += 1;
        documents.insert(key.to_owned(), (bytes.to_owned(), *versions));
        if self.lose_answer.swap(false, Ordering::SeqCst) {
            return Err(failure(key));
        }
        Ok(PutOutcome::Stored(Version::new(versions.to_string())))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, SharedStoreError> {
        self.reachable(prefix)?;
        let documents = self.documents.lock().unwrap();
        let keys = documents.keys().filter(|key| key.starts_with(prefix));
        Ok(keys.cloned().collect())
    }

    fn delete(&self, key: &str) -> Result<(), SharedStoreError> {
        self.reachable(key)?;
        self.documents.lock().unwrap().remove(key);
        Ok(())
    }
}
