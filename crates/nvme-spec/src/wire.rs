//! How values lie in bytes, and the macro that declares structures of them.
//!
//! A structure is its bytes: nothing is decoded before it is asked for, nothing that is not understood is lost, and any bytes of the
//! right length are a value. Accessors load and store little-endian (NVM Express Base Specification 2.0c, section 1.4), whatever the
//! machine; there is no alignment to keep, so no `unsafe` and no conversion that can fail.
//!
//! Fields that are bits of a word are declared with the word they are in, as the specification does. Every field's footprint is
//! checked against the structure's size when it is compiled, and against all others by the tests.

/// A value with a fixed place in bytes.
pub trait Wire: Copy {
    /// How many bytes.
    const BYTES: usize;
    /// From the beginning of `bytes`; zero where there are too few.
    fn load(bytes: &[u8]) -> Self;
    /// To the beginning of `bytes`, which are left alone where there are too few.
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
                if let Some(place) = bytes.first_chunk_mut() {
                    *place = self.to_le_bytes();
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
        for (value, place) in self.into_iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            value.store(place);
        }
    }
}

/// A value that takes some bits of a word.
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

/// A word that holds bit fields.
pub(crate) trait Word: Wire {
    fn widen(self) -> u64;
    fn narrow(wide: u64) -> Self;
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
        impl Word for $ty {
            #[inline(always)]
            fn widen(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn narrow(wide: u64) -> $ty {
                wide as $ty
            }
        }
    )*};
}
bits_of_integers!(u8, u16, u32, u64);

/// So many low bits set.
#[inline(always)]
pub(crate) const fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

#[inline(always)]
pub(crate) fn load_bits<W: Word, T: Bits>(bytes: &[u8], low: u32, high: u32) -> T {
    T::from_bits(W::load(bytes).widen() >> low & mask(high - low + 1))
}

#[inline(always)]
pub(crate) fn store_bits<W: Word, T: Bits>(bytes: &mut [u8], low: u32, high: u32, value: T) {
    let mask = mask(high - low + 1);
    let others = W::load(bytes).widen() & !(mask << low);
    W::narrow(others | (value.to_bits() & mask) << low).store(bytes);
}

/// Where a field lies in its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name here.
    pub name: &'static str,
    /// Its lowest bit, counted from the structure's first byte on.
    pub first_bit: usize,
    /// How many bits.
    pub bits: usize,
}

