//! Importers as a whole.

mod sources;

use super::{Format, testing};
