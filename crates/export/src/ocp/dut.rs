//! The beginning of a run: what was tested, by what, and where.

use std::io::Write;

use assay_store::model::Manifest;
use serde_json::{Map, Value, json};

use super::artifact::{DutInfo, HardwareInfo, OfRun, PlatformInfo, RunStart, SoftwareInfo};
use super::writer::OcpWriter;

impl<W: Write> OcpWriter<'_, W> {
    pub(super) fn run_start(&mut self) -> std::io::Result<()> {
        let manifest = self.manifest.clone();
        let mut parameters: Map<String, Value> = Map::new();
        for (key, value) in &manifest.parameters {
            parameters.insert(key.clone(), json!(value));
        }
        parameters.insert("scale".to_owned(), json!(manifest.scale));
        parameters.insert("seed".to_owned(), json!(manifest.seed));
        let start = RunStart {
            name: &manifest.suite.name,
            version: &manifest.tool.version,
            command_line: manifest.command_line.join(" "),
            parameters,
            dut_info: dut_info(&manifest),
            metadata: json!({
                "run_id": manifest.run_id,
                "suite_title": manifest.suite.title,
                "simulated": manifest.drives.iter().any(|drive| drive.simulated),
            }),
        };
        self.of_run(OfRun::TestRunStart(Box::new(start)))
    }
}

fn dut_info(manifest: &Manifest) -> DutInfo {
    let host = &manifest.host;
    let drives = manifest.drives.iter().enumerate();
    let hardware_infos = drives.clone().map(|(index, drive)| HardwareInfo {
        hardware_info_id: index.to_string(),
        name: drive.label.clone(),
        serial_number: drive.serial.clone(),
        manufacturer_part_number: drive.model.clone(),
        part_type: match drive.simulated {
            true => "simulated SSD",
            false => "SSD",
        },
        location: drive.details.get("PCIe address").filter(|_| !drive.simulated).cloned(),
    });
    let firmware = drives.map(|(index, drive)| SoftwareInfo {
        software_info_id: index.to_string(),
        name: format!("firmware of {}", drive.label),
        version: drive.firmware.clone(),
        revision: None,
        software_type: "FIRMWARE",
    });
    let count = manifest.drives.len();
    let tool = SoftwareInfo {
        software_info_id: count.to_string(),
        name: manifest.tool.name.clone(),
        version: manifest.tool.version.clone(),
        revision: Some(manifest.tool.commit.clone()),
        software_type: "APPLICATION",
    };
    let kernel = SoftwareInfo {
        software_info_id: (count + 1).to_string(),
        name: "Linux".to_owned(),
        version: host.kernel.clone(),
        revision: None,
        software_type: "SYSTEM",
    };
    DutInfo {
        dut_info_id: "0".to_owned(),
        platform_infos: vec![PlatformInfo {
            info: format!(
                "{}, {} logical processors, {} bytes of memory",
                host.cpu_model, host.logical_cpus, host.memory_bytes
            ),
        }],
        software_infos: firmware.chain([tool, kernel]).collect(),
        hardware_infos: hardware_infos.collect(),
    }
}
