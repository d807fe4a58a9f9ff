//! What is concluded from, as declared before measuring.

use std::collections::BTreeMap;

use assay_stats::compare::MINIMUM_EFFECT;
use serde::{Deserialize, Serialize};

use super::Observation;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By the plan's groups where it has any, else by model where there are several, else by
    /// firmware.
    #[default]
    Automatic,
    /// All drives are one group.
    None,
    Group,
    Firmware,
    Model,
    Lot,
}

impl Grouping {
    /// Never [`Grouping::Automatic`].
    pub fn resolved(self, observations: &[&Observation]) -> Grouping {
        if self != Grouping::Automatic {
            return self;
        }
        let several = |grouping: Grouping| {
            let mut names = observations.iter().map(|o| grouping.name(o));
            let first = names.next();
            names.any(|name| Some(name) != first)
        };
        let choices = [Grouping::Group, Grouping::Model, Grouping::Firmware];
        let found = choices.into_iter().find(|grouping| several(*grouping));
        found.unwrap_or(Grouping::None)
    }

    /// Empty where there is one group only.
    pub fn name(self, observation: &Observation) -> &str {
        match self {
            Grouping::Automatic | Grouping::None => "",
            Grouping::Group => &observation.group,
            Grouping::Firmware => &observation.firmware,
            Grouping::Model => &observation.model,
            Grouping::Lot => &observation.lot,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Grouping::Automatic | Grouping::None => "all drives",
            Grouping::Group => "group",
            Grouping::Firmware => "firmware",
            Grouping::Model => "model",
            Grouping::Lot => "lot",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CohortSettings {
    /// Names of figures ([`super::observe::is_named`]).
    pub primary: Vec<String>,
    /// Share of 1.
    pub minimum_effect: f64,
    pub grouping: Grouping,
    /// Others are compared with this group; the first in alphabetical order where empty or not
    /// found.
    pub baseline: String,
    /// Limits of soaks by name ([`super::observe::is_named`]), in the figure's unit.
    pub limits: BTreeMap<String, f64>,
}

impl Default for CohortSettings {
    fn default() -> CohortSettings {
        CohortSettings {
            primary: Vec::new(),
            minimum_effect: MINIMUM_EFFECT,
            grouping: Grouping::Automatic,
            baseline: String::new(),
            limits: BTreeMap::new(),
        }
    }
}
