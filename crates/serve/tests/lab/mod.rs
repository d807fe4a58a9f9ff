//! What the tests share: small drives, a server in a thread, a client.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod client;
pub mod host;
pub mod trace;

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;

use assay_serve::{Address, Listener, Pace, Server, Summary};
use assay_ssd::{Drive, DriveOptions, Profile};
use tempfile::TempDir;

/// A drive with flash of some tens of megabytes, so that garbage collection is soon reached.
pub fn small_flash(options: &str) -> Drive {
    drive(small_profile(), options)
}

/// Its profile.
pub fn small_profile() -> Profile {
    let mut profile = Profile::builtin("samsung-951").unwrap();
    let nand = &mut profile.nand;
    nand.channels.value = 1;
    nand.dies.value = 1;
    nand.planes.value = 2;
    nand.page_bytes.value = 16_384;
    nand.pages_per_block.value = 16;
    nand.blocks_per_plane.value = 80;
    profile.ftl.gc_low_superblocks.value = 4;
    profile.identity.capacity_bytes.value = 28 << 20;
    profile
}

/// A drive that is written in place: nothing to build, however large.
pub fn in_place(options: &str) -> Drive {
    drive(
        Profile::builtin("intel-optane-memory-32gb").unwrap(),
        options,
    )
}

fn drive(profile: Profile, text: &str) -> Drive {
    Drive::new(profile, options(text)).unwrap()
}

/// A drive's options, as after its name, on one that keeps its data.
pub fn options(text: &str) -> DriveOptions {
    let mut options = DriveOptions {
        keep_data: true,
        regenerate_data: true,
        ..DriveOptions::default()
    };
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap();
        options.set(key, value).unwrap();
    }
    options
}

/// A server in a thread of its own.
pub struct Served {
    folder: TempDir,
    stop: UnixStream,
    thread: JoinHandle<(Drive, Summary)>,
}

impl Served {
    pub fn new(drive: Drive, pace: Pace) -> Served {
        let folder = TempDir::new().unwrap();
        let address = Address::Unix(folder.path().join("s"));
        let listener = Listener::bind(&address, false).unwrap();
        let (stop, stopped) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || {
            let mut server = Server::new(drive, pace, "test").unwrap();
            server.listen(listener).unwrap();
            let summary = server.run(stopped.as_fd()).unwrap();
            (server.into_drive(), summary)
        });
        Served {
            folder,
            stop,
            thread,
        }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    pub fn connect(&self) -> UnixStream {
        UnixStream::connect(self.path()).unwrap()
    }

    pub fn client(&self, structured: bool) -> client::Client {
        client::Client::enter(self.connect(), structured)
    }

    /// End it; gives the drive as the clients left it.
    pub fn end(mut self) -> (Drive, Summary) {
        self.stop.write_all(&[0]).unwrap();
        self.thread.join().unwrap()
    }
}
