//! Write amplification by the logs of a simulated drive behind the guest's NVMe driver, against the
//! counters of the model.

use serde_json::Value;

use crate::fixture::number;
use crate::guest::{Guest, Setup};
use crate::serving::ServeProcess;

/// Counters of the model over the drive's life, bytes, from the telemetry log (07h), which has them
/// exactly.
#[derive(Clone, Copy, Debug)]
struct Truth {
    host_bytes: f64,
    media_bytes: f64,
}

impl Truth {
    fn read(guest: &mut Guest, controller: &str) -> Truth {
        guest.ok(&format!(
            "nvme telemetry-log {controller} --output-file=/tmp/model --host-generate=1 >/dev/null"
        ));
        let mut counter = |name: &str| -> f64 {
            let found =
                guest.ok(&format!("tr -d '\\000' </tmp/model | grep -a '{name}: ' | tr -dc 0-9"));
            found.trim().parse().unwrap()
        };
        Truth {
            host_bytes: counter("host_bytes_written"),
            media_bytes: counter("nand_bytes_written"),
        }
    }
}

/// The conclusions of kind `endurance` with this name: of the step, or of the drive.
fn conclusions<'v>(run: &'v Value, name: &str) -> Vec<&'v Value> {
    let rows = run["runs"][0]["conclusions"].as_array().unwrap();
    let named = rows.iter().filter(|row| row["kind"] == "endurance" && row["name"] == name);
    named.collect()
}

/// A suite of one writing step of this block size.
fn suite(guest: &mut Guest, name: &str, rw: &str, bs: &str, io_size: &str) {
    let text = format!(
        "name = \"{name}\"\\ntitle = \"Writes of {bs}\"\\nsource = \"a test\"\\nduration = \
         \"seconds\"\\nsummary = \"s\"\\n[parameters.warranty_years]\\ndefault = \"0\"\\nhelp = \
         \"h\"\\n[[step]]\\nid = \"writes\"\\ntitle = \"Writes of {bs}\"\\nkind = \
         \"measure\"\\nneeds = [\"write\"]\\njob = {{ rw = \"{rw}\", bs = \"{bs}\", iodepth = 16, \
         size = \"4g\", io_size = \"{io_size}\", runtime = \"10m\" }}\\n"
    );
    guest.ok(&format!("printf '{text}' >{name}.toml"));
}

/// The drive has an indirection unit of 16 KiB, log C0h, and an endurance group with a rated
/// endurance.
#[test]
fn write_amplification_by_the_logs_is_that_of_the_model() {
    let Some(setup) = Setup::new() else { return };
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let words = format!(
        "sim:solidigm-d5-p5336,fdp=4,data=drop --vfio-user {} --pace free",
        socket.display()
    );
    let serving = ServeProcess::start(&setup.fixture, &words);
    // Identify Controller has 20 characters of it.
    let serial = serving.document["serial"].as_str().unwrap();
    let serial = &serial[..serial.len().min(20)];
    let mut guest = setup.tools(&["nvme"]).plugged(&socket).boot();
    let device = guest.device(serial);
    let controller = format!("/dev/{}", guest.controller(serial));

    // The probe names the logs.
    let probe = guest.json(&format!("probe {device}"));
    let endurance = &probe["nvme"]["health"]["endurance"];
    assert_eq!(endurance["media"]["source"], "ocp-c0h", "{endurance:#}");
    assert_eq!(endurance["host"]["source"], "smart-02h");
    let rated = &probe["nvme"]["health"]["rated"];
    assert_eq!(rated["source"], "endurance-group-09h");
    let rated_bytes = number(rated, "/media_bytes");
    assert!(rated_bytes > number(&probe, "/drive/capacity_bytes"));

    // Parts of units, whole units, too little for the steps of the host's counter.
    suite(&mut guest, "parts", "randwrite", "4k", "32m");
    suite(&mut guest, "whole", "write", "128k", "64m");
    suite(&mut guest, "little", "write", "128k", "4m");
    let mut factors = Vec::new();
    for name in ["parts", "whole"] {
        let before = Truth::read(&mut guest, &controller);
        let run = guest.json(&format!(
            "run ./{name}.toml {device} --destroy {serial} --set warranty_years=5 --out {name}"
        ));
        let after = Truth::read(&mut guest, &controller);
        let truth =
            (after.media_bytes - before.media_bytes) / (after.host_bytes - before.host_bytes);
        // Of the cell, and of its step, which has only this cell.
        let found = conclusions(&run, "write_amplification");
        assert_eq!(found.len(), 2, "{run:#}");
        for row in &found {
            let (low, high) = (number(row, "/lower"), number(row, "/upper"));
            assert!((low..=high).contains(&truth), "{truth} {row:#}");
            assert!(high / low < 1.1 && row["text"] == "ocp-c0h", "{row:#}");
        }
        let factor = number(found[0], "/value");
        let host = conclusions(&run, "rated_host_bytes");
        assert_eq!(host[0]["text"], "endurance-group-09h", "{run:#}");
        let relative = number(host[0], "/value") / (rated_bytes / factor);
        assert!((relative - 1.0).abs() < 1e-9, "{relative}");
        assert_eq!(conclusions(&run, "drive_writes_per_day").len(), 1);
        factors.push(factor);
    }
    assert!(factors[0] > 3.5 && factors[1] < 1.1, "{factors:?}");

    // Eight data units are no basis of a figure: the reason instead.
    let run = guest.json(&format!("run ./little.toml {device} --destroy {serial} --out little"));
    let none = conclusions(&run, "write_amplification");
    assert_eq!((none.len(), &none[0]["value"]), (2, &Value::Null));
    assert!(none[0]["text"].as_str().unwrap().contains("5 %"), "{none:#?}");

    // The report of all runs has the drive's health by date.
    guest.ok("assay report parts whole little -o page.html");
    for text in [
        "Write amplification",
        "ocp-c0h",
        "the error would exceed 5 %",
        "Health over time",
        "no projection of 3 runs",
    ] {
        guest.ok(&format!("grep -q '{text}' page.html"));
    }
    let compared = guest.ok("assay compare parts whole");
    assert!(compared.contains("Health over time"), "{compared}");
    guest.end();
}
