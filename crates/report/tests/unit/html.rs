use super::*;

#[test]
fn hostile_text_is_escaped_and_without_control_characters() {
    let text = "</script>\"'&\u{1b}\n";
    assert_eq!(
        sanitised(html! { p title=(text) { (text) } }).into_string(),
        "<p title=\"&lt;/script&gt;&quot;'&amp;\u{fffd}\n\">&lt;/script&gt;&quot;'&amp;\u{fffd}\n\
         </p>"
    );
}

#[test]
fn no_page_without_runs() {
    assert!(matches!(render(&[]), Err(ReportError::NoRuns)));
}