/// Declares a structure that is its bytes: `get / set: type = byte offset;`, or for bits of a little-endian word at that offset
/// `get / set: type = byte offset, word[low..=high];`.
macro_rules! wire {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident[$size:literal] {
            $(
                $(#[$field_meta:meta])*
                $get:ident / $set:ident: $ty:ty = $offset:literal $(, $word:ident[$low:literal..=$high:literal])? $(, $doc:literal)?;
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
            /// Its fields, in the order of their declaration.
            pub const FIELDS: &'static [$crate::wire::Field] = &[$({
                let (first_bit, bits) = $crate::wire::wire!(@place $ty, $offset $(, $word[$low..=$high])?);
                assert!(first_bit + bits <= $size * 8, "the field lies outside its structure");
                $crate::wire::Field { name: stringify!($get), first_bit, bits }
            }),*];

            /// These bytes; any are a value.
            #[inline(always)]
            pub const fn from_bytes(bytes: [u8; $size]) -> $name {
                $name(bytes)
            }

            /// The beginning of `bytes`; `None` when there are too few.
            #[inline]
            pub fn read_from(bytes: &[u8]) -> Option<$name> {
                bytes.first_chunk().map(|bytes| $name(*bytes))
            }

            /// The bytes as they are sent.
            #[inline(always)]
            pub const fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }

            /// The bytes, to be changed.
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

            /// Sets every field to what `random` says and looks whether that, and only that, changed.
            #[cfg(test)]
            pub(crate) fn check_fields(random: &mut dyn FnMut() -> u64) {
                use $crate::wire::Wire as _;
                let mut noise = || std::array::from_fn::<u8, $size, _>(|_| random() as u8);
                $({
                    let before = $name(noise());
                    let source = $name(noise());
                    let value: $ty = source.$get();
                    let mut after = before;
                    after.$set(value);
                    assert_eq!(after.$get(), value, "{}", stringify!($get));
                    let (first_bit, bits) = $crate::wire::wire!(@place $ty, $offset $(, $word[$low..=$high])?);
                    $crate::wire::assert_only(before.as_bytes(), after.as_bytes(), source.as_bytes(), first_bit, bits, stringify!($get));
                })*
                let bytes = noise();
                let mut copy = [0_u8; $size];
                $name::load(&bytes).store(&mut copy);
                assert_eq!(bytes, copy);
                assert_eq!($name::read_from(&bytes[..$size - 1]), None);
                $crate::wire::assert_apart(stringify!($name), $name::FIELDS);
                assert!(!format!("{:?}", $name(bytes)).is_empty());
            }
        }

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
                if let Some(place) = bytes.first_chunk_mut() {
                    *place = self.0;
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
    (@place $ty:ty, $offset:literal) => {
        ($offset * 8, <$ty as $crate::wire::Wire>::BYTES * 8)
    };
    (@place $ty:ty, $offset:literal, $word:ident[$low:literal..=$high:literal]) => {{
        assert!($low <= $high && $high < $word::BITS, "the bits are not in the word");
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
    (@store $self:ident, $value:ident, $ty:ty, $offset:literal, $word:ident[$low:literal..=$high:literal]) => {
        $crate::wire::store_bits::<$word, $ty>(&mut $self.0[$offset..], $low, $high, $value)
    };
}
pub(crate) use wire;

/// Structures of four bytes that are also numbers: registers, and dwords of commands and completions.
macro_rules! dwords {
    ($($name:ident),* $(,)?) => {$(
        impl $name {
            /// As a number.
            pub fn raw(&self) -> u32 {
                $crate::wire::Wire::load(self.as_bytes())
            }

            /// From a number.
            pub fn from_raw(raw: u32) -> $name {
                $name::from_bytes(raw.to_le_bytes())
            }
        }
    )*};
}
pub(crate) use dwords;

/// Declares a number whose values have names: any number is a value, some are constants.
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
            $($(#[$code_meta])* #[doc = concat!($text, " (", stringify!($value), ").")] pub const $code: $name = $name($value);)*
            /// Those with a name, in the order of their declaration.
            pub const NAMED: &'static [$name] = &[$($name::$code),*];

            /// The specification's words; `None` for a number without any here.
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

/// Declares views of a submission queue entry, one per command: the fields that all have, and its own.
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

                /// This opcode, and zeroes.
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
                /// This view of an entry, whatever its opcode.
                #[inline]
                fn from(entry: $crate::entry::SubmissionEntry) -> $name {
                    $name::from_bytes(*entry.as_bytes())
                }
            }
        )*
    };
}
pub(crate) use commands;

/// `bytes[from..from + len]` as text: NVMe pads ASCII fields with spaces (Base Specification 2.0c, section 1.4.2), some drives with
/// zeroes. What is not printable ASCII becomes `?`.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .rposition(|&byte| byte != b' ' && byte != 0)
        .map_or(0, |last| last + 1);
    let printable = |&byte: &u8| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '?',
    };
    bytes[..end].iter().map(printable).collect()
}

/// Text as an ASCII field of `N` bytes: cut where too long, padded with spaces.
pub fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [b' '; N];
    for (place, byte) in field.iter_mut().zip(text.bytes()) {
        *place = if (b' '..=b'~').contains(&byte) {
            byte
        } else {
            b'?'
        };
    }
    field
}

/// Nothing but these bits changed, and they are now those of `source`.
#[cfg(test)]
pub(crate) fn assert_only(
    before: &[u8],
    after: &[u8],
    source: &[u8],
    first_bit: usize,
    bits: usize,
    name: &str,
) {
    let bit = |bytes: &[u8], bit: usize| bytes[bit / 8] >> (bit % 8) & 1;
    for at in 0..before.len() * 8 {
        let inside = (first_bit..first_bit + bits).contains(&at);
        let expected = bit(if inside { source } else { before }, at);
        assert_eq!(bit(after, at), expected, "field {name}, bit {at}");
    }
}

/// No two fields share a bit.
#[cfg(test)]
pub(crate) fn assert_apart(structure: &str, fields: &[Field]) {
    let mut sorted = fields.to_vec();
    sorted.sort_by_key(|field| field.first_bit);
    for pair in sorted.windows(2) {
        let end = pair[0].first_bit + pair[0].bits;
        assert!(
            end <= pair[1].first_bit,
            "{structure}: {} reaches into {}",
            pair[0].name,
            pair[1].name
        );
    }
}

#[cfg(test)]
#[path = "../tests/unit/wire.rs"]
mod tests;
