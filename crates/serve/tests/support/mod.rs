//! Fixtures: small drives, a server thread, clients.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod client;
pub mod tcp_host;
pub mod trace;
pub mod vfio_driver;

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;

use assay_serve::{Address, Listener, NbdServer, Pace, ServeSummary};
use assay_ssd::{Drive, DriveOptions, Profile};
use tempfile::TempDir;

/// A drive with some tens of megabytes of flash, so that garbage collection starts soon.
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

/// A drive without flash translation: cheap to create at any capacity.
pub fn in_place(options: &str) -> Drive {
    drive(Profile::builtin("intel-optane-memory-32gb").unwrap(), options)
}

fn drive(profile: Profile, text: &str) -> Drive {
    Drive::new(profile, options(text)).unwrap()
}

/// Options as after a drive's name, with stored data.
pub fn options(text: &str) -> DriveOptions {
    let mut options =
        DriveOptions { keep_data: true, regenerate_data: true, ..DriveOptions::default() };
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap();
        options.set(key, value).unwrap();
    }
    options
}

/// A server in its own thread.
pub struct TestServer {
    folder: TempDir,
    stop: UnixStream,
    thread: JoinHandle<(Drive, ServeSummary)>,
}

impl TestServer {
    pub fn new(drive: Drive, pace: Pace) -> TestServer {
        let folder = TempDir::new().unwrap();
        let address = Address::Unix(folder.path().join("s"));
        let listener = Listener::bind(&address, false).unwrap();
        let (stop, stopped) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || {
            let mut server = NbdServer::new(drive, pace, "test").unwrap();
            server.listen(listener).unwrap();
            let summary = server.run(stopped.as_fd()).unwrap();
            (server.into_drive(), summary)
        });
        TestServer { folder, stop, thread }
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

    /// Stops the server and returns the drive.
    pub fn end(mut self) -> (Drive, ServeSummary) {
        self.stop.write_all(&[0]).unwrap();
        self.thread.join().unwrap()
    }
}
