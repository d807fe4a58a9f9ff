//! The page in Chromium: every chart is drawn, the console is empty, switches work, hostile names
//! run nothing.
//!
//! Needs `/usr/bin/chromium`; without it the tests print a notice and check nothing.

use crate::common;

use std::path::Path;
use std::process::{Command, Output};

use assay_report::html;
use assay_store::read::Run;

const CHROMIUM: &str = "/usr/bin/chromium";
/// Of timeout(1): a headless browser sometimes does not end.
const LIMIT: [&str; 3] = ["-k", "5", "150"];
const OPTIONS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--window-size=1280,900",
];

/// Appended to the page: simulates user actions and writes the results to the root element.
const PROBE: &str = r#"<script>
const root = document.documentElement;
const drawn = () => new Promise(resolve => setTimeout(resolve, 0));
const probe = async () => {
  const say = (key, value) => { root.dataset[key] = String(value); };
  say('blank', [...document.querySelectorAll('.drawing')].filter(p => !p.querySelector('.scatterlayer path, .barlayer path')).length);
  say('plots', document.querySelectorAll('.drawing').length);
  say('overflow', root.scrollWidth > innerWidth ? root.scrollWidth : 0);
  const radio = document.querySelector('.switch input[value="1"]');
  if (radio) {
    radio.click();
    const section = document.getElementById(radio.closest('.switch').dataset.section);
    say('shown', [...section.querySelectorAll('[data-metric]')].filter(t => !t.hidden).map(t => t.dataset.metric).join());
    await drawn();
    say('axis', section.querySelector('[data-follows] .drawing .axis-title.y').textContent);
  }
  const log = document.querySelector('[data-log]');
  const plot = document.getElementById(log.dataset.log);
  const before = plot.layout.yaxis.type;
  log.click();
  say('scale', before + ' ' + plot.layout.yaxis.type + ' ' + log.getAttribute('aria-pressed'));
  const ground = () => getComputedStyle(document.body).backgroundColor;
  const line = () => document.querySelector('.drawing').data[0].line.color;
  const theme = document.getElementById('theme');
  const light = ground() + line();
  theme.click();
  say('themes', light !== ground() + line() && root.dataset.theme === 'dark');
  const select = document.querySelector('[data-view]');
  if (select) {
    const chart = document.getElementById(select.dataset.view);
    const first = JSON.stringify(chart.data[0].y);
    select.value = select.value === '0' ? '1' : '0';
    select.dispatchEvent(new Event('change'));
    say('view', first !== JSON.stringify(chart.data[0].y));
  }
  const entry = document.querySelector('.legend button');
  const picture = entry.closest('.chart').querySelector('.drawing');
  const visible = () => [...new Set(picture.data.filter(t => t.visible !== false).map(t => t.name))].join();
  const every = visible();
  const legend = [];
  for (const type of ['click', 'click', 'dblclick', 'dblclick']) {
    document.querySelector('#' + picture.id + ' + .legend button').dispatchEvent(new Event(type, { bubbles: true }));
    legend.push(visible() === every ? 'all' : visible() === entry.dataset.name ? 'alone' : visible().includes(entry.dataset.name) ? '?' : 'hidden');
  }
  say('legend', legend.join());
  const still = picture.querySelectorAll('.modebar-btn').length;
  await drawn();
  // Axis titles are the page's own in a still chart and plotly's in a live one, at the same
  // positions.
  const titles = own => [...picture.querySelectorAll(own ? '.axis-title' : '.xtitle, .ytitle')].filter(title => title.textContent).map(title => {
    const box = title.getBoundingClientRect();
    return [title.textContent, box.x + box.width / 2, box.y + box.height / 2];
  }).sort();
  const stood = titles(true);
  picture.dispatchEvent(new Event('pointerenter'));
  await drawn();
  const stand = titles(false);
  const moved = stand.map((title, i) => title[0] !== stood[i][0] ? Infinity : Math.max(Math.abs(title[1] - stood[i][1]), Math.abs(title[2] - stood[i][2])));
  say('titles', stood.length + ' ' + stand.length + ' ' + titles(true).length + ' ' + (Math.max(...moved) < 2));
  say('live', still + ' ' + (picture.querySelectorAll('.modebar-btn').length > 0));
};
const wait = () => root.dataset.drawn ? probe() : setTimeout(wait, 50);
wait();
</script></body>"#;

/// What the browser wrote; started again where it did not end within `LIMIT`.
fn ended_output(browser: &mut Command) -> Output {
    for _ in 0..3 {
        let output = browser.output().unwrap();
        if !matches!(output.status.code(), Some(124 | 137)) {
            return output;
        }
        eprintln!("{CHROMIUM} did not end within its time");
    }
    panic!("{CHROMIUM} did not end in three attempts");
}

