use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn wrapped_text_fits_and_loses_nothing(text in "[a-z ]{0,200}", width in 10usize..60) {
        let lines = wrap(&text, width);
        prop_assert!(lines.iter().all(|l| l.chars().count() <= width));
        let squeezed = |s: &str| s.replace(' ', "");
        prop_assert_eq!(squeezed(&lines.concat()), squeezed(&text));
    }

    #[test]
    fn shortened_text_fits(text in "\\PC{0,80}", most in 0usize..60) {
        prop_assert!(shortened(&text, most).chars().count() <= most);
    }
}
