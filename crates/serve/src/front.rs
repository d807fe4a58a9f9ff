//! A protocol and what executes its requests, as the event loop of [`crate::server`] uses them.

use std::os::fd::BorrowedFd;

use assay_io::clock::Clock;
use assay_ssd::Drive;
use assay_units::Nanos;

use crate::pacer::{Lateness, Wait};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId {
    /// Index in the server's table, and submission queue of an NBD server's drive.
    pub slot: u32,
    /// Slots are used again, numbers are not.
    pub number: u64,
}

/// What became of the beginning of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    NeedMore {
        /// Input length required, from the same first byte.
        bytes: usize,
    },
    Consumed {
        bytes: usize,
    },
    /// A request is in flight until [`Front::next_finished`] returns it.
    Started {
        bytes: usize,
        /// Share of the limit of bytes in flight, not 0.
        cost_bytes: u64,
    },
    /// There is no room for the request: it is received again when replies were sent.
    Full,
    /// Send what was appended, complete requests in flight, close; ignore later input.
    Close,
}

#[derive(Clone, Debug)]
pub struct Finished<R> {
    pub connection: ConnectionId,
    /// As it was started with, or 0 if it was not.
    pub cost_bytes: u64,
    pub failed: bool,
    pub reply: R,
}

pub trait Front {
    /// State of one connection.
    type Session;
    type Reply;

    /// A connection that ends is closed without the replies of requests in flight.
    const ENDS_AT_ONCE: bool = false;

    /// Appends what a connection begins with to `out`.
    fn open(
        &mut self,
        id: ConnectionId,
        stream: BorrowedFd<'_>,
        out: &mut Vec<u8>,
    ) -> Self::Session;

    /// `input` has all bytes received and not consumed, `now` is model time, `room_bytes` what a
    /// request may cost. Replies that are known at once are appended to `out`.
    fn receive(
        &mut self,
        now: Nanos,
        id: ConnectionId,
        session: &mut Self::Session,
        input: &[u8],
        room_bytes: u64,
        out: &mut Vec<u8>,
    ) -> Step;

    /// The handshake is done.
    fn is_established(&self, session: &Self::Session) -> bool;

    /// Received requests wait for room. The connection is received from nevertheless.
    fn is_waiting(&self, _session: &Self::Session) -> bool {
        false
    }

    /// Takes the completions due by now, for [`Front::next_finished`].
    fn collect(&mut self);

    fn next_finished(&mut self) -> Option<Finished<Self::Reply>>;

    fn reply(
        &mut self,
        session: &mut Self::Session,
        reply: &Finished<Self::Reply>,
        out: &mut Vec<u8>,
    );

    /// When to call [`Front::collect`] again.
    fn wait(&self) -> Wait;

    fn in_flight(&self) -> usize;

    /// Model time.
    fn now(&self) -> Nanos;

    fn drive(&self) -> &Drive;

    /// Delay of completions against the model's times so far.
    fn lateness(&self) -> Lateness;

    /// When [`Front::tick`] is due, wall clock.
    fn deadline(&self) -> Option<Nanos> {
        None
    }

    fn tick(&mut self, _clock: &Clock) {}

    /// The connection was closed.
    fn closed(&mut self, _session: &Self::Session) {}

    /// A connection to close once its replies were sent, as far as its socket takes them.
    fn next_to_close(&mut self) -> Option<ConnectionId> {
        None
    }
}
