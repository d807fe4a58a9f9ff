use super::*;

#[test]
fn generated_files_follow_from_the_description() {
    let root = repository();
    for (path, content) in generated(&root).unwrap() {
        let present = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        let line = present
            .lines()
            .zip(content.lines())
            .position(|(present, content)| present != content);
        let line = line.unwrap_or(present.lines().count().min(content.lines().count())) + 1;
        assert!(
            present == content,
            "{path}, line {line}, differs from {DESCRIPTION}; run `make registers`"
        );
    }
}

/// A description with one register in one bank, both with these keys besides their names.
fn parse(bank: &str, register: &str) -> anyhow::Result<Description> {
    Description::parse(&format!(
        "[[bank]]\nname = 'a'\ntext = ''\n{bank}\n[[register]]\nname = 'R'\nbanks = ['a']\ntext = \
         ''\n{register}\n"
    ))
}

#[test]
fn contradictions_in_the_description_are_found() {
    let bank = "offset = 0x100";
    let register = "offset = 0x10\nbits = 64\naccess = 'rw'";
    parse(bank, register).unwrap();
    let second = |offset| {
        format!(
            "{register}\n[[register]]\nname = 'S'\nbanks = ['a']\ntext = ''\nbits = 32\naccess = \
             'ro'\noffset = {offset}"
        )
    };
    parse(bank, &second(0x18)).unwrap();
    let field = |bits: &str| {
        format!(
            "{register}\nfield = [{{ name = 'A', bits = [7, 4], text = '' }}, {{ name = 'B', bits \
             = {bits}, text = '' }}]"
        )
    };
    parse(bank, &field("[8]")).unwrap();
    for (bank, register, error) in [
        ("offset = 0x80", register.to_owned(), "bank a: offset 0x80"),
        (
            "offset = 0xf00\ncopies = 2\nstride = 0x100",
            register.to_owned(),
            "bank a ends at 0x1100",
        ),
        (
            "offset = 0\ncopies = 2\nstride = 0x80",
            register.to_owned(),
            "bank a: stride 0x80",
        ),
        (bank, second(0x14), "a: S overlaps the register before it"),
        (bank, second(0x100), "a: S ends at 0x104"),
        (
            bank,
            second(0x1a),
            "S: offset 0x1a is not a multiple of its size",
        ),
        (bank, register.replace("64", "16"), "R: 16 bits"),
        (
            bank,
            register.replace("rw", "w1p"),
            "R: 64 bits with this access",
        ),
        (
            bank,
            register.replace("rw", "ro") + "\nreset = 1",
            "R: reset value with this access",
        ),
        (
            bank,
            register.replace("64", "32") + "\nreset = 0x1_0000_0000",
            "R: reset value exceeds 32 bits",
        ),
        (
            bank,
            format!("{register}\nvalue = 1"),
            "R: value with this access",
        ),
        (bank, field("[7]"), "R: B: bits overlap or are out of order"),
        (
            bank,
            field("[8, 9]"),
            "R: B: bits overlap or are out of order",
        ),
        (bank, field("[64]"), "R: B: bit 64"),
    ] {
        assert_eq!(parse(bank, &register).unwrap_err().to_string(), error);
    }
}

#[test]
fn the_map_stands_between_its_marks() {
    let description = parse(
        "offset = 0",
        "offset = 0x10\nbits = 32\naccess = 'rw'\nreset = 7",
    )
    .unwrap();
    let document = "# Title\n\n<!-- registers -->\nold\n<!-- /registers -->\n\nMore.\n";
    let with = document::with_map(document, &description).unwrap();
    assert!(
        with.starts_with("# Title\n\n<!-- registers -->\nMade from "),
        "{with}"
    );
    assert!(
        with.contains("\n| 0x10 | `R` | 32 | rw | 7 |  |  |\n"),
        "{with}"
    );
    assert!(
        with.ends_with("\n<!-- /registers -->\n\nMore.\n") && !with.contains("old"),
        "{with}"
    );
    assert_eq!(document::with_map(&with, &description).unwrap(), with);
    assert!(document::with_map("# Title\n", &description).is_err());
}
