use super::*;

pub(super) fn page() -> FidelityPage {
    let cell = |threads: u32, block: f64, published: f64, simulated: f64| FidelityFigure {
        kind: FigureKind::RandomRead,
        title: format!("random read, {threads} x {block}"),
        published,
        simulated: Some(simulated),
        unit: "MiB/s".to_owned(),
        error: Some((simulated / published - 1.0) * 100.0),
        error_unit: "%".to_owned(),
        met: (simulated / published - 1.0).abs() <= 0.1,
        goal: 10.0,
        predicted: threads == 64,
        source: "DragonFly 2018".to_owned(),
        curve: Some((format!("{threads} threads"), block)),
    };
    FidelityPage {
        drives: vec![FidelityDrive {
            name: "some-drive".to_owned(),
            title: "Some <Drive>".to_owned(),
            figures: vec![
                cell(16, 512.0, 100.0, 103.0),
                cell(16, 4096.0, 600.0, 590.0),
                cell(64, 512.0, 100.0, 120.0),
                cell(64, 4096.0, 1000.0, 1010.0),
                FidelityFigure {
                    title: "temperature".to_owned(),
                    published: 80.0,
                    simulated: Some(81.0),
                    unit: "C".to_owned(),
                    error: Some(1.0),
                    error_unit: "C".to_owned(),
                    met: true,
                    goal: 2.0,
                    source: "DragonFly 2018".to_owned(),
                    ..FidelityFigure::default()
                },
            ],
        }],
        limits: vec!["It has no <moon>.".to_owned()],
    }
}

#[test]
fn summaries_exclude_kelvin_from_percentages() {
    let page = page();
    let sum = page.drives[0].statistics(|_| true);
    assert_eq!((sum.count, sum.met), (5, 4));
    assert!((sum.worst - 20.0).abs() < 1e-9);
    assert!((page.drives[0].statistics(|f| f.predicted).median - 10.5).abs() < 1e-9);
}

#[test]
fn both_forms_list_every_figure_and_the_misses() {
    let page = page();
    let text = markdown(&page);
    assert!(text.contains("| some-drive | 4 | 2.3 | 20.0 |"), "{text}");
    assert!(
        text.contains("## Figures that miss their goals") && text.contains("| +20.0 % |"),
        "{text}"
    );
    assert!(
        text.contains("| 100 MiB/s | 120 | +20.0 % | 10.0 % | predicted |"),
        "the unit follows the published figure: {text}"
    );
    let html = html(&page).expect("a page");
    assert!(html.starts_with("<!DOCTYPE html>"));
    assert!(html.contains("Some &lt;Drive&gt;") && html.contains("no &lt;moon&gt;"));
    assert!(html.contains("data-drawn") && html.contains("fidelity-1"));
    assert_eq!(html.matches("class=\"drawing\"").count(), 1);
}
