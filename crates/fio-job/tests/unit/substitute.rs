use super::*;

fn with(value: &str) -> Result<String, String> {
    let variable = |name: &str| (name == "DISK").then(|| "/dev/nvme0n1".to_owned());
    let with = Substitution { variable: &variable, page_bytes: 4096, memory_mib: 1024, cpus: 8 };
    substitute(value, &with)
}

#[test]
fn variables_and_keywords() {
    assert_eq!(with("${DISK}p1").unwrap(), "/dev/nvme0n1p1");
    assert_eq!(with("$ncpus").unwrap(), "8");
    assert_eq!(with("8*$mb_memory").unwrap(), "8192");
    assert_eq!(with("$pagesize").unwrap(), "4096");
    assert_eq!(with("plain $text").unwrap(), "plain $text");
}

#[test]
fn a_variable_that_is_not_set_is_named() {
    let error = with("${NOWHERE}/file").unwrap_err();
    assert!(error.contains("NOWHERE"), "{error}");
    assert!(with("${DISK").is_err());
    let error = with("${pagesize}").unwrap_err();
    assert!(error.ends_with("the number is $pagesize"), "{error}");
    assert!(with("$ncpus/0").is_err());
    let error = with("128k*$ncpus").unwrap_err();
    assert!(error.contains("numbers without units"), "{error}");
}
