//! Verdicts: own policies, counterfeit and faulty drives, thermal throttling, missing steady state.

use serde_json::Value;

use crate::fixture::Fixture;

fn reasons(verdict: &Value) -> Vec<String> {
    let reasons = verdict["reasons"].as_array().unwrap().iter();
    reasons.map(|r| r["text"].as_str().unwrap().to_owned()).collect()
}

fn reason(verdict: &Value, about: &str) -> String {
    let all = reasons(verdict);
    let found = all.iter().find(|text| text.starts_with(about));
    found.unwrap_or_else(|| panic!("{about}: {all:#?}")).clone()
}

const MINE: &str = r#"
[[facts]]
drive = "samsung-951"
endurance_tb = 73
price_class = "for us"
source = "a data sheet"
[[rule]]
about = "reads"
suite = "quick"
step = "random-read-most"
figure = "best_rate"
good = 100.0
bad = 10.0
advice = "slow"
[[rule]]
about = "endurance"
price_class = "for us"
figure = "endurance_tb"
good = 70.0
bad = 50.0
advice = "wears out early at its price"
"#;

/// One run evaluated by three policies: limits, facts and price class decide.
#[test]
fn an_own_policy_changes_the_verdict() {
    let fixture = Fixture::in_memory();
    fixture.json("run quick sim:samsung-951 --out run");
    let judge = |name: &str, text: &str| -> Value {
        fixture.write(name, text);
        let verdicts = fixture.json(&format!("verdict run --policy {name}"));
        assert_eq!(verdicts["policy"], name);
        verdicts["drives"][0]["verdict"].clone()
    };
    let good = judge("mine.toml", MINE);
    assert_eq!(good["result"], "recommended", "{good:#}");
    assert!(reason(&good, "endurance").contains("73 TB written rated (for us; a data sheet)"));
    let stricter = judge(
        "stricter.toml",
        &MINE.replace("good = 70.0\nbad = 50.0", "good = 200.0\nbad = 100.0"),
    );
    assert_eq!(stricter["result"], "not_recommended", "{stricter:#}");
    assert!(reason(&stricter, "endurance").ends_with("wears out early at its price"));
    let dear = judge(
        "dear.toml",
        &MINE.replace("price_class = \"for us\"\nsource", "price_class = \"dear\"\nsource"),
    );
    assert_eq!(reasons(&dear).len(), 1, "its rule is for another class: {dear:#}");
    // An invalid policy is refused by name.
    fixture.write("bad.toml", MINE.replace("best_rate", "best_guess"));
    fixture.run("verdict run --policy bad.toml").refuses(2, &["policy bad.toml", "best_guess"]);
    fixture
        .run("verdict run --policy nowhere.toml")
        .refuses(2, &["cannot read the policy nowhere.toml", "leave out --policy"]);
}

/// A counterfeit drive: writes beyond its true capacity overwrite earlier blocks.
#[test]
fn a_counterfeit_capacity_gives_a_banner_and_a_verdict() {
    let fixture = Fixture::in_memory();
    let run = fixture
        .json_status("run capacity sim:samsung-951,fault=wrap:64m --set area=128m --out fake", 1);
    let verdict = &run["runs"][0]["verdict"];
    assert_eq!(verdict["result"], "not_recommended", "{verdict:#}");
    assert!(reason(verdict, "blocks").ends_with("return the drive"));
    fixture.ok("report fake -o fake.html");
    let page = fixture.text("fake.html");
    assert!(page.contains("class=\"banner alarm loud\""));
    assert!(page.contains("This indicates counterfeit capacity"));
}

/// One misdirected write: two mismatched blocks, no counterfeit capacity.
#[test]
fn a_misdirected_write_is_distinguished_from_counterfeit_capacity() {
    let fixture = Fixture::in_memory();
    let run = fixture.json_status(
        "run capacity sim:samsung-951,fault=misdirect-write@20 --set area=128m --out stray",
        1,
    );
    let verdict = &run["runs"][0]["verdict"];
    assert_eq!(verdict["result"], "not_recommended", "{verdict:#}");
    fixture.ok("report stray -o stray.html");
    let page = fixture.text("stray.html");
    assert!(page.contains("returned wrong data"));
    assert!(!page.contains("indicates counterfeit capacity"));
    // Without the fault all blocks match.
    let run = fixture.json("run capacity sim:samsung-951 --set area=128m --out correct");
    assert_eq!(run["runs"][0]["verdict"]["result"], "recommended");
}

