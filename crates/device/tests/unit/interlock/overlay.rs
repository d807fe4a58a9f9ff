use super::*;
use crate::identity::parse_mountinfo;

fn overlays(text: &str) -> Vec<Overlay> {
    parse_mountinfo(text).iter().filter_map(Overlay::new).collect()
}

#[test]
fn layers_are_read_from_the_options_of_the_mount() {
    let found = overlays(
        "36 25 0:35 / /merged rw,relatime shared:1 - overlay overlay \
         rw,lowerdir=/l\\134:1:/l\\134\\0542,upperdir=/u\\0401,workdir=/w,uuid=on\n\
         37 25 0:36 /part /bound rw - overlay none rw,lowerdir+=/a,lowerdir+=/b\n\
         38 25 8:1 / /other rw - ext4 /dev/sda1 rw\n",
    );
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].layers, paths(&["/u 1", "/l:1", "/l,2"]));
    assert_eq!(found[1].layers, paths(&["/a", "/b"]));
    assert_eq!(found[1].root, PathBuf::from("/part"));
}

#[test]
fn a_file_has_the_paths_of_the_overlay_and_of_its_layer() {
    let folder = tempfile::tempdir().unwrap();
    // A bind mount in /tmp would have another canonical path.
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for folder in ["merged/d", "upper/d", "lower/d", "bound"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    for file in ["merged/d/f", "upper/d/f", "lower/d/f", "merged/g", "lower/g", "bound/f"] {
        std::fs::write(at(file), "").unwrap();
    }
    let overlay = |mount_point: &str, root: &str| Overlay {
        mount_point: at(mount_point),
        root: root.into(),
        layers: vec![at("upper"), at("lower")],
        has_relative_layers: false,
    };
    let all = [overlay("merged", "/"), overlay("bound", "/d")];
    let others = |path: &str| {
        let mut found = other_paths(&all, &at(path));
        found.sort();
        found
    };
    assert_eq!(others("merged/g"), [at("lower/g")]);
    assert_eq!(others("lower/g"), [at("merged/g")]);
    assert_eq!(others("merged/d/f"), [at("bound/f"), at("upper/d/f")]);
    assert_eq!(others("upper/d/f"), [at("bound/f"), at("merged/d/f")]);
    assert_eq!(other_paths(&all, &at("none")), [] as [PathBuf; 0]);
}

#[test]
fn a_relative_layer_is_looked_for_above_the_mount_point() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("engine/l/A")).unwrap();
    let found = overlays(&format!(
        "36 25 0:35 / {}/engine/id/merged rw - overlay overlay rw,lowerdir=l/A:l/B\n",
        root.display()
    ));
    assert_eq!(found[0].layers, [root.join("engine/l/A")]);
    assert!(found[0].has_relative_layers);
}
