//! Flexible Data Placement: the identifiers that a job's writes have.

use assay_device::session::TargetProperties;
use assay_io::placement::PlacementIds;
use assay_units::Rng;

use super::values::{invalid, not_a_choice};
use super::{Engine, PlanError, Workload};
use crate::options::JobOptions;

/// What `--fdp` says: `1`, `0-2,4`, `all`, `random:0,1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Ascending, as fio's.
    pub ids: Vec<u16>,
    pub random: bool,
}

impl Workload {
    /// Of the writes of one thread.
    pub fn placement_ids(&self, worker: u32) -> Option<PlacementIds> {
        let placement = self.features.placement.as_ref()?;
        let stream = || Rng::stream(self.seed, &format!("placement {worker}"));
        let random = placement.random.then(stream);
        Some(PlacementIds::new(placement.ids.clone(), random))
    }
}

pub(super) fn placement(
    options: &JobOptions,
    target: &TargetProperties,
    workload: &Workload,
) -> Result<Option<Placement>, PlanError> {
    let Some(text) = options.fdp.as_deref() else {
        return Ok(None);
    };
    let name = &target.name;
    if !workload.writes() || workload.trims {
        return Err(invalid(format!("{name}: --fdp needs a job that writes")));
    }
    let handles = target.placement_handles;
    if handles == 0 {
        return Err(PlanError::Unsupported(format!(
            "{name}: --fdp needs a drive with Flexible Data Placement that is on (`assay probe` \
             shows it; sim:...,fdp=8 simulates one)"
        )));
    }
    if !matches!(workload.engine, Engine::Passthru | Engine::Sim) {
        return Err(invalid(format!(
            "{name}: --fdp needs --engine passthru: {} writes have no placement identifier",
            workload.engine.name()
        )));
    }
    let (list, random) = match text.strip_prefix("random:") {
        Some(list) => (list, true),
        None => (text, false),
    };
    let ids = match list {
        "all" => (0..handles).collect(),
        _ => ids(list).ok_or_else(|| {
            not_a_choice("fdp", text, "an identifier, a list such as 0-2,4, all, random:LIST")
        })?,
    };
    match ids.iter().find(|id| **id >= handles) {
        None => Ok(Some(Placement { ids, random })),
        Some(id) => Err(PlanError::Unsupported(format!(
            "{name}: --fdp {id} is out of range: it has 0 to {}",
            handles - 1
        ))),
    }
}

/// `0-2,4`, ascending.
fn ids(list: &str) -> Option<Vec<u16>> {
    let mut ids = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some(())?;
        ids.extend(first..=last);
    }
    ids.sort_unstable();
    Some(ids)
}
