//! What `list` and `probe` say of an NVMe drive, beside what the kernel and nvme-cli say of it.

use serde_json::Value;

use crate::guest::Setup;
use crate::lab::{MIB, number};

#[test]
fn a_drive_is_listed_and_probed_as_what_it_is() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup
        .tools(&["nvme"])
        .drive("first", "GUEST-0001", "one", 64 * MIB)
        .image("two", 32 * MIB)
        // Behind a port, as in a real machine: there is a link to speak of. The first is inside the root complex.
        .option("-device pcie-root-port,id=rootport,chassis=1")
        .controller("second", "GUEST-0002", "bus=rootport")
        .option("-device nvme-ns,drive=two,bus=second,nsid=1,logical_block_size=4096,physical_block_size=4096")
        .boot();

    // Every drive once, by the serial that --destroy will ask for.
    let list = guest.json("list");
    for (serial, bytes, block) in [
        ("GUEST-0001", 64 * MIB, 512),
        ("GUEST-0002", 32 * MIB, 4096),
    ] {
        let controller = &guest.controller(serial);
        let device = format!("/dev/{controller}n1");
        let drives = list["drives"].as_array().unwrap();
        let of_serial: Vec<&Value> = drives.iter().filter(|d| d["serial"] == serial).collect();
        assert_eq!(of_serial.len(), 1, "{list:#}");
        assert_eq!(of_serial[0]["spec"], Value::from(device.as_str()));

        // The same document from `probe`, against what nvme-cli reads off the controller.
        let probe = guest.json(&format!("probe {device}"));
        let drive = &probe["drive"];
        let identify: Value =
            serde_json::from_str(&guest.ok(&format!("nvme id-ctrl {device} -o json"))).unwrap();
        for (ours, theirs) in [("model", "mn"), ("serial", "sn"), ("firmware", "fr")] {
            let said = identify[theirs].as_str().unwrap().trim_end();
            assert_eq!(drive[ours], Value::from(said), "{probe:#}");
        }
        assert_eq!(drive["kind"], "block");
        assert_eq!(drive["transport"], "nvme", "{probe:#}");
        assert_eq!(number(drive, "/capacity_bytes"), bytes as f64);
        assert_eq!(number(drive, "/logical_block_bytes"), f64::from(block));
        assert_eq!(drive["rotational"], Value::Bool(false));
        assert_eq!(drive["simulated"], Value::Bool(false));
        assert_eq!(drive["io_poll"], Value::Bool(true), "nvme.poll_queues=1");
        assert_eq!(probe["refusal"], Value::Null);
        let sysfs = guest.ok(&format!(
            "cd /sys/class/nvme/{}/device && cat current_link_speed current_link_width",
            controller
        ));
        if serial == "GUEST-0002" {
            let link = &drive["pcie"];
            let said = format!("{}\n{}\n", link["speed"].as_str().unwrap(), link["width"]);
            assert_eq!(said, sysfs);
        } else {
            assert_eq!(drive["pcie"], Value::Null, "no link, so none that is down");
        }
        let text = guest.assay(&format!("probe {device}")).expect(0);
        for word in ["QEMU NVMe Ctrl", serial] {
            assert!(text.stdout.contains(word), "{text}");
        }
    }

    // Something that is no drive, and a namespace that is not there.
    guest
        .assay("probe /dev/nvme7n1")
        .refuses(2, &["/dev/nvme7n1"]);
    guest.assay("probe /dev/null").refuses(2, &["/dev/null"]);
    guest.end();
}
