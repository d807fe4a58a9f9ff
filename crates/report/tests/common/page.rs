//! Parser of a page: tags, tables and charts, and checks that apply to every page.

use std::collections::HashSet;

/// The mark of simulated figures.
pub const SIMULATED: &str = " <span class=\"sim\">simulated</span>";

/// Text in MathJax's JavaScript that plotly's does not contain.
pub const MATHJAX: &str = "mjx-container";

/// The page without plotly's JavaScript, and the number of copies of it.
pub fn without_library(page: &str) -> (String, usize) {
    let marker = "<script type=\"application/gzip\" id=\"library\">";
    let count = page.matches(marker).count();
    let Some(at) = page.find(marker) else {
        return (page.to_owned(), 0);
    };
    let start = at + marker.len();
    let end = start + page[start..].find("</script>").unwrap();
    (format!("{}{}", &page[..start], &page[end..]), count)
}

/// Tags in order as (name, attributes, closing), without the contents of scripts and styles.
pub fn tags(page: &str) -> Vec<(String, String, bool)> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with('!') {
            continue;
        }
        // A `>` inside a quoted attribute does not end the tag.
        let mut quoted = false;
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                quoted ^= *c == '"';
                *c == '>' && !quoted
            })
            .expect("a tag that never ends")
            .0;
        let tag = &rest[..end];
        let closing = tag.starts_with('/');
        let tag = tag.trim_start_matches('/');
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        assert!(
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()),
            "not a tag: <{tag:.60}"
        );
        tags.push((name.to_owned(), attributes.to_owned(), closing));
        rest = &rest[end + 1..];
        if !closing && (name == "script" || name == "style") {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("unclosed raw text")..];
        }
    }
    tags
}

pub fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let from = attributes.find(&format!("{name}=\""))? + name.len() + 2;
    let length = attributes[from..].find('"')?;
    Some(&attributes[from..from + length])
}

pub fn assert_well_formed(page: &str) {
    const VOID: [&str; 6] = ["meta", "base", "br", "input", "img", "link"];
    let mut open: Vec<String> = Vec::new();
    let mut ids = HashSet::new();
    let mut referred = Vec::new();
    for (name, attributes, closing) in tags(page) {
        if closing {
            assert_eq!(open.pop().as_ref(), Some(&name), "closed out of order");
        } else if !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        if let Some(id) = attribute(&attributes, "id") {
            assert!(ids.insert(id.to_owned()), "id {id} twice");
        }
        for reference in ["aria-labelledby", "for", "data-view", "data-log", "data-section"] {
            referred.extend(attribute(&attributes, reference).map(str::to_owned));
        }
        if let Some(target) = attribute(&attributes, "href") {
            let target = target.strip_prefix('#').expect("a link out of the page");
            referred.push(target.to_owned());
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    for id in referred {
        assert!(ids.contains(&id), "nothing has the id {id}");
    }
}

/// A trace with its style, as plotly takes it.
fn whole(styles: &serde_json::Value, trace: &serde_json::Value) -> serde_json::Value {
    let style = usize::try_from(trace[0].as_u64().unwrap()).unwrap();
    let (style, lists) = (styles[style].as_object().unwrap(), trace[1].as_object().unwrap());
    style.clone().into_iter().chain(lists.clone()).collect()
}

pub fn charts(page: &str) -> serde_json::Value {
    let marker = "<script type=\"application/json\" id=\"charts\">";
    let from = page.find(marker).unwrap() + marker.len();
    let to = from + page[from..].find("</script>").unwrap();
    let mut charts: serde_json::Value = serde_json::from_str(&page[from..to]).unwrap();
    for chart in charts.as_array_mut().unwrap() {
        let styles = chart["styles"].clone();
        for view in chart["views"].as_array_mut().unwrap() {
            for trace in view["data"].as_array_mut().unwrap() {
                *trace = whole(&styles, trace);
            }
        }
    }
    // Those of the first screen are drawn from others.
    let own = charts.as_array().unwrap().iter().filter(|c| c["of"].is_null());
    own.cloned().collect::<Vec<_>>().into()
}

/// Tables as (caption, rows of (heading, cells)), without tags.
pub type Tables = Vec<(String, Vec<(String, Vec<String>)>)>;

pub fn tables(page: &str) -> Tables {
    let between = |text: &str, from: &str, to: &str| -> Vec<String> {
        let pieces = text.split(from).skip(1);
        pieces.filter_map(|p| p.split(to).next().map(str::to_owned)).collect()
    };
    let words = |html: &str| {
        let mut out = String::new();
        let mut inside = false;
        for c in html.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out
    };
    between(page, "<table>", "</table>")
        .iter()
        .map(|table| {
            let caption = &between(table, "<caption>", "</caption>")[0];
            let caption = words(&caption.replace(SIMULATED, ""));
            let body = &between(table, "<tbody>", "</tbody>")[0];
            let rows = between(body, "<tr>", "</tr>")
                .iter()
                .map(|row| {
                    let heading =
                        words(&format!("<{}", between(row, "<th scope=\"row\"", "</th>")[0]));
                    let cells = between(row, "<td", "</td>");
                    // The interval below a figure is not part of it.
                    let figure = |cell: &String| match cell.split_once("<i>") {
                        Some((before, after)) => {
                            let after = after.split_once("</i>").map_or("", |(_, after)| after);
                            words(&format!("<td{before}{after}"))
                        }
                        None => words(&format!("<td{cell}")),
                    };
                    (heading, cells.iter().map(figure).collect())
                })
                .collect();
            (caption, rows)
        })
        .collect()
}
