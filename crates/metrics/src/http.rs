//! A server for one page, `/metrics`: one request per connection. No client holds up another: a
//! connection has [`CLIENT_TIMEOUT`] for its request, and then for each part of the answer that it
//! takes, nothing waits for a single one, and beyond [`MAX_CLIENTS`] the oldest that has not sent
//! its request is closed, or the oldest.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::clock::Clock;
use assay_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often the end of the run and overdue clients are noticed.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A client has this time to send its request, and then to take each part of its answer.
const CLIENT_TIMEOUT: Nanos = Nanos::from_secs(5);
pub const MAX_CLIENTS: usize = 64;
const MAX_REQUEST_BYTES: usize = 8 << 10;
/// OpenMetrics 1.0.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is served, and to whom.
pub struct Page<'a> {
    pub text: &'a dyn Fn() -> String,
    /// Names of this server in `Host`, besides addresses and `localhost`.
    pub hosts: &'a [String],
}

struct Client {
    stream: TcpStream,
    until: Nanos,
    request: Vec<u8>,
    /// Empty until the request is complete.
    answer: Vec<u8>,
    sent: usize,
}

enum Progress {
    Waits,
    Over,
}

/// Fails when the socket cannot be made non-blocking.
pub fn serve(listener: &TcpListener, close: &AtomicBool, page: &Page<'_>) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let clock = Clock::monotonic();
    let mut clients: Vec<Client> = Vec::new();
    while !close.load(Ordering::SeqCst) {
        let mut ready = vec![PollFd::new(listener, PollFlags::IN)];
        ready.extend(clients.iter().map(|client| {
            let wanted = match client.answer.is_empty() {
                true => PollFlags::IN,
                false => PollFlags::OUT,
            };
            PollFd::new(&client.stream, wanted)
        }));
        // A signal, or nothing within the interval: clients may be overdue.
        let _ = poll(&mut ready, Some(&POLL_INTERVAL));
        let is_ready: Vec<bool> = ready.iter().map(|fd| !fd.revents().is_empty()).collect();
        let now = clock.now();
        let mut is_ready = is_ready.into_iter();
        let has_new = is_ready.next().unwrap_or(false);
        clients.retain_mut(|client| {
            let is_ready = is_ready.next().unwrap_or(false);
            let before = client.sent;
            let is_over = is_ready && matches!(client.go_on(page), Progress::Over);
            if client.sent > before {
                client.until = now + CLIENT_TIMEOUT;
            }
            !is_over && client.until > now
        });
        if has_new {
            accept(listener, &mut clients, now + CLIENT_TIMEOUT, page);
        }
    }
    Ok(())
}

/// All that wait, so that none waits behind others in the kernel's queue.
fn accept(listener: &TcpListener, clients: &mut Vec<Client>, until: Nanos, page: &Page<'_>) {
    while let Ok((stream, _)) = listener.accept() {
        if stream.set_nonblocking(true).is_err() {
            continue;
        }
        let mut client = Client { stream, until, request: Vec::new(), answer: Vec::new(), sent: 0 };
        // Most have sent their request by now.
        if matches!(client.go_on(page), Progress::Over) {
            continue;
        }
        if clients.len() == MAX_CLIENTS {
            // They are in the order of their arrival.
            let idle = clients.iter().position(|client| client.answer.is_empty());
            clients.remove(idle.unwrap_or(0));
        }
        clients.push(client);
    }
}

impl Client {
    /// Reads and writes as much as there is.
    fn go_on(&mut self, page: &Page<'_>) -> Progress {
        match self.advance(page) {
            Ok(progress) => progress,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Progress::Waits,
            // A client may go away.
            Err(_) => Progress::Over,
        }
    }

    fn advance(&mut self, page: &Page<'_>) -> std::io::Result<Progress> {
        let mut part = [0; 1024];
        while self.answer.is_empty() {
            let count = self.stream.read(&mut part)?;
            self.request.extend_from_slice(&part[..count]);
            let is_whole = self.request.windows(4).any(|w| w == b"\r\n\r\n");
            if is_whole || count == 0 || self.request.len() >= MAX_REQUEST_BYTES {
                self.answer = response(&self.request, page).into_bytes();
            }
        }
        while self.sent < self.answer.len() {
            match self.stream.write(&self.answer[self.sent..])? {
                0 => break,
                count => self.sent += count,
            }
        }
        Ok(Progress::Over)
    }
}

/// RFC 9112.
fn response(request: &[u8], page: &Page<'_>) -> String {
    let request = String::from_utf8_lossy(request);
    let mut lines = request.split("\r\n");
    let mut words = lines.next().unwrap_or("").split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = target.split('?').next().unwrap_or("");
    let plain = |status, body: &str| (status, "text/plain", body.to_owned());
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", _) if !is_own_host(&mut lines, page.hosts) => plain(
            "421 Misdirected Request",
            "this server has another name: ask for its address or localhost, or start assay with \
             --metrics-host NAME\n",
        ),
        ("GET" | "HEAD", "/metrics") => ("200 OK", CONTENT_TYPE, (page.text)()),
        ("GET" | "HEAD", _) => plain("404 Not Found", "the metrics are at /metrics\n"),
        _ => plain("405 Method Not Allowed", "only GET\n"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    match method {
        "HEAD" => head,
        _ => head + &body,
    }
}

/// A page of a browser can reach this server under a name of its own that leads to this address
/// (DNS rebinding), so only names that belong to the server are answered. A request without `Host`
/// is none of a browser.
fn is_own_host<'r>(headers: impl Iterator<Item = &'r str>, hosts: &[String]) -> bool {
    let mut named = headers
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim());
    let is_own = |host: &str| {
        let name = without_port(host);
        let name = name.strip_suffix('.').unwrap_or(name);
        name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
    };
    named.all(is_own)
}

/// `NAME:PORT`, `[::1]:PORT`, or either without a port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    }
}

#[cfg(test)]
#[path = "../tests/unit/http.rs"]
mod tests;
