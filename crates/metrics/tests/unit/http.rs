use std::net::TcpStream;
use std::thread;

use super::*;

fn text() -> String {
    "a 1\n# EOF\n".to_owned()
}

/// Ends the server when the test ends, also by a failed assertion: the scope waits for the server.
struct Close<'a>(&'a AtomicBool);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn page(hosts: &[String]) -> Page<'_> {
    Page { text: &text, hosts }
}

#[test]
fn only_names_of_the_server_are_answered() {
    let hosts = ["bench7.lab".to_owned()];
    let status = |host: &str| {
        let request = format!("GET /metrics HTTP/1.1\r\nX: y\r\n{host}\r\n");
        let answer = response(request.as_bytes(), &page(&hosts));
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    for own in [
        "Host: 127.0.0.1:9100\r\n",
        "Host: [::1]:9100\r\n",
        "Host: [::1]\r\n",
        "host:LocalHost:9100\r\n",
        "Host: localhost.\r\n",
        "Host: Bench7.lab:9100\r\n",
        "Host: bench7.lab\r\n",
        "",
    ] {
        assert_eq!(status(own), "200", "{own}");
    }
    for other in [
        "Host: evil.example\r\n",
        "Host: evil.example:9100\r\n",
        "Host: localhost.evil.example\r\n",
        "Host: 127.0.0.1.evil.example\r\n",
        "Host: \r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
        "HOST: evil.example\r\n",
    ] {
        assert_eq!(status(other), "421", "{other}");
    }
}

/// Clients that send nothing, and such as send a byte from time to time.
#[test]
fn slow_clients_hold_up_no_scrape() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let close = AtomicBool::new(false);
    let clock = Clock::monotonic();
    thread::scope(|scope| {
        let _close = Close(&close);
        scope.spawn(|| serve(&listener, &close, &page(&[])).unwrap());
        let mut slow: Vec<TcpStream> = Vec::new();
        for _ in 0..3 {
            for number in 0..130 {
                let mut client = TcpStream::connect(address).unwrap();
                if number % 2 == 0 {
                    client.write_all(b"GET /met").unwrap();
                }
                slow.push(client);
            }
            let begun = clock.now();
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("# EOF\n"), "{answer}");
            let took = clock.now() - begun;
            // One after the other, the slow ones would take more than two minutes.
            assert!(took < Nanos::from_secs(20), "{took:?}");
        }
        // Each is closed, though it goes on sending.
        let begun = clock.now();
        let mut last = slow.pop().unwrap();
        last.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
        let is_open = |error: &std::io::Error| error.kind() == ErrorKind::WouldBlock;
        while last.read(&mut [0]).is_err_and(|error| is_open(&error)) {
            let _ = last.write(b"x");
            assert!(clock.now() - begun < Nanos::from_secs(60));
        }
    });
}

/// Answers that are longer than what the kernel takes at once, read in turn.
#[test]
fn a_long_answer_arrives_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let close = AtomicBool::new(false);
    thread::scope(|scope| {
        let _close = Close(&close);
        scope.spawn(|| {
            let page = Page { text: &|| "x".repeat(16 << 20), hosts: &[] };
            serve(&listener, &close, &page).unwrap();
        });
        let ask = || {
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
            client
        };
        let mut clients = [ask(), ask(), ask()].map(|client| (client, 0));
        let mut part = vec![0; 256 << 10];
        let mut open = clients.len();
        while open > 0 {
            open = 0;
            for (client, received) in &mut clients {
                let count = client.read(&mut part).unwrap();
                *received += count;
                open += usize::from(count > 0);
            }
        }
        for (_, received) in clients {
            assert!(received > 16 << 20, "{received}");
        }
    });
}

#[test]
fn only_the_metrics_are_served() {
    let answer = |request: &str| response(request.as_bytes(), &page(&[]));
    let ok = answer("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
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
        let _close = Close(&close);
        scope.spawn(|| serve(&listener, &close, &page(&[])).unwrap());
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
    });
}
