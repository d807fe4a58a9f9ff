//! Safe wrapper of a verilated core: one call per clock cycle. The only file of this crate with
//! `unsafe`: the model is C++, called through the table of functions of `csrc/shim.h`.
#![allow(
    unsafe_code,
    reason = "the verilated model is C++; nothing else in the crate calls foreign functions"
)]

use std::path::Path;

use crate::config::Configuration;
use crate::signals::{Inputs, Outputs};

const RESET_CYCLES: u32 = 8;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The build had no Verilator, no compiler or no RTL.
    #[error("built without the model of the core: {reason}; build again with it")]
    Missing {
        /// What is missing, and how to install it.
        reason: String,
    },
    #[error("the model of the core could not be built: {reason}")]
    Broken {
        /// Message of the tool.
        reason: String,
    },
    #[error(
        "the configuration {name} was not built; build with the feature `all-configurations` of \
         assay-cosim"
    )]
    Configuration { name: String },
    #[error("the core at {time_ns} ns: {text}")]
    Assertion {
        time_ns: u64,
        /// Assertion and place.
        text: String,
    },
    #[error("{path}: no wave file can be written: {reason}")]
    Wave {
        /// As given by the caller.
        path: String,
        reason: &'static str,
    },
}

impl ModelError {
    /// Reason to skip a test: tools or RTL are missing, or the configuration is not built.
    pub fn skip_reason(&self) -> Option<String> {
        match self {
            ModelError::Missing { .. } | ModelError::Configuration { .. } => Some(self.to_string()),
            _ => None,
        }
    }
}

#[cfg(core_model)]
pub use verilated::CoreModel;

#[cfg(core_model)]
mod verilated {
    use std::ffi::{CString, c_char, c_int, c_void};
    use std::ptr::NonNull;

    use super::{Configuration, Inputs, ModelError, Outputs, Path, RESET_CYCLES};
    use crate::CYCLE_NS;

    /// `struct Shim` of `csrc/shim.h`.
    #[repr(C)]
    struct Shim {
        inputs_bytes: u64,
        outputs_bytes: u64,
        // SAFETY: of all functions: the first argument is a living result of `create`, used by one
        // thread; other pointers are valid for what they point to. SAFETY: of `create`: none is
        // needed.
        create: unsafe extern "C" fn(u32) -> *mut c_void,
        // SAFETY: ends the life of the instance.
        destroy: unsafe extern "C" fn(*mut c_void),
        // SAFETY: writes one `Outputs`.
        reset: unsafe extern "C" fn(*mut c_void, u32, *mut Outputs) -> c_int,
        // SAFETY: reads one `Inputs`, writes one `Outputs`.
        step: unsafe extern "C" fn(*mut c_void, *const Inputs, *mut Outputs) -> c_int,
        // SAFETY: reads a string that ends with zero.
        trace_start: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
        // SAFETY: as above.
        trace_stop: unsafe extern "C" fn(*mut c_void),
        // SAFETY: writes at most the given number of bytes.
        take_failure: unsafe extern "C" fn(*mut c_char, u64),
    }

    // SAFETY: declared so in `csrc/table.cpp`.
    unsafe extern "C" {
        fn assay_cosim_shim(name: *const c_char) -> Option<&'static Shim>;
    }

    /// A core in its reset state or running.
    pub struct CoreModel {
        shim: &'static Shim,
        /// Made by `create`, freed by `destroy`.
        instance: NonNull<c_void>,
        outputs: Outputs,
        configuration: Configuration,
        cycles: u64,
    }

