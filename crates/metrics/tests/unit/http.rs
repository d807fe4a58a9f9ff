use std::net::TcpStream;
use std::thread;

use super::*;

fn text() -> String {
    "a 1\n# EOF\n".to_owned()
}

#[test]
fn only_the_metrics_are_served() {
    let answer = |request: &str| response(request.as_bytes(), &text);
    let ok = answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(ok.starts_with("HTTP/1.1 200 OK\r\n"), "{ok}");
    assert!(ok.contains("Content-Length: 10\r\n"), "{ok}");
    assert!(ok.contains("Content-Type: application/openmetrics-text; version=1.0.0"));
    assert!(ok.ends_with("\r\n\r\na 1\n# EOF\n"), "{ok}");
    let head = answer("HEAD /metrics?x=y HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"));
    assert!(answer("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(answer("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(answer("").starts_with("HTTP/1.1 405 "));
    assert!(answer("\u{1f4be}\0\r\n").starts_with("HTTP/1.1 405 "));
}

#[test]
fn a_server_answers_until_it_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let close = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| serve(&listener, &close, &text));
        for request in ["GET /metrics HTTP/1.0\r\n\r\n", "GET /x HTTP/1.1\r\n\r\n"] {
            let mut client = TcpStream::connect(address).unwrap();
            // In two parts.
            let (first, second) = request.split_at(7);
            client.write_all(first.as_bytes()).unwrap();
            client.write_all(second.as_bytes()).unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
        }
        close.store(true, Ordering::SeqCst);
    });
}
