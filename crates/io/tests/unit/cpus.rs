use super::*;

#[test]
fn cpu_lists_are_parsed_as_by_taskset() {
    for (text, shown) in
        [("0", "0"), ("3,1,2", "1-3"), ("0-3,8", "0-3,8"), ("5-5,5", "5"), ("1, 3", "1,3")]
    {
        assert_eq!(text.parse::<CpuList>().unwrap().to_string(), shown);
    }
    for text in ["", "a", "3-1", "1-", ",1", "-1", "0-99999", "4294967296"] {
        assert!(text.parse::<CpuList>().is_err(), "{text}");
    }
}

#[test]
fn processors_of_a_numa_node_are_a_list() {
    if std::path::Path::new("/sys/devices/system/node/node0/cpulist").exists() {
        let node: CpuList = "node0".parse().unwrap();
        assert!(!node.0.is_empty());
    }
    for text in ["node", "nodex", "node99999"] {
        let error = text.parse::<CpuList>().unwrap_err().to_string();
        assert!(error.starts_with("NUMA node "), "{error}");
    }
}

#[test]
fn a_pinned_thread_stays_on_its_cpu() {
    let allowed = CpuList::allowed();
    allowed.check().unwrap();
    let last = CpuList(vec![*allowed.0.last().unwrap()]);
    let (mask, child) = std::thread::spawn(move || {
        last.set_thread_affinity().unwrap();
        let child = std::thread::spawn(CpuList::allowed).join().unwrap();
        assert_eq!(CpuList::allowed(), last);
        (last, child)
    })
    .join()
    .unwrap();
    assert_eq!(mask, child, "threads it starts inherit it");
    assert_eq!(CpuList::allowed(), allowed, "the others go where they like");
}

#[test]
fn a_missing_cpu_is_named() {
    let error = "0-1023".parse::<CpuList>().unwrap().check().unwrap_err();
    assert!(error.to_string().contains("affinity mask: "), "{error}");
}
