//! Invalid suites, parameters and suite files: reported before a measurement starts or a folder is
//! created.

use crate::bad_input::all_refused;
use crate::fixture::{Fixture, MIB};

#[test]
fn invalid_suites_and_settings() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    all_refused(
        &fixture,
        &[
            ("run nosuch disk", 2, &["nosuch", "bandwidth, quick"]),
            ("run nosuch.toml disk", 2, &["nosuch.toml", "assay suites"]),
            ("run quick", 2, &["DRIVE"]),
            ("run", 2, &["SUITE"]),
            ("run quick disk --set nokey=1", 2, &["nokey", "area, ramp, runtime"]),
            ("run quick disk --set area", 2, &["KEY=VALUE"]),
            ("run quick disk --set area=lots", 2, &["area=lots", "a size such as"]),
            ("run quick disk --set area=0", 2, &["area"]),
            ("run quick disk --set runtime=-1s", 2, &["runtime=-1s"]),
            ("run quick disk --set runtime=", 2, &["runtime"]),
            ("run quick disk --set runtime=0", 2, &["runtime"]),
            ("run bandwidth disk --set threads=", 2, &["threads"]),
            ("run bandwidth disk --set threads=0,4", 2, &["numjobs"]),
            ("run bandwidth disk --set threads=four", 2, &["four"]),
            ("run bandwidth disk --set blocks=1000", 2, &["1000"]),
            ("run bandwidth disk --set blocks=nonsense", 2, &["nonsense"]),
            ("run quick disk --scale 0", 2, &["--scale"]),
            ("run quick disk --scale -1", 2, &["--scale -1"]),
            ("run quick disk --scale NaN", 2, &["--scale"]),
            ("run quick disk --scale 1e9", 2, &["--scale"]),
            ("run quick disk --scale abc", 2, &["abc", "--scale"]),
            ("run quick disk --seed -3", 2, &["-3"]),
            ("run quick disk disk", 2, &["same drive"]),
            ("run quick ./disk disk", 2, &["same drive"]),
            ("run --resume", 2, &["--resume"]),
            ("run --resume nosuch", 2, &["nosuch", "not a run folder"]),
            ("run quick disk --resume nosuch", 2, &["cannot be used with"]),
        ],
    );
    assert!(!fixture.path("assay-runs").exists(), "a refused run leaves no folder");
}

#[test]
fn malformed_suite_files() {
    let fixture = Fixture::on_disk();
    let head =
        "name = \"mine\"\ntitle = \"t\"\nsummary = \"s\"\nsource = \"me\"\nduration = \"short\"\n";
    let step = "[[step]]\nid = \"a\"\ntitle = \"a\"\nkind = \"measure\"\n";
    let cases: [(&str, String, &[&str]); 19] = [
        ("empty", String::new(), &["name"]),
        ("no TOML", "}{ not = toml".to_owned(), &["line 1"]),
        ("not UTF-8", "\u{0}".to_owned(), &["mine.toml"]),
        ("no step", head.to_owned(), &["no [[step]]"]),
        ("unknown key", format!("{head}colour = 1\n{step}job = {{}}"), &["colour"]),
        ("unknown key of a step", format!("{head}{step}color = 1\njob = {{}}"), &["color"]),
        (
            "unknown kind",
            format!("{head}{}job = {{}}", step.replace("measure", "guess")),
            &["guess", "measure"],
        ),
        (
            "unknown option",
            format!("{head}{step}job = {{ blocksize = \"4k\" }}"),
            &["blocksize", "assay job --help"],
        ),
        ("wrong type", format!("{head}{step}job = {{ bs = 4096.5 }}"), &["step \"a\""]),
        (
            "wrong number",
            format!("{head}{step}job = {{ iodepth = \"many\" }}"),
            &["many", "whole number"],
        ),
        ("negative", format!("{head}{step}job = {{ iodepth = -1 }}"), &["step \"a\""]),
        (
            "same id twice",
            format!("{head}{step}job = {{}}\n{step}job = {{}}"),
            &["two steps", "\"a\""],
        ),
        (
            "bad id",
            format!("{head}{}job = {{}}", step.replace("id = \"a\"", "id = \"a/b\"")),
            &["a/b"],
        ),
        (
            "compared with nothing",
            format!("{head}{step}compare_with = \"b\"\njob = {{}}"),
            &["\"b\"", "no earlier step"],
        ),
        (
            "a state of fill without its name",
            format!("{head}{step}view = \"fill\"\njob = {{}}"),
            &["variant"],
        ),
        (
            "wake-up without idle time",
            format!("{head}{step}view = \"wake\"\njob = {{}}"),
            &["thinktime"],
        ),
        (
            "empty list",
            format!("{head}{step}job = {{}}\nmatrix = {{ bs = [] }}"),
            &["list", "empty"],
        ),
        ("unknown parameter", format!("{head}{step}job = {{ bs = \"{{nope}}\" }}"), &["nope"]),
        (
            "too many cells",
            format!(
                "{head}{step}job = {{}}\nmatrix = {{ iodepth = [{}], numjobs = [{}] }}",
                (1..200).map(|i| i.to_string()).collect::<Vec<_>>().join(","),
                (1..200).map(|i| i.to_string()).collect::<Vec<_>>().join(",")
            ),
            &["cells", "10000"],
        ),
    ];
    for (what, text, message) in cases {
        fixture.write("mine.toml", &text);
        let done = fixture.run("run mine.toml null: --scale 0.001 --out run");
        assert!(done.status == 2, "{what}: {done}");
        done.refuses(2, message);
        assert!(!fixture.path("run").exists(), "{what}");
    }
}
