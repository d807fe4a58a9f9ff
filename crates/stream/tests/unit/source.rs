use super::*;
use std::os::unix::net::UnixStream;

/// Write a byte every few milliseconds until the reader closes.
fn write_slowly(mut to: impl Write + Send + 'static) {
    std::thread::spawn(move || while to.write_all(b"x").is_ok() && pause() {});
}

#[allow(clippy::disallowed_methods, reason = "a source that is slow")]
fn pause() -> bool {
    std::thread::sleep(std::time::Duration::from_millis(2));
    true
}

#[test]
fn a_slow_source_returns_before_the_chunk_is_full() {
    let (out, into) = std::io::pipe().unwrap();
    write_slowly(into);
    let mut source = ReadSource::new("write_slowly", &out).unwrap();
    let mut chunk = vec![0; 100_000];
    let registers = Registers::default();
    for _ in 0..3 {
        let filled = source.fill(&mut chunk, &registers).unwrap();
        assert!(filled.bytes < chunk.len() && !filled.last, "{filled:?}");
    }
    // A requested flush ends the wait earlier.
    registers.command(ControlBits::FLUSH_NOW);
    assert_eq!(source.fill(&mut chunk, &registers).unwrap(), FillResult::default());
}

/// A reset socket delivers the data it has and fails at the next request: in the same call, if
/// there is space.
#[test]
fn data_before_an_error_are_delivered_first() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut into = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut out = listener.accept().unwrap().0;
    // Closing with unread data resets the connection.
    out.write_all(b"unread").unwrap();
    let mut source = ReadSource::new("socket", &out).unwrap();
    into.write_all(b"all that came").unwrap();
    let registers = Registers::default();
    drop(into);
    let mut chunk = [0; 64];
    let filled = source.fill(&mut chunk, &registers).unwrap();
    assert_eq!(&chunk[..filled.bytes], b"all that came");
    assert!(!filled.last && source.failed.is_some());
    let failed = source.fill(&mut chunk, &registers).unwrap_err();
    assert_eq!(failed.kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn a_deferred_error_is_reported_once() {
    let (out, _into) = UnixStream::pair().unwrap();
    let mut source = ReadSource::new("socket", &out).unwrap();
    for asks in [false, true] {
        source.failed = Some(io::ErrorKind::ConnectionReset.into());
        let registers = Registers::default();
        let reported = match asks {
            true => source.has_more(false, &registers).map(drop),
            false => source.fill(&mut [0; 8], &registers).map(drop),
        };
        assert!(reported.is_err());
        assert_eq!(source.has_more(false, &registers).unwrap(), None);
    }
}