/// The root element's attributes after opening the page, and the console output; `None` without a
/// browser.
fn opened(page: &str, query: &str, extra: &[&str]) -> Option<(String, String)> {
    if !Path::new(CHROMIUM).exists() {
        eprintln!("skipped: {CHROMIUM} is not installed, so the page was not opened in a browser");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let address = format!("file://{}{query}", file.display());
    let output = ended_output(
        Command::new("timeout")
            .args(LIMIT)
            .arg(CHROMIUM)
            .args(OPTIONS)
            .arg(&profile)
            .args(extra)
            .args(["--dump-dom", &address]),
    );
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = errors.lines().filter(|l| l.contains("CONSOLE")).collect();
    let from = dom.find("<html").unwrap_or_else(|| panic!("no page came back: {errors}"));
    let to = from + dom[from..].find('>').unwrap();
    Some((dom[from..to].to_owned(), console.join("\n")))
}

fn value<'a>(root: &'a str, key: &str) -> &'a str {
    let marker = format!("data-{key}=\"");
    let Some(from) = root.find(&marker) else {
        panic!("the page has no data-{key}: {root}");
    };
    let rest = &root[from + marker.len()..];
    &rest[..rest.find('"').unwrap()]
}

fn page(runs: &[Run]) -> String {
    html::render(runs).unwrap()
}

#[test]
fn all_charts_are_drawn_and_the_switches_work() {
    let page = page(&[common::bandwidth()]).replace("</body>", PROBE);
    let Some((root, console)) =
        opened(&page, "?draw=now&theme=light", &["--virtual-time-budget=20000"])
    else {
        return;
    };
    assert_eq!(console, "", "the console is not empty");
    assert!(!root.contains("data-errors"), "{root}");
    let drawn: usize = value(&root, "drawn").parse().unwrap();
    assert!(drawn >= 12, "{root}");
    assert_eq!(value(&root, "plots"), drawn.to_string());
    assert_eq!(value(&root, "blank"), "0");
    assert_eq!(value(&root, "overflow"), "0");
    assert_eq!(value(&root, "shown"), "1");
    assert_eq!(value(&root, "axis"), "operations per second");
    assert_eq!(value(&root, "scale"), "linear log true");
    assert_eq!(value(&root, "view"), "true");
    assert_eq!(value(&root, "themes"), "true");
    assert_eq!(value(&root, "titles"), "2 2 0 true");
    assert_eq!(value(&root, "legend"), "hidden,all,alone,all");
    assert_eq!(value(&root, "live"), "0 true");
}

/// Simulates user actions on the pages of the views: variants, figures, both axes.
const VIEWS_PROBE: &str = r#"<script>
const root = document.documentElement;
const probe = () => {
  const say = (key, value) => { root.dataset[key] = String(value); };
  const empty = p => !p.querySelector('.scatterlayer path, .barlayer path');
  const blank = () => [...document.querySelectorAll('.drawing')].filter(empty).map(p => p.id).join();
  say('blank', blank());
  say('overflow', root.scrollWidth > innerWidth ? root.scrollWidth : 0);
  let switched = 0;
  for (const radio of document.querySelectorAll('.switch input')) {
    const section = document.getElementById(radio.closest('.switch').dataset.section);
    const drawing = section.querySelector('[data-follows] .drawing');
    radio.click();
    if (drawing && empty(drawing)) say('lost', drawing.id + ' ' + radio.value);
    switched += 1;
  }
  say('switched', switched);
  for (const select of document.querySelectorAll('[data-view]')) {
    for (const option of select.options) {
      select.value = option.value;
      select.dispatchEvent(new Event('change'));
      if (empty(document.getElementById(select.dataset.view))) say('lost', select.dataset.view + ' ' + option.value);
    }
  }
  let flipped = 0;
  for (const button of document.querySelectorAll('[data-log-x]')) {
    const plot = document.getElementById(button.dataset.logX);
    const before = plot.layout.xaxis.type;
    button.click();
    flipped += before !== plot.layout.xaxis.type;
  }
  say('flipped', flipped);
  document.getElementById('theme').click();
  say('after', blank());
  setTimeout(clouds, 0);
};
// Scatter plots are one element in a still chart and separate dots in a live one; the axes do not
// move.
const clouds = () => {
  const lines = () => document.querySelectorAll('[class*=tracedots] .js-line');
  const seen = [];
  while (lines().length) {
    const plot = lines()[0].closest('.drawing');
    const number = /tracedots(\d+)/.exec(lines()[0].closest('.trace').getAttribute('class'))[1];
    const joined = plot.data.find(trace => trace.uid === 'dots' + number);
    const dots = lines()[0].getAttribute('d').split('M').length - 1;
    const ranges = () => JSON.stringify(['xaxis', 'yaxis'].map(key => plot._fullLayout[key].range));
    const [before, still] = [ranges(), plot.querySelectorAll('.point').length];
    plot.dispatchEvent(new Event('pointerenter'));
    const live = plot.querySelectorAll('.point').length;
    seen.push([dots === joined.x.length, dots > 200, live - still > dots / 2, before === ranges()].join('+'));
    if (seen.length > 50) break;
  }
  root.dataset.clouds = seen.length + ' ' + [...new Set(seen)].join();
};
const wait = () => root.dataset.drawn ? probe() : setTimeout(wait, 50);
wait();
</script></body>"#;

