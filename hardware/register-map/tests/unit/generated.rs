use super::description::Access;
use super::*;

#[test]
fn generated_files_follow_from_the_description() {
    let root = repository();
    for (path, content) in generated(&root).unwrap() {
        let present = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        let line =
            present.lines().zip(content.lines()).position(|(present, content)| present != content);
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
        ("offset = 0\ncopies = 2\nstride = 0x80", register.to_owned(), "bank a: stride 0x80"),
        (bank, second(0x14), "a: S overlaps the register before it"),
        (bank, second(0x100), "a: S ends at 0x104"),
        (bank, second(0x1a), "S: offset 0x1a is not a multiple of its size"),
        (bank, register.replace("64", "16"), "R: 16 bits"),
        (bank, register.replace("rw", "w1p"), "R: 64 bits with this access"),
        (bank, register.replace("rw", "ro") + "\nreset = 1", "R: reset value with this access"),
        (
            bank,
            register.replace("64", "32") + "\nreset = 0x1_0000_0000",
            "R: reset value exceeds 32 bits",
        ),
        (bank, format!("{register}\nvalue = 1"), "R: value with this access"),
        (bank, field("[7]"), "R: B: bits overlap or are out of order"),
        (bank, field("[8, 9]"), "R: B: bits overlap or are out of order"),
        (bank, field("[64]"), "R: B: bit 64"),
    ] {
        assert_eq!(parse(bank, &register).unwrap_err().to_string(), error);
    }
}

#[test]
fn the_map_stands_between_its_marks() {
    let description =
        parse("offset = 0", "offset = 0x10\nbits = 32\naccess = 'rw'\nreset = 7").unwrap();
    let document = "# Title\n\n<!-- registers -->\nold\n<!-- /registers -->\n\nMore.\n";
    let with = document::with_map(document, &description).unwrap();
    assert!(with.starts_with("# Title\n\n<!-- registers -->\nMade from "), "{with}");
    assert!(with.contains("\n| 0x10 | `R` | 32 | rw | 7 |  |  |\n"), "{with}");
    assert!(with.ends_with("\n<!-- /registers -->\n\nMore.\n") && !with.contains("old"), "{with}");
    assert_eq!(document::with_map(&with, &description).unwrap(), with);
    assert!(document::with_map("# Title\n", &description).is_err());
}

/// Compiles a program that prints what the C header says, and compares it with the description.
#[test]
fn the_c_header_has_every_address_and_bit() {
    let root = repository();
    let text = std::fs::read_to_string(root.join(DESCRIPTION)).unwrap();
    let expected = addresses_and_bits(&Description::parse(&text).unwrap());
    let folder = std::env::temp_dir().join(format!("nvs-registers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("print.c"), folder.join("print"));
    let mut lines =
        String::from("#include \"nvs_registers.h\"\n#include <stdio.h>\nint main(void) {\n");
    for (expression, _) in &expected {
        lines += &format!("printf(\"%llu\\n\", (unsigned long long)({expression}));\n");
    }
    std::fs::write(&source, lines + "return 0;\n}\n").unwrap();
    let compiled = std::process::Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root.join("hardware/rtl"))
        .arg("-o")
        .args([&program, &source])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = std::process::Command::new(&program).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let values: Vec<u64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(values.len(), expected.len());
    for ((expression, value), printed) in expected.iter().zip(values) {
        assert_eq!(printed, *value, "{expression}");
    }
}

/// C expressions with the values that they must have: addresses of every bank, resets, constants
/// and bits.
fn addresses_and_bits(description: &Description) -> Vec<(String, u64)> {
    let mut expected = Vec::new();
    for bank in &description.banks {
        let upper = bank.name.to_uppercase();
        let prefix = if bank.is_per_drive() { &upper } else { "STREAM" };
        for copy in 0..bank.copies {
            let place = match bank.is_per_drive() {
                true => format!("NVS_{upper}_BANK({copy})"),
                false => format!("NVS_{upper}_BANK"),
            };
            for register in description.registers_of(&[bank]) {
                let name = format!("NVS_{prefix}_{}", register.name);
                let address = bank.offset + copy * bank.stride + register.offset;
                expected.push((format!("{place} + {name}"), address.into()));
                match register.access {
                    Access::Constant => {
                        expected.push((format!("{name}_VALUE"), register.value.into()))
                    }
                    Access::Rw => expected.push((format!("{name}_RESET"), register.reset)),
                    Access::Ro | Access::W1p => {}
                }
                for field in &register.fields {
                    let bits = (field.low()..=field.high()).map(|bit| 1 << bit).sum();
                    expected.push((format!("{name}_{}_MASK", field.name), bits));
                    expected.push((format!("{name}_{}_SHIFT", field.name), field.low().into()));
                }
            }
        }
    }
    expected
}
