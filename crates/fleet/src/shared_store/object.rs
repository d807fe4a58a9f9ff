//! The shared store in a bucket of an S3-compatible object store. Compare and swap is a put with
//! `If-None-Match: *` or `If-Match: ETAG` (S3 User Guide, "Conditional writes"); the ETag is the
//! version. An ETag follows from the content, so documents that are swapped carry a counter. A
//! runtime of one thread drives each call to its end inside the call. A conditional put that is
//! refused after one without an answer may have been refused because of its own predecessor: then
//! the content decides.

use std::sync::Mutex;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path as ObjectPath;
use object_store::{
    ClientOptions, Error, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, PutPayload,
    RetryConfig, UpdateVersion,
};

use super::{Condition, PutOutcome, SharedStore, SharedStoreError, Version, check_key};

const REQUEST_LIMIT_S: u64 = 30;
const CONNECT_LIMIT_S: u64 = 5;
/// Requests of one call.
pub const TRIES: u32 = 3;
/// Twice as long after each further failed request.
const PAUSE: Duration = Duration::from_millis(200);

pub struct ObjectStore {
    at: String,
    prefix: String,
    bucket: AmazonS3,
    /// One call at a time: each shared store belongs to few threads, whose calls are short.
    runtime: Mutex<tokio::runtime::Runtime>,
}

impl ObjectStore {
    /// Endpoint and credentials are in `AWS_ENDPOINT`, `AWS_REGION`, `AWS_ACCESS_KEY_ID` and
    /// `AWS_SECRET_ACCESS_KEY`, or of the instance. An `http:` endpoint needs
    /// `AWS_ALLOW_HTTP=true`.
    pub fn open(at: &str) -> Result<ObjectStore, SharedStoreError> {
        ObjectStore::with_options(at, &[])
    }

