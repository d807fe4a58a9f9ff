//! The server: one thread, one epoll, one drive, many connections.
//!
//! A turn waits for clients or for the drive, reads from the sockets that have something, decodes and submits, collects what has completed
//! and sends. Nothing is handed from thread to thread.
//!
//! # Waiting
//! With nothing under way it sleeps until a client sends. While the model holds something back it sleeps until [`SPIN`] before that is
//! due, and then looks again and again: a sleeping thread is late by the time it takes to wake, a spinning one by less than a microsecond.
//! After something came or was sent it lingers for [`LINGER`], since an answer is mostly followed by the next request, and who sends to a
//! sleeper pays for its waking. So a client that keeps commands under way sees no waking of the server, and the server takes a
//! processor for itself while one does. On a machine with one processor it never lingers: the client needs it. The thread's timer slack is
//! set to the least, so that the sleep itself ends in time.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use assay_io::clock::Clock;
use assay_ssd::Drive;
use assay_units::Nanos;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::connection::{Came, Connection, Stream};
use crate::listen::Listener;
use crate::nbd::{Asked, Export, Session, Step};
use crate::pacer::{Lateness, Pace, Pacer, Wait};
use crate::work::{Answer, Job, Origin, Work};

/// Most connections at once; more are closed when they come.
pub const MAX_CONNECTIONS: usize = 64;
/// Most that answers under way and not sent may take, of all connections, in bytes.
pub const MAX_UNDER_WAY_BYTES: u64 = 256 << 20;
/// The stretch before an instant that is waited for by looking again and again: longer than a processor of a virtual machine takes to wake
/// (a median of 50 to 90 us was measured, and 130 to 160 us in one of a hundred).
pub const SPIN: Nanos = Nanos::from_micros(150);
/// After something came or was sent it looks for so long whether more comes before it sleeps: as long as a client mostly takes to wake and
/// to send its next request.
pub const LINGER: Nanos = Nanos::from_micros(200);
/// What a request counts at least towards [`MAX_UNDER_WAY_BYTES`].
const REQUEST_COST_BYTES: u64 = 512;
/// So long may what is under way take, the drive to do it and the clients to take it, when the server is told to stop.
const DRAIN: Nanos = Nanos::from_millis(2000);
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

/// Why serving ended in failure.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve the simulated drive: {what} failed: {source}")]
pub struct ServeError {
    /// Which call.
    what: &'static str,
    /// The system's answer.
    source: io::Error,
}

fn failed(what: &'static str) -> impl Fn(rustix::io::Errno) -> ServeError {
    move |e| ServeError {
        what,
        source: e.into(),
    }
}

/// What was served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Connections accepted.
    pub connections: u64,
    /// Requests answered by the drive.
    pub requests: u64,
    /// Of them, those that failed.
    pub failed: u64,
    /// How late the drive's completions were handed out.
    pub lateness: Lateness,
}

/// A drive and its clients.
pub struct Server {
    work: Work,
    export: Export,
    epoll: OwnedFd,
    listener: Option<Listener>,
    clients: Vec<Option<Connection>>,
    generations: Vec<u32>,
    /// Places of connections with something to send, or whose state changed.
    touched: Vec<usize>,
    /// Of all connections, see [`Connection::held_bytes`].
    held_bytes: u64,
    stopping: bool,
    clock: Clock,
    /// How long it lingers: [`LINGER`], or not at all on a single processor.
    linger: Nanos,
    /// Until then it looks again and again before it sleeps.
    linger_until: Nanos,
    events: Vec<epoll::Event>,
    summary: Summary,
}

