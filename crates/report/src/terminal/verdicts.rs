//! Verdicts, each with its reasons.

use assay_store::model::{ReasonWeight, Verdict, VerdictResult};

use super::text::{Page, Paint};
use super::{NARROWEST, Style};

/// Verdicts of drives by name, at most `width` columns wide (not under 40).
pub fn verdicts(list: &[(String, Verdict)], width: usize, style: Style) -> String {
    let mut page = Page::new(width.max(NARROWEST), style);
    for (name, verdict) in list {
        write(&mut page, name, verdict);
    }
    page.finish()
}

/// One drive's.
pub(super) fn write(page: &mut Page, name: &str, verdict: &Verdict) {
    let (words, paint) = match verdict.result {
        VerdictResult::Recommended => ("recommended", Paint::Good),
        VerdictResult::Conditionally => ("conditionally recommended", Paint::Caution),
        VerdictResult::NotRecommended => ("not recommended", Paint::Alarm),
        VerdictResult::Undecided => ("undecided", Paint::Caution),
    };
    page.line(&format!("{name}: {words}"), Some(paint));
    for reason in &verdict.reasons {
        let (sign, paint) = match reason.weight {
            ReasonWeight::For => ("  + ", Paint::Good),
            ReasonWeight::Caution => ("  ! ", Paint::Caution),
            ReasonWeight::Against => ("  - ", Paint::Alarm),
            ReasonWeight::Missing => ("  ? ", Paint::Soft),
        };
        page.item(sign, &reason.text, Some(paint));
    }
    page.blank();
}