#[test]
fn every_suite_s_charts_are_drawn_and_switched() {
    let runs = common::views::all(2, 400);
    let page = page(&runs).replace("</body>", VIEWS_PROBE);
    let budget = ["--virtual-time-budget=60000"];
    let Some((root, console)) = opened(&page, "?draw=now&theme=light", &budget) else {
        return;
    };
    assert_eq!(console, "", "the console is not empty");
    assert!(!root.contains("data-errors"), "{root}");
    assert!(!root.contains("data-lost"), "{root}");
    assert_eq!((value(&root, "blank"), value(&root, "after")), ("", ""));
    assert_eq!(value(&root, "overflow"), "0");
    let number = |key: &str| value(&root, key).parse::<usize>().unwrap();
    assert!(number("drawn") >= 20, "{root}");
    assert!(number("switched") >= 20 && number("flipped") >= 3, "{root}");
    let (clouds, they) = value(&root, "clouds").split_once(' ').unwrap();
    assert_eq!(they, "true+true+true+true", "{root}");
    assert!(clouds.parse::<usize>().unwrap() >= 1, "{root}");
}

#[test]
fn charts_below_the_window_are_drawn_without_scrolling() {
    let page = page(&[common::bandwidth(), common::job()]);
    let Some((root, console)) = opened(&page, "", &["--virtual-time-budget=20000"]) else {
        return;
    };
    assert_eq!(console, "");
    assert!(!root.contains("data-errors"), "{root}");
    assert!(value(&root, "drawn").parse::<usize>().unwrap() >= 12, "{root}");
}

#[test]
fn a_phone_needs_no_sideways_scrolling() {
    let mut runs = vec![common::bandwidth()];
    runs.extend(common::views::all(2, 120));
    let inner = page(&runs).replace(
        "</body>",
        "<script>parent.postMessage([document.documentElement.scrollWidth, innerWidth, \
         document.documentElement.dataset.drawn], '*')</script></body>",
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inner.html");
    std::fs::write(&file, inner).unwrap();
    let outer = format!(
        "<!DOCTYPE html><html><body><script>addEventListener('message', e => {{ document.documentElement.dataset.phone = e.data.join(' '); }});</script>\
         <iframe src=\"file://{}?draw=now\" style=\"width:390px;height:844px;border:0\"></iframe></body></html>",
        file.display()
    );
    let Some((root, _)) = opened(&outer, "", &["--virtual-time-budget=20000"]) else {
        return;
    };
    let seen = value(&root, "phone");
    let [width, window, drawn] = seen.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{seen}");
    };
    let (width, window): (u32, u32) = (width.parse().unwrap(), window.parse().unwrap());
    assert_eq!(window, 390);
    assert!(width <= window, "{width} px are needed");
    assert!(drawn.parse::<usize>().unwrap() >= 12);
}

