use super::*;

fn chunks(folder: &Path, length: u64) -> Chunks {
    let id = id("table", &serde_json::json!({ "of": "these tests" })).unwrap();
    Chunks::open(folder.to_str().unwrap(), id, "points", 12, length).unwrap()
}

#[test]
fn joined_texts_are_equal_whatever_the_chunks_and_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let table = |name: &str, length: u64, reversed: bool| {
        let chunks = chunks(&folder.path().join(name), length);
        assert!(matches!(chunks.join(), Err(ChunkError::Incomplete { first: 0, .. })));
        let mut left = chunks.missing().unwrap();
        assert_eq!(left, (0..chunks.count()).collect::<Vec<_>>());
        if reversed {
            left.reverse();
        }
        while let Some(chunk) = left.pop() {
            let rows = chunks.range(chunk).unwrap().map(|unit| format!("{unit},x\n"));
            let rows: String = rows.collect();
            chunks.put(chunk, &rows).unwrap();
            // Another task that computed the same.
            chunks.put(chunk, &rows).unwrap();
            let mut missing = chunks.missing().unwrap();
            missing.sort_unstable();
            let mut expected = left.clone();
            expected.sort_unstable();
            assert_eq!(missing, expected);
        }
        chunks.join().unwrap()
    };
    let first = table("first", 5, false);
    assert_eq!(first, table("second", 1, true));
    assert_eq!(first, table("third", 100, false));
    let lines: String = (0..12).map(|unit| format!("{unit},x\n")).collect();
    assert_eq!(first, lines);
}

#[test]
fn other_bytes_and_damaged_ones_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let chunks = chunks(folder.path(), 6);
    assert!(matches!(chunks.put(2, "x"), Err(ChunkError::NoSuchChunk { chunk: 2, last: 1, .. })));
    chunks.put(0, "first\n").unwrap();
    assert!(matches!(chunks.put(0, "other\n"), Err(ChunkError::Differs { .. })));
    // A chunk may have nothing to say.
    chunks.put(1, "").unwrap();
    assert_eq!(chunks.join().unwrap(), "first\n");
    let document = folder.path().join(chunks.key(0).unwrap());
    let text = std::fs::read_to_string(&document).unwrap();
    for damaged in
        [text.replace("first", "fisrt"), text.replace("chunk 1", "chunk 2"), "torn".to_owned()]
    {
        std::fs::write(&document, damaged).unwrap();
        let error = chunks.join().unwrap_err().to_string();
        assert!(
            error.contains("damaged") && error.contains("points-000000000-000000006"),
            "{error}"
        );
    }
}

#[test]
fn a_directory_whose_parent_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("not-mounted/store");
    let id = id("table", &serde_json::Value::Null).unwrap();
    let error = Chunks::open(at.to_str().unwrap(), id, "points", 1, 1).err().unwrap();
    assert!(matches!(error, ChunkError::Directory { .. }), "{error}");
    assert!(!folder.path().join("not-mounted").exists());
}
