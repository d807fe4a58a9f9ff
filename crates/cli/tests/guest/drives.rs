//! Output of `list` and `probe` for an NVMe drive, compared with the kernel and nvme-cli.

use serde_json::{Value, json};

use crate::fixture::{MIB, number};
use crate::guest::{Guest, Setup};
use crate::not_plain;

#[test]
fn list_and_probe_agree_with_nvme_cli() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = not_plain::add(setup)
        .tools(&["nvme", "fio"])
        // Registers of a device that has a driver may be read.
        .kernel("iomem=relaxed")
        .drive("first", "GUEST-0001", "one", 64 * MIB)
        .image("two", 32 * MIB)
        // Behind a root port, so that it has a link; the first is inside the root complex.
        .option("-device pcie-root-port,id=rootport,chassis=1")
        .controller("second", "GUEST-0002", "bus=rootport,mdts=5")
        .option(
            "-device nvme-ns,drive=two,bus=second,nsid=1,logical_block_size=4096,\
             physical_block_size=4096",
        )
        .boot();

    // Every drive once, by the serial for --destroy.
    let list = guest.json("list");
    for (serial, bytes, block) in [("GUEST-0001", 64 * MIB, 512), ("GUEST-0002", 32 * MIB, 4096)] {
        let controller = &guest.controller(serial);
        let device = format!("/dev/{controller}n1");
        let drives = list["drives"].as_array().unwrap();
        let of_serial: Vec<&Value> = drives.iter().filter(|d| d["serial"] == serial).collect();
        assert_eq!(of_serial.len(), 1, "{list:#}");
        assert_eq!(of_serial[0]["spec"], Value::from(device.as_str()));

        let probe = guest.json(&format!("probe {device}"));
        let drive = &probe["drive"];
        assert_eq!(drive["kind"], "block");
        assert_eq!(drive["transport"], "nvme", "{probe:#}");
        assert_eq!(number(drive, "/capacity_bytes"), bytes as f64);
        assert_eq!(number(drive, "/logical_block_bytes"), f64::from(block));
        assert_eq!(drive["rotational"], Value::Bool(false));
        assert_eq!(drive["simulated"], Value::Bool(false));
        assert_eq!(drive["io_poll"], Value::Bool(true), "nvme.poll_queues=1");
        assert_eq!(probe["refusal"], Value::Null);
        assert_eq!(drive["nvme"]["controller"], format!("/dev/{controller}"));
        let generic = device.replace("nvme", "ng");
        assert_eq!(drive["nvme"]["generic"], Value::from(generic.as_str()));
        let link = guest.ok(&format!(
            "cd /sys/class/nvme/{controller}/device && cat current_link_speed current_link_width"
        ));
        if serial == "GUEST-0002" {
            let pcie = &drive["pcie"];
            let pcie = format!("{}\n{}\n", pcie["speed"].as_str().unwrap(), pcie["width"]);
            assert_eq!(pcie, link);
        } else {
            assert_eq!(drive["pcie"], Value::Null, "no link, so none that is down");
        }
        as_nvme_cli_says(&mut guest, &device, &probe);

        // The generic device is the same drive.
        let by_generic = guest.json(&format!("probe {generic}"));
        assert_eq!(by_generic["drive"]["serial"], serial, "{by_generic:#}");
        assert_eq!(by_generic["nvme"]["namespaces"], probe["nvme"]["namespaces"]);
        let text = guest.assay(&format!("probe {device}")).expect(0);
        for word in ["QEMU NVMe Ctrl", serial, "largest command", "50 degrees C"] {
            assert!(text.stdout.contains(word), "{word}: {text}");
        }
    }

    // A simulated drive's page has the same rows.
    let device = guest.device("GUEST-0001");
    let real = guest.assay(&format!("probe {device}")).expect(0);
    let simulated = guest.assay("probe sim:samsung-951").expect(0);
    assert_eq!(rows(&simulated.stdout), rows(&real.stdout), "{simulated}");

    // A device that is not a drive, and a missing namespace.
    guest.assay("probe /dev/nvme7n1").refuses(2, &["/dev/nvme7n1"]);
    guest.assay("probe /dev/null").refuses(2, &["/dev/null"]);

    not_plain::check(&mut guest);
    guest.end();
}

/// Rows of the controller, by group. Drives may differ in their number of power states, in
/// reporting their capacity, and in host-controlled thermal management.
fn rows(page: &str) -> Vec<String> {
    let controller = page.lines().skip_while(|line| *line != "controller");
    controller
        .map(|line| line.get(..36).unwrap_or(line).trim_end().to_owned())
        .filter(|row| {
            let own = ["  state ", "  total capacity", "  host-set throttling"];
            !own.iter().any(|name| row.starts_with(name))
        })
        .collect()
}

/// JSON output of nvme-cli.
#[track_caller]
fn nvme(guest: &mut Guest, words: &str) -> Value {
    serde_json::from_str(&guest.ok(&format!("nvme {words} -o json"))).unwrap()
}

/// The current value of a feature, from nvme-cli.
#[track_caller]
fn feature(guest: &mut Guest, device: &str, fid: u8) -> u64 {
    let text = guest.ok(&format!("nvme get-feature {device} -f {fid}"));
    let (_, value) = text.trim_end().split_once("Current value:").unwrap();
    u64::from_str_radix(value.trim_start_matches("0x"), 16).unwrap()
}

