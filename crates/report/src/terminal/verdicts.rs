//! Verdicts with their reasons.

use assay_store::model::{ReasonWeight, Verdict, VerdictResult};

use super::text::{Paint, TextPage};
use super::{MIN_WIDTH, Style};

/// Verdicts of drives by name, at most `width` columns wide (not under 40).
pub fn verdicts(list: &[(String, Verdict)], width: usize, style: Style) -> String {
    let mut page = TextPage::new(width.max(MIN_WIDTH), style);
    for (name, verdict) in list {
        write(&mut page, name, verdict);
    }
    page.finish()
}

/// The verdict of one drive.
pub(super) fn write(page: &mut TextPage, name: &str, verdict: &Verdict) {
    let (text, paint) = match verdict.result {
        VerdictResult::Recommended => ("recommended", Paint::Good),
        VerdictResult::Conditionally => ("conditionally recommended", Paint::Caution),
        VerdictResult::NotRecommended => ("not recommended", Paint::Alarm),
        VerdictResult::Undecided => ("undecided", Paint::Caution),
    };
    page.line(&format!("{name}: {text}"), Some(paint));
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
