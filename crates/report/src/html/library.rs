//! plotly's JavaScript as embedded in the page.
//!
//! The `plotly` crate contains the whole bundle of 49 trace types and extras; the page needs lines and dots, which are in
//! the core, and bars. Two changes of the bundle save a tenth of the time until a page of eighty charts is drawn:
//!
//! * Only bars are registered. Modules that are not registered are never run.
//! * The function around the bundle is in parentheses, by which browsers compile it at once instead of preparsing it first
//!   (<https://v8.dev/blog/preparser#pife>).
//!
//! Both apply to one known version; another version is embedded unchanged.

use plotly::Plot;

use crate::ReportError;

/// Text before plotly's JavaScript in `Plot::offline_js_sources` of plotly 0.14.
const START: &str = "<script type=\"text/javascript\">";
/// The version to which the changes apply.
const KNOWN: &str = "plotly.js v3.0.1\n";
/// Start and end of the function around the bundle.
const FACTORY: &str = "this, () => {";
const FACTORY_END: &str = "\n}));";
/// Registration of the modules outside the core: `./bar` first (plotly.js, `lib/index.js`).
const REGISTER: &str = ".register([";

/// plotly's JavaScript, without the crate's MathJax.
///
/// # Errors
/// When the crate's text has another form than expected.
pub fn library() -> Result<String, ReportError> {
    let sources = Plot::offline_js_sources();
    let script = sources
        .strip_prefix(START)
        .and_then(|rest| Some(&rest[..rest.find("</script>")?]))
        .filter(|script| script.contains("plotly.js v"))
        .ok_or(ReportError::PlotLibrary)?;
    Ok(reduced(script).unwrap_or_else(|| script.to_owned()))
}

/// The script with both changes; `None` for an unknown version.
fn reduced(script: &str) -> Option<String> {
    if !script.contains(KNOWN) {
        return None;
    }
    let (head, rest) = script.split_once(FACTORY)?;
    let (modules, rest) = rest.rsplit_once(REGISTER)?;
    let (list, rest) = rest.split_once(']')?;
    let (bars, _) = list.split_once(',')?;
    let (rest, tail) = rest.rsplit_once(FACTORY_END)?;
    Some(format!(
        "{head}this, (() => {{{modules}{REGISTER}{bars}]{rest}\n}})));{tail}"
    ))
}

#[cfg(test)]
#[path = "../../tests/unit/html/library.rs"]
mod tests;
