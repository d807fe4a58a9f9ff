//! Server side of one vfio-user connection as a state machine: messages in, replies out (the
//! vfio-user protocol specification, QEMU, docs/interop/vfio-user.rst). A message that is malformed
//! ends the connection; a request that the function cannot carry out gets an error reply.

use std::fs::File;
use std::io;

use assay_io::clock::Clock;
use assay_units::limited_event;
use vfio_bindings::bindings::vfio::{
    VFIO_DEVICE_FLAGS_PCI, VFIO_DEVICE_FLAGS_RESET, VFIO_IRQ_SET_DATA_BOOL,
};

pub const HEADER_BYTES: usize = 16;
/// One access to a region: the default of the capability `max_data_xfer_size`.
pub const MAX_DATA_BYTES: usize = 1 << 20;
/// Longest message and reply: an access to a region with its header.
pub const MAX_MESSAGE_BYTES: usize = HEADER_BYTES + ACCESS_BYTES + MAX_DATA_BYTES;
/// File descriptors of one message.
pub const MAX_DESCRIPTORS: usize = 16;

/// Offset, region and count of an access.
const ACCESS_BYTES: usize = 16;
/// Flags of a header: type (command or reply), no reply wanted, error.
const TYPE_MASK: u32 = 0xf;
const REPLY: u32 = 1;
const NO_REPLY: u32 = 1 << 4;
const ERROR: u32 = 1 << 5;
/// Flags of a mapping, and of its end.
const MAP_WRITABLE: u32 = 1 << 1;
const UNMAP_ALL: u32 = 1 << 2;
/// errno(3).
const EINVAL: i32 = 22;
const ENOTSUP: i32 = 95;

assay_units::constants! {
    pub mod command: u16 {
        VERSION = 1, "`VFIO_USER_VERSION`.";
        DMA_MAP = 2, "`VFIO_USER_DMA_MAP`.";
        DMA_UNMAP = 3, "`VFIO_USER_DMA_UNMAP`.";
        DEVICE_GET_INFO = 4, "`VFIO_USER_DEVICE_GET_INFO`.";
        DEVICE_GET_REGION_INFO = 5, "`VFIO_USER_DEVICE_GET_REGION_INFO`.";
        DEVICE_GET_IRQ_INFO = 7, "`VFIO_USER_DEVICE_GET_IRQ_INFO`.";
        DEVICE_SET_IRQS = 8, "`VFIO_USER_DEVICE_SET_IRQS`.";
        REGION_READ = 9, "`VFIO_USER_REGION_READ`.";
        REGION_WRITE = 10, "`VFIO_USER_REGION_WRITE`.";
        DEVICE_RESET = 13, "`VFIO_USER_DEVICE_RESET`.";
    }
}

/// The specification's defaults.
const CAPABILITIES: &[u8] = b"{\"capabilities\":{\"max_msg_fds\":1,\
    \"max_data_xfer_size\":1048576,\"migration\":{\"pgsize\":4096}}}\0";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The length in the header is impossible, or too short for the command.
    #[error("a message of command {command} is {bytes} bytes long")]
    Length {
        command: u16,
        /// Length by the header.
        bytes: u32,
    },
    #[error("a reply to no command")]
    Reply,
    /// The first command is another one.
    #[error("the first command is {0}, not the version")]
    NoVersion(u16),
    /// The major version is not 0.
    #[error("major version {0} of the protocol is not known")]
    Version(u16),
    #[error("more than {MAX_DESCRIPTORS} file descriptors")]
    Descriptors,
}

/// A region or kind of interrupt of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Flags of `vfio_region_info` or `vfio_irq_info`.
    pub flags: u32,
    /// Bytes, or number of vectors; 0: absent.
    pub size: u64,
}

/// Regions and interrupts have the indices of `vfio_pci`.
pub trait Device {
    /// `None` beyond the last region.
    fn region(&self, index: u32) -> Option<Part>;
    /// `None` beyond the last kind of interrupt.
    fn interrupt(&self, index: u32) -> Option<Part>;
    /// Numbers of regions and of kinds of interrupts.
    fn counts(&self) -> (u32, u32);
    /// `data` is zeroed.
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]);
    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]);
    /// Maps memory of the client.
    fn dma_map(&mut self, mapping: &Mapping, file: Option<File>) -> io::Result<()>;
    /// Ends mappings within the range; `None`: all.
    fn dma_unmap(&mut self, range: Option<(u64, u64)>);
    /// `VFIO_DEVICE_SET_IRQS`.
    fn set_interrupts(&mut self, change: &InterruptChange, files: Vec<File>);
    /// Function-level reset.
    fn reset(&mut self);
}

