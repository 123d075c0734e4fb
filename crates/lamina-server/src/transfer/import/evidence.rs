//! Evidence is verified before it is imported: a bundle that does not hold is no evidence of anything.

use std::sync::Arc;

use lamina_aegx::{VerifyOptions, verify_zip};
use lamina_engine::Engine;
use lamina_engine::import::StagedFile;
use lamina_portable::foreign::BrokenChains;
use lamina_types::ErrorCode;

use super::source::{SourceFault, StagedBytes};

/// Findings that a refusal names.
const FINDINGS_NAMED_MAX: usize = 3;

/// Verifies a staged bundle. One that does not hold is refused, or taken with labels if the caller says so.
pub(super) fn check(
    engine: &Engine,
    staged: &StagedFile,
    wanted: BrokenChains,
) -> Result<BrokenChains, SourceFault> {
    let bytes = Arc::new(StagedBytes(engine.import_file(staged)?));
    let report = verify_zip(bytes, &VerifyOptions::STRICT);
    if report.exit_code() == 0 {
        // It holds, so that nothing of it needs a label.
        return Ok(BrokenChains::Refuse);
    }
    if wanted == BrokenChains::Label {
        return Ok(BrokenChains::Label);
    }
    let named: Vec<String> =
        report.findings.iter().take(FINDINGS_NAMED_MAX).map(ToString::to_string).collect();
    let detail = format!(
        "the bundle does not verify ({} findings): {}; options.accept_broken takes it and labels the events",
        report.findings_total,
        named.join("; "),
    );
    Err(SourceFault { code: ErrorCode::InvalidBody, detail })
}
