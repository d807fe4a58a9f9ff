//! Device nodes that a job opens.

use crate::spec::DriveSpec;

use super::super::{DriveSession, SessionOptions};
use super::*;

#[test]
fn only_passthrough_jobs_open_the_generic_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.img");
    std::fs::write(&path, vec![0; 1 << 20]).unwrap();
    let spec = DriveSpec::parse(path.to_str().unwrap()).unwrap();
    let mut session = DriveSession::open(&spec, &SessionOptions::default()).unwrap();
    let null = std::path::PathBuf::from("/dev/null");
    session.info.nvme = Some(NvmeLocation {
        controller: null.clone(),
        generic: Some(null.clone()),
        nsid: 1,
        max_command_bytes: None,
        sysfs: null,
        interrupt_vectors: None,
        namespaces: Vec::new(),
    });
    for passthru in [false, true] {
        let mode = OpenMode { passthru, ..OpenMode::default() };
        let OpenTarget::Real { open, .. } = session.acquire(mode).unwrap() else {
            panic!("a file is a real drive");
        };
        let handle = format!("{open:?}");
        assert_eq!(handle.contains("passthru: None"), !passthru, "{handle}");
        // Opened, checked and rejected: the null device is no namespace.
        assert_eq!(handle.contains("Inappropriate ioctl"), passthru, "{handle}");
    }
}
