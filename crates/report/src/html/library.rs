//! plotly's JavaScript, as the page embeds it.
//!
//! It comes out of the `plotly` crate, which ships the whole bundle: 49 kinds of traces and extras, maps and surfaces among them. The page
//! needs lines and dots, which are in the core, and bars. Two places of the bundle are changed so that it starts sooner, which is a tenth of
//! the time until a page of eighty charts is drawn:
//!
//! * Only bars are registered. What is not registered is never run.
//! * The function around the bundle is put in parentheses, by which browsers see that it is called at once; otherwise they skim all of it
//!   first, to read it a second time when it is called (<https://v8.dev/blog/preparser#pife>).
//!
//! Both places are known of one version of the bundle. Another version is embedded as it is.

use plotly::Plot;

use crate::ReportError;

/// What stands before plotly's JavaScript in `Plot::offline_js_sources` of plotly 0.14.
const START: &str = "<script type=\"text/javascript\">";
/// The version whose text is known.
const KNOWN: &str = "plotly.js v3.0.1\n";
/// Where the whole is a function without a name, and where that ends.
const FACTORY: &str = "this, () => {";
const FACTORY_END: &str = "\n}));";
/// Where what is not in the core is registered: `./bar` first (plotly.js, `lib/index.js`).
const REGISTER: &str = ".register([";

/// plotly's JavaScript, without the MathJax that the crate embeds beside it.
///
/// # Errors
/// When the crate embeds it in another way than expected.
pub fn library() -> Result<String, ReportError> {
    let sources = Plot::offline_js_sources();
    let script = sources
        .strip_prefix(START)
        .and_then(|rest| Some(&rest[..rest.find("</script>")?]))
        .filter(|script| script.contains("plotly.js v"))
        .ok_or(ReportError::PlotLibrary)?;
    Ok(leaner(script).unwrap_or_else(|| script.to_owned()))
}

/// The same with less to start; `None` for a version that is not known.
fn leaner(script: &str) -> Option<String> {
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
