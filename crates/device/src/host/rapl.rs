//! Power of the host's processor packages from RAPL energy counters
//! (Documentation/power/powercap/powercap.rst).

use std::path::{Path, PathBuf};

use assay_units::Nanos;

#[derive(Debug, Default)]
pub struct PackageEnergy {
    packages: Vec<Package>,
}

#[derive(Debug)]
struct Package {
    energy: PathBuf,
    /// Wrap-around of the counter, microjoules.
    range_uj: u64,
    last_uj: u64,
}

fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

impl PackageEnergy {
    /// Most virtual machines have no counters, and without root they are unreadable.
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
            // Sub-zones (core, uncore, dram) are partly contained in the package, so only packages
            // are summed.
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
        PackageEnergy { packages: packages.collect() }
    }

    /// Mean power since the last call, watts; `None` without counters.
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
