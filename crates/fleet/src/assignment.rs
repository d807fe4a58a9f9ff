//! Which drive of a plan is measured on which host, in which order, and what is left out. What the
//! plan may choose, the order on a host, is random: drives of one model and lot are shuffled,
//! seeded by the plan id, and drives of several models and lots alternate, so that neither group
//! nor lot is confounded with time.

use std::collections::BTreeMap;
use std::fmt;

use assay_suite::SuiteError;
use assay_units::{Nanos, Rng};

use crate::inventory::{HostInventory, InventoryDrive};
use crate::plan::{EnduranceShare, Estimate, Estimates, OverLimit, Plan, Share};
use crate::{HostName, PlanId, Serial};

#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// Drives of each host, in the order in which they are measured.
    pub hosts: BTreeMap<HostName, Vec<AssignedDrive>>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug)]
pub struct AssignedDrive {
    pub drive: InventoryDrive,
    pub group: Option<String>,
    /// Its planned time.
    pub estimate: Estimate,
    /// Nothing where the plan may not write the drive.
    pub endurance: EnduranceShare,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub serial: Serial,
    pub why: WhyLeftOut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// No inventory has the drive.
    NotFound,
    /// The drive is of this model, not of the plan's.
    OtherModel(String),
    OnSeveralHosts(Vec<HostName>),
    DoesNotFit(String),
    OverLimit(OverLimit),
}

impl WhyLeftOut {
    /// Word for JSON.
    pub fn code(&self) -> &'static str {
        match self {
            WhyLeftOut::NotFound => "not_found",
            WhyLeftOut::OtherModel(_) => "other_model",
            WhyLeftOut::OnSeveralHosts(_) => "on_several_hosts",
            WhyLeftOut::DoesNotFit(_) => "does_not_fit",
            WhyLeftOut::OverLimit(why) => why.code(),
        }
    }
}

impl fmt::Display for WhyLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyLeftOut::NotFound => f.write_str(
                "no inventory has it; check the drive, and run `assay fleet inventory --store` on \
                 its host",
            ),
            WhyLeftOut::OtherModel(model) => {
                write!(f, "it is a {model:?}, not the plan's model, and left alone")
            }
            WhyLeftOut::OnSeveralHosts(hosts) => {
                let hosts: Vec<&str> = hosts.iter().map(HostName::as_str).collect();
                write!(
                    f,
                    "refused: the hosts {} show this serial; find out which one has the drive, \
                     and take the inventory of the others again, or remove it (`assay fleet \
                     inventory --remove`)",
                    hosts.join(" and ")
                )
            }
            WhyLeftOut::DoesNotFit(why) => f.write_str(why),
            WhyLeftOut::OverLimit(why) => why.fmt(f),
        }
    }
}

pub fn assign(plan: &Plan, id: &PlanId, inventories: &[HostInventory]) -> Assignment {
    let mut found: BTreeMap<&Serial, Vec<(&HostName, &InventoryDrive)>> = BTreeMap::new();
    for inventory in inventories {
        for drive in &inventory.drives {
            let all = found.entry(&drive.serial).or_default();
            all.push((&inventory.host, drive));
        }
    }
    let is_model = |drive: &InventoryDrive| {
        let model = plan.drives.model.as_ref();
        model.is_none_or(|model| drive.model.starts_with(model.as_str()))
    };
    let serials: Vec<Serial> = match &plan.drives.serials {
        Some(list) => list.drives.keys().cloned().collect(),
        // Drives of other models are not the plan's: nothing is left out.
        None => {
            let of_model = found.iter().filter(|(_, all)| all.iter().any(|(_, d)| is_model(d)));
            of_model.map(|(serial, _)| (*serial).clone()).collect()
        }
    };
    let mut assignment = Assignment::default();
    let mut estimates = Estimates::default();
    for serial in serials {
        let mut place = || -> Result<(&HostName, AssignedDrive), WhyLeftOut> {
            let (host, drive) = match found.get(&serial).map(Vec::as_slice) {
                None | Some([]) => return Err(WhyLeftOut::NotFound),
                Some([one]) => *one,
                Some(several) => {
                    let hosts = several.iter().map(|(host, _)| (*host).clone());
                    return Err(WhyLeftOut::OnSeveralHosts(hosts.collect()));
                }
            };
            if !is_model(drive) {
                return Err(WhyLeftOut::OtherModel(drive.model.clone()));
            }
            let (estimate, endurance) = estimated(plan, drive, &mut estimates)?;
            let assigned = AssignedDrive {
                drive: drive.clone(),
                group: group(plan, host, drive),
                estimate,
                endurance,
            };
            Ok((host, assigned))
        };
        match place() {
            Ok((host, drive)) => {
                let of_host = assignment.hosts.entry(host.clone()).or_default();
                of_host.push(drive);
            }
            Err(why) => assignment.left_out.push(LeftOut { serial, why }),
        }
    }
    for (host, drives) in &mut assignment.hosts {
        *drives = order(std::mem::take(drives), |assigned| &assigned.drive, id, host);
    }
    assignment
}

