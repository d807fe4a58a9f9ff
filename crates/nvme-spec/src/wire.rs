//! Structures as byte arrays with accessors: fields are decoded on access, unknown bits are kept,
//! and any bytes of the right length are valid, so parsing untrusted data cannot fail. Bit fields
//! are declared with their word. Each layout is checked against the size of the structure at
//! compile time, and against the other fields by the tests.

/// A value with a little-endian byte representation.
pub trait Wire: Copy {
    /// Size in bytes.
    const BYTES: usize;
    /// Loads from the beginning of `bytes`; 0 if they are too short.
    fn load(bytes: &[u8]) -> Self;
    /// Stores to the beginning of `bytes`; no effect if they are too short.
    fn store(self, bytes: &mut [u8]);
}

macro_rules! wire_integers {
    ($($ty:ty),*) => {$(
        impl Wire for $ty {
            const BYTES: usize = size_of::<$ty>();
            #[inline(always)]
            fn load(bytes: &[u8]) -> $ty {
                bytes.first_chunk().map_or(0, |raw| <$ty>::from_le_bytes(*raw))
            }
            #[inline(always)]
            fn store(self, bytes: &mut [u8]) {
                if let Some(to) = bytes.first_chunk_mut() {
                    *to = self.to_le_bytes();
                }
            }
        }
    )*};
}
wire_integers!(u8, u16, u32, u64, u128);

impl<T: Wire, const N: usize> Wire for [T; N] {
    const BYTES: usize = T::BYTES * N;
    fn load(bytes: &[u8]) -> [T; N] {
        std::array::from_fn(|index| T::load(bytes.get(index * T::BYTES..).unwrap_or(&[])))
    }
    fn store(self, bytes: &mut [u8]) {
        for (value, to) in self.into_iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            value.store(to);
        }
    }
}

/// A value of a bit field.
pub trait Bits: Copy {
    /// From the low bits.
    fn from_bits(bits: u64) -> Self;
    /// As the low bits.
    fn to_bits(self) -> u64;
}

impl Bits for bool {
    #[inline(always)]
    fn from_bits(bits: u64) -> bool {
        bits & 1 != 0
    }
    #[inline(always)]
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
}

macro_rules! bits_of_integers {
    ($($ty:ty),*) => {$(
        impl Bits for $ty {
            #[inline(always)]
            fn from_bits(bits: u64) -> $ty {
                bits as $ty
            }
            #[inline(always)]
            fn to_bits(self) -> u64 {
                u64::from(self)
            }
        }
    )*};
}
bits_of_integers!(u8, u16, u32, u64);

/// A mask of low bits.
#[inline(always)]
pub(crate) const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[inline(always)]
pub(crate) fn load_bits<W: Wire + Bits, T: Bits>(bytes: &[u8], low: u32, high: u32) -> T {
    T::from_bits(W::load(bytes).to_bits() >> low & mask(high - low + 1))
}

#[inline(always)]
pub(crate) fn store_bits<W: Wire + Bits, T: Bits>(bytes: &mut [u8], low: u32, high: u32, value: T) {
    let mask = mask(high - low + 1);
    let others = W::load(bytes).to_bits() & !(mask << low);
    W::from_bits(others | (value.to_bits() & mask) << low).store(bytes);
}

/// Layout of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    /// Name of its accessor.
    pub name: &'static str,
    /// Lowest bit, counted from the first byte of the structure.
    pub first_bit: usize,
    /// Number of bits.
    pub bits: usize,
}

