use std::collections::BTreeSet;

use super::*;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn drives_of_sys_and_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let root = SystemRoot::at(folder.path());
    write(&root.proc("sys/kernel/random/boot_id"), "7d4\n");
    // A drive with a serial, and a loop device without one.
    for (name, serial, number) in [("vda", "BHYV-1", "254:0"), ("loop3", "", "7:3")] {
        let sys = |rest: &str| root.sys(format!("block/{name}/{rest}"));
        write(&sys("dev"), number);
        write(&sys("size"), "2048\n");
        if !serial.is_empty() {
            write(&sys("serial"), serial);
        }
    }
    let image = folder.path().join("disk.img");
    std::fs::write(&image, vec![0u8; 4096]).unwrap();
    let list = format!(
        "# test bench\n{}\n\nsim:samsung-951,lot=7\n  \
         sim:samsung-951,lot=7,seed=2\nsim:nonesuch\nnull:\n{0}\n/missing\n",
        image.display()
    );
    write(&folder.path().join("drives/bench"), &list);
    let host = HostName::parse("bench").unwrap();
    let inventory = take(&root, &host, Some(&folder.path().join("drives"))).unwrap();
    let serials: Vec<&str> = inventory.drives.iter().map(|d| d.serial.as_str()).collect();
    let simulated = ["SIM-SAMSUNG-951-L7-0", "SIM-SAMSUNG-951-L7-2"];
    assert_eq!(serials, ["BHYV-1", simulated[0], simulated[1]]);
    assert_eq!(inventory.boot_id.as_deref(), Some("7d4"));
    assert_eq!(inventory.drives[1].lot.as_deref(), Some("7"));
    let unusable: Vec<&str> = inventory.unusable.iter().map(|u| u.spec.as_str()).collect();
    let image = image.to_str().unwrap();
    assert_eq!(unusable, ["sim:nonesuch", "null:", "/missing", image, image]);
    // As JSON and back.
    let json = serde_json::to_string(&inventory).unwrap();
    assert_eq!(serde_json::from_str::<HostInventory>(&json).unwrap(), inventory);
    // Without a list.
    let other = HostName::parse("other").unwrap();
    let lists = folder.path().join("drives");
    assert_eq!(take(&root, &other, Some(&lists)).unwrap().drives.len(), 1);
}

#[test]
fn inventories_in_the_shared_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::shared_store::open(folder.path().to_str().unwrap()).unwrap();
    let mut inventory = crate::assignment::tests::inventory("h1", &["A1", "B 2"]);
    inventory.rack = Some("r7".to_owned());
    publish(store.as_ref(), &inventory).unwrap();
    // The task of a host takes its inventory again and knows no rack.
    let without = HostInventory { rack: None, ..inventory.clone() };
    publish(store.as_ref(), &without).unwrap();
    assert_eq!(published(store.as_ref()).unwrap(), [inventory.clone()]);
    assert_eq!(inventory.slurm_node(), "NodeName=h1 Gres=nvme:A1:1,nvme:B_202:1");
    inventory.format = 99;
    publish(store.as_ref(), &inventory).unwrap();
    let error = published(store.as_ref()).unwrap_err().to_string();
    assert!(error.contains("inventory/h1.json") && error.contains("format 99"), "{error}");
    assert!(remove(store.as_ref(), &inventory.host).unwrap());
    assert!(!remove(store.as_ref(), &inventory.host).unwrap());
    assert_eq!(published(store.as_ref()).unwrap(), []);
}

#[test]
fn simulated_drives_have_serials_of_their_own() {
    let mut seen = BTreeSet::new();
    for profile in ["samsung-951", "intel-600p"] {
        for options in ["", ",seed=2", ",lot=1", ",lot=2", ",lot=1,seed=2"] {
            let drive = further_drive(&format!("sim:{profile}{options}")).unwrap();
            assert!(seen.insert(drive.serial.clone()), "{}", drive.serial);
        }
    }
}