    /// `options`, by the names of the crate `object_store` (`aws_endpoint`), override the
    /// environment.
    pub fn with_options(
        at: &str,
        options: &[(&str, &str)],
    ) -> Result<ObjectStore, SharedStoreError> {
        let wrong = |why: String| SharedStoreError::Location { at: at.to_owned(), why };
        let rest = at.strip_prefix("s3://").unwrap_or(at);
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        if bucket.is_empty() {
            return Err(wrong("write s3://BUCKET/PREFIX".to_owned()));
        }
        if !prefix.is_empty() {
            check_key(prefix)?;
        }
        // Fails only where a provider was installed before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = ClientOptions::new()
            .with_timeout(Duration::from_secs(REQUEST_LIMIT_S))
            .with_connect_timeout(Duration::from_secs(CONNECT_LIMIT_S));
        // Client options first: those of environment and caller are added to them.
        let mut builder = AmazonS3Builder::new().with_client_options(client);
        for (name, value) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
            if let Ok(key) = name.to_ascii_lowercase().parse() {
                builder = builder.with_config(key, value);
            }
        }
        for (name, value) in options {
            let key = name.parse().map_err(|error: Error| wrong(error.to_string()))?;
            builder = builder.with_config(key, *value);
        }
        let bucket = builder
            .with_bucket_name(bucket)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            // Requests are repeated by this module, which knows the condition that was tried.
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(ObjectStore {
            at: at.to_owned(),
            prefix: prefix.to_owned(),
            bucket,
            runtime: Mutex::new(runtime),
        })
    }

    /// [`ObjectPath::from`] would encode the percent signs in the key once more.
    fn object(&self, key: &str) -> Result<ObjectPath, SharedStoreError> {
        let name = match self.prefix.as_str() {
            "" => key.to_owned(),
            prefix => format!("{prefix}/{key}"),
        };
        ObjectPath::parse(name).map_err(|_| SharedStoreError::Key {
            key: key.to_owned(),
            why: "an object cannot have this name",
        })
    }

    fn error(&self, action: &'static str, key: &str, error: &Error) -> SharedStoreError {
        SharedStoreError::Io {
            at: self.at.clone(),
            action,
            key: key.to_owned(),
            why: error.to_string(),
        }
    }

    fn run<T>(&self, future: impl Future<Output = T>) -> T {
        // The runtime has no state that a panic of another caller could have left half done.
        let runtime = match self.runtime.lock() {
            Ok(runtime) => runtime,
            Err(poisoned) => poisoned.into_inner(),
        };
        runtime.block_on(future)
    }

    async fn read(&self, path: &ObjectPath) -> Result<Option<(Vec<u8>, Version)>, Error> {
        match self.bucket.get(path).await {
            Ok(found) => {
                let version = version_of(found.meta.e_tag.clone());
                Ok(Some((found.bytes().await?.to_vec(), version)))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn write(
        &self,
        path: &ObjectPath,
        bytes: &[u8],
        condition: &Condition,
    ) -> Result<PutOutcome, Error> {
        let mode = match condition {
            Condition::Any => PutMode::Overwrite,
            Condition::Absent => PutMode::Create,
            Condition::Is(version) => PutMode::Update(UpdateVersion {
                e_tag: Some(version.name().to_owned()),
                version: None,
            }),
        };
        let mut unanswered = false;
        let mut tries = 0;
        loop {
            tries += 1;
            let payload = PutPayload::from(bytes.to_vec());
            let options = PutOptions::from(mode.clone());
            match self.bucket.put_opts(path, payload, options).await {
                Ok(put) => return Ok(PutOutcome::Stored(version_of(put.e_tag))),
                Err(
                    Error::AlreadyExists { .. }
                    | Error::Precondition { .. }
                    | Error::NotFound { .. },
                ) => {
                    if unanswered
                        && let Some((there, version)) = self.read(path).await?
                        && there == bytes
                    {
                        return Ok(PutOutcome::Stored(version));
                    }
                    return Ok(PutOutcome::Conflict);
                }
                Err(error) if tries == TRIES => return Err(error),
                Err(_) => {
                    unanswered = true;
                    pause(tries).await;
                }
            }
        }
    }

    async fn keys(&self, root: Option<&ObjectPath>, prefix: &str) -> Result<Vec<String>, Error> {
        let found: Vec<_> = self.bucket.list(root).try_collect().await?;
        let skip = match self.prefix.len() {
            0 => 0,
            len => len + 1,
        };
        let keys = found.iter().filter_map(|object| object.location.as_ref().get(skip..));
        let mut keys: Vec<String> =
            keys.filter(|key| key.starts_with(prefix)).map(str::to_owned).collect();
        keys.sort();
        Ok(keys)
    }
}

async fn repeated<T>(mut call: impl AsyncFnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        match call().await {
            Err(_) if tries < TRIES => pause(tries).await,
            done => return done,
        }
    }
}

async fn pause(tries: u32) {
    tokio::time::sleep(PAUSE * 2_u32.pow(tries.saturating_sub(1))).await;
}

fn version_of(e_tag: Option<String>) -> Version {
    Version::new(e_tag.unwrap_or_default())
}

impl SharedStore for ObjectStore {
    fn get(&self, key: &str) -> Result<Option<(Vec<u8>, Version)>, SharedStoreError> {
        check_key(key)?;
        let path = self.object(key)?;
        self.run(repeated(async || self.read(&path).await))
            .map_err(|error| self.error("read", key, &error))
    }

    fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Condition,
    ) -> Result<PutOutcome, SharedStoreError> {
        check_key(key)?;
        if bytes.is_empty() {
            return Err(SharedStoreError::Empty(key.to_owned()));
        }
        let path = self.object(key)?;
        self.run(self.write(&path, bytes, &condition))
            .map_err(|error| self.error("write", key, &error))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, SharedStoreError> {
        // `object_store` lists whole folders only.
        let folder = prefix.rsplit_once('/').map(|(folder, _)| folder);
        let root = match (folder, self.prefix.as_str()) {
            (Some(folder), _) => Some(self.object(folder)?),
            (None, "") => None,
            (None, own) => Some(ObjectPath::from(own)),
        };
        self.run(repeated(async || self.keys(root.as_ref(), prefix).await))
            .map_err(|error| self.error("list", prefix, &error))
    }

    fn delete(&self, key: &str) -> Result<(), SharedStoreError> {
        check_key(key)?;
        let path = self.object(key)?;
        let deleted = self.run(repeated(async || self.bucket.delete(&path).await));
        match deleted {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.error("delete", key, &error)),
        }
    }
}
