use crate::{TraceError, TraceSurvey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMap {
    /// [`AddressMap::Offset`] where all of the trace fits, else [`AddressMap::Modulo`].
    Auto,
    /// What is beyond the end of the area is clipped.
    Offset,
    /// Runs stay runs, and far apart addresses may coincide.
    Modulo,
    /// Lengths stay: shrunk runs overlap, stretched ones have gaps.
    Linear,
    /// As fio's `replay_scale`; what is beyond the end is clipped.
    Divide(u64),
}

impl AddressMap {
    pub fn parse(text: Option<&str>) -> Result<AddressMap, TraceError> {
        let divisor = |text: &str| text.strip_prefix("divide:")?.parse().ok();
        Ok(match text {
            None | Some("auto") => AddressMap::Auto,
            Some("offset") => AddressMap::Offset,
            Some("modulo") => AddressMap::Modulo,
            Some("linear") => AddressMap::Linear,
            Some(text) => match divisor(text).filter(|&divisor| divisor > 0) {
                Some(divisor) => AddressMap::Divide(divisor),
                None => {
                    return Err(TraceError::Option {
                        option: "trace_map",
                        given: text.to_owned(),
                        expected: "not one of: auto, offset, modulo, linear, divide:N".to_owned(),
                    });
                }
            },
        })
    }

    pub fn text(self) -> String {
        match self {
            AddressMap::Auto => "auto".to_owned(),
            AddressMap::Offset => "as in the trace".to_owned(),
            AddressMap::Modulo => "modulo the area".to_owned(),
            AddressMap::Linear => "linear onto the area".to_owned(),
            AddressMap::Divide(divisor) => format!("divided by {divisor}"),
        }
    }

    pub(super) fn resolve(self, survey: &TraceSurvey, area_bytes: u64) -> AddressMap {
        match self {
            AddressMap::Auto if survey.high_bytes <= area_bytes => AddressMap::Offset,
            AddressMap::Auto => AddressMap::Modulo,
            given => given,
        }
    }

    /// Whether requests that begin at a block of the traced device begin at one here.
    pub(super) fn keeps_offsets(self) -> bool {
        matches!(self, AddressMap::Offset | AddressMap::Modulo)
    }

    pub(super) fn begins_beyond(self, survey: &TraceSurvey, area_bytes: u64) -> bool {
        survey.high_bytes > 0
            && match self {
                AddressMap::Offset => survey.low_bytes >= area_bytes,
                AddressMap::Divide(divisor) => survey.low_bytes / divisor >= area_bytes,
                AddressMap::Auto | AddressMap::Modulo | AddressMap::Linear => false,
            }
    }

    pub(super) fn place(self, offset_bytes: u64, survey: &TraceSurvey, area_bytes: u64) -> u64 {
        match self {
            AddressMap::Auto | AddressMap::Offset => offset_bytes,
            AddressMap::Divide(divisor) => offset_bytes / divisor,
            AddressMap::Modulo => offset_bytes % area_bytes,
            AddressMap::Linear => {
                let span = u128::from(survey.high_bytes - survey.low_bytes).max(1);
                let within = u128::from(offset_bytes.saturating_sub(survey.low_bytes));
                // Below `area_bytes`, because `within` is below `span`.
                (within * u128::from(area_bytes) / span) as u64
            }
        }
    }
}