    impl std::fmt::Debug for CoreModel {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let name = self.configuration.name;
            write!(f, "CoreModel({name}, cycle {})", self.cycles)
        }
    }

    impl CoreModel {
        /// A core after reset. Registers without reset begin with random values from `seed`. Fails
        /// when this model was not built.
        pub fn new(configuration: &Configuration, seed: u32) -> Result<CoreModel, ModelError> {
            let name = CString::new(configuration.name).expect("a name without zero bytes");
            // SAFETY: `name` ends with zero; the result is null or a constant of the program.
            let shim = unsafe { assay_cosim_shim(name.as_ptr()) };
            let shim = shim
                .ok_or_else(|| ModelError::Configuration { name: configuration.name.to_owned() })?;
            assert_eq!(shim.inputs_bytes, size_of::<Inputs>() as u64);
            assert_eq!(shim.outputs_bytes, size_of::<Outputs>() as u64);
            // SAFETY: takes a plain number. Null is impossible for a C++ object, and checked.
            let instance = NonNull::new(unsafe { (shim.create)(seed) }).expect("an object");
            let mut model = CoreModel {
                shim,
                instance,
                outputs: Outputs::ZERO,
                configuration: *configuration,
                cycles: 0,
            };
            model.reset()?;
            Ok(model)
        }

        pub fn configuration(&self) -> &Configuration {
            &self.configuration
        }

        pub fn outputs(&self) -> &Outputs {
            &self.outputs
        }

        /// Reset with all inputs zero. Fails when an assertion fails.
        pub fn reset(&mut self) -> Result<(), ModelError> {
            // SAFETY: `instance` is alive until `drop`, not shared (`CoreModel` is neither `Send`
            // nor `Sync`), and `outputs` has the layout that `new` compared.
            let failed = unsafe {
                (self.shim.reset)(self.instance.as_ptr(), RESET_CYCLES, &raw mut self.outputs)
            };
            self.check(failed)
        }

        /// One rising edge; returns the next cycle's outputs. Fails when an assertion fails.
        #[inline]
        pub fn step(&mut self, inputs: &Inputs) -> Result<&Outputs, ModelError> {
            // SAFETY: as in `reset`; `inputs` has the layout that `new` compared.
            let failed =
                unsafe { (self.shim.step)(self.instance.as_ptr(), inputs, &raw mut self.outputs) };
            self.cycles += 1;
            self.check(failed)?;
            Ok(&self.outputs)
        }

        #[inline]
        fn check(&self, failed: c_int) -> Result<(), ModelError> {
            if failed == 0 {
                return Ok(());
            }
            let mut text = [0_u8; 512];
            // SAFETY: at most `text.len()` bytes are written, the last of them zero.
            unsafe { (self.shim.take_failure)(text.as_mut_ptr().cast(), text.len() as u64) };
            let end = text.iter().position(|&byte| byte == 0);
            Err(ModelError::Assertion {
                time_ns: self.cycles * CYCLE_NS,
                text: String::from_utf8_lossy(&text[..end.unwrap_or(text.len())]).into_owned(),
            })
        }

        /// Write all signals to an FST wave file from now on. Fails when the file cannot be
        /// created, one is being written, or zlib was missing when the model was built.
        pub fn trace_start(&mut self, path: &Path) -> Result<(), ModelError> {
            let wave = |reason| ModelError::Wave { path: path.display().to_string(), reason };
            let name = CString::new(path.as_os_str().as_encoded_bytes());
            let name = name.map_err(|_| wave("the name contains a zero byte"))?;
            // SAFETY: as in `reset`; `name` ends with zero.
            match unsafe { (self.shim.trace_start)(self.instance.as_ptr(), name.as_ptr()) } {
                0 => Ok(()),
                1 => Err(wave("one is being written")),
                2 => Err(wave("the file cannot be created")),
                _ => Err(wave("built without zlib: apt-get install zlib1g-dev")),
            }
        }

        pub fn trace_stop(&mut self) {
            // SAFETY: as in `reset`.
            unsafe { (self.shim.trace_stop)(self.instance.as_ptr()) };
        }
    }

    impl Drop for CoreModel {
        fn drop(&mut self) {
            // SAFETY: made by `create`, and used for the last time.
            unsafe { (self.shim.destroy)(self.instance.as_ptr()) };
        }
    }
}

#[cfg(not(core_model))]
pub use absent::CoreModel;

#[cfg(not(core_model))]
mod absent {
    use super::{Configuration, Inputs, ModelError, Outputs, Path, RESET_CYCLES};

    /// No core exists, because the model was not built.
    #[derive(Debug)]
    pub enum CoreModel {}

    impl CoreModel {
        /// Fails with the reason why the model was not built.
        pub fn new(_: &Configuration, _seed: u32) -> Result<CoreModel, ModelError> {
            let _ = RESET_CYCLES;
            if let Some(reason) = option_env!("ASSAY_COSIM_MISSING") {
                let reason = reason.to_owned();
                return Err(ModelError::Missing { reason });
            }
            let reason = option_env!("ASSAY_COSIM_BROKEN").unwrap_or("no reason given");
            let reason = reason.to_owned();
            Err(ModelError::Broken { reason })
        }

        pub fn configuration(&self) -> &Configuration {
            match *self {}
        }

        pub fn outputs(&self) -> &Outputs {
            match *self {}
        }

        pub fn reset(&mut self) -> Result<(), ModelError> {
            match *self {}
        }

        pub fn step(&mut self, _: &Inputs) -> Result<&Outputs, ModelError> {
            match *self {}
        }

        pub fn trace_start(&mut self, _: &Path) -> Result<(), ModelError> {
            match *self {}
        }

        pub fn trace_stop(&mut self) {
            match *self {}
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/model.rs"]
mod tests;
