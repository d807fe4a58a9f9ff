use super::*;

#[test]
fn fields_are_quoted_by_rfc_4180() {
    let fields = ["plain", "a,b", "say \"hi\"", "two\nlines", "", " blank "];
    let columns: Vec<Column<[&'static str; 6]>> = (0..fields.len())
        .map(|at| Column {
            name: fields[at].to_owned(),
            kind: table::ValueType::Text,
            get: Box::new(move |row: &[&'static str; 6]| row[at].into()),
        })
        .collect();
    let mut out = Vec::new();
    write(&mut out, &columns, [fields].into_iter()).unwrap();
    let line = "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",, blank \r\n";
    assert_eq!(String::from_utf8(out).unwrap(), line.repeat(2));
}

#[test]
fn absent_values_are_empty_fields_and_numbers_keep_their_bits() {
    let columns = |value: Value| {
        vec![Column {
            name: "x".to_owned(),
            kind: table::ValueType::Figure,
            get: Box::new(move |(): &()| value.clone()),
        }]
    };
    let of = |value: Value| {
        let mut out = Vec::new();
        let mut columns = columns(value);
        columns.extend(columns_of_one());
        write(&mut out, &columns, [()].into_iter()).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(of(Value::Absent), "x,y\r\n,1\r\n");
    assert_eq!(
        of(Value::Figure(0.1 + 0.2)),
        "x,y\r\n0.30000000000000004,1\r\n"
    );
    assert_eq!(
        of(Value::Count(u64::MAX)),
        "x,y\r\n18446744073709551615,1\r\n"
    );
    assert_eq!(of(Value::Flag(true)), "x,y\r\ntrue,1\r\n");
}

fn columns_of_one() -> Vec<Column<()>> {
    vec![Column {
        name: "y".to_owned(),
        kind: table::ValueType::Count,
        get: Box::new(|(): &()| Value::Count(1)),
    }]
}