impl Server {
    /// Switch a drive on. `name` is the export's.
    ///
    /// # Errors
    /// When the system gives no epoll.
    pub fn new(drive: Drive, pace: Pace, name: &str) -> Result<Server, ServeError> {
        let identity = drive.identity();
        let export = Export {
            name: name.to_owned(),
            description: format!("{}, serial {}", identity.model, identity.serial),
            size_bytes: identity.capacity_bytes,
            min_block_bytes: identity.logical_block_bytes as u32,
            preferred_block_bytes: 4096.max(identity.logical_block_bytes as u32),
        };
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed("epoll_create"))?;
        // A kernel that refuses wakes this thread 50 us later, which is measured and said as part of the floor.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Ok(Server {
            work: Work::new(Pacer::new(drive, pace)),
            export,
            epoll,
            listener: None,
            clients: Vec::new(),
            generations: Vec::new(),
            touched: Vec::new(),
            held_bytes: 0,
            stopping: false,
            clock: Clock::monotonic(),
            linger: match std::thread::available_parallelism() {
                Ok(processors) if processors.get() > 1 => LINGER,
                _ => Nanos::ZERO,
            },
            linger_until: Nanos::ZERO,
            events: Vec::with_capacity(MAX_CONNECTIONS + 2),
            summary: Summary::default(),
        })
    }

    /// Let clients connect here.
    ///
    /// # Errors
    /// When the system refuses to watch it.
    pub fn listen(&mut self, listener: Listener) -> Result<(), ServeError> {
        self.watch(listener.as_fd(), LISTENER)?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Serve the other end of a connected socket.
    ///
    /// # Errors
    /// When the system refuses to watch it.
    pub fn adopt(&mut self, stream: UnixStream) -> Result<(), ServeError> {
        let fitted = stream.set_nonblocking(true);
        fitted.map_err(|source| ServeError {
            what: "fcntl",
            source,
        })?;
        self.welcome(Stream::Unix(stream))?;
        // Its greeting does not wait for anything.
        self.settle();
        Ok(())
    }

    /// What is served.
    pub fn export(&self) -> &Export {
        &self.export
    }

    /// The drive.
    pub fn drive(&self) -> &Drive {
        self.work.pacer().drive()
    }

    /// Give the drive back.
    pub fn into_drive(self) -> Drive {
        self.work.into_pacer().into_drive()
    }

    /// Clients now connected.
    pub fn connected(&self) -> usize {
        self.clients.iter().flatten().count()
    }

    /// Serve until something can be read from `stop`. Then what is under way is answered, and no more.
    ///
    /// # Errors
    /// When waiting fails as a whole; what goes wrong with a client ends that client's connection.
    pub fn run(&mut self, stop: BorrowedFd<'_>) -> Result<Summary, ServeError> {
        self.watch(stop, STOP)?;
        while !self.stopping {
            self.turn()?;
        }
        let unwatched = epoll::delete(&self.epoll, stop);
        unwatched.map_err(failed("epoll_ctl"))?;
        self.listener = None;
        for client in self.clients.iter_mut().flatten() {
            (client.closing, client.stalled) = (true, false);
        }
        let until = self.clock.now() + DRAIN;
        self.touched = (0..self.clients.len()).collect();
        self.settle();
        // Whoever is owed nothing was sent away by `settle`: those still here wait for the drive, or have not taken all of their answers.
        while (self.work.pacer().in_flight() > 0 || self.connected() > 0)
            && self.clock.now() < until
        {
            self.turn_before(Some(until))?;
        }
        for place in 0..self.clients.len() {
            self.drop_client(place);
        }
        self.stopping = false;
        self.summary.lateness = self.work.pacer().lateness();
        Ok(self.summary)
    }

    /// Wait for something, and do what is to be done.
    ///
    /// # Errors
    /// When waiting fails as a whole.
    pub fn turn(&mut self) -> Result<(), ServeError> {
        self.turn_before(None)
    }

    /// A turn that waits no longer than until an instant.
    fn turn_before(&mut self, until: Option<Nanos>) -> Result<(), ServeError> {
        let nothing = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let timeout = match self.work.pacer().wait() {
            Wait::Idle if self.clock.now() > self.linger_until => match until {
                None => None,
                Some(until) => {
                    self.sleep(until - self.clock.now())?;
                    Some(nothing)
                }
            },
            Wait::For(span) if span > SPIN => {
                let left = until.map_or(span, |until| until - self.clock.now());
                self.sleep(span.min(left) - SPIN)?;
                Some(nothing)
            }
            _ => Some(nothing),
        };
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
                place => self.ready(place as usize, event.flags),
            }
        }
        self.work.collect();
        while let Some((job, answer)) = self.work.next_finished() {
            self.answer(&job, &answer);
            is_busy = true;
        }
        self.settle();
        if is_busy {
            self.linger_until = self.clock.now() + self.linger;
        } else {
            // Whoever else wants this processor, a client just woken above all, need not wait until a spinning thread's turn is over:
            // that is some milliseconds.
            rustix::thread::sched_yield();
        }
        Ok(())
    }

    /// Sleep until a socket has something, or so long. `epoll_wait` counts in milliseconds, `ppoll` in nanoseconds.
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

    fn watch(&self, fd: BorrowedFd<'_>, data: u64) -> Result<(), ServeError> {
        let added = epoll::add(&self.epoll, fd, EventData::new_u64(data), EventFlags::IN);
        added.map_err(failed("epoll_ctl"))
    }

    fn accept(&mut self) -> Result<(), ServeError> {
        // One by one, so that those who are connected are not kept waiting.
        match self.listener.as_ref().map(Listener::accept) {
            Some(Ok(stream)) if self.connected() < MAX_CONNECTIONS => self.welcome(stream),
            // Too many, or a client that has gone already: nobody to tell.
            _ => Ok(()),
        }
    }

    fn welcome(&mut self, stream: Stream) -> Result<(), ServeError> {
        let place = match self.clients.iter().position(Option::is_none) {
            Some(place) => place,
            None => {
                self.clients.push(None);
                self.generations.push(0);
                self.clients.len() - 1
            }
        };
        self.watch(stream.as_fd(), place as u64)?;
        self.generations[place] = self.generations[place].wrapping_add(1);
        let generation = self.generations[place];
        self.clients[place] = Some(Connection::new(stream, self.export.clone(), generation));
        self.summary.connections += 1;
        self.touch(place);
        Ok(())
    }

    fn touch(&mut self, place: usize) {
        if let Some(Some(client)) = self.clients.get_mut(place)
            && !client.listed
        {
            client.listed = true;
            self.touched.push(place);
        }
    }

    /// A socket has something, or takes something.
    fn ready(&mut self, place: usize, flags: EventFlags) {
        let Some(Some(client)) = self.clients.get_mut(place) else {
            return;
        };
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if client.closing || client.stalled {
            if gone {
                // Nobody is there to take the answers.
                return self.drop_client(place);
            }
        } else if gone || flags.intersects(EventFlags::IN) {
            match client.inbox.fill(&mut client.stream) {
                Came::Bytes => self.understand(place),
                Came::Nothing => {}
                Came::End => client.closing = true,
            }
        }
        self.touch(place);
    }

    /// Take all requests out of what came, as long as there is room for their answers.
    fn understand(&mut self, place: usize) {
        let now = self.work.pacer().now();
        let Some(Some(client)) = self.clients.get_mut(place) else {
            return;
        };
        let origin = Origin {
            place: place as u32,
            generation: client.generation,
        };
        client.stalled = false;
        // What the others hold.
        let others_bytes = self.held_bytes - client.counted_bytes;
        loop {
            let held_bytes = client.held_bytes();
            let has_room = |cost_bytes: u64| {
                held_bytes == 0 || others_bytes + held_bytes + cost_bytes <= MAX_UNDER_WAY_BYTES
            };
            // Answers to what never reaches the drive must not pile up either.
            if !has_room(REQUEST_COST_BYTES) {
                client.stalled = true;
                break;
            }
            let step = client
                .session
                .step(client.inbox.bytes(), &mut client.outbox.bytes);
            match step {
                Step::Wait { bytes } => {
                    client.inbox.make_room(bytes);
                    break;
                }
                Step::Took { bytes } => client.inbox.took(bytes),
                Step::Close => {
                    client.closing = true;
                    break;
                }
                Step::Request { bytes, request } => {
                    let cost_bytes = REQUEST_COST_BYTES + u64::from(request.answer_bytes());
                    if !has_room(cost_bytes) {
                        client.stalled = true;
                        break;
                    }
                    let (session, out) = (&client.session, &mut client.outbox.bytes);
                    match self.work.begin(now, origin, &request, cost_bytes) {
                        None => {
                            client.jobs += 1;
                            client.jobs_bytes += cost_bytes;
                        }
                        Some(answer) => {
                            let begun = (request.cookie, request.asked);
                            answer_at_once(session, begun, &answer, out);
                        }
                    }
                    client.inbox.took(bytes);
                }
            }
        }
        self.recount(place);
        self.touch(place);
    }

    /// A request is done: its answer goes to whoever asked, if they are still there.
    fn answer(&mut self, job: &Job, answer: &Answer) {
        let place = job.origin.place as usize;
        self.summary.requests += 1;
        self.summary.failed += u64::from(matches!(answer, Answer::Failed(_)));
        let Some(Some(client)) = self.clients.get_mut(place) else {
            return;
        };
        if client.generation != job.origin.generation {
            return;
        }
        client.jobs -= 1;
        client.jobs_bytes -= job.cost_bytes;
        let (session, out) = (&client.session, &mut client.outbox.bytes);
        match answer {
            Answer::Data(completion) => {
                let whole = job.asked == Asked::Read { whole: true };
                let work = &self.work;
                let fill = |at: u64, bytes: &mut [u8]| work.read(completion, at, bytes);
                let (at, len) = (job.offset_bytes, job.len_bytes);
                session.give(job.cookie, at, len, whole, out, fill);
            }
            other => answer_at_once(session, (job.cookie, job.asked), other, out),
        }
        self.touch(place);
    }

    /// Send, close what is at its end, let those go on who waited for room, and look for what is to be looked for.
    fn settle(&mut self) {
        loop {
            self.settle_touched();
            let full = self.held_bytes + REQUEST_COST_BYTES > MAX_UNDER_WAY_BYTES;
            let goes_on = |client: &Option<Connection>| {
                let waits = |client: &Connection| {
                    client.stalled && !client.closing && (!full || client.held_bytes() == 0)
                };
                client.as_ref().is_some_and(waits)
            };
            // Those who found no room though some is left wait for more: they are asked again when something was sent.
            let Some(place) = self.clients.iter().position(goes_on) else {
                return;
            };
            let before = self.held_bytes;
            self.understand(place);
            let still = self.clients[place].as_ref().is_some_and(|c| c.stalled);
            if still && self.held_bytes == before {
                self.settle_touched();
                return;
            }
        }
    }

    fn settle_touched(&mut self) {
        while let Some(place) = self.touched.pop() {
            self.settle_one(place);
        }
    }

    fn settle_one(&mut self, place: usize) {
        let Some(Some(client)) = self.clients.get_mut(place) else {
            return;
        };
        client.listed = false;
        if !client.outbox.send(&mut client.stream) || client.is_over() {
            return self.drop_client(place);
        }
        let wanted = client.wanted();
        if wanted != client.interest {
            client.interest = wanted;
            let data = EventData::new_u64(place as u64);
            if epoll::modify(&self.epoll, &client.stream, data, wanted).is_err() {
                return self.drop_client(place);
            }
        }
        self.recount(place);
    }

    /// Count anew what a connection holds.
    fn recount(&mut self, place: usize) {
        if let Some(Some(client)) = self.clients.get_mut(place) {
            let held_bytes = client.held_bytes();
            self.held_bytes = self.held_bytes - client.counted_bytes + held_bytes;
            client.counted_bytes = held_bytes;
        }
    }

    fn drop_client(&mut self, place: usize) {
        if let Some(client) = self.clients.get_mut(place).and_then(Option::take) {
            self.held_bytes -= client.counted_bytes;
        }
    }
}

/// An answer without bytes of the drive.
fn answer_at_once(
    session: &Session,
    (cookie, asked): (u64, Asked),
    answer: &Answer,
    out: &mut Vec<u8>,
) {
    match answer {
        Answer::Extents(extents) => session.tell_status(cookie, extents, out),
        Answer::Failed(failure) => session.fail(cookie, *failure, out),
        // A read of nothing.
        _ if matches!(asked, Asked::Read { .. }) => {
            session.give(cookie, 0, 0, true, out, |_, _| {});
        }
        _ => session.succeed(cookie, out),
    }
}
