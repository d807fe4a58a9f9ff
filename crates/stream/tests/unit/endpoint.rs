use super::*;

#[test]
fn endpoint_names_are_parsed() {
    let parse = |text: &str| Endpoint::parse(text).unwrap();
    assert_eq!(parse("-"), Endpoint::Standard);
    assert_eq!(parse("a:b"), Endpoint::File("a:b".into()));
    assert_eq!(parse("unix:/run/x"), Endpoint::Unix("/run/x".into()));
    assert_eq!(parse("unix-listen:x"), Endpoint::UnixListen("x".into()));
    assert_eq!(parse("tcp:[::1]:80"), Endpoint::Tcp("[::1]:80".into()));
    assert_eq!(parse("tcp-listen:localhost:1"), Endpoint::TcpListen("localhost:1".into()));
    for wrong in ["", "tcp:", "tcp:host", "tcp:host:port", "tcp:host:70000", "unix:"] {
        assert!(matches!(Endpoint::parse(wrong), Err(EndpointError::Name { .. })), "{wrong}");
    }
}

#[test]
fn existing_files_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream");
    let endpoint = Endpoint::File(path.clone());
    endpoint.open_sink().unwrap();
    assert!(matches!(endpoint.open_sink(), Err(EndpointError::Exists { .. })));
    assert!(Endpoint::File("/dev/null".into()).open_sink().is_ok());
}

#[test]
fn only_stale_sockets_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = bind(&path).unwrap();
    assert!(bind(&path).is_err(), "another process listens");
    drop(UnixStream::connect(&path).unwrap());
    drop(listener);
    let file = folder.path().join("file");
    std::fs::write(&file, "existing").unwrap();
    assert!(bind(&file).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), b"existing");
}