/// A test of three minutes does not reach steady state: no score, and the reason in text, page and
/// verdict.
#[test]
fn a_score_without_steady_state_is_marked_and_not_evaluated() {
    let fixture = Fixture::on_disk();
    // Three minutes: a constant rate, half of the hour's.
    let run = fixture.json("run consistency sim:plextor-m8pe-y --scale 0.05 --out short");
    let verdict = &run["runs"][0]["verdict"];
    assert_eq!(verdict["result"], "undecided", "{verdict:#}");
    for about in ["steady random writes", "consistency"] {
        let text = reason(verdict, about);
        assert!(text.contains("not measured: not steady: only "), "{text}");
        assert!(text.contains("of the capacity was written"), "{text}");
    }
    let warnings = run["warnings"].as_array().unwrap().iter();
    let warned = warnings.filter(|w| w["code"] == "not-steady");
    let counts: Vec<u64> = warned.map(|w| w["count"].as_u64().unwrap()).collect();
    assert_eq!(counts, [2], "with and without spare area");
    fixture.ok("report short -o short.html");
    assert!(fixture.text("short.html").contains("not steady"));
}

/// The M8Pe(G) of the DragonFly tests, reading 64 KiB, throttles for about ten seconds in forty
/// once warm: its last seconds are as fast as its first, and the policy detects it by the duty
/// cycle.
#[test]
fn cyclic_throttling_is_evaluated_by_duty_cycle_and_rate() {
    let fixture = Fixture::on_disk();
    let heat = |drive: &str| -> Value {
        fixture.json(&format!("run thermal sim:{drive} --set block=64k --scale 0.3 --out {drive}"));
        let verdicts = fixture.json(&format!("verdict {drive}"));
        verdicts["drives"][0]["verdict"].clone()
    };
    let cycling = heat("plextor-m8pe-g");
    let text = reason(&cycling, "temperature, in thermal steady state: time spent throttled");
    let figure = |text: &str, after: &str| -> f64 {
        let rest = text.split(after).nth(1).unwrap();
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let duty_pct = figure(&text, "slow for ");
    assert!((15.0..40.0).contains(&duty_pct), "{text}");
    let period_s = figure(&text, "again every ");
    assert!((30.0..50.0).contains(&period_s), "{text}");
    assert!(text.contains("stalls again and again"), "{text}");
    let text = reason(&cycling, "temperature, in thermal steady state: rate while throttling");
    assert!(text.contains("throttling reduces the rate strongly"), "{text}");
    // A drive below its limits never throttles.
    let cool = heat("wd-black");
    let text = reason(&cool, "temperature, in thermal steady state: time spent throttled");
    assert!(text.contains("never throttled"), "{text}");
}

/// The C916 of AnandTech PBlaze5 in its 10 W power state: the run folder holds the controller's
/// power states, and the report names the limit without a run in state 0.
#[test]
fn a_power_states_limit_is_named() {
    let fixture = Fixture::on_disk();
    let page = |state: u32| -> String {
        fixture.json(&format!(
            "run enterprise sim:memblaze-pblaze5-c916 --set power_states={state} --set area=1% \
             --set blocks=4k --set writers=1 --set threads=256 --set readers=1 --set mixes=70 \
             --set steady=20s --set settle=20s --set queued=20s --set runtime=20s --set idle=1s \
             --out run{state}"
        ));
        fixture.ok(&format!("report run{state} -o {state}.html"));
        fixture.text(&format!("{state}.html"))
    };
    let named = "in power state 2, whose maximum is 10.00 W";
    assert!(page(2).contains(named));
    assert!(!page(0).contains("whose maximum is"));
}
