use serde::{Deserialize, Serialize};

/// Verdict of a suite on a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// recommended, conditionally, not_recommended or undecided (not enough was measured).
    pub result: VerdictResult,
    /// Reasons with their figures.
    pub reasons: Vec<Reason>,
    /// Drives, and the year, to which the limits of the rules apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<String>,
}

/// Result of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictResult {
    /// No measured reason against it.
    Recommended,
    /// Recommended under conditions.
    Conditionally,
    /// A measured reason rules it out.
    NotRecommended,
    /// Too little was measured.
    Undecided,
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Weight.
    pub weight: ReasonWeight,
    /// Text with figures.
    pub text: String,
}

/// Weight of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonWeight {
    /// For it.
    For,
    /// A condition.
    Caution,
    /// Against it.
    Against,
    /// Not measured.
    Missing,
}
