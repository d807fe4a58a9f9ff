use super::*;

#[test]
fn any_plan_has_a_directory_and_comes_back_from_it() {
    let root = tempfile::tempdir().unwrap();
    let plans = ["m951-firmware-0123456789ab", "a/b", "..", "50 %", "=", "\u{e9}"];
    let mut wanted = Vec::new();
    for plan in plans {
        let partition = Partition::new(Some(plan), "2026-11-24T15:00:00Z").unwrap();
        let folder = partition.folder(root.path());
        let depth = folder.strip_prefix(root.path()).unwrap().components().count();
        assert_eq!(depth, 2, "{folder:?}");
        fs::create_dir_all(&folder).unwrap();
        wanted.push(partition);
    }
    wanted.sort();
    assert_eq!(list(root.path()).unwrap(), wanted);
}

#[test]
fn a_run_without_a_plan_and_one_without_a_date() {
    let none = Partition::new(None, "2026-11-24T15:00:00Z").unwrap();
    assert_eq!((none.plan.as_str(), none.month.as_str()), (NO_PLAN, "2026-11"));
    for date in ["", "yesterday", "2026/11/24", "2026-1"] {
        assert_eq!(Partition::new(None, date), None, "{date}");
    }
}

#[test]
fn files_of_a_table_are_in_order_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "runs-0001.parquet",
        "runs-0000.parquet",
        "runs-0000.parquet.part",
        "cells-0000.parquet",
        "runs.parquet",
    ] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let found = files(folder.path(), "runs").unwrap();
    let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(names, ["runs-0000.parquet", "runs-0001.parquet"]);
    assert!(files(&folder.path().join("missing"), "runs").unwrap().is_empty());
}
