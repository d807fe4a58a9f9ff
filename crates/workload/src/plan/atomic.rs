//! Atomic writes: what kernel and drive (RWF_ATOMIC), or a simulated drive, promise to write as a
//! whole or not at all.

use assay_device::session::TargetProperties;

use super::values::invalid;
use super::{Engine, PlanError, Workload};
use crate::access::AddressPattern;

pub(super) fn check(workload: &Workload, target: &TargetProperties) -> Result<(), PlanError> {
    let refused = |why: String| Err(invalid(format!("{}: --atomic {why}", target.name)));
    if !workload.writes() || workload.trims || workload.trace.is_some() {
        return refused("needs a job that writes, with --rw".to_owned());
    }
    let Some(limits) = target.atomic else {
        return Err(PlanError::Unsupported(format!(
            "{}: --atomic needs a drive, or a file, of whose atomic writes the kernel knows (Linux \
             6.11 or later, an NVMe drive with AWUPF or NAWUPF, for files ext4 or XFS that pass \
             its limits on; `assay probe` shows them; sim:...,awupf=16k simulates one)",
            target.name
        )));
    };
    if workload.engine == Engine::Passthru || !workload.direct {
        return refused(
            "is an option of the kernel's direct I/O: use it without --engine passthru and with \
             --direct true"
                .to_owned(),
        );
    }
    let access = &workload.access;
    let block = access.min_bytes();
    let (least, most) = (limits.min_bytes, limits.max_bytes);
    if access.max_bytes() != block || !block.is_power_of_two() {
        return refused("needs one --bs that is a power of two".to_owned());
    }
    if !(least..=most).contains(&block) {
        return Err(PlanError::Unsupported(format!(
            "{}: --atomic is promised for writes of {least} to {most} bytes, not of {block}; \
             change --bs",
            target.name
        )));
    }
    let align = match access.pattern {
        AddressPattern::Sequential => block,
        _ => access.align_bytes.unwrap_or(block),
    };
    let places = [
        u64::from(align),
        workload.region(0).offset_bytes,
        workload.region(workload.numjobs - 1).offset_bytes,
    ];
    match places.iter().all(|at| at.is_multiple_of(u64::from(block))) {
        true => Ok(()),
        false => {
            refused("needs writes at multiples of --bs: check --offset and --blockalign".to_owned())
        }
    }
}
