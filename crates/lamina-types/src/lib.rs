//! The vocabulary: values and their invariants, and nothing that can do I/O.
//!
//! Every other crate speaks in these types. Text becomes one of them once, at the edge, or becomes
//! an error that says where; nothing downstream checks again.

pub mod ids;
pub mod scope;
mod session_scope;
pub mod time;
pub mod actor;
pub mod tenant;
pub mod content;
pub mod experience;
pub mod event;
mod citation;
pub mod lifecycle;
mod model_fault;
pub mod layer;
pub mod vocabulary;
pub mod recall;
pub mod forget;
pub mod retention;
pub mod audit;
pub mod capability;
pub mod member;
pub mod error_code;
pub mod limits;
pub mod stdx;

pub use actor::{Actor, ActorId};
pub use audit::{AuditRow, AuditWho, Decision};
pub use citation::{CitationError, CitedSeal, EventCitation, ForeignCitation};
pub use content::{Content, MediaRef, Modality, Role};
pub use error_code::ErrorCode;
pub use event::EventRecord;
pub use experience::{Context, Directives, Experience, Hints};
pub use ids::*;
pub use lifecycle::{LifecycleEvent, LifecycleKind, Stage};
pub use member::MemberRole;
pub use model_fault::ModelFault;
pub use scope::{ScopePath, ScopePrefix, ScopeView};
pub use session_scope::{SessionHome, SessionScope};
pub use tenant::TenantName;
pub use time::{AsOf, Micros, RecordedAt, ValidAt};
