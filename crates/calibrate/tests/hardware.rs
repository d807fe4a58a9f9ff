//! Profiles against `reference/hardware.toml`.

use assay_calibrate::hardware::{Hardware, contradictions};
use assay_ssd::Profile;

/// Reasons, each with what would correct the number.
const CEILING: &str = "cost fitted as time that occupies a core, which caps the rate below the \
                       data sheet's: refit with pipelined latency";
const CORES: &str = "fitted with costs that add up as on fewer cores: refit with costs that \
                     occupy and costs that do not";
const PIECES: &str = "a page of 16 KiB counts as four pieces with a cost each: refit with a cost \
                      per piece of a whole page";
const GEOMETRY: &str = "geometry chosen for the fit of random reads: refit with that of its class";
const PROGRAM: &str = "fitted to sequential writes with the planes and pages above, or a cache: \
                       refit with those of its class";
const PLANES: &str = "program, fold and cache times are those of two planes: refit with four";
const CACHE: &str = "includes the part of the cache that the drive takes from free user space";
const PARTS: &str =
    "each die counts as four parts that read apart from each other; no source says so";

/// Contradictions that remain: drive, number, why. The list may only become shorter: an entry that
/// no longer contradicts fails the test too.
const KNOWN: &[(&str, &str, &str)] = &[
    ("intel-600p", "firmware.read_command_ns", CEILING),
    ("samsung-960-evo", "firmware.read_command_ns", CEILING),
    ("plextor-m8pe-y", "firmware.read_command_ns", CEILING),
    ("plextor-m8pe-gn", "firmware.read_command_ns", CEILING),
    ("plextor-m8pe-g", "firmware.write_command_ns", CEILING),
    ("plextor-m8pe-y", "firmware.write_command_ns", CEILING),
    ("plextor-m8pe-gn", "firmware.write_command_ns", CEILING),
    ("intel-600p", "firmware.cores", CORES),
    ("samsung-960-evo", "firmware.cores", CORES),
    ("samsung-960-evo", "nand.page_bytes", PIECES),
    ("intel-p3700", "nand.channels", GEOMETRY),
    ("intel-p3700", "nand.planes", GEOMETRY),
    ("samsung-960-evo", "nand.program_ns", PROGRAM),
    ("intel-600p", "nand.planes", PLANES),
    ("crucial-mx300", "nand.planes", PLANES),
    ("samsung-960-evo", "nand.blocks_per_plane", CACHE),
    ("intel-optane-memory-32gb", "in_place.dies", PARTS),
];

#[test]
fn profiles_agree_with_the_hardware_of_their_drives() {
    let hardware = Hardware::embedded().expect("whole");
    let mut unknown = Vec::new();
    let mut remaining: Vec<_> = KNOWN.iter().map(|&(drive, field, _)| (drive, field)).collect();
    for name in Profile::names() {
        let profile = Profile::builtin(name).expect("a built-in profile");
        for found in contradictions(&profile, &hardware) {
            let entry = (name, found.field);
            match remaining.iter().position(|known| *known == entry) {
                Some(at) => drop(remaining.remove(at)),
                None => {
                    let class = found.class.as_deref().unwrap_or("stated of this part");
                    unknown.push(format!(
                        "{name}: {} = {}, but {} by {} ({class}{})",
                        found.field,
                        found.profile,
                        found.table,
                        found.source,
                        if found.checked { "" } else { "; not checked" },
                    ));
                }
            }
        }
    }
    assert!(
        unknown.is_empty(),
        "profiles contradict reference/hardware.toml:\n{}",
        unknown.join("\n")
    );
    assert!(remaining.is_empty(), "no longer contradictions, remove them: {remaining:?}");
}
