//! Event loop of a server: one thread, one epoll instance, one drive, many
//! connections, with any [`Front`]. Without
//! requests in flight the thread sleeps until a socket is readable. While the model holds
//! completions back it sleeps until [`SPIN`] before the next is due and then polls, because a
//! wake-up takes tens of microseconds. After activity it polls for [`BUSY_POLL`] before it sleeps,
//! since a reply is mostly followed by the next request; on a machine with one processor it does
//! not, because the client needs the processor. The thread's timer slack is set to the minimum, so
//! that sleeps end in time.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use assay_io::clock::Clock;
use assay_ssd::Drive;
use assay_units::{Nanos, limited_event};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::connection::{Connection, ReadOutcome};
use crate::crowd::Crowd;
use crate::front::{ConnectionId, Finished, Front, Step};
use crate::listen::Listener;
use crate::pacer::{Lateness, Wait};

/// Further connections are closed at once.
pub const MAX_CONNECTIONS: usize = 64;
/// Reply bytes in flight or not sent, over all connections.
pub const MAX_IN_FLIGHT_BYTES: u64 = 256 << 20;
/// A silent client holds no connection. Time of qemu-nbd (`NBD_DEFAULT_HANDSHAKE_MAX_SECS`, QEMU,
/// include/block/nbd.h).
pub const HANDSHAKE_TIMEOUT: Nanos = Nanos::from_millis(10_000);
/// Polling before a deadline: longer than a wake-up on a virtual machine takes (measured: median 50
/// to 90 us, 99th percentile 130 to 160 us).
pub const SPIN: Nanos = Nanos::from_micros(150);
/// Polling after activity: about the time a client takes to wake and send its next request.
pub const BUSY_POLL: Nanos = Nanos::from_micros(200);
/// Cost of a request without data, counted towards [`MAX_IN_FLIGHT_BYTES`].
pub(crate) const REQUEST_COST_BYTES: u64 = 512;
/// After a stop request: limit for requests in flight to complete and connections to receive the
/// replies.
const DRAIN_TIMEOUT: Nanos = Nanos::from_millis(2000);
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

#[derive(Debug, thiserror::Error)]
#[error("cannot serve the simulated drive: {what} failed: {source}")]
pub struct ServeError {
    what: &'static str,
    source: io::Error,
}

