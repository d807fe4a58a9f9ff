//! Keys are valid as paths of a directory and as names of objects.

use super::SharedStoreError;

/// NAME_MAX of Linux is 255, less room for a version.
const MAX_PART_BYTES: usize = 230;
/// 1024 in S3, less room for a prefix.
const MAX_KEY_BYTES: usize = 800;

/// A key is parts joined by `/`, each of letters, digits and `._-=%@+:`, not beginning with a dot.
pub fn check_key(key: &str) -> Result<(), SharedStoreError> {
    let wrong = |why| {
        let key = key.to_owned();
        Err(SharedStoreError::Key { key, why })
    };
    if key.len() > MAX_KEY_BYTES {
        return wrong("it is too long");
    }
    for part in key.split('/') {
        if part.is_empty() {
            return wrong("a part of it is empty");
        }
        if part.len() > MAX_PART_BYTES {
            return wrong("a part of it is too long");
        }
        if part.starts_with('.') {
            return wrong("a part of it begins with a dot");
        }
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-=%@+:".contains(&byte);
        if !part.bytes().all(allowed) {
            return wrong("it has characters other than letters, digits and ._-=%@+:");
        }
    }
    Ok(())
}