/// Declares structures with their fields: `get / set: type = byte offset, "doc";`, or for bits of a
/// little-endian word at that offset `get / set: type = byte offset, word[low..=high], "doc";`.
/// `as u32` after the size declares conversions from and to a number, for registers and dwords of
/// commands and completions.
macro_rules! wire {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident[$size:literal] $(as $raw:ty)? {
            $(
                $(#[$field_meta:meta])*
                $get:ident / $set:ident: $ty:ty = $offset:literal
                $(, $word:ident[$low:literal..=$high:literal])? $(, $doc:literal)?;
            )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name([u8; $size]);

        const _: () = assert!(size_of::<$name>() == $size);

        impl $name {
            /// Size in bytes.
            pub const SIZE: usize = $size;
            /// Layout of the fields, in the order of declaration.
            pub const FIELDS: &'static [$crate::wire::FieldLayout] = &[$({
                let (first_bit, bits) =
                    $crate::wire::wire!(@layout $ty, $offset $(, $word[$low..=$high])?);
                assert!(first_bit + bits <= $size * 8, "the field exceeds its structure");
                $crate::wire::FieldLayout { name: stringify!($get), first_bit, bits }
            }),*];

            /// From bytes.
            #[inline(always)]
            pub const fn from_bytes(bytes: [u8; $size]) -> $name {
                $name(bytes)
            }

            /// From the beginning of `bytes`; `None` if they are too short.
            #[inline]
            pub fn read_from(bytes: &[u8]) -> Option<$name> {
                bytes.first_chunk().map(|bytes| $name(*bytes))
            }

            /// The bytes.
            #[inline(always)]
            pub const fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }

            /// The bytes.
            #[inline(always)]
            pub const fn as_bytes_mut(&mut self) -> &mut [u8; $size] {
                &mut self.0
            }

            $(
                $(#[$field_meta])*
                $(#[doc = $doc])?
                #[inline(always)]
                pub fn $get(&self) -> $ty {
                    $crate::wire::wire!(@load self, $ty, $offset $(, $word[$low..=$high])?)
                }

                /// Sets the field of the same name.
                #[inline(always)]
                pub fn $set(&mut self, value: $ty) -> &mut $name {
                    $crate::wire::wire!(@store self, value, $ty, $offset $(, $word[$low..=$high])?);
                    self
                }
            )*

            /// Copies each field to another structure by its accessors, in the order of
            /// [`Self::FIELDS`].
            #[cfg(test)]
            pub(crate) fn field_copies() -> Vec<fn(&$name, &mut $name)> {
                vec![$(|from, to| _ = to.$set(from.$get())),*]
            }
        }

        $(impl $name {
            /// Value as a number.
            pub fn raw(&self) -> $raw {
                <$raw>::from_le_bytes(self.0)
            }

            /// From a number.
            pub fn from_raw(raw: $raw) -> $name {
                $name(raw.to_le_bytes())
            }
        })?

        impl Default for $name {
            fn default() -> $name {
                $name([0; $size])
            }
        }

        impl $crate::wire::Wire for $name {
            const BYTES: usize = $size;
            #[inline(always)]
            fn load(bytes: &[u8]) -> $name {
                bytes.first_chunk().map_or_else($name::default, |bytes| $name(*bytes))
            }
            #[inline(always)]
            fn store(self, bytes: &mut [u8]) {
                if let Some(to) = bytes.first_chunk_mut() {
                    *to = self.0;
                }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut fields = f.debug_struct(stringify!($name));
                $(fields.field(stringify!($get), &self.$get());)*
                fields.finish()
            }
        }
    )*};
    (@layout $ty:ty, $offset:literal) => {
        ($offset * 8, <$ty as $crate::wire::Wire>::BYTES * 8)
    };
    (@layout $ty:ty, $offset:literal, $word:ident[$low:literal..=$high:literal]) => {{
        assert!($low <= $high && $high < $word::BITS, "the bits exceed the word");
        ($offset * 8 + $low as usize, ($high - $low + 1) as usize)
    }};
    (@load $self:ident, $ty:ty, $offset:literal) => {
        <$ty as $crate::wire::Wire>::load(&$self.0[$offset..])
    };
    (@load $self:ident, $ty:ty, $offset:literal, $word:ident[$low:literal..=$high:literal]) => {
        $crate::wire::load_bits::<$word, $ty>(&$self.0[$offset..], $low, $high)
    };
    (@store $self:ident, $value:ident, $ty:ty, $offset:literal) => {
        <$ty as $crate::wire::Wire>::store($value, &mut $self.0[$offset..])
    };
    (@store $self:ident, $value:ident, $ty:ty, $offset:literal,
     $word:ident[$low:literal..=$high:literal]) => {
        $crate::wire::store_bits::<$word, $ty>(&mut $self.0[$offset..], $low, $high, $value)
    };
}
pub(crate) use wire;

/// Declares numeric codes with names; unknown values are valid.
macro_rules! codes {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident($repr:ty) {
            $($(#[$code_meta:meta])* $code:ident = $value:literal, $text:literal;)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $repr);

        impl $name {
            $($(#[$code_meta])*
            #[doc = concat!($text, " (", stringify!($value), ").")]
            pub const $code: $name = $name($value);)*
            /// Named values, in the order of declaration.
            pub const NAMED: &'static [$name] = &[$($name::$code),*];

            /// Name in the specification; `None` for an unknown value.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{:#x}", self.0),
                }
            }
        }
    )*};
}
pub(crate) use codes;

/// Declares views of a submission queue entry, one per command: common fields and those of the
/// command.
macro_rules! commands {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident = $opcode:expr => { $($fields:tt)* }
    )*) => {
        $crate::wire::wire! {$(
            $(#[$meta])*
            pub struct $name[64] {
                cid / set_cid: u16 = 2, "Command Identifier (CID).";
                nsid / set_nsid: u32 = 4, "Namespace Identifier (NSID).";
                $($fields)*
            }
        )*}
        $(
            impl $name {
                /// The command's opcode.
                pub const OPCODE: u8 = $opcode.0;

                /// The opcode; all other fields are 0.
                pub fn new() -> $name {
                    let mut entry = $crate::entry::SubmissionEntry::default();
                    entry.set_opcode($name::OPCODE);
                    $name::from(entry)
                }

                /// The queue entry.
                #[inline]
                pub fn entry(&self) -> $crate::entry::SubmissionEntry {
                    $crate::entry::SubmissionEntry::from_bytes(*self.as_bytes())
                }
            }

            impl From<$crate::entry::SubmissionEntry> for $name {
                /// View of an entry with any opcode.
                #[inline]
                fn from(entry: $crate::entry::SubmissionEntry) -> $name {
                    $name::from_bytes(*entry.as_bytes())
                }
            }
        )*
    };
}
pub(crate) use commands;

/// Text of an ASCII field without its padding: spaces (Base 1.4.2), or zeroes on some drives. Other
/// bytes than printable ASCII become `?`.
pub fn text(bytes: &[u8]) -> String {
    let last = bytes.iter().rposition(|&byte| byte != b' ' && byte != 0);
    let end = last.map_or(0, |last| last + 1);
    let printable = |&byte: &u8| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '?',
    };
    bytes[..end].iter().map(printable).collect()
}

/// Text as an ASCII field of `N` bytes: truncated, or padded with spaces.
pub fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [b' '; N];
    for (to, byte) in field.iter_mut().zip(text.bytes()) {
        *to = if matches!(byte, b' '..=b'~') { byte } else { b'?' };
    }
    field
}

#[cfg(test)]
#[path = "../tests/unit/wire.rs"]
mod tests;
