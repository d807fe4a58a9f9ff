use std::fs;

use super::*;

fn source(folder: &tempfile::TempDir, text: &str) -> TraceSource {
    let path = folder.path().join("t.csv");
    fs::write(&path, text).unwrap();
    TraceSource { path, format: None, device: None }
}

#[test]
fn a_survey_counts_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(&folder, "1,R,8192,4096,100\n2,W,4096,512,150\n1,R,65536,65536,1100\n");
    let survey = TraceSurvey::load(&source).unwrap();
    assert_eq!(survey.format, TraceFormat::Alibaba);
    assert_eq!((survey.reads.requests, survey.reads.bytes), (2, 69632));
    assert_eq!((survey.writes.requests, survey.writes.bytes), (1, 512));
    assert_eq!(survey.span, Nanos::MILLISECOND);
    assert_eq!((survey.low_bytes, survey.high_bytes, survey.longest_bytes), (4096, 131_072, 65536));
    assert_eq!(survey.devices, [("1".to_owned(), 2), ("2".to_owned(), 1)]);
    let mixed = survey.mixed_text(&source).unwrap();
    assert!(mixed.contains("2 devices (1: 2, 2: 1)"), "{mixed}");
    assert_eq!(survey.requests(), 3);
    // Not read a second time, until it changes.
    assert!(Arc::ptr_eq(&survey, &TraceSurvey::load(&source).unwrap()));
    fs::write(&source.path, "1,R,8192,4096,100\n").unwrap();
    assert_eq!(TraceSurvey::load(&source).unwrap().requests(), 1);
}

#[test]
fn a_trace_without_requests_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "1,R,8192,4096,100\n2,W,4096,512,150\n";
    let other = TraceSource { device: Some("3".to_owned()), ..source(&folder, text) };
    let error = TraceSurvey::load(&other).unwrap_err().to_string();
    assert!(
        error.contains("no request of the device \"3\"") && error.contains("one of: 1 2"),
        "{error}"
    );
    let empty = source(&folder, "device_id,opcode,offset,length,timestamp\n");
    assert!(TraceSurvey::load(&empty).unwrap_err().to_string().contains("no request to replay"));
}
