use super::*;

#[test]
fn panels_fill_the_height_and_do_not_touch() {
    let panel = |share| Panel { title: "IOPS", log: false, share };
    let layout = panels("time, s", &[panel(2.0), panel(1.0), panel(1.0)]);
    let domain = |key: &str| -> Vec<f64> {
        serde_json::from_value(layout[key]["domain"].clone()).unwrap_or_default()
    };
    let (a, b, c) = (domain("yaxis"), domain("yaxis2"), domain("yaxis3"));
    assert_eq!((a[1], c[0]), (1.0, 0.0));
    assert!(a[0] > b[1] && b[0] > c[1], "{layout}");
    assert_eq!(layout["xaxis"]["anchor"], "y3");
}
