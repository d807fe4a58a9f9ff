use super::*;

#[test]
fn profiles_are_loaded_by_name_or_from_a_file() {
    let (text, profile) = load("samsung-951").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("custom.toml");
    std::fs::write(&path, text.replace("name = \"samsung-951\"", "name = \"custom\"")).unwrap();
    let (_, custom) = load(path.to_str().unwrap()).unwrap();
    assert_eq!(custom.name, "custom");
    assert_eq!(custom.nand, profile.nand);
}

#[test]
fn errors_name_the_profile() {
    let unknown = load("samsung-950").unwrap_err().to_string();
    assert!(unknown.contains("samsung-951") && unknown.contains("my-drive.toml"), "{unknown}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("custom.toml");
    let name = path.to_str().unwrap();
    assert!(load(name).unwrap_err().to_string().contains("custom.toml"));
    std::fs::write(&path, "name = 3").unwrap();
    let content = load(name).unwrap_err().to_string();
    assert!(content.contains("custom.toml") && content.contains("line 1"), "{content}");
    let as_folder = folder.path().join("folder.toml");
    std::fs::create_dir(&as_folder).unwrap();
    assert!(load(as_folder.to_str().unwrap()).unwrap_err().to_string().contains("regular"));
}
