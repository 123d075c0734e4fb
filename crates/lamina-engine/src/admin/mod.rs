//! What is not an experience: tenants and, beside them, everything that decides who may do what.

pub mod standing;
mod tenants;