/// All fields that both programs decode.
#[track_caller]
fn as_nvme_cli_says(guest: &mut Guest, device: &str, probe: &Value) {
    let ours = &probe["nvme"];
    assert_eq!(probe["nvme_error"], Value::Null, "{probe:#}");
    let controller = nvme(guest, &format!("id-ctrl {device}"));
    let theirs = |key: &str| controller[key].as_u64().unwrap();
    let text = |key: &str| controller[key].as_str().unwrap().trim_end();
    for (name, key) in [("model", "mn"), ("serial", "sn"), ("firmware", "fr")] {
        assert_eq!(ours[name], text(key), "{probe:#}");
        assert_eq!(probe["drive"][name], ours[name], "the kernel agrees");
    }
    let version = theirs("ver");
    let worded = format!("{}.{}", version >> 16, version >> 8 & 0xff);
    assert!(ours["version"].as_str().unwrap().starts_with(&worded));
    assert_eq!(ours["pci_vendor"], json!([theirs("vid"), theirs("ssvid")]));
    assert_eq!(number(ours, "/controller_id"), theirs("cntlid") as f64);
    // In pages of 4 KiB (CAP.MPSMIN 0), as a power of two.
    let most = 4096_u64 << theirs("mdts");
    assert_eq!(number(ours, "/max_transfer_bytes"), most as f64);
    for (name, key) in [("warning_c", "wctemp"), ("critical_c", "cctemp")] {
        let celsius = theirs(key) as f64 - 273.0;
        assert_eq!(number(&ours["thermal"], &format!("/{name}")), celsius);
    }
    let has = |list: &str, word: &str| ours[list].as_array().unwrap().contains(&json!(word));
    for (list, key, bit, word) in [
        ("admin_commands", "oacs", 1, "format"),
        ("admin_commands", "oacs", 2, "firmware"),
        ("admin_commands", "oacs", 4, "self-test"),
        ("io_commands", "oncs", 0, "compare"),
        ("io_commands", "oncs", 1, "write uncorrectable"),
        ("io_commands", "oncs", 3, "write zeroes"),
        ("io_commands", "oncs", 7, "verify"),
        ("sanitize", "sanicap", 1, "block erase"),
    ] {
        assert_eq!(has(list, word), theirs(key) >> bit & 1 == 1, "{word}");
    }
    let states = controller["psds"].as_array().unwrap();
    assert_eq!(ours["power_states"].as_array().unwrap().len(), states.len());
    // Hundredths of a watt unless the scale bit is set.
    assert_eq!(number(ours, "/power_states/0/max_mw"), number(&states[0], "/max_power") * 10.0);
    assert_eq!(ours["power_states"][0]["entry_us"], states[0]["entry_lat"]);
    assert_eq!(ours["power_states"][0]["current"], Value::Bool(true));

    let queues = feature(guest, device, 7);
    assert_eq!(ours["queues_granted"], json!([(queues & 0xffff) + 1, (queues >> 16) + 1]));
    assert_eq!(ours["write_cache_on"], Value::Bool(feature(guest, device, 6) & 1 == 1));
    let threshold = feature(guest, device, 4) & 0xffff;
    assert_eq!(number(ours, "/thermal/threshold_c"), threshold as f64 - 273.0);
    let vectors = guest.ok(&format!(
        "ls $(readlink -f /sys/block/{}/device/device)/msi_irqs | wc -l",
        device.trim_start_matches("/dev/")
    ));
    assert_eq!(ours["interrupt_vectors"].to_string(), vectors.trim());

    let controller = probe["drive"]["nvme"]["controller"].as_str().unwrap();
    let registers = nvme(guest, &format!("show-regs {controller}"));
    let cap = registers["cap"].as_u64().unwrap();
    assert_eq!(ours["registers"]["cap"], format!("{cap:#018x}"), "{ours:#}");
    let entries = (cap & 0xffff) + 1;
    assert_eq!(number(ours, "/registers/max_queue_entries"), entries as f64);
    assert_eq!(ours["registers"]["ready"], Value::Bool(true));

    let namespace = nvme(guest, &format!("id-ns {device}"));
    let theirs = |key: &str| namespace[key].as_u64().unwrap();
    let found = &ours["namespaces"][0];
    let in_use = (theirs("flbas") & 0xf) as usize;
    let formats = namespace["lbafs"].as_array().unwrap();
    let block = 1_u64 << formats[in_use]["ds"].as_u64().unwrap();
    assert_eq!(number(found, "/size_bytes"), (theirs("nsze") * block) as f64);
    assert_eq!(number(found, "/used_bytes"), (theirs("nuse") * block) as f64);
    let reported = found["formats"].as_array().unwrap();
    assert_eq!(reported.len() as u64, theirs("nlbaf") + 1);
    for (ours, theirs) in reported.iter().zip(formats) {
        let bytes = 1_u64 << theirs["ds"].as_u64().unwrap();
        assert_eq!(number(ours, "/block_bytes"), bytes as f64);
        assert_eq!(ours["metadata_bytes"], theirs["ms"]);
        assert_eq!(ours["in_use"], Value::Bool(ours["index"] == json!(in_use)));
    }

    let smart = nvme(guest, &format!("smart-log {device}"));
    let health = &ours["health"];
    let kelvin = number(&smart, "/temperature");
    assert_eq!(number(health, "/composite_c"), kelvin - 273.0);
    assert_eq!(probe["temperature_c"], json!(kelvin - 273.0), "{probe:#}");
    for (ours, theirs) in [
        ("percentage_used", "percent_used"),
        ("power_cycles", "power_cycles"),
        ("unsafe_shutdowns", "unsafe_shutdowns"),
        ("media_errors", "media_errors"),
        ("error_log_entries", "num_err_log_entries"),
        ("write_commands", "host_write_commands"),
    ] {
        assert_eq!(number(health, &format!("/{ours}")), number(&smart, &format!("/{theirs}")));
    }
}
