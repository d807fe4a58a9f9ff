//! NBD, the network block device protocol, without a socket: bytes in, requests out; answers in, bytes out.
//!
//! The source of every number and rule here is the protocol's own document, `doc/proto.md` of NetworkBlockDevice/nbd, called *proto*
//! below and cited by its section headings.

pub mod protocol;
mod reply;
mod session;

mod options;

pub use reply::Failure;
pub use session::{Asked, Export, Request, Session, Step};
