//! What is concluded about a drive, with its reasons.

use serde::{Deserialize, Serialize};

/// What a suite concludes about a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// recommended, conditionally, not_recommended or undecided (not enough was measured).
    pub result: VerdictResult,
    /// Why, each with the figures it rests on.
    pub reasons: Vec<Reason>,
}

/// The conclusion's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictResult {
    /// Nothing measured speaks against it.
    Recommended,
    /// Good with the conditions named.
    Conditionally,
    /// Something measured rules it out.
    NotRecommended,
    /// Too little was measured.
    Undecided,
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Speaks for the drive, against it, or says what is missing.
    pub weight: ReasonWeight,
    /// In words, with figures.
    pub text: String,
}

/// Which way a reason points.
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
