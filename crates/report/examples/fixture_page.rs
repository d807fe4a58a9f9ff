//! Writes the page of a fixture run: `cargo run --example fixture_page -- page.html`. Second
//! argument: `job` for a single workload, `both` for two runs on one page.

#[path = "../tests/common/mod.rs"]
mod common;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name the file to write")?;
    let runs = match arguments.next().as_deref() {
        Some("job") => vec![common::job()],
        Some("both") => vec![common::bandwidth(), common::bandwidth(), common::job()],
        _ => vec![common::bandwidth()],
    };
    std::fs::write(&path, assay_report::html::render(&runs)?)?;
    for run in &runs {
        let style = assay_report::terminal::Style::Colour;
        print!("{}", assay_report::terminal::render(run, 80, style));
    }
    Ok(())
}
