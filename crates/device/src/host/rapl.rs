//! What the host's processors draw, from their own energy counters (RAPL, Documentation/power/powercap/powercap.rst).
//!
//! That is the host's power and never a drive's: it is told beside the load of the host, so that a reader of kIOPS per watt sees what the
//! work cost on the other end of the link.

use std::path::{Path, PathBuf};

use assay_units::Nanos;

/// Energy counters of all processor packages.
#[derive(Debug, Default)]
pub struct PackageEnergy {
    packages: Vec<Package>,
}

#[derive(Debug)]
struct Package {
    energy: PathBuf,
    /// Where the counter begins again, microjoules.
    range_uj: u64,
    last_uj: u64,
}

fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

impl PackageEnergy {
    /// Those of this machine; none on most virtual machines, and none that may be read without root.
    pub fn start() -> PackageEnergy {
        PackageEnergy::in_dir(Path::new("/sys/class/powercap"))
    }

    fn in_dir(dir: &Path) -> PackageEnergy {
        let Ok(entries) = std::fs::read_dir(dir) else {
            return PackageEnergy::default();
        };
        let packages = entries.flatten().filter_map(|entry| {
            let zone = entry.path();
            let name = std::fs::read_to_string(zone.join("name")).ok()?;
            // Zones within a package (core, uncore, dram) are parts of its figure or beside it; only whole packages are added up.
            if !name.starts_with("package-") {
                return None;
            }
            let energy = zone.join("energy_uj");
            Some(Package {
                last_uj: number(&energy)?,
                range_uj: number(&zone.join("max_energy_range_uj")).unwrap_or(0),
                energy,
            })
        });
        PackageEnergy {
            packages: packages.collect(),
        }
    }

    /// Mean power since the last call (or the start), watts; `None` where there are no counters.
    pub fn mean_w(&mut self, span: Nanos) -> Option<f64> {
        if self.packages.is_empty() || span == Nanos::ZERO {
            return None;
        }
        let mut used_uj = 0;
        for package in &mut self.packages {
            let now_uj = number(&package.energy)?;
            used_uj += if now_uj >= package.last_uj {
                now_uj - package.last_uj
            } else {
                package.range_uj.saturating_sub(package.last_uj) + now_uj
            };
            package.last_uj = now_uj;
        }
        Some(used_uj as f64 / 1e6 / span.as_secs_f64())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/host/rapl.rs"]
mod tests;
