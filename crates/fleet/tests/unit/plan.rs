use std::io;

use proptest::prelude::*;

use super::*;

const FULL: &str = r#"
name = "m951-firmware"
suites = [ { suite = "consistency" }, { suite = "bandwidth", set = { area = "1GiB" } } ]
[drives]
model = "SAMSUNG MZVPV128HDGM"
serials = "serials.txt"
groups = "batch"
endurance_tb = 75
[run]
destroy = true
share = "together"
place = "drive"
attempts = 3
endurance_limit_pct = 1.5
until = "2027-02-01T00:00:00Z"
scale = 0.5
seed = 7
[store]
at = "/shared/assay"
every = "30s"
[compare]
primary = ["random-read.iops", "consistency.score"]
minimum_effect = 0.03
[slurm]
partition = "rack-{rack}"
options = ["--account=qual"]
"#;

const LEAST: &str = "name = \"x\"\nsuites = [{ suite = \"quick\" }]\n[drives]\nmodel = \
                     \"M\"\n[store]\nat = \"/s\"\n";

fn files(name: &str) -> io::Result<String> {
    match name {
        "serials.txt" => Ok("serial,batch\nB2,treated # new\n\nA1,control\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse("plan.toml", text, &files)
}

fn error(text: &str) -> String {
    parse(text).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn all_keys() {
    let plan = parse(FULL).unwrap();
    let list = plan.drives.serials.as_ref().unwrap();
    assert_eq!(list.text(), "serial,batch\nA1,control\nB2,treated\n");
    let (run, store) = (&plan.run, &plan.store);
    assert_eq!((run.share, run.place, run.attempts), (Share::Together, Place::Drive, 3));
    assert_eq!((run.scale, run.seed, run.destroy), (0.5, 7, true));
    assert_eq!(run.endurance_limit_pct, Some(1.5));
    assert_eq!(plan.drives.endurance_bytes, Some(75_000_000_000_000));
    assert_eq!(run.until.as_ref().unwrap().1, 1_801_440_000);
    assert_eq!((store.at.as_str(), store.every), ("/shared/assay", Nanos(30 * Nanos::SECOND.0)));
    assert_eq!(plan.suites[1].set, [("area".to_owned(), "1GiB".to_owned())]);
    assert_eq!(plan.compare.primary.len(), 2);
    assert_eq!(plan.slurm.options, ["--account=qual"]);
    let least = parse(LEAST).unwrap();
    assert_eq!((least.run.share, least.run.place), (Share::Alone, Place::Host));
    assert_eq!((least.run.attempts, least.store.every), (DEFAULT_ATTEMPTS, DEFAULT_EVERY));
}

#[test]
fn canonical_text_and_id() {
    let plan = parse(FULL).unwrap();
    let again = parse(&plan.canonical()).unwrap();
    assert_eq!(again.canonical(), plan.canonical());
    let id = plan.id().unwrap();
    assert_eq!(again.id().unwrap(), id);
    assert!(id.as_str().starts_with("m951-firmware-"));
    let changed = |from: &str, to: &str| {
        assert!(FULL.contains(from), "{from}");
        parse(&FULL.replace(from, to)).unwrap().id().unwrap()
    };
    // Order, comments and where jobs run: the same plan.
    for (from, to) in [
        ("attempts = 3\n", ""),
        ("place = \"drive\"\n", "# a comment\n"),
        ("2027-02-01", "2027-03-01"),
        ("every = \"30s\"", "every = \"5m\""),
        ("--account=qual", "--account=other"),
        ("share = \"together\"\nplace = \"drive\"", "place = \"drive\"\nshare = \"together\""),
    ] {
        assert_eq!(changed(from, to), id, "{from}");
    }
    // What results depend on: another plan.
    for (from, to) in [
        ("\"consistency\"", "\"quick\""),
        ("1GiB", "2GiB"),
        ("\"together\"", "\"alone\""),
        ("seed = 7", "seed = 8"),
        ("0.03", "0.04"),
        ("m951-firmware", "other"),
    ] {
        assert_ne!(changed(from, to), id, "{from}");
    }
    let other_list = |_: &str| Ok("serial,batch\nA1,control\n".to_owned());
    let other = Plan::parse("plan.toml", FULL, &other_list).unwrap();
    assert_ne!(other.id().unwrap(), id);
}

#[test]
fn errors_name_file_key_value_and_what_to_write() {
    let changed = |from: &str, to: &str| {
        assert!(FULL.contains(from), "{from}");
        error(&FULL.replace(from, to))
    };
    let share = changed("\"together\"", "\"all\"");
    assert_eq!(
        share,
        "plan.toml: run.share: \"all\" cannot be used; write \"alone\" or \"together\" or \
         \"cores\""
    );
    let unknown = changed("attempts", "atempts");
    assert!(
        unknown.starts_with(
            "plan.toml: run.atempts: there is no such key; did you mean \"attempts\"?"
        ),
        "{unknown}"
    );
    for (from, to, key, text) in [
        ("[store]", "[stores]", "stores", "did you mean \"store\"?"),
        ("name = \"m951-firmware\"\n", "", "name", "is missing; write name ="),
        ("at = \"/shared/assay\"\n", "", "store.at", "is missing"),
        ("\"/shared/assay\"", "\"shared\"", "store.at", "an absolute path"),
        ("\"30s\"", "\"soon\"", "store.every", "a duration"),
        ("2027-02-01T00:00:00Z", "tomorrow", "run.until", "a date"),
        ("attempts = 3", "attempts = 0", "run.attempts", "from 1 to 100"),
        ("0.03", "1.5", "compare.minimum_effect", "below 1"),
        ("destroy = true", "destroy = \"yes\"", "run.destroy", "true or false"),
        ("--account=qual", "account", "slurm.options", "beginning with `-`"),
        (
            "{ suite = \"consistency\" }",
            "{ suit = \"consistency\" }",
            "suites[0].suit",
            "did you mean \"suite\"?",
        ),
        ("\"bandwidth\"", "\"bandwith\"", "suites", "did you mean \"bandwidth\"?"),
        ("area =", "aera =", "suites", "has no parameter \"aera\""),
        (
            "\"batch\"",
            "\"bach\"",
            "drives.groups",
            "write one of: model, firmware, lot, host, batch",
        ),
        ("serials.txt", "nonesuch.txt", "drives.serials", "cannot read nonesuch.txt"),
    ] {
        let error = changed(from, to);
        assert!(
            error.starts_with(&format!("plan.toml: {key}: "))
                || error.contains(&format!("\n  {key}: ")),
            "{error}"
        );
        assert!(error.contains(text), "{error}");
    }
    assert!(changed("[run]", "[run").starts_with("plan.toml is not valid TOML: "));
    let all = changed("\"together\"", "1").to_owned() + &error("");
    assert!(all.contains("name: is missing") && all.contains("\n  suites: write a list"), "{all}");
    for (list, line, text) in [
        ("A1,x", 1, "has 2 columns and the list has 1"),
        ("serial,batch\nA1", 2, "has 1 columns and the list has 2"),
        ("A1\nB2\nA1", 3, "A1 is listed twice"),
        ("-rf", 1, "begins with `-`"),
        ("# nothing", 1, "there is no serial"),
    ] {
        let error = SerialList::parse("serials.txt", list).unwrap_err().to_string();
        assert!(error.starts_with(&format!("serials.txt, line {line}: ")), "{error}");
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn destroying_needs_three_confirmations() {
    let plan = parse(FULL).unwrap();
    assert_eq!(confirm_destroy(&plan, Some(2)), Ok(()));
    assert_eq!(confirm_destroy(&plan, None), Err(DestroyError::NoCount(2)));
    let other = DestroyError::OtherCount { given: 3, listed: 2 };
    assert_eq!(confirm_destroy(&plan, Some(3)), Err(other));
    // Without the list.
    let unlisted = FULL.replace("serials = \"serials.txt\"\ngroups = \"batch\"\n", "");
    assert_eq!(error(&unlisted), DestroyError::NoSerials.to_string());
    // Without `destroy`: the plan only reads, and suites that need to write are refused.
    let reading = FULL.replace("destroy = true\n", "");
    let not_allowed = DestroyError::NotAllowed("consistency".to_owned());
    assert_eq!(error(&reading), not_allowed.to_string());
    let reading = parse(&reading.replace("\"consistency\"", "\"quick\"")).unwrap();
    assert_eq!(confirm_destroy(&reading, None), Ok(()));
    let unneeded = Err(DestroyError::Unneeded(2));
    assert_eq!(confirm_destroy(&reading, Some(2)), unneeded);
}

#[test]
fn estimates_grow_with_what_may_be_written() {
    let plan = parse(LEAST).unwrap();
    let mut estimates = Estimates::default();
    let reads = estimates.estimate(&plan, 1 << 37, false).unwrap();
    let writes = estimates.estimate(&plan, 1 << 37, true).unwrap();
    assert!(reads.cells > 0 && reads.span.0 > 0);
    assert!(writes.cells >= reads.cells && writes.span >= reads.span);
}

#[test]
fn estimates_say_what_is_written_by_size_and_by_time() {
    const SUITE: &str = r#"
name = "writes"
title = "Writes"
summary = "Writes by size and by time."
source = "these tests"
duration = "short"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
job = { rw = "write", bs = "128k", size = "1g" }
[[step]]
id = "mixed"
title = "Mixed"
kind = "measure"
job = { rw = "randrw", rwmixread = 75, bs = "4k", size = "1g", runtime = "100s", numjobs = 2 }
"#;
    let text = LEAST.replace("\"quick\"", "\"writes.toml\"");
    let plan = Plan::parse("plan.toml", &text, &|_| Ok(SUITE.to_owned())).unwrap();
    let written = Estimates::default().estimate(&plan, 1 << 37, true).unwrap();
    // A quarter of the time of the mixed cell.
    let by_time = Nanos(25 * Nanos::SECOND.0);
    assert_eq!((written.written_bytes, written.writing), (1 << 30, by_time));
    let read_only = Estimates::default().estimate(&plan, 1 << 37, false).unwrap();
    assert_eq!((read_only.written_bytes, read_only.writing), (0, Nanos(0)));
}

#[test]
fn every_key_has_a_working_example() {
    for key in keys::KEYS {
        let table: Table = toml::from_str(&format!("{} = {}", key.name, key.example)).unwrap();
        assert_eq!(key.kind.refuse(&table[key.name]), None, "{}", key.name);
    }
}

/// Plans with one change each, and what the parser says to them.
fn mutants() -> Vec<(String, bool)> {
    let values = [
        "true",
        "0",
        "1",
        "-1",
        "3",
        "101",
        "0.5",
        "1.5",
        "\"\"",
        "\"x\"",
        "\"a b\"",
        "\"-x\"",
        "\"/x\"",
        "\"s3://b/p\"",
        "\"5m\"",
        "\"0s\"",
        "\"1.5m\"",
        "\"2027-02-01T00:00:00Z\"",
        "\"2027-02-01T00:00:00.1234Z\"",
        "\"2027-13-01T00:00:00Z\"",
        "\"alone\"",
        "\"host\"",
        "\"a.b\"",
        "\"a..b\"",
        "\".b\"",
        "\"a.\"",
        "[]",
        "[\"-x\"]",
        "[\"a.b\"]",
        "[1]",
        "{}",
        "{ a = 1, b = \"x\" }",
        "{ a = [] }",
        "\"a\\nb\"",
        "\"\u{e9}\"",
    ];
    let mut all = Vec::new();
    for key in keys::KEYS.iter().filter(|key| key.section != keys::SUITE) {
        for value in values.iter().chain([&key.example]) {
            let mut table: Table = toml::from_str(LEAST).unwrap();
            let line: Table = toml::from_str(&format!("v = {value}")).unwrap();
            let section = match key.section {
                keys::TOP => &mut table,
                section => {
                    let entry = table.entry(section).or_insert_with(|| Table::new().into());
                    entry.as_table_mut().unwrap()
                }
            };
            section.insert(key.name.to_owned(), line["v"].clone());
            all.push(table);
        }
    }
    for suites in [
        "[]",
        "1",
        "[1]",
        "[{}]",
        "[{ suite = \"quick\", x = 1 }]",
        "[{ suite = 1 }]",
        "[{ suite = \"quick\", set = 1 }]",
    ] {
        let text = LEAST.replace("[{ suite = \"quick\" }]", suites);
        all.push(toml::from_str(&text).unwrap());
    }
    for key in ["name", "suites", "drives", "store"] {
        let mut table: Table = toml::from_str(LEAST).unwrap();
        table.remove(key);
        all.push(table);
    }
    let mut more: Table = toml::from_str(LEAST).unwrap();
    more.insert("x".to_owned(), 1.into());
    all.push(more);
    let any_list = |_: &str| Ok("A1\n".to_owned());
    let accepted = |table: &Table| {
        let text = toml::to_string(table).unwrap();
        match Plan::parse("plan.toml", &text, &any_list) {
            // What needs other files is not the schema's.
            Err(PlanError::Suite { .. }) | Ok(_) => true,
            Err(PlanError::Invalid { problems, .. }) => {
                problems.iter().all(|p| p.why.contains("is no column"))
            }
            Err(_) => false,
        }
    };
    let json = |table: &Table| serde_json::to_string(table).unwrap();
    all.iter().map(|table| (json(table), accepted(table))).collect()
}

#[test]
fn schema_and_parser_agree() {
    let mutants = mutants();
    assert!(mutants.iter().any(|(_, good)| *good) && mutants.iter().any(|(_, good)| !*good));
    let script = "
import json, sys
import jsonschema
schema, plans = json.load(sys.stdin)
jsonschema.Draft202012Validator.check_schema(schema)
check = jsonschema.Draft202012Validator(schema)
print(json.dumps([check.is_valid(json.loads(plan)) for plan in plans]))";
    let has = std::process::Command::new("python3").args(["-c", "import jsonschema"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 with jsonschema is not installed (Debian: python3-jsonschema)");
        return;
    }
    let plans: Vec<&String> = mutants.iter().map(|(plan, _)| plan).collect();
    let input = serde_json::to_vec(&(json_schema(), plans)).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, &input).unwrap();
    io::Seek::rewind(&mut file).unwrap();
    let output =
        std::process::Command::new("python3").args(["-c", script]).stdin(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let valid: Vec<bool> = serde_json::from_slice(&output.stdout).unwrap();
    for ((plan, good), valid) in mutants.iter().zip(valid) {
        assert_eq!(*good, valid, "parser {good}, schema {valid}: {plan}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_a_plan_or_an_error(text in "(?s).{0,200}") {
        let _ = parse(&text).map_err(|e| e.to_string());
    }

    #[test]
    fn damaged_plans_are_plans_or_errors(at in 0..FULL.len(), with in "(?s).{0,3}", cut in 0usize..8) {
        let end = (at + cut).min(FULL.len());
        if FULL.is_char_boundary(at) && FULL.is_char_boundary(end) {
            let text = format!("{}{with}{}", &FULL[..at], &FULL[end..]);
            if let Ok(plan) = parse(&text) {
                let again = parse(&plan.canonical()).unwrap();
                prop_assert_eq!(again.id().unwrap(), plan.id().unwrap());
            }
        }
    }

    #[test]
    fn any_list_is_a_list_or_an_error(text in "(?s).{0,100}") {
        if let Ok(list) = SerialList::parse("list", &text) {
            prop_assert_eq!(SerialList::parse("list", &list.text()).unwrap(), list);
        }
    }
}
