use super::*;

/// As fio 3.33 writes them.
#[test]
fn patterns_have_the_bytes_that_fio_writes() {
    for (text, expected) in [
        ("0xdeadbeef", Some(vec![0xde, 0xad, 0xbe, 0xef])),
        ("0xabc", Some(vec![0x0a, 0xbc])),
        ("12", Some(vec![12])),
        ("300", Some(vec![0x2c, 1])),
        ("70000", Some(vec![0x70, 0x11, 1])),
        ("-5", Some(vec![0xfb, 0xff, 0xff, 0xff])),
        ("\"abcd\"", Some(b"abcd".to_vec())),
        ("\"abcd\"-120xdeadface", Some(b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce".to_vec())),
        ("0", Some(vec![0])),
        ("", None),
        ("-", None),
        ("\"abcd", None),
        ("'file'", None),
    ] {
        assert_eq!(bytes(text), expected, "{text}");
    }
    assert_eq!(bytes(&format!("0x{}", "ab".repeat(513))), None);
}

#[test]
fn the_begin_of_a_file_is_a_pattern() {
    let with = crate::substitute::Substitution {
        variable: &|_| None,
        page_bytes: 4096,
        memory_mib: 1,
        cpus: 1,
    };
    let text = "[a]\nfilename=x\nbuffer_pattern='p'\n";
    let mut read = |_: &Path| Ok(text.as_bytes().to_vec());
    let mut file = JobFile::read(Path::new("a.fio"), &with, &mut read).unwrap();
    let mut content = |_: &Path| Ok([0xab; 600].to_vec());
    read_files(&mut file, &mut content).unwrap();
    let value = file.sections[0].options[1].value.clone().unwrap();
    assert_eq!(bytes(&value).unwrap(), [0xab; 512]);
    let mut none = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
    let mut file = JobFile::read(Path::new("a.fio"), &with, &mut read).unwrap();
    let error = read_files(&mut file, &mut none).unwrap_err().to_string();
    assert!(error.contains("buffer_pattern: cannot read p"), "{error}");
}