/// Memory of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub offset_bytes: u64,
    pub address: u64,
    pub len_bytes: u64,
    /// The device may write.
    pub writable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptChange {
    pub index: u32,
    pub flags: u32,
    pub start: u32,
    pub count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    message_id: u16,
    command: u16,
    flags: u32,
    /// Length of what follows the header.
    pub body_bytes: usize,
}

impl Header {
    /// Fails when the length is impossible, or the message is no command.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, ProtocolError> {
        let mut fields = Fields(bytes);
        let (message_id, command) = (fields.u16(), fields.u16());
        let (bytes, flags) = (fields.u32(), fields.u32());
        if flags & TYPE_MASK != 0 {
            return Err(ProtocolError::Reply);
        }
        let is_possible = (HEADER_BYTES..=MAX_MESSAGE_BYTES).contains(&(bytes as usize));
        if !is_possible {
            return Err(ProtocolError::Length { command, bytes });
        }
        Ok(Header { message_id, command, flags, body_bytes: bytes as usize - HEADER_BYTES })
    }

    fn too_short(&self) -> ProtocolError {
        ProtocolError::Length {
            command: self.command,
            bytes: (HEADER_BYTES + self.body_bytes) as u32,
        }
    }

    fn append_reply(&self, flags: u32, error: i32, body: &[&[u8]], out: &mut Vec<u8>) {
        if self.flags & NO_REPLY != 0 {
            return;
        }
        let body_bytes: usize = body.iter().map(|part| part.len()).sum();
        out.extend_from_slice(&self.message_id.to_le_bytes());
        out.extend_from_slice(&self.command.to_le_bytes());
        out.extend_from_slice(&((HEADER_BYTES + body_bytes) as u32).to_le_bytes());
        out.extend_from_slice(&(REPLY | flags).to_le_bytes());
        out.extend_from_slice(&error.to_le_bytes());
        body.iter().for_each(|part| out.extend_from_slice(part));
    }
}

/// Host byte order, as in the protocol; 0 beyond the end, which callers check first.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        *taken
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct VfioSession {
    negotiated: bool,
}

impl VfioSession {
    /// The versions have been exchanged.
    pub fn is_negotiated(self) -> bool {
        self.negotiated
    }

    /// Appends the reply. After an error the connection ends.
    pub fn handle(
        &mut self,
        device: &mut dyn Device,
        header: &Header,
        body: &[u8],
        files: Vec<File>,
        out: &mut Vec<u8>,
    ) -> Result<(), ProtocolError> {
        assert_eq!(body.len(), header.body_bytes, "the whole message");
        let command = header.command;
        // The others are the doorbells: I/O.
        if !matches!(command, command::REGION_READ | command::REGION_WRITE) {
            let bytes = body.len();
            limited_event!(Clock::monotonic().now(), DEBUG, command, bytes, "vfio-user message");
        }
        if header.command == command::VERSION {
            self.version(header, body, out)?;
        } else if !self.negotiated {
            return Err(ProtocolError::NoVersion(header.command));
        } else if let Err(errno) = request(device, header, body, files, out)? {
            let now = || Clock::monotonic().now();
            limited_event!(now(), WARN, command, errno, "vfio-user request refused");
            header.append_reply(ERROR, errno, &[], out);
        }
        Ok(())
    }

