//! Views of streams.

use assay_report::html;
use assay_report::terminal::{self, Style};

use super::common::{
    self,
    page::{charts, tables},
};
use super::{number, page, rows};

/// Caption of the view's table.
const STREAMS: &str = "Streams: peak against continuous: verdict";

#[test]
fn peak_and_continuous_rate_with_cliff_and_cache() {
    let runs = [common::views::peak(2, 3), common::views::continuous(2)];
    let page = html::render(&runs).unwrap();
    let tables = tables(&page);
    let rows = rows(&tables, STREAMS);
    let directions: Vec<&str> = rows.iter().map(|r| r.1[0].as_str()).collect();
    assert_eq!(directions, ["write", "read", "write", "read"]);
    let (falls, holds) = (&rows[0].1, &rows[2].1);
    let (peak, endless) = (number(&falls[2]), number(&falls[4]));
    // Three repetitions at 1, 2 and 3 % more than 2500, two streams of 20 seconds at 2500 and 220
    // at 500.
    assert!((peak / 2550.0 - 1.0).abs() < 0.02, "{falls:?}");
    assert!((endless - 667.0).abs() < 10.0, "{falls:?}");
    assert!(falls[2].contains('\u{b1}'), "{falls:?}");
    assert!(falls[1].starts_with("falls from 2,5"), "{falls:?}");
    assert!((number(&falls[6]) - 100.0 * endless / peak).abs() < 0.1);
    assert_eq!(falls[7], "16 MiB to 32 MiB");
    // Twenty seconds at 2500 MiB/s filled the cache.
    assert!((number(&falls[8]) - 48.8).abs() < 1.0, "{falls:?}");
    assert!(falls[8].ends_with("GiB"), "{falls:?}");
    assert_eq!((holds[1].as_str(), holds[7].as_str()), ("sustains its rate", "none"));
    assert_eq!(holds[8], "");
    let drawn = charts(&page);
    let by_length = drawn
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["views"][0]["layout"]["xaxis"]["type"] == "log");
    let view = &by_length.unwrap()["views"][0];
    // Writes of both drives, with a level line each; the cliff of one of them is shaded.
    assert_eq!(view["data"].as_array().unwrap().len(), 4);
    assert_eq!(view["layout"]["shapes"].as_array().unwrap().len(), 1);
    assert!(page.contains("all as written"));
}

#[test]
fn one_of_the_two_stream_suites_alone() {
    let peak = page(&common::views::peak(1, 1));
    let tables = tables(&peak);
    let first = &rows(&tables, STREAMS)[0].1;
    // Columns of the other suite are left out: direction, peak and its length, no continuous rate,
    // the cliff.
    assert_eq!((first.len(), first[3].as_str()), (5, "\u{2013}"));
    assert!(!first[1].contains('\u{b1}'), "measured once: {first:?}");
    assert!(peak.contains("measured once"));
    let lengths = rows(&tables, "Streams: peak against continuous: mean rate by length, MiB/s");
    assert_eq!(lengths.len(), 11);
    let endless = page(&common::views::continuous(1));
    let tables = common::page::tables(&endless);
    let first = &rows(&tables, STREAMS)[0].1;
    assert_eq!((first[0].as_str(), first[1].as_str()), ("write", "\u{2013}"), "{first:?}");
    assert!(number(&first[2]) > 600.0);
}

#[test]
fn a_miscompare_of_a_stream_is_stated_first() {
    let mut run = common::views::continuous(1);
    let read = &mut run.cells[1].drives[0].result.as_mut().unwrap().verify;
    let found = &mut read.as_mut().unwrap().found;
    found.insert("corrupt".to_owned(), 3);
    let page = page(&run);
    let alarm = page.find("returned wrong data").unwrap();
    assert!(alarm < page.find("<span class=\"cap\">Streams").unwrap());
    assert!(!page.contains("all as written"));
    let text = terminal::render(&run, 80, Style::Plain);
    assert!(text.contains("!! plextor-m8pe-y (simulated) returned"), "{text}");
}

#[test]
fn published_streams_beside_the_simulated_ones() {
    let mut run = common::views::peak(1, 2);
    let published = |rw: &str, stream_bytes: u64| assay_store::model::Published {
        source: "MLE".to_owned(),
        rw: rw.to_owned(),
        bs_bytes: 131_072,
        numjobs: 1,
        data: "incompressible".to_owned(),
        stream_bytes: Some(stream_bytes),
        mib_per_s: 2000.0,
        ..Default::default()
    };
    run.manifest.drives[0].published =
        vec![published("write", 1 << 23), published("read", 1 << 50), published("write", 1 << 24)];
    let tables = tables(&page(&run));
    let caption = "plextor-m8pe-y (simulated): published and simulated, MiB/s";
    let rows = rows(&tables, caption);
    assert_eq!(rows.len(), 2);
    // The mean of both repetitions, not the last: 2500 and 1 or 2 % more.
    assert!((number(&rows[0].1[1]) / 2537.0 - 1.0).abs() < 0.01, "{rows:?}");
}
