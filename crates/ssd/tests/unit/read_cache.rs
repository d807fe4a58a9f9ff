use super::*;
use crate::Profile;

fn cache(bytes: u64) -> ReadCache {
    let profile = Profile::builtin("samsung-951").unwrap();
    let size = crate::Sourced { value: bytes, ..profile.data_path.staged_bytes_per_second.clone() };
    ReadCache::new(&ReadCacheProfile {
        bytes: size,
        exceeded_bytes_per_second: profile.data_path.staged_bytes_per_second.clone(),
    })
}

#[test]
fn buffers_are_counted_from_begin_to_end() {
    let mut cache = cache(100);
    assert!(!cache.begin(0, 60));
    cache.end(50, 60);
    assert!(!cache.begin(10, 40), "just full");
    cache.end(20, 40);
    assert!(cache.begin(19, 1));
    cache.end(200, 1);
    // The one of 40 has left.
    assert!(!cache.begin(20, 39));
    cache.end(30, 39);
    assert!(!cache.begin(60, 99));
    cache.end(61, 99);
    assert!(cache.begin(60, 1));
}

#[test]
fn a_read_larger_than_the_memory_exceeds_it_alone() {
    let mut cache = cache(100);
    assert!(cache.begin(0, 101));
    cache.end(10, 101);
    assert!(!cache.begin(10, 100));
}
