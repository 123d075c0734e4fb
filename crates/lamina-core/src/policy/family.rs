//! Permits for a capability that a request names: the format of an import or an export.
//!
//! The type of the permit is the family; the permit itself is for one member of the catalog, and the
//! policy decides about that member as about any other capability.

use lamina_types::ScopePath;
use lamina_types::capability::{self, Capability, ExportFormat, ImportFrom};

use super::denial::{Denial, Refusal};
use super::permit::{Granted, Permit, Reach};
use super::{Caller, Stack};

impl Stack {
    /// A permit to import a format, named as in `import.from.<format>`.
    pub fn permit_import(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
        format: &str,
    ) -> Result<Permit<ImportFrom>, Denial> {
        self.permit_member(caller, scope, capability::import_from(format))
    }

    /// A permit to export a format, named as in `export.format.<format>`.
    pub fn permit_export(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
        format: &str,
    ) -> Result<Permit<ExportFormat>, Denial> {
        self.permit_member(caller, scope, capability::export_format(format))
    }

    /// A permit for one capability of the family `C`, which the catalog knows or not.
    pub(super) fn permit_member<C: Capability>(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
        name: Option<&'static str>,
    ) -> Result<Permit<C>, Denial> {
        let name = name.ok_or_else(|| Refusal::Unknown.of("(unknown)", self.preset))?;
        let decided_by = self.allows(caller, name, scope)?;
        let granted = Granted { reach: Reach::of::<C>(scope), decided_by };
        Ok(Permit::named(name, self.seated(caller), granted))
    }
}

#[cfg(test)]
mod tests;
