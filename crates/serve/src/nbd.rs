//! The NBD (network block device) protocol, sans-IO: bytes in, requests out; replies in, bytes out.
//! Source of every number and rule: `doc/proto.md` of NetworkBlockDevice/nbd, called *proto* below
//! and cited by section heading.

mod front;
mod options;
pub mod protocol;
mod reply;
mod session;

pub use front::{NbdFront, NbdServer};
pub use reply::NbdError;
pub use session::{Decoded, Export, NbdCommand, NbdSession, Request};
