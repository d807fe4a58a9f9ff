//! Where clients connect: addresses as people write them, who may connect, socket files.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::connection::Stream;

/// The port of NBD (proto, "Newstyle negotiation").
pub const NBD_PORT: u16 = 10809;

/// Why nobody can connect.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address.
    #[error(
        "{text:?} is no address; write unix:PATH or tcp:HOST:PORT, e.g. unix:/tmp/drive.sock or tcp:127.0.0.1:10809"
    )]
    Malformed {
        /// What was given.
        text: String,
    },
    /// Reachable from elsewhere.
    #[error(
        "{address} can be reached from other machines, and NBD has no passwords: whoever connects may read and write the simulated drive; \
         use unix:PATH or tcp:127.0.0.1:PORT, or allow it with --allow-remote"
    )]
    Remote {
        /// The address.
        address: String,
    },
    /// Somebody serves there.
    #[error("{path}: another server listens on this socket; stop it, or choose another path")]
    Live {
        /// The socket file.
        path: PathBuf,
    },
    /// Something else has the name.
    #[error("{path}: exists and is no socket, so it is left alone; choose another path")]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot listen on {address}: {source}")]
    System {
        /// The address.
        address: String,
        /// The system's answer.
        source: io::Error,
    },
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket file.
    Unix(PathBuf),
    /// A host and a port (0: any that is free).
    Tcp(String, u16),
}

impl FromStr for Address {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Address, ListenError> {
        let malformed = || ListenError::Malformed {
            text: text.to_owned(),
        };
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err(malformed())
            } else {
                Ok(Address::Unix(path.into()))
            };
        }
        let rest = text.strip_prefix("tcp:").ok_or_else(malformed)?;
        let (host, port) = match rest.rsplit_once(':') {
            // Colons within brackets belong to the host.
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| malformed())?)
            }
            _ => (rest, NBD_PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(malformed());
        }
        Ok(Address::Tcp(host.to_owned(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(host, port) if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "tcp:{host}:{port}"),
        }
    }
}

/// A socket that clients connect to. A socket file goes away with it.
#[derive(Debug)]
pub enum Listener {
    /// On a socket file, known by device and inode.
    Unix(UnixListener, PathBuf, (u64, u64)),
    /// On a port.
    Tcp(TcpListener, SocketAddr),
}

/// Which file a path names now.
fn file_of(path: &Path) -> Option<(u64, u64)> {
    let there = path.symlink_metadata().ok()?;
    Some((there.dev(), there.ino()))
}

impl Listener {
    /// Listen. A socket file that nobody serves any more is replaced.
    ///
    /// # Errors
    /// [`ListenError`]: in use, reachable from elsewhere without `allow_remote`, or refused by the system.
    pub fn bind(address: &Address, allow_remote: bool) -> Result<Listener, ListenError> {
        let system = |source: io::Error| ListenError::System {
            address: address.to_string(),
            source,
        };
        match address {
            Address::Unix(path) => {
                make_way(path)?;
                let listener = UnixListener::bind(path).map_err(system)?;
                listener.set_nonblocking(true).map_err(system)?;
                let file = file_of(path).unwrap_or_default();
                Ok(Listener::Unix(listener, path.clone(), file))
            }
            Address::Tcp(host, port) => {
                let found: Vec<SocketAddr> = (host.as_str(), *port)
                    .to_socket_addrs()
                    .map_err(system)?
                    .collect();
                if !allow_remote && found.iter().any(|one| !one.ip().is_loopback()) {
                    return Err(ListenError::Remote {
                        address: address.to_string(),
                    });
                }
                let listener = TcpListener::bind(&found[..]).map_err(system)?;
                listener.set_nonblocking(true).map_err(system)?;
                let bound = listener.local_addr().map_err(system)?;
                Ok(Listener::Tcp(listener, bound))
            }
        }
    }

    /// Where it is, as NBD clients write it (NetworkBlockDevice/nbd, `doc/uri.md`).
    pub fn uri(&self) -> String {
        match self {
            Listener::Unix(_, path, _) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("nbd+unix:///?socket={}", escaped(&path.to_string_lossy()))
            }
            Listener::Tcp(_, at) => format!("nbd://{at}"),
        }
    }

    /// The listening socket for somebody who waits in `accept`; the socket file stays this value's.
    ///
    /// # Errors
    /// [`ListenError::System`] when the system has no file descriptor left.
    pub fn shared(&self) -> Result<OwnedFd, ListenError> {
        let socket = match self {
            Listener::Unix(listener, ..) => listener
                .set_nonblocking(false)
                .and_then(|()| listener.try_clone())
                .map(OwnedFd::from),
            Listener::Tcp(listener, _) => listener
                .set_nonblocking(false)
                .and_then(|()| listener.try_clone())
                .map(OwnedFd::from),
        };
        socket.map_err(|source| ListenError::System {
            address: self.uri(),
            source,
        })
    }

    /// Can others than this machine reach it?
    pub fn is_remote(&self) -> bool {
        match self {
            Listener::Unix(..) => false,
            Listener::Tcp(_, at) => !at.ip().is_loopback(),
        }
    }

    /// The next client, if one waits.
    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Unix(listener, ..) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }
            Listener::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, ..) => listener.as_fd(),
            Listener::Tcp(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path, file) = self
            && file_of(path) == Some(*file)
        {
            // One that cannot be removed is found stale by the next server.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Remove a socket file that nobody serves.
fn make_way(path: &Path) -> Result<(), ListenError> {
    let Ok(there) = path.symlink_metadata() else {
        return Ok(());
    };
    if !there.file_type().is_socket() {
        return Err(ListenError::NotASocket {
            path: path.to_owned(),
        });
    }
    match UnixStream::connect(path) {
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
            // If it cannot be removed, binding says why.
            let _ = std::fs::remove_file(path);
            Ok(())
        }
        _ => Err(ListenError::Live {
            path: path.to_owned(),
        }),
    }
}

/// Percent-encoding of what has a meaning in a query (RFC 3986, section 3.4), and of all that is not printable ASCII.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
