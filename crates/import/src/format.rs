//! What a file is, by its content, and the jobs in it.

use memchr::memmem;

use crate::fio::options::Options;
use crate::other::{crystaldiskmark, diskspd, elbencho, ezfio, iocost, iotune, vdbench, yabs};
use crate::{Parsed, fio};

/// A kind of result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// fio's JSON or JSON+.
    FioJson,
    /// fio's text for people.
    FioText,
    /// fio's terse lines.
    FioTerse,
    /// A log over time of fio, by the end of its name.
    FioLog,
    /// DiskSpd's XML.
    DiskSpd,
    /// elbencho's CSV.
    Elbencho,
    /// CrystalDiskMark's text.
    CrystalDiskMark,
    /// The JSON of yabs.sh.
    Yabs,
    /// A line of io.cost.model.
    IoCost,
    /// ezFIO's table of tests.
    EzFio,
    /// vdbench's flat file.
    Vdbench,
    /// `io_properties.yaml` of Seastar's iotune.
    IoTune,
}

/// As much of a file as is looked at.
const HEAD_BYTES: usize = 64 << 10;

impl Format {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Format::FioJson => "fio JSON",
            Format::FioText => "fio text",
            Format::FioTerse => "fio terse",
            Format::FioLog => "fio log",
            Format::DiskSpd => "DiskSpd XML",
            Format::Elbencho => "elbencho CSV",
            Format::CrystalDiskMark => "CrystalDiskMark text",
            Format::Yabs => "yabs.sh JSON",
            Format::IoCost => "io.cost.model",
            Format::EzFio => "ezFIO table",
            Format::Vdbench => "vdbench flat file",
            Format::IoTune => "iotune's io_properties.yaml",
        }
    }

    /// `None` of a file that no known program wrote.
    pub fn detect(name: &str, text: &[u8]) -> Option<Format> {
        let head = &text[..text.len().min(HEAD_BYTES)];
        let has = |needle: &[u8]| memmem::find(head, needle).is_some();
        if fio::logs::kind_of(name).is_some() && fio::logs::is_log(head) {
            return Some(Format::FioLog);
        }
        // Text of fio or of a script can come before the JSON.
        if memmem::find(text, fio::json::VERSION_KEY).is_some() {
            return Some(Format::FioJson);
        }
        if has(b";fio-") && fio::terse::is_terse(head) {
            return Some(Format::FioTerse);
        }
        if has(b"(groupid=") && has(b"fio") {
            return Some(Format::FioText);
        }
        let others = [
            (has(diskspd::KEY) && has(b"<TimeSpan>"), Format::DiskSpd),
            (has(elbencho::KEY), Format::Elbencho),
            (has(crystaldiskmark::KEY) && has(b"(Q="), Format::CrystalDiskMark),
            (yabs::KEYS.iter().all(|key| has(key)), Format::Yabs),
            (has(iocost::KEY) && has(b"wrandiops="), Format::IoCost),
            (has(ezfio::KEY), Format::EzFio),
            (vdbench::KEYS.iter().all(|key| has(key)), Format::Vdbench),
            (has(iotune::KEY) && has(b"disks:"), Format::IoTune),
        ];
        let found = others.into_iter().find(|(is, _)| *is);
        found.map(|(_, format)| format)
    }

    /// The jobs of a file; options that it does not have are those of `assumed`. The error is the
    /// reason.
    pub fn parse(self, text: &[u8], assumed: &Options) -> Result<Parsed, String> {
        match self {
            Format::FioJson => fio::json::parse(text, assumed),
            Format::FioText => fio::text::parse(text, assumed),
            Format::FioTerse => fio::terse::parse(text, assumed),
            Format::DiskSpd => diskspd::parse(text),
            Format::Elbencho => elbencho::parse(text),
            Format::CrystalDiskMark => crystaldiskmark::parse(text),
            Format::Yabs => yabs::parse(text),
            Format::IoCost => iocost::parse(text),
            Format::EzFio => ezfio::parse(text),
            Format::Vdbench => vdbench::parse(text, assumed),
            Format::IoTune => iotune::parse(text),
            // Logs belong to the jobs that wrote them: `fio::logs`.
            Format::FioLog => Ok(Parsed::default()),
        }
    }
}
