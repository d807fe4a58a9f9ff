//! Safe wrappers of system calls that neither the standard library nor rustix has.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use assay_nvme_spec::nvm::{Read, prinfo};
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::kernel_command::{KernelCommand, status_of};

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)`, include/uapi/linux/nvme_ioctl.h.
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xc048_4e41;
/// `_IOWR('N', 0x43, struct nvme_passthru_cmd)`: a command on an I/O queue.
const NVME_IOCTL_IO_CMD: libc::c_ulong = 0xc048_4e43;
/// `_IO('N', 0x40)`.
const NVME_IOCTL_ID: libc::c_ulong = 0x4e40;
/// `_IO(0x12, 119)`, include/uapi/linux/fs.h.
const BLKDISCARD: rustix::ioctl::Opcode = 0x1277;
/// `_IOWR(0x12, 130, struct blk_zone_report)`, include/uapi/linux/blkzoned.h.
const BLKREPORTZONE: rustix::ioctl::Opcode = 0xc010_1282;
/// `_IOW(0x12, 131, struct blk_zone_range)`.
const BLKRESETZONE: rustix::ioctl::Opcode = 0x4010_1283;
/// include/uapi/linux/loop.h.
const LOOP_GET_STATUS64: rustix::ioctl::Opcode = 0x4C05;

/// `IOPRIO_WHO_PROCESS`, include/uapi/linux/ioprio.h: a thread, and 0 is the calling one.
const IOPRIO_WHO_PROCESS: libc::c_int = 1;

/// Class and level as the kernel packs them; of the calling thread.
pub(crate) fn set_io_priority(packed: u16) -> io::Result<()> {
    let packed = libc::c_int::from(packed);
    // SAFETY: the call takes numbers only.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, packed) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// include/uapi/asm-generic/fcntl.h.
const F_SETSIG: libc::c_int = 10;

/// Whether anything but this descriptor has a file open, also the kernel (a mount of the file, an
/// export) or a process in other namespaces: then the kernel gives no write lease (fcntl(2)).
/// False also where leases are not possible.
pub fn is_open_elsewhere(file: &File) -> bool {
    let set = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: the commands take numbers only.
        unsafe { libc::fcntl(file.as_raw_fd(), command, value) }
    };
    // Whoever opens the file while the lease is held sends a signal: one that ends no process.
    set(F_SETSIG, libc::SIGURG);
    let leased = set(libc::F_SETLEASE, libc::F_WRLCK as libc::c_int);
    let refused = io::Error::last_os_error().raw_os_error();
    if leased == 0 {
        set(libc::F_SETLEASE, libc::F_UNLCK as libc::c_int);
    }
    leased != 0 && refused == Some(libc::EAGAIN)
}

/// How an NVMe command failed.
#[derive(Debug)]
pub enum NvmeCommandError {
    /// The controller completed it with this status.
    Status(StatusCode),
    /// The kernel did not send it.
    System(io::Error),
}

/// Sends an NVMe admin command through a controller's or namespace's device file and waits for it;
/// `data` is sent or filled as the opcode specifies. Returns dword 0 of the completion.
pub fn nvme_admin_command(
    file: &File,
    command: &SubmissionEntry,
    data: &mut [u8],
    timeout_ms: u32,
) -> Result<u32, NvmeCommandError> {
    nvme_command(file, NVME_IOCTL_ADMIN_CMD, command, data, timeout_ms)
}

/// Reads blocks through the device file of their namespace, without a check of their protection
/// information.
pub fn nvme_read_unchecked(
    file: &File,
    nsid: u32,
    first_block: u64,
    block_bytes: u32,
    data: &mut [u8],
) -> Result<(), NvmeCommandError> {
    let mut read = Read::for_blocks(nsid, first_block, data.len() as u32 / block_bytes);
    read.set_protection(prinfo::ACTION);
    nvme_command(file, NVME_IOCTL_IO_CMD, &read.entry(), data, 0).map(|_| ())
}

fn nvme_command(
    file: &File,
    request: libc::c_ulong,
    command: &SubmissionEntry,
    data: &mut [u8],
    timeout_ms: u32,
) -> Result<u32, NvmeCommandError> {
    let data_len = u32::try_from(data.len())
        .map_err(|_| NvmeCommandError::System(io::ErrorKind::InvalidInput.into()))?;
    let address = match data.is_empty() {
        true => 0,
        false => data.as_mut_ptr() as u64,
    };
    let mut raw = KernelCommand::new(command, address, data_len);
    raw.timeout_ms = timeout_ms;
    // SAFETY: `raw` is what both requests are defined with and outlives the call; `address`
    // and `data_len` are those of `data`, which is borrowed exclusively for the call, and the
    // kernel copies no more than that to or from it.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), request as _, &raw mut raw) };
    match result {
        0 => Ok(raw.result),
        status if status > 0 => Err(NvmeCommandError::Status(status_of(status))),
        _ => Err(NvmeCommandError::System(io::Error::last_os_error())),
    }
}

/// The namespace identifier of an open NVMe block or generic character device.
pub fn nvme_namespace_id(file: &File) -> io::Result<u32> {
    // SAFETY: this request takes no argument and touches no memory of this process.
    let nsid = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ID as _) };
    u32::try_from(nsid).map_err(|_| io::Error::last_os_error())
}

/// Discards the first `len_bytes` bytes of a block device.
pub fn block_discard(file: &File, len_bytes: u64) -> rustix::io::Result<()> {
    // SAFETY: BLKDISCARD reads exactly two u64, start and length, and writes to no memory of this
    // process.
    unsafe {
        let range = rustix::ioctl::Setter::<BLKDISCARD, [u64; 2]>::new([0, len_bytes]);
        rustix::ioctl::ioctl(file, range)
    }
}

/// Unit of addresses of zones, whatever the logical block (include/uapi/linux/blkzoned.h).
const ZONE_SECTOR_BYTES: u64 = 512;
/// Zones of one report.
const REPORTED_ZONES: usize = 256;

/// `struct blk_zone` of include/uapi/linux/blkzoned.h; addresses in sectors.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct KernelZone {
    start: u64,
    len: u64,
    write_pointer: u64,
    kind: u8,
    condition: u8,
    _flags: [u8; 6],
    capacity: u64,
    _reserved: [u8; 24],
}

/// `struct blk_zone_report`: in, where to begin and how many zones fit; out, how many there are.
#[repr(C)]
#[derive(Clone, Copy)]
struct ZoneReport {
    sector: u64,
    zones: u32,
    flags: u32,
    found: [KernelZone; REPORTED_ZONES],
}

const _: () = assert!(size_of::<ZoneReport>() == 16 + 64 * REPORTED_ZONES);

/// A zone of a zoned block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its begin.
    pub start_bytes: u64,
    /// What can be written of it, from its start on.
    pub capacity_bytes: u64,
    /// Up to where it is written; of some conditions it means nothing.
    pub write_pointer_bytes: u64,
    /// Writes go anywhere.
    pub is_conventional: bool,
    /// `BLK_ZONE_COND_...`.
    pub condition: u8,
}

/// `BLK_ZONE_TYPE_CONVENTIONAL`.
const CONVENTIONAL: u8 = 1;

/// At most `most` zones of a zoned block device, from its start on.
pub fn report_zones(file: &File, most: usize) -> io::Result<Vec<Zone>> {
    let mut report = Box::new(ZoneReport {
        sector: 0,
        zones: 0,
        flags: 0,
        found: [KernelZone::default(); REPORTED_ZONES],
    });
    let mut zones = Vec::new();
    while zones.len() < most {
        report.zones = REPORTED_ZONES.min(most - zones.len()) as u32;
        // SAFETY: BLKREPORTZONE fills the header and at most as many zones as the header asks for,
        // which the structure has room for (size asserted above).
        unsafe {
            let updater = rustix::ioctl::Updater::<BLKREPORTZONE, ZoneReport>::new(&mut report);
            rustix::ioctl::ioctl(file, updater)?;
        }
        // The kernel sets it, and a broken one must not make this loop endless.
        let found = &report.found[..(report.zones as usize).min(REPORTED_ZONES)];
        let Some(last) = found.last() else { break };
        report.sector = last.start.saturating_add(last.len.max(1));
        zones.extend(found.iter().map(|zone| {
            let bytes = |sectors: u64| sectors.saturating_mul(ZONE_SECTOR_BYTES);
            Zone {
                start_bytes: bytes(zone.start),
                // Older kernels report no capacity: it is the length.
                capacity_bytes: bytes(match zone.capacity {
                    0 => zone.len,
                    sectors => sectors,
                }),
                write_pointer_bytes: bytes(zone.write_pointer),
                is_conventional: zone.kind == CONVENTIONAL,
                condition: zone.condition,
            }
        }));
    }
    Ok(zones)
}

/// Empties all zones that begin in a range, whose ends are those of zones.
pub fn reset_zones(file: &File, offset_bytes: u64, len_bytes: u64) -> rustix::io::Result<()> {
    let range = [offset_bytes, len_bytes].map(|bytes| bytes / ZONE_SECTOR_BYTES);
    // SAFETY: BLKRESETZONE reads exactly two u64, sector and number of sectors, and writes to no
    // memory of this process.
    unsafe {
        let range = rustix::ioctl::Setter::<BLKRESETZONE, [u64; 2]>::new(range);
        rustix::ioctl::ioctl(file, range)
    }
}

/// `struct loop_info64` of include/uapi/linux/loop.h, with numbers as in `stat`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LoopInfo64 {
    /// Device of the file system that holds the inode.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Device number, where the inode is a block device; else 0.
    pub rdevice: u64,
    _others: [u64; 26],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232);

/// The file or device under a loop device; `None` for other and for unbound devices.
pub fn loop_backing(file: &File) -> Option<LoopInfo64> {
    // SAFETY: LOOP_GET_STATUS64 fills exactly one `struct loop_info64` (size asserted above), for
    // which any bytes are valid.
    unsafe {
        let getter = rustix::ioctl::Getter::<LOOP_GET_STATUS64, LoopInfo64>::new();
        rustix::ioctl::ioctl(file, getter).ok()
    }
}

/// `_IOWR(0xfd, 12, struct dm_ioctl)`, include/uapi/linux/dm-ioctl.h.
const DM_TABLE_STATUS: libc::c_ulong = 0xc138_fd0c;
/// `DM_NOFLUSH_FLAG`: the status does not write out what a target holds.
const DM_NOFLUSH: u32 = 1 << 11;
/// `struct dm_ioctl` alone, and with the targets that follow.
const DM_HEADER_BYTES: usize = 312;
const DM_BUFFER_BYTES: usize = 16 << 10;

/// Number and status of the targets of a device-mapper device, through `/dev/mapper/control`:
/// `struct dm_target_spec`s, each with its text, as the kernel wrote them. Needs root. Fails with
/// [`io::ErrorKind::InvalidData`] for an answer outside of its buffer.
pub fn device_mapper_status(control: &File, major: u32, minor: u32) -> io::Result<(u32, Vec<u8>)> {
    let mut buffer = vec![0_u8; DM_BUFFER_BYTES];
    let mut put = |at: usize, bytes: &[u8]| buffer[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &4_u32.to_ne_bytes());
    put(12, &(DM_BUFFER_BYTES as u32).to_ne_bytes());
    put(16, &(DM_HEADER_BYTES as u32).to_ne_bytes());
    put(28, &DM_NOFLUSH.to_ne_bytes());
    // `new_encode_dev` of include/linux/kdev_t.h.
    let device = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    put(40, &u64::from(device).to_ne_bytes());
    // SAFETY: the request reads and writes `struct dm_ioctl` and what follows it up to its
    // `data_size`, which is the length of `buffer`; any bytes are valid for it, and it is borrowed
    // exclusively for the call.
    let result =
        unsafe { libc::ioctl(control.as_raw_fd(), DM_TABLE_STATUS as _, buffer.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let word = |at: usize| {
        let bytes = buffer[at..at + 4].try_into();
        bytes.map_or(0, u32::from_ne_bytes)
    };
    let (size, start, targets) = (word(12) as usize, word(16) as usize, word(20));
    let found = buffer.get(start..size.min(DM_BUFFER_BYTES));
    let found = found.ok_or(io::ErrorKind::InvalidData)?;
    Ok((targets, found.to_vec()))
}

/// cachestat(2), Linux 6.5, include/uapi/asm-generic/unistd.h.
const SYS_CACHESTAT: libc::c_long = 451;

/// Pages of a range of a file that are in the page cache.
pub(crate) fn cached_pages(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<u64> {
    // `struct cachestat_range` and `struct cachestat` of include/uapi/linux/mman.h.
    let range = [offset_bytes, len_bytes];
    let mut counts = [0_u64; 5];
    // SAFETY: the call reads one `struct cachestat_range` (two u64) and writes one `struct
    // cachestat` (five u64); both pointers are valid for that for the length of the call.
    let result = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0)
    };
    match result {
        0 => Ok(counts[0]),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Pages of a range of a file that mincore(2) has in memory: the same in every version of Linux,
/// and through file systems that have no pages of their own. All pages, where the caller is
/// neither the file's owner nor may write it.
pub(crate) fn resident_pages(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<u64> {
    /// Mapped at a time.
    const WINDOW_BYTES: u64 = 1 << 30;
    let page_bytes = rustix::param::page_size() as u64;
    let file_bytes = io::Seek::seek(&mut &*file, io::SeekFrom::End(0))?;
    let end = offset_bytes.saturating_add(len_bytes).min(file_bytes);
    let mut at = offset_bytes - offset_bytes % page_bytes;
    let mut states = vec![0_u8; WINDOW_BYTES.div_ceil(page_bytes) as usize];
    let mut resident = 0;
    while at < end {
        let bytes = (end - at).min(WINDOW_BYTES) as usize;
        let pages = bytes.div_ceil(page_bytes as usize);
        // SAFETY: a new mapping at an address of the kernel's choice, which is never accessed and
        // is unmapped below; mincore writes one byte for each page, for which `states` has room.
        let result = unsafe {
            let none = std::ptr::null_mut();
            let base = mmap(none, bytes, ProtFlags::READ, MapFlags::SHARED, file, at)?;
            let result = libc::mincore(base, bytes, states.as_mut_ptr());
            let error = io::Error::last_os_error();
            let _ = munmap(base, bytes);
            if result == 0 { Ok(()) } else { Err(error) }
        };
        result?;
        resident += states[..pages].iter().filter(|&&state| state & 1 == 1).count() as u64;
        at += bytes as u64;
    }
    Ok(resident)
}

/// `_IOWR('f', 11, struct fiemap)`, include/uapi/linux/fs.h.
const FS_IOC_FIEMAP: libc::c_ulong = 0xc020_660b;
/// `struct fiemap` and `struct fiemap_extent` of include/uapi/linux/fiemap.h.
const FIEMAP_BYTES: usize = 32;
const FIEMAP_EXTENT_BYTES: usize = 56;
const FIEMAP_EXTENTS: usize = 512;

/// A part of a file that its file system has a place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// In the file, bytes.
    pub offset_bytes: u64,
    /// Length, bytes.
    pub len_bytes: u64,
    /// `FIEMAP_EXTENT_*`.
    pub flags: u32,
}

impl FileExtent {
    /// Allocated and never written: reads are zeroes of the file system.
    pub const UNWRITTEN: u32 = 0x800;
    /// Compressed or encrypted.
    pub const ENCODED: u32 = 0x8;
    const LAST: u32 = 0x1;
}

/// Extents from an offset on, at most 512; none after the last. Fails where the file system does
/// not list them.
pub fn file_extents(file: &File, from_bytes: u64, len_bytes: u64) -> io::Result<Vec<FileExtent>> {
    let mut buffer = vec![0_u8; FIEMAP_BYTES + FIEMAP_EXTENTS * FIEMAP_EXTENT_BYTES];
    buffer[0..8].copy_from_slice(&from_bytes.to_ne_bytes());
    buffer[8..16].copy_from_slice(&len_bytes.to_ne_bytes());
    buffer[24..28].copy_from_slice(&(FIEMAP_EXTENTS as u32).to_ne_bytes());
    // SAFETY: the request reads `struct fiemap` and writes it and at most `fm_extent_count` extents
    // after it, for which `buffer` has room; any bytes are valid for both.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, buffer.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let word = |at: usize| u32::from_ne_bytes(*buffer[at..].first_chunk().expect("in the buffer"));
    let long = |at: usize| u64::from_ne_bytes(*buffer[at..].first_chunk().expect("in the buffer"));
    let count = (word(20) as usize).min(FIEMAP_EXTENTS);
    let extent = |number: usize| {
        let at = FIEMAP_BYTES + number * FIEMAP_EXTENT_BYTES;
        FileExtent { offset_bytes: long(at), len_bytes: long(at + 16), flags: word(at + 40) }
    };
    Ok((0..count).map(extent).collect())
}

impl FileExtent {
    /// No extent follows it.
    pub fn is_last(&self) -> bool {
        self.flags & FileExtent::LAST != 0
    }
}

/// All threads of this process (getrusage(2), `RUSAGE_SELF`).
pub fn process_resource_usage() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage writes one `struct rusage` to the pointer, which is valid for it; all-zero
    // bytes are a valid one too, should the call fail (it cannot: both arguments are valid).
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// Reads 32-bit registers of a PCI device's memory window (`resource0` in sysfs), in the order of
/// `offsets`, little-endian.
pub fn read_registers<const COUNT: usize>(
    window: &File,
    offsets: [u64; COUNT],
) -> io::Result<[u32; COUNT]> {
    /// The registers before the doorbells.
    const WINDOW_BYTES: usize = 4096;
    for offset in offsets {
        assert!(
            offset % 4 == 0 && offset < WINDOW_BYTES as u64,
            "register offset {offset:#x} is not within the mapped page"
        );
    }
    // SAFETY: a new mapping at an address of the kernel's choice, for reading; it is unmapped below
    // and no reference into it is made.
    let base = unsafe {
        mmap(std::ptr::null_mut(), WINDOW_BYTES, ProtFlags::READ, MapFlags::SHARED, window, 0)
    }?;
    let values = offsets.map(|offset| {
        // SAFETY: every offset is a multiple of 4 within the mapped page (asserted); registers
        // change at any time, hence volatile.
        u32::from_le(unsafe {
            base.cast::<u8>().add(offset as usize).cast::<u32>().read_volatile()
        })
    });
    // SAFETY: the mapping made above, no longer used.
    let _ = unsafe { munmap(base, WINDOW_BYTES) };
    Ok(values)
}