impl Assignment {
    pub fn drives(&self) -> usize {
        self.hosts.values().map(Vec::len).sum()
    }

    /// The sum over the drives if each is measured alone, else the longest.
    pub fn span(&self, host: &HostName, share: Share) -> Nanos {
        let drives = self.hosts.get(host).into_iter().flatten();
        let spans = drives.map(|assigned| assigned.estimate.span.0);
        Nanos(match share {
            Share::Alone => spans.fold(0, u64::saturating_add),
            Share::Together | Share::Cores => spans.max().unwrap_or(0),
        })
    }
}

/// Time and endurance. Errors: [`WhyLeftOut::DoesNotFit`], [`WhyLeftOut::OverLimit`].
pub(crate) fn estimated(
    plan: &Plan,
    drive: &InventoryDrive,
    estimates: &mut Estimates,
) -> Result<(Estimate, EnduranceShare), WhyLeftOut> {
    let may_write = plan.run.destroy || drive.simulated;
    let estimate = estimates.estimate(plan, drive.capacity_bytes, may_write);
    let does_not_fit = |error: SuiteError| WhyLeftOut::DoesNotFit(error.to_string());
    let estimate = estimate.map_err(does_not_fit)?;
    let endurance = EnduranceShare::new(plan, drive, &estimate);
    if let Some(limit_pct) = plan.run.endurance_limit_pct {
        endurance.keeps(limit_pct).map_err(WhyLeftOut::OverLimit)?;
    }
    Ok((estimate, endurance))
}

/// The value of a column of the list of serials, else what the drive says.
fn group(plan: &Plan, host: &HostName, drive: &InventoryDrive) -> Option<String> {
    let groups = plan.drives.groups.as_deref()?;
    let list = plan.drives.serials.as_ref();
    if let Some(value) = list.and_then(|list| list.value(&drive.serial, groups)) {
        return Some(value.to_owned());
    }
    match groups {
        "model" => Some(drive.model.clone()),
        "firmware" => Some(drive.firmware.clone()),
        "lot" => drive.lot.clone(),
        "host" => Some(host.to_string()),
        _ => None,
    }
}

/// Each model and lot is shuffled, models and lots alternate; follows from plan id and host alone.
pub fn order<T>(
    items: Vec<T>,
    drive: impl Fn(&T) -> &InventoryDrive,
    id: &PlanId,
    host: &HostName,
) -> Vec<T> {
    let mut strata: BTreeMap<(String, Option<String>), Vec<T>> = BTreeMap::new();
    for item in items {
        let of = drive(&item);
        let stratum = (of.model.clone(), of.lot.clone());
        strata.entry(stratum).or_default().push(item);
    }
    let mut order: Vec<(f64, T)> = Vec::new();
    for ((model, lot), mut items) in strata {
        // Not the order in which the kernel found them.
        items.sort_by(|a, b| drive(a).serial.cmp(&drive(b).serial));
        let name = format!("{id} {host} {model} {}", lot.unwrap_or_default());
        let mut rng = Rng::stream(0, &name);
        // Fisher and Yates.
        for last in (1..items.len()).rev() {
            let other = rng.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
        let count = items.len() as f64;
        let at = |index: usize| (index as f64 + 0.5) / count;
        order.extend(items.into_iter().enumerate().map(|(i, item)| (at(i), item)));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    order.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
#[path = "../tests/unit/assignment.rs"]
pub(crate) mod tests;
