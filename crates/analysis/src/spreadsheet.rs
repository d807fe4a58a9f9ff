//! Texts of others in tables that may be opened with a spreadsheet.

/// A spreadsheet takes a text that begins so for a formula, which can reach other files and hosts:
/// as a text it begins with an apostrophe (OWASP, CSV injection). In some languages the wide forms
/// count as well.
pub fn without_formula(text: String) -> String {
    let wide = ['\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'];
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) || text.starts_with(wide) {
        true => format!("'{text}"),
        false => text,
    }
}
