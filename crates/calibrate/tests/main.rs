//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

mod fit;
mod hardware;