fn failed<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> ServeError {
    move |error| ServeError { what, source: error.into() }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeSummary {
    pub connections: u64,
    /// Completed by the drive.
    pub requests: u64,
    pub failed: u64,
    /// Delay of completions against the model's times.
    pub lateness: Lateness,
}

pub struct Server<F: Front> {
    pub(crate) front: F,
    epoll: OwnedFd,
    listener: Option<Listener>,
    connections: Vec<Option<Connection<F::Session>>>,
    /// Slots of connections with data to send or a changed state.
    to_flush: Vec<usize>,
    /// Sum over all connections, see [`Connection::held_bytes`].
    held_bytes: u64,
    stopping: bool,
    clock: Clock,
    /// [`BUSY_POLL`], or 0 on a machine with one processor.
    busy_poll: Nanos,
    busy_poll_until: Nanos,
    /// No handshake is overdue before.
    handshakes_until: Option<Nanos>,
    events: Vec<epoll::Event>,
    summary: ServeSummary,
    /// Says that clients are refused.
    pub crowd: Crowd,
}

impl<F: Front> Server<F> {
    /// Fails when epoll is not available.
    pub fn with_front(front: F) -> Result<Server<F>, ServeError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed("epoll_create"))?;
        // Without it wake-ups are about 50 us later, which the round-trip overhead then includes.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Ok(Server {
            front,
            epoll,
            listener: None,
            connections: Vec::new(),
            to_flush: Vec::new(),
            held_bytes: 0,
            stopping: false,
            clock: Clock::monotonic(),
            busy_poll: match std::thread::available_parallelism() {
                Ok(processors) if processors.get() > 1 => BUSY_POLL,
                _ => Nanos::ZERO,
            },
            busy_poll_until: Nanos::ZERO,
            handshakes_until: None,
            events: Vec::with_capacity(MAX_CONNECTIONS + 2),
            summary: ServeSummary::default(),
            crowd: Crowd::default(),
        })
    }

    /// Fails when epoll rejects the socket.
    pub fn listen(&mut self, listener: Listener) -> Result<(), ServeError> {
        self.register(listener.as_fd(), LISTENER)?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Serves a connected socket; fails when epoll rejects it.
    pub fn adopt(&mut self, stream: impl Into<OwnedFd>) -> Result<(), ServeError> {
        let stream = stream.into();
        rustix::io::ioctl_fionbio(&stream, true).map_err(failed("ioctl"))?;
        self.add_connection(stream)?;
        self.flush();
        Ok(())
    }

    pub fn drive(&self) -> &Drive {
        self.front.drive()
    }

    pub fn connected(&self) -> usize {
        self.connections.iter().flatten().count()
    }

    /// Serves until `stop` is readable, then completes the requests in flight. An error of a client
    /// ends only its connection.
    pub fn run(&mut self, stop: BorrowedFd<'_>) -> Result<ServeSummary, ServeError> {
        self.register(stop, STOP)?;
        while !self.stopping {
            self.poll_once()?;
        }
        epoll::delete(&self.epoll, stop).map_err(failed("epoll_ctl"))?;
        self.listener = None;
        for connection in self.connections.iter_mut().flatten() {
            (connection.closing, connection.stalled) = (true, false);
        }
        let until = self.clock.now() + DRAIN_TIMEOUT;
        self.to_flush = (0..self.connections.len()).collect();
        self.flush();
        // `flush` closed the connections without outstanding replies.
        while (self.front.in_flight() > 0 || self.connected() > 0) && self.clock.now() < until {
            self.poll_until(Some(until))?;
        }
        for slot in 0..self.connections.len() {
            self.close(slot, "the server stops");
        }
        self.stopping = false;
        self.summary.lateness = self.front.lateness();
        Ok(self.summary)
    }

    /// One iteration: waits for an event and processes it.
    pub fn poll_once(&mut self) -> Result<(), ServeError> {
        self.poll_until(None)
    }

    /// One iteration that waits until `until` at most.
    fn poll_until(&mut self, until: Option<Nanos>) -> Result<(), ServeError> {
        let until = until.into_iter().chain(self.handshakes_until);
        let until = until.chain(self.front.deadline()).min();
        let mut timeout = Some(Timespec::default());
        let may_sleep = self.clock.now() > self.busy_poll_until;
        match self.front.wait() {
            Wait::Idle if may_sleep => match until {
                None => timeout = None,
                Some(until) => self.sleep(until - self.clock.now())?,
            },
            Wait::For(span) if may_sleep && span > SPIN => {
                let left = until.map_or(span, |until| until - self.clock.now());
                self.sleep(span.min(left) - SPIN)?;
            }
            _ => {}
        }
        self.events.clear();
        let room = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, room, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(failed("epoll_wait")(e)),
        }
        let mut is_busy = !self.events.is_empty();
        for at in 0..self.events.len() {
            let event = self.events[at];
            match event.data.u64() {
                LISTENER => self.accept()?,
                STOP => self.stopping = true,
                slot => self.on_ready(slot as usize, event.flags),
            }
        }
        self.front.collect();
        while let Some(finished) = self.front.next_finished() {
            self.send_reply(&finished);
            is_busy = true;
        }
        self.close_overdue_handshakes();
        self.front.tick(&self.clock);
        self.flush();
        while let Some(id) = self.front.next_to_close() {
            let connection = self.connections.get(id.slot as usize);
            if connection.is_some_and(|c| c.as_ref().is_some_and(|c| c.id == id)) {
                self.close(id.slot as usize, "the association ended");
            }
        }
        if is_busy {
            self.busy_poll_until = self.clock.now() + self.busy_poll;
        } else {
            // Lets other threads, such as a client just woken, use this processor before the time
            // slice (some milliseconds) ends.
            rustix::thread::sched_yield();
        }
        Ok(())
    }

    /// Until a socket is ready, at most `span`. `ppoll` has nanosecond timeouts, `epoll_wait`
    /// milliseconds.
    fn sleep(&self, span: Nanos) -> Result<(), ServeError> {
        let timeout = Timespec {
            tv_sec: (span.0 / 1_000_000_000).min(3600) as i64,
            tv_nsec: (span.0 % 1_000_000_000) as i64,
        };
        let mut all = [PollFd::new(&self.epoll, PollFlags::IN)];
        match poll(&mut all, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(failed("ppoll")(e)),
        }
    }

    fn register(&self, fd: BorrowedFd<'_>, data: u64) -> Result<(), ServeError> {
        let data = EventData::new_u64(data);
        epoll::add(&self.epoll, fd, data, EventFlags::IN).map_err(failed("epoll_ctl"))
    }

    fn accept(&mut self) -> Result<(), ServeError> {
        // One per iteration, so that connected clients are not delayed.
        match self.listener.as_ref().map(Listener::accept) {
            Some(Ok(stream)) if self.connected() < MAX_CONNECTIONS => self.add_connection(stream),
            Some(Ok(_)) => {
                let now = self.clock.now();
                self.crowd.refused(now, MAX_CONNECTIONS, "are connected");
                Ok(())
            }
            // The client has disconnected already.
            _ => Ok(()),
        }
    }

    fn add_connection(&mut self, stream: OwnedFd) -> Result<(), ServeError> {
        let free = self.connections.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.connections.len());
        self.register(stream.as_fd(), slot as u64)?;
        if free.is_none() {
            self.connections.push(None);
        }
        self.summary.connections += 1;
        let id = ConnectionId { slot: slot as u32, number: self.summary.connections };
        let until = self.clock.now() + HANDSHAKE_TIMEOUT;
        self.handshakes_until.get_or_insert(until);
        limited_event!(self.clock.now(), INFO, connection = id.number, "connection accepted");
        let mut first = Vec::new();
        let session = self.front.open(id, stream.as_fd(), &mut first);
        let connection = Connection::new(stream, session, first, id, until);
        self.connections[slot] = Some(connection);
        self.mark_for_flush(slot);
        Ok(())
    }

    fn mark_for_flush(&mut self, slot: usize) {
        if let Some(Some(connection)) = self.connections.get_mut(slot)
            && !connection.listed
        {
            connection.listed = true;
            self.to_flush.push(slot);
        }
    }

    fn on_ready(&mut self, slot: usize, flags: EventFlags) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return;
        };
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if connection.closing || connection.stalled {
            if gone {
                return self.close(slot, "the client disconnected");
            }
        } else if gone || flags.intersects(EventFlags::IN) {
            match connection.received.fill(&connection.stream) {
                ReadOutcome::Bytes => self.process_received(slot),
                ReadOutcome::WouldBlock => {}
                ReadOutcome::End if F::ENDS_AT_ONCE => {
                    return self.close(slot, "the client disconnected");
                }
                ReadOutcome::End => connection.closing = true,
            }
        }
        self.mark_for_flush(slot);
    }

    /// Starts requests up to the limit of bytes in flight.
    fn process_received(&mut self, slot: usize) {
        let now = self.front.now();
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return;
        };
        connection.stalled = false;
        let others_bytes = self.held_bytes - connection.counted_bytes;
        loop {
            let held_bytes = connection.held_bytes();
            let room_bytes = match held_bytes {
                0 => u64::MAX,
                _ => MAX_IN_FLIGHT_BYTES.saturating_sub(others_bytes + held_bytes),
            };
            // Also bounds replies to messages that never reach the drive.
            if room_bytes < REQUEST_COST_BYTES {
                connection.stalled = true;
                break;
            }
            let input = connection.received.bytes();
            let (session, out) = (&mut connection.session, &mut connection.replies.bytes);
            match self.front.receive(now, connection.id, session, input, room_bytes, out) {
                Step::NeedMore { bytes } => {
                    connection.received.reserve(bytes);
                    break;
                }
                Step::Consumed { bytes } => connection.received.consume(bytes),
                Step::Started { bytes, cost_bytes } => {
                    connection.in_flight += 1;
                    connection.in_flight_bytes += cost_bytes;
                    connection.received.consume(bytes);
                }
                Step::Full => {
                    connection.stalled = true;
                    break;
                }
                Step::Close => {
                    connection.closing = true;
                    break;
                }
            }
        }
        connection.waiting = self.front.is_waiting(&connection.session);
        if self.front.is_established(&connection.session) {
            connection.handshake_until = None;
        }
        self.update_held_bytes(slot);
        self.mark_for_flush(slot);
    }

    fn close_overdue_handshakes(&mut self) {
        let Some(until) = self.handshakes_until else {
            return;
        };
        let now = self.clock.now();
        if now < until {
            return;
        }
        self.handshakes_until = None;
        for slot in 0..self.connections.len() {
            let connection = self.connections[slot].as_ref();
            match connection.and_then(|connection| connection.handshake_until) {
                Some(until) if until <= now => {
                    let connection = connection.map(|connection| connection.id.number);
                    limited_event!(now, WARN, connection, "no handshake in time");
                    self.close(slot, "the handshake took too long");
                }
                later => {
                    self.handshakes_until = self.handshakes_until.into_iter().chain(later).min();
                }
            }
        }
    }

    /// If the connection still exists.
    fn send_reply(&mut self, finished: &Finished<F::Reply>) {
        let slot = finished.connection.slot as usize;
        self.summary.requests += 1;
        self.summary.failed += u64::from(finished.failed);
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return;
        };
        if connection.id != finished.connection {
            return;
        }
        connection.in_flight -= u32::from(finished.cost_bytes > 0);
        connection.in_flight_bytes -= finished.cost_bytes;
        let (session, out) = (&mut connection.session, &mut connection.replies.bytes);
        self.front.reply(session, finished, out);
        self.mark_for_flush(slot);
    }

    /// Sends replies, closes finished connections, resumes stalled ones and updates their epoll
    /// events.
    fn flush(&mut self) {
        loop {
            self.flush_marked();
            let full = self.held_bytes + REQUEST_COST_BYTES > MAX_IN_FLIGHT_BYTES;
            let waits = |c: &Connection<F::Session>| {
                (c.stalled || c.waiting) && !c.closing && (!full || c.held_bytes() == 0)
            };
            let resumable =
                |slot: &Option<Connection<F::Session>>| slot.as_ref().is_some_and(waits);
            // A connection that stays stalled although bytes are left is resumed after the next
            // reply was sent.
            let Some(slot) = self.connections.iter().position(resumable) else {
                return;
            };
            let before = self.held_bytes;
            self.process_received(slot);
            let still = self.connections[slot].as_ref().is_some_and(waits);
            if still && self.held_bytes == before {
                self.flush_marked();
                return;
            }
        }
    }

    fn flush_marked(&mut self) {
        while let Some(slot) = self.to_flush.pop() {
            self.flush_one(slot);
        }
    }

    fn flush_one(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else {
            return;
        };
        connection.listed = false;
        if !connection.replies.send(&connection.stream) {
            return self.close(slot, "no reply can be sent");
        }
        if connection.is_finished(F::ENDS_AT_ONCE) {
            return self.close(slot, "ended");
        }
        let wanted = connection.wanted_events();
        if wanted != connection.interest {
            connection.interest = wanted;
            let data = EventData::new_u64(slot as u64);
            if epoll::modify(&self.epoll, &connection.stream, data, wanted).is_err() {
                return self.close(slot, "epoll rejects it");
            }
        }
        self.update_held_bytes(slot);
    }

    fn update_held_bytes(&mut self, slot: usize) {
        if let Some(Some(connection)) = self.connections.get_mut(slot) {
            let held_bytes = connection.held_bytes();
            self.held_bytes = self.held_bytes - connection.counted_bytes + held_bytes;
            connection.counted_bytes = held_bytes;
        }
    }

    fn close(&mut self, slot: usize, why: &str) {
        if let Some(connection) = self.connections.get_mut(slot).and_then(Option::take) {
            let (now, number) = (self.clock.now(), connection.id.number);
            limited_event!(now, INFO, connection = number, why, "connection closed");
            self.held_bytes -= connection.counted_bytes;
            self.front.closed(&connection.session);
        }
    }
}
