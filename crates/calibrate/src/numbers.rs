//! Numbers of a profile as a TOML table, by dotted path.

use toml::{Table, Value};

pub fn get<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let mut keys = path.split('.');
    let first = table.get(keys.next()?)?;
    keys.try_fold(first, |at, key| at.as_table()?.get(key))?.as_table()?.get("value")
}

/// Set a number or add it to its section; without effect where the section does not exist.
pub fn put(table: &mut Table, path: &str, value: Value) {
    let Some((section, key)) = path.rsplit_once('.') else {
        return;
    };
    let mut at = table;
    for step in section.split('.') {
        let Some(next) = at.get_mut(step).and_then(Value::as_table_mut) else {
            return;
        };
        at = next;
    }
    let number = at.entry(key).or_insert_with(|| {
        let source = Value::from("by other drives");
        Table::from_iter([("assumed".to_owned(), source)]).into()
    });
    if let Some(number) = number.as_table_mut() {
        number.insert("value".to_owned(), value);
    }
}

/// The profile then has its default.
pub fn remove(table: &mut Table, path: &str) {
    let Some((section, key)) = path.rsplit_once('.') else {
        return;
    };
    let mut keys = section.split('.');
    let found = keys.try_fold(table, |at, key| at.get_mut(key)?.as_table_mut());
    if let Some(section) = found {
        section.remove(key);
    }
}

/// A number, or the first of a list.
pub fn leader(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Array(list) => list.first().and_then(leader),
        _ => None,
    }
}

/// A list is scaled by one factor; the type stays.
pub fn scaled(value: &Value, factor: f64) -> Value {
    match value {
        Value::Integer(n) => Value::Integer((*n as f64 * factor).round().clamp(1.0, 1e15) as i64),
        Value::Float(n) => Value::Float(n * factor),
        Value::Array(list) => Value::Array(list.iter().map(|v| scaled(v, factor)).collect()),
        other => other.clone(),
    }
}
