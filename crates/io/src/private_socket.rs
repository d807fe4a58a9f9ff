//! Unix sockets that only their owner can connect to.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

const BACKLOG: i32 = 128;

/// Listens at a path with mode 0600, from its first moment: Linux gives a socket's file the mode
/// that the socket had before (`unix_bind_bsd` in net/unix/af_unix.c).
pub fn listen_privately(path: &Path) -> io::Result<UnixListener> {
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}