    fn version(
        &mut self,
        header: &Header,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ProtocolError> {
        // Major and minor version; the client's capabilities limit what this server never sends.
        if body.len() < 4 {
            return Err(header.too_short());
        }
        match Fields(body).u16() {
            0 => self.negotiated = true,
            other => return Err(ProtocolError::Version(other)),
        }
        header.append_reply(0, 0, &[&[0; 4], CAPABILITIES], out);
        Ok(())
    }
}

fn least_bytes(command: u16) -> usize {
    match command {
        command::DMA_MAP | command::DEVICE_GET_REGION_INFO => 32,
        command::DMA_UNMAP => 24,
        command::DEVICE_SET_IRQS => 20,
        command::REGION_READ | command::REGION_WRITE => ACCESS_BYTES,
        command::DEVICE_GET_INFO | command::DEVICE_GET_IRQ_INFO => 16,
        _ => 0,
    }
}

fn map(device: &mut dyn Device, mut fields: Fields<'_>, mut files: Vec<File>) -> Result<(), i32> {
    let (_argsz, flags) = (fields.u32(), fields.u32());
    let mapping = Mapping {
        offset_bytes: fields.u64(),
        address: fields.u64(),
        len_bytes: fields.u64(),
        writable: flags & MAP_WRITABLE != 0,
    };
    if files.len() > 1 {
        return Err(EINVAL);
    }
    let mapped = device.dma_map(&mapping, files.pop());
    mapped.map_err(|error| error.raw_os_error().unwrap_or(EINVAL))
}

fn set_interrupts(
    device: &mut dyn Device,
    mut fields: Fields<'_>,
    files: Vec<File>,
) -> Result<(), i32> {
    let (_argsz, flags) = (fields.u32(), fields.u32());
    let change =
        InterruptChange { index: fields.u32(), flags, start: fields.u32(), count: fields.u32() };
    if device.interrupt(change.index).is_none() {
        return Err(EINVAL);
    }
    if flags & VFIO_IRQ_SET_DATA_BOOL != 0 {
        return Err(ENOTSUP);
    }
    device.set_interrupts(&change, files);
    Ok(())
}

/// A read or write of a region; the reply's parts.
fn access(
    device: &mut dyn Device,
    header: &Header,
    body: &[u8],
) -> Result<Result<Vec<u8>, i32>, ProtocolError> {
    let mut fields = Fields(body);
    let (offset, region, count) = (fields.u64(), fields.u32(), fields.u32() as usize);
    if device.region(region).is_none() || count > MAX_DATA_BYTES {
        return Ok(Err(EINVAL));
    }
    let data = &body[ACCESS_BYTES..];
    if header.command == command::REGION_WRITE {
        let data = data.get(..count).ok_or_else(|| header.too_short())?;
        device.region_write(region, offset, data);
        return Ok(Ok(Vec::new()));
    }
    let mut data = vec![0; count];
    device.region_read(region, offset, &mut data);
    Ok(Ok(data))
}

/// A command after the version. The inner error is that of the reply.
fn request(
    device: &mut dyn Device,
    header: &Header,
    body: &[u8],
    files: Vec<File>,
    out: &mut Vec<u8>,
) -> Result<Result<(), i32>, ProtocolError> {
    let least = least_bytes(header.command);
    if body.len() < least {
        return Err(header.too_short());
    }
    let mut fields = Fields(body);
    let mut reply = |parts: &[&[u8]]| header.append_reply(0, 0, parts, out);
    match header.command {
        command::DMA_MAP => {
            if let Err(error) = map(device, fields, files) {
                return Ok(Err(error));
            }
            reply(&[]);
        }
        command::DMA_UNMAP => {
            let (_argsz, flags) = (fields.u32(), fields.u32());
            let range = (fields.u64(), fields.u64());
            device.dma_unmap((flags & UNMAP_ALL == 0).then_some(range));
            reply(&[&body[..least]]);
        }
        command::DEVICE_GET_INFO => {
            let (regions, interrupts) = device.counts();
            let flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
            let numbers = [16, flags, regions, interrupts];
            reply(&[&numbers.map(u32::to_le_bytes).concat()]);
        }
        command::DEVICE_GET_REGION_INFO => {
            let (_argsz, _flags, index) = (fields.u32(), fields.u32(), fields.u32());
            let Some(region) = device.region(index) else {
                return Ok(Err(EINVAL));
            };
            let head = [32, region.flags, index, 0].map(u32::to_le_bytes).concat();
            reply(&[&head, &region.size.to_le_bytes(), &[0; 8]]);
        }
        command::DEVICE_GET_IRQ_INFO => {
            let (_argsz, _flags, index) = (fields.u32(), fields.u32(), fields.u32());
            let Some(kind) = device.interrupt(index) else {
                return Ok(Err(EINVAL));
            };
            let numbers = [16, kind.flags, index, kind.size as u32].map(u32::to_le_bytes);
            reply(&[&numbers.concat()]);
        }
        command::DEVICE_SET_IRQS => {
            if let Err(error) = set_interrupts(device, fields, files) {
                return Ok(Err(error));
            }
            reply(&[]);
        }
        command::REGION_READ | command::REGION_WRITE => match access(device, header, body)? {
            Ok(data) => reply(&[&body[..ACCESS_BYTES], &data]),
            Err(error) => return Ok(Err(error)),
        },
        command::DEVICE_RESET => {
            device.reset();
            reply(&[]);
        }
        _ => return Ok(Err(ENOTSUP)),
    }
    Ok(Ok(()))
}