/// Measures the first screen and the whole page, sorts the scoreboard, and copies a table and a
/// chart.
const GOALS_PROBE: &str = r#"<script>
const root = document.documentElement;
const say = (key, value) => { root.dataset[key] = String(value); };
const probe = async () => {
  const first = [...document.querySelectorAll('.front .chart')].map(c => c.getBoundingClientRect());
  say('first', first.length + ' ' + (Math.max(...first.map(box => box.bottom)) + scrollY <= 1000));
  say('library', Plotly.version);
  say('board', document.querySelector('.board table').getBoundingClientRect().bottom < first[0].top);
  say('height', root.scrollHeight);
  say('words', document.querySelector('.page').innerText.split(/\s+/).length);
  say('cut', [...document.querySelectorAll('table')].filter(t => t.scrollWidth > t.clientWidth + 1 && getComputedStyle(t.closest('.scroll')).overflowX !== 'auto').length);
  const table = document.querySelector('.board table');
  const values = () => [...table.tBodies[0].rows].map(row => Number(row.cells[2].dataset.v));
  const button = table.tHead.rows[0].cells[2].querySelector('.sort');
  const sorted = (list, sign) => list.every((v, i) => !i || sign * (v - list[i - 1]) >= 0);
  button.focus();
  button.click();
  const down = sorted(values(), -1);
  button.click();
  say('sorted', down + ' ' + sorted(values(), 1) + ' ' + button.closest('th').getAttribute('aria-sort') + ' ' + (document.activeElement === button));
  const links = [...document.querySelectorAll('.board thead a')];
  say('links', links.length >= 6 && links.every(a => document.getElementById(a.hash.slice(1)).tagName === 'SECTION'));
  // Every chart has its legend, and its lines have names.
  const unnamed = [...document.querySelectorAll('.chart')].filter(c => c.querySelectorAll('.legend button').length < 2 && c.querySelectorAll('.drawing .barlayer path').length < 2);
  say('unnamed', unnamed.map(c => c.querySelector('.drawing').id).join());
  say('labels', document.querySelectorAll('.front .line-label').length);
  // Without a clipboard, whose answers come in real time, copies are saved.
  Object.defineProperty(navigator, 'clipboard', { value: { write: async () => { throw new Error('none'); } } });
  const copied = [];
  const copies = [[document.querySelector('.board .copy button'), 'board'], ...[...document.querySelector('.front .copy').querySelectorAll('button')].map(b => [b, b.textContent])];
  for (const [press, name] of copies) {
    delete root.dataset.copied;
    press.click();
    for (let i = 0; i < 500 && !root.dataset.copied; i += 1) await new Promise(done => setTimeout(done, 20));
    copied.push(name + ':' + (Number((root.dataset.copied || '0').split(' ').pop()) > 200));
  }
  say('copies', copied.join());
};
const wait = () => root.dataset.drawn ? probe() : setTimeout(wait, 50);
wait();
</script></body>"#;

#[test]
fn the_first_screen_answers_and_the_page_is_short() {
    let page = page(&[common::seven()]);
    assert!(page.len() <= 2_000_000, "{} bytes", page.len());
    let page = page.replace("</body>", GOALS_PROBE);
    let screen = ["--window-size=1400,1000", "--virtual-time-budget=60000"];
    let Some((root, console)) = opened(&page, "?draw=now&theme=light", &screen) else {
        return;
    };
    assert_eq!(console, "", "the console is not empty");
    assert!(!root.contains("data-errors"), "{root}");
    assert_eq!(value(&root, "first"), "2 true", "charts on the first screen");
    assert_eq!(value(&root, "board"), "true");
    assert_eq!(value(&root, "library"), "3.7.0");
    let number = |key: &str| value(&root, key).parse::<usize>().unwrap();
    assert!(number("height") <= 9_000, "{root}");
    assert!(number("words") <= 2_500, "{root}");
    assert_eq!(value(&root, "cut"), "0");
    assert_eq!(value(&root, "sorted"), "true true ascending true");
    assert_eq!(value(&root, "links"), "true");
    assert_eq!(value(&root, "unnamed"), "");
    assert_eq!(value(&root, "labels"), "14");
    assert_eq!(value(&root, "copies"), "board:true,CSV:true,SVG:true,PNG:true");
}

#[test]
fn a_hostile_name_runs_nothing() {
    let mut run = common::bandwidth();
    let attack = "</script><script>document.documentElement.dataset.pwned=1</script><img src=x \
                  onerror=document.documentElement.dataset.pwned=2>\"'";
    for drive in &mut run.manifest.drives {
        drive.model = attack.to_owned();
        drive.label.push_str(attack);
    }
    for cell in &mut run.cells {
        cell.plan.title.push_str(attack);
    }
    let Some((root, console)) = opened(&page(&[run]), "?draw=now", &[]) else {
        return;
    };
    assert_eq!(console, "");
    assert!(!root.contains("pwned"), "{root}");
    assert!(!root.contains("data-errors"), "{root}");
    let drawn: usize = value(&root, "drawn").parse().unwrap();
    assert!(drawn >= 12);
    // The page records its own times. The aim is 2 s on a quiet machine of two processors; the
    // bound only catches a page that has become unusable.
    let at: f64 = value(&root, "drawn-at-ms").parse().unwrap();
    let drawing: f64 = value(&root, "draw-ms").parse().unwrap();
    println!("drawn {at} ms after opening, {drawing} ms of them drawing {drawn} charts");
    assert!(drawing > 0.0 && at < 30_000.0, "{root}");
}
