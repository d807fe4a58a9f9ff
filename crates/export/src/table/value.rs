use assay_units::Nanos;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Unsigned, 64 bits.
    Count,
    /// Double.
    Figure,
    /// True or false.
    Flag,
    /// UTF-8.
    Text,
}

/// A value; `Absent` where nothing was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not measured, or not known.
    Absent,
    /// Unsigned, 64 bits.
    Count(u64),
    /// Double.
    Figure(f64),
    /// True or false.
    Flag(bool),
    /// UTF-8.
    Text(String),
}

impl Value {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The count, if it is one.
    pub fn count(&self) -> Option<u64> {
        match self {
            Value::Count(n) => Some(*n),
            _ => None,
        }
    }

    /// The figure, if it is one.
    pub fn figure(&self) -> Option<f64> {
        match self {
            Value::Figure(x) => Some(*x),
            _ => None,
        }
    }
}

/// A Rust type that columns are made of.
pub(super) trait ColumnValue {
    const TYPE: ValueType;
    /// Added to the name of a column.
    const SUFFIX: &'static str = "";
    fn value(self) -> Value;
}

macro_rules! column_values {
    ($($from:ty => $variant:ident($value:ident, $into:expr);)+) => {$(
        impl ColumnValue for $from {
            const TYPE: ValueType = ValueType::$variant;
            fn value(self) -> Value {
                let $value = self;
                Value::$variant($into)
            }
        }
    )+};
}

column_values! {
    u64 => Count(n, n);
    u8 => Count(n, n.into());
    u32 => Count(n, n.into());
    usize => Count(n, n as u64);
    Nanos => Count(span, span.0);
    f64 => Figure(x, x);
    bool => Flag(flag, flag);
    &str => Text(text, text.to_owned());
    String => Text(text, text);
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    const TYPE: ValueType = T::TYPE;
    fn value(self) -> Value {
        self.map_or(Value::Absent, T::value)
    }
}

/// A list, as JSON.
impl<T: serde::Serialize> ColumnValue for Vec<T> {
    const TYPE: ValueType = ValueType::Text;
    const SUFFIX: &'static str = "_json";
    fn value(self) -> Value {
        let text = serde_json::to_string(&self).ok();
        text.filter(|_| !self.is_empty()).value()
    }
}
