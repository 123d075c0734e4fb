//! Memory that travels: exports, the decisions that travel with them, and the places that transfers may
//! reach.

pub(crate) mod controls;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod places;
