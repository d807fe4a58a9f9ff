//! All tests of this crate but the unit tests, as one program: linking costs more than compiling.

mod cross_validation;
mod fit;
mod hardware;
