//! Bayesian inference for profiles: what figures say of parameters, and what they leave open.

pub mod identify;
pub mod linear;
pub mod posterior;
