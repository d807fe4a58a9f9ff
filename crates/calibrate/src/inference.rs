//! Bayesian inference for profiles: what figures say of parameters, and what they leave open.
//!
//! - [`linear`]: small dense matrices.
//! - [`posterior`]: maximum a posteriori by Gauss-Newton, Laplace approximation, members.
//! - [`identify`]: which numbers the figures determine, and which next measurement would say most.

pub mod identify;
pub mod linear;
pub mod posterior;
