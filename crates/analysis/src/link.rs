//! The link by which a drive is classed.

use assay_store::model::DriveRecord;

/// A class: the links that are no faster than that which drive and slot support. A drive with a
/// faster link has no reason to be slower than those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Sata,
    Pcie { generation: u32, lanes: u32 },
}

impl Link {
    pub fn new(drive: &DriveRecord) -> Option<Link> {
        if drive.details.get("transport").is_some_and(|t| t == "sata") {
            return Some(Link::Sata);
        }
        let possible = drive.details.get("PCIe link possible")?;
        let speed: f64 = possible.split_whitespace().next()?.parse().ok()?;
        let lanes: u32 = possible.rsplit_once(" x")?.1.parse().ok()?;
        // PCI Express Base Specification 6.0, 1.2: speed of a lane by generation.
        let speeds = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];
        let generation = (1..).zip(speeds).find(|(_, of)| *of == speed)?.0;
        Some(Link::Pcie { generation, lanes })
    }

    /// As the table names it.
    pub fn parse(text: &str) -> Option<Link> {
        if text == "SATA" {
            return Some(Link::Sata);
        }
        let (generation, lanes) = text.strip_prefix("PCIe ")?.split_once(" x")?;
        let (generation, lanes) = (generation.parse().ok()?, lanes.parse().ok()?);
        Some(Link::Pcie { generation, lanes })
    }

    pub fn includes(self, other: Link) -> bool {
        match (self, other) {
            (Link::Sata, Link::Sata) => true,
            (
                Link::Pcie { generation, lanes },
                Link::Pcie { generation: of_other, lanes: lanes_of_other },
            ) => of_other <= generation && lanes_of_other <= lanes,
            _ => false,
        }
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Link::Sata => f.write_str("SATA"),
            Link::Pcie { generation, lanes } => write!(f, "PCIe {generation} x{lanes}"),
        }
    }
}
