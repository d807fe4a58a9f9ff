use super::*;

#[test]
fn tables_of_processors_and_memory() {
    assert_eq!(
        parse_cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n").as_deref(),
        Some("AMD EPYC")
    );
    let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
    assert_eq!(parse_cpu_model(arm).as_deref(), Some("Arm implementer 0x41 part 0xd0c"));
    assert_eq!(parse_cpu_model(""), None);
    assert_eq!(parse_memory_bytes("MemTotal:       16 kB\nMemFree: 1 kB\n"), Some(16_384));
    assert_eq!(parse_memory_bytes("MemFree: 1 kB\n"), None);
    assert_eq!(parse_memory_bytes("MemTotal: 18446744073709551615 kB\n"), None);
}

#[test]
fn hints_of_virtual_machines() {
    let guest = "flags\t\t: fpu vme hypervisor lahf_lm\n";
    assert_eq!(virtualised("flags : fpu vme\n", None, Some("Dell Inc."), false), None);
    assert_eq!(
        virtualised("flags : fpu\n", None, Some("Microsoft Corporation"), false),
        None,
        "a Surface is a machine of metal"
    );
    assert_eq!(
        virtualised(guest, None, Some("QEMU"), false).as_deref(),
        Some("virtual machine (QEMU)")
    );
    assert_eq!(virtualised(guest, None, None, true).as_deref(), Some("virtual machine"));
    assert_eq!(virtualised(guest, Some("xen"), None, false).as_deref(), Some("xen"));
    assert_eq!(virtualised("", None, None, true).as_deref(), Some("container"));
}

#[test]
fn this_machine_can_be_read() {
    let host = HostInfo::read();
    assert!(host.logical_cpus >= 1);
    assert!(host.kernel.is_some_and(|k| k.starts_with(|c: char| c.is_ascii_digit())));
    assert!(host.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
}

#[test]
fn the_date_is_rfc_3339_in_utc_with_whole_seconds() {
    let stamp = wall_clock();
    let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00Z", "{stamp}");
    assert!(stamp.parse::<jiff::Timestamp>().unwrap() > "2025-01-01T00:00:00Z".parse().unwrap());
}

#[test]
fn dates_have_a_zone() {
    assert_eq!(parse_date("1970-01-02T00:00:01Z"), Ok(86_401));
    assert_eq!(parse_date("1970-01-02T01:00:01.9+01:00"), Ok(86_401));
    assert_eq!(parse_date("1960-01-01T00:00:00Z"), Ok(0));
    for wrong in ["", "tomorrow", "2027-02-01", "2027-02-01T06:00:00", "2027-02-30T00:00:00Z"] {
        assert!(parse_date(wrong).is_err(), "{wrong}");
    }
    let now = parse_date(&wall_clock()).unwrap();
    assert!(unix_seconds() - now < 3600);
}
