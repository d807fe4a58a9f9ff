//! A server for one page, `/metrics`: one request per connection, one connection at a time.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often the end of the run is noticed.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Time for a request and its answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_REQUEST_BYTES: usize = 8 << 10;
/// OpenMetrics 1.0.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub fn serve(listener: &TcpListener, close: &AtomicBool, text: &dyn Fn() -> String) {
    while !close.load(Ordering::SeqCst) {
        let mut ready = [PollFd::new(listener, PollFlags::IN)];
        if !matches!(poll(&mut ready, Some(&POLL_INTERVAL)), Ok(1..)) {
            continue;
        }
        if let Ok((client, _)) = listener.accept() {
            // A client may go away.
            let _ = answer(client, text);
        }
    }
}

fn answer(mut client: TcpStream, text: &dyn Fn() -> String) -> std::io::Result<()> {
    client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|w| w == b"\r\n\r\n") && request.len() < MAX_REQUEST_BYTES {
        match client.read(&mut part)? {
            0 => break,
            count => request.extend_from_slice(&part[..count]),
        }
    }
    client.write_all(response(&request, text).as_bytes())
}

/// RFC 9112.
fn response(request: &[u8], text: &dyn Fn() -> String) -> String {
    let line = request.split(|&b| b == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = target.split('?').next().unwrap_or("");
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", CONTENT_TYPE, text()),
        ("GET" | "HEAD", _) => (
            "404 Not Found",
            "text/plain",
            "the metrics are at /metrics\n".to_owned(),
        ),
        _ => (
            "405 Method Not Allowed",
            "text/plain",
            "only GET\n".to_owned(),
        ),
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

#[cfg(test)]
#[path = "../tests/unit/http.rs"]
mod tests;
