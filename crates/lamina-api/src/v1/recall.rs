//! `POST /v1/recall`: a question to all layers at once, and the stratified pack that answers it
//! (R255-R264, R342-R354).

mod filters;
mod pack;
mod request;
mod temporal;

pub use pack::{
    ChainBody, ChannelList, ChannelRank, DiagnosticsBody, DropDiagnostics, FragmentBody, HopBody,
    ItemDiagnostics, LayersBody, PackBody, PackEventBody, PolicyBody, ProvenanceBody, Ranked,
    Reorder, ScopeTraversed, StandingBody, TrailBody, WhyNotBody,
};
pub use request::{BudgetsBody, LayerLimits, QueryVariant, RecallRequest};
pub(crate) use temporal::during;
pub use temporal::{During, NamedRange, TemporalBlock};

#[cfg(test)]
mod tests;
