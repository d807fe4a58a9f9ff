use super::*;

fn http(text: &str) -> Option<String> {
    match destination(text) {
        Ok(Destination::Http(address)) => Some(address.to_string()),
        _ => None,
    }
}

#[test]
fn loopback_addresses_are_served() {
    assert_eq!(http("127.0.0.1:9100").as_deref(), Some("127.0.0.1:9100"));
    assert_eq!(http("localhost:9100").as_deref(), Some("127.0.0.1:9100"));
    assert_eq!(http("[::1]:9100").as_deref(), Some("[::1]:9100"));
    assert_eq!(http("127.8.0.1:1").as_deref(), Some("127.8.0.1:1"));
}

#[test]
fn other_addresses_are_refused_with_a_reason() {
    for (text, reason) in [
        ("0.0.0.0:9100", "only a loopback address is served"),
        ("192.168.1.5:9100", "without a password"),
        ("[::]:9100", "only a loopback address"),
        (":9100", "no loopback address"),
        ("host:9100", "write ./host:9100 for a file"),
        ("127.0.0.1:99999", "no loopback address"),
        ("", "name a file"),
    ] {
        let error = destination(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn everything_else_is_a_file() {
    for text in ["assay.prom", "./host:9100", "/var/lib/x:1", "a:b", "a:"] {
        assert_eq!(destination(text).unwrap(), Destination::File(text.into()), "{text}");
    }
}

#[test]
fn a_file_that_is_no_earlier_output_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    std::fs::write(&path, "something else").unwrap();
    let error = Prepared::new(path.to_str().unwrap(), &[]).err().unwrap();
    assert!(error.to_string().contains("no earlier output"), "{error}");
    std::fs::write(&path, "# HELP assay_x y\n").unwrap();
    assert!(Prepared::new(path.to_str().unwrap(), &[]).is_ok());
    let hosts = ["bench".to_owned()];
    let error = Prepared::new(path.to_str().unwrap(), &hosts).err().unwrap();
    assert!(matches!(error, MetricsError::HostOfFile), "{error}");
    let missing = folder.path().join("no/where");
    let error = Prepared::new(missing.to_str().unwrap(), &[]).err().unwrap();
    assert!(error.to_string().contains("no such folder"), "{error}");
}
