//! A staged source as the readers of formats see it.

use std::io;
use std::sync::Arc;

use lamina_api::v1::import::NaiveZone;
use lamina_engine::import::{ImportFile, StagedFile};
use lamina_engine::{Engine, Error as EngineError};
use lamina_portable::bytes::ByteSource;
use lamina_portable::csv::ColumnMap;
use lamina_portable::foreign::{BrokenChains, Detection, ImportOptions, detect};
use lamina_portable::source::{ImportSource, SourceError, SourceLimits};
use lamina_portable::time::NaiveTimes;
use lamina_types::{ErrorCode, Micros};

use super::job::JobSpec;

/// Why a source cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFault {
    pub(crate) code: ErrorCode,
    pub(crate) detail: String,
}

impl From<SourceError> for SourceFault {
    fn from(error: SourceError) -> SourceFault {
        SourceFault { code: error.code(), detail: error.detail() }
    }
}

impl From<EngineError> for SourceFault {
    fn from(error: EngineError) -> SourceFault {
        let detail = "the staged source cannot be read".to_owned();
        SourceFault { code: error.code(), detail }
    }
}

pub(super) struct StagedBytes(pub(super) ImportFile);

impl ByteSource for StagedBytes {
    fn bytes_count(&self) -> io::Result<u64> {
        Ok(self.0.bytes())
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.read_at(buffer, position)
    }
}

/// Opens a staged source. Blocks on the disk.
pub(crate) fn open_source(
    engine: &Engine,
    staged: &StagedFile,
    name: &str,
) -> Result<Arc<ImportSource>, SourceFault> {
    let bytes = Arc::new(StagedBytes(engine.import_file(staged)?));
    Ok(Arc::new(ImportSource::open(name, bytes, &SourceLimits::IMPORT)?))
}

/// Looks which format a source is in. Blocks on the disk.
pub(crate) fn recognize(source: &ImportSource) -> Result<Detection, SourceFault> {
    Ok(detect(source)?)
}

/// The options of the readers.
pub(crate) fn read_options(spec: &JobSpec) -> Result<ImportOptions, SourceFault> {
    let fault = |detail: String| SourceFault { code: ErrorCode::InvalidBody, detail };
    let modified = spec.options.modified_at().map_err(|error| fault(error.message))?;
    let columns = spec.options.columns.iter().flatten();
    let columns: Vec<String> = columns.map(|(field, column)| format!("{field}={column}")).collect();
    let columns = ColumnMap::parse(&columns.join(",")).map_err(|error| fault(error.to_string()))?;
    Ok(ImportOptions {
        naive_times: spec.options.naive_zone().map(|zone| match zone {
            NaiveZone::Refuse => NaiveTimes::Refuse,
            NaiveZone::MinutesEast(offset_minutes) => NaiveTimes::Assume { offset_minutes },
        }),
        ontology: spec.options.ontology_mapping.clone().unwrap_or_default(),
        columns,
        require_signature: spec.options.require_signature == Some(true),
        broken_chains: match spec.options.accept_broken {
            Some(true) => BrokenChains::Label,
            _ => BrokenChains::Refuse,
        },
        ..ImportOptions::new(modified.unwrap_or(Micros(spec.now_us)))
    })
}
