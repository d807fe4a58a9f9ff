//! The adapter of object stores against a real S3 server (versitygw) on loopback.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use assay_fleet::shared_store::{ObjectStore, SharedStore, SharedStoreError};

use super::conforms;

/// Where scripts/ensure-packages puts it.
fn server() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let path = cache.or(home)?.join("assay-tests/bin/versitygw");
    path.is_file().then_some(path)
}

struct Server {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Start a server with the bucket `bucket`, and set the environment of clients.
fn start(program: &std::path::Path) -> Server {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::create_dir_all(folder.path().join("bucket")).unwrap();
    let port = {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let address = format!("127.0.0.1:{port}");
    let mut child = Command::new(program)
        .args(["--access", "user", "--secret", "secret", "--port", &address])
        .arg("posix")
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until it listens.
    while TcpStream::connect(&address).is_err() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "the server ended: {ended:?}");
        std::thread::yield_now();
    }
    CLIENT.with(|client| client.replace(address));
    Server { child, _folder: folder }
}

thread_local! {
    static CLIENT: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

fn open(prefix: &str) -> ObjectStore {
    let endpoint = CLIENT.with(|client| format!("http://{}", client.borrow()));
    ObjectStore::with_options(
        &format!("s3://bucket/{prefix}"),
        &[
            ("aws_endpoint", endpoint.as_str()),
            ("aws_access_key_id", "user"),
            ("aws_secret_access_key", "secret"),
            ("aws_region", "us-east-1"),
            ("aws_allow_http", "true"),
        ],
    )
    .unwrap()
}

#[test]
fn an_object_store_conforms_and_an_absent_one_is_an_error() {
    let Some(program) = server() else {
        println!(
            "skipped: versitygw is not installed (scripts/ensure-packages installs it where go is)"
        );
        return;
    };
    let server = start(&program);
    conforms(&|| Box::new(open("some/prefix")), 12);
    conforms(&|| Box::new(open("")), 2);
    let store = open("some/prefix");
    drop(server);
    let away = store.get("counter");
    assert!(matches!(away, Err(SharedStoreError::Io { .. })), "{away:?}");
}
