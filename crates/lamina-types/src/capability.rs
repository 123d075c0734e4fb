//! The capability catalog, as types: a permit is for one of them.
//!
//! One list. Policies, tokens, denials and the effective set speak of these names and no others, so
//! that a misspelt name is an error where it is written and never a rule that silently matches
//! nothing.

/// The catalog. `(feature "x")` before a name leaves the capability out of a build without that feature.
macro_rules! capabilities {
    ($($(#[$doc:meta])* $((feature $feature:tt))? $name:ident = $text:literal;)*) => {
        $(
            $(#[$doc])*
            $(#[cfg(feature = $feature)])?
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            $(#[cfg(feature = $feature)])?
            impl Capability for $name {
                const NAME: &'static str = $text;
            }
        )*

        /// Every capability, in the order of the catalog.
        pub const NAMES: &[&str] = &[$($(#[cfg(feature = $feature)])? $text),*];
    };
}

/// A named permission, as a type.
pub trait Capability {
    /// The dot-delimited name on the wire.
    const NAME: &'static str;

    /// Whether a permit of this type may be for the named capability. Only a family of capabilities
    /// ([`ImportFrom`], [`ExportFormat`]) is for names other than its own.
    fn includes(name: &str) -> bool {
        name == Self::NAME
    }
}

/// One of the capabilities `import.from.<format>`, chosen at run time. Its own name is no capability of the
/// catalog, so no policy or token can grant the whole family under it.
#[derive(Debug, Clone, Copy)]
pub struct ImportFrom;

impl Capability for ImportFrom {
    const NAME: &'static str = "import.from";

    fn includes(name: &str) -> bool {
        import_from(name.strip_prefix("import.from.").unwrap_or_default()).is_some()
    }
}

/// One of the capabilities `export.format.<format>`, chosen at run time. Its own name is no capability of the
/// catalog, so no policy or token can grant the whole family under it.
#[derive(Debug, Clone, Copy)]
pub struct ExportFormat;

impl Capability for ExportFormat {
    const NAME: &'static str = "export.format";

    fn includes(name: &str) -> bool {
        export_format(name.strip_prefix("export.format.").unwrap_or_default()).is_some()
    }
}

/// The capability to import a format, or nothing if there is no such format.
pub fn import_from(format: &str) -> Option<&'static str> {
    family_member("import.from.", format)
}

/// The capability to export a format, or nothing if there is no such format.
pub fn export_format(format: &str) -> Option<&'static str> {
    family_member("export.format.", format)
}

fn family_member(prefix: &str, member: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|name| name.strip_prefix(prefix) == Some(member))
}

/// The catalog's own copy of a name, or nothing if there is no such capability.
pub fn find(name: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|known| *known == name)
}

/// What creating a scope of this type takes (C09, C26): one capability for each built-in type, and
/// one for all others.
pub fn scope_create(kind: &str) -> &'static str {
    match kind {
        "org" => ScopeCreateOrg::NAME,
        "dept" => ScopeCreateDept::NAME,
        "team" => ScopeCreateTeam::NAME,
        "app" => ScopeCreateApp::NAME,
        "user" => ScopeCreateUser::NAME,
        "agent" => ScopeCreateAgent::NAME,
        "service" => ScopeCreateService::NAME,
        "ws" => ScopeCreateWs::NAME,
        "project" => ScopeCreateProject::NAME,
        "session" => ScopeCreateSession::NAME,
        "global" => ScopeCreateGlobal::NAME,
        "system" => ScopeCreateSystem::NAME,
        _ => ScopeCreateCustom::NAME,
    }
}

capabilities! {
    /// Creating a `global:` scope (R156).
    ScopeCreateGlobal = "scope.create.global";
    /// Creating a scope across tenants (R157).
    ScopeCreateCrossTenant = "scope.create.cross_tenant";
    /// Creating a scope of a type that is not built in (R162).
    ScopeCreateCustom = "scope.create.custom";
    /// Creating an `org:` scope (C26).
    ScopeCreateOrg = "scope.create.org";
    /// Creating a `dept:` scope (C26).
    ScopeCreateDept = "scope.create.dept";
    /// Creating a `team:` scope (C26).
    ScopeCreateTeam = "scope.create.team";
    /// Creating an `app:` scope (C26).
    ScopeCreateApp = "scope.create.app";
    /// Creating a `user:` scope (C26).
    ScopeCreateUser = "scope.create.user";
    /// Creating an `agent:` scope (C26).
    ScopeCreateAgent = "scope.create.agent";
    /// Creating a `service:` scope (C26).
    ScopeCreateService = "scope.create.service";
    /// Creating a `ws:` scope (C26).
    ScopeCreateWs = "scope.create.ws";
    /// Creating a `project:` scope (C26).
    ScopeCreateProject = "scope.create.project";
    /// Creating a `session:` scope (C09, C26).
    ScopeCreateSession = "scope.create.session";
    /// Creating a `system:` scope (C26). Nobody has it: such scopes are the database's own (R070).
    ScopeCreateSystem = "scope.create.system";
    /// Writing to a scope (R158).
    ScopeWrite = "scope.write";
    /// Writing above one's natural level (R159).
    ScopeWriteElevated = "scope.write.elevated";
    /// Writing what somebody else did (R160).
    ScopeWriteOnBehalfOf = "scope.write.on_behalf_of";
    /// Writing about somebody who did not do it (R161).
    ScopeWriteAboutOther = "scope.write.about_other";
    /// Writing as the system itself: `observed_actor: system:*`, and messages of role `system` that
    /// prompts show as such. Operators alone have it.
    ScopeWriteAsSystem = "scope.write.as_system";
    /// Reading exactly the named scope (R163).
    ScopeReadLocal = "scope.read.local";
    /// Walking up on read (R164).
    ScopeReadHolistic = "scope.read.holistic";
    /// Walking down on read (R164).
    ScopeReadDescend = "scope.read.descend";
    /// Reading across tenants (R165).
    ScopeReadCrossTenant = "scope.read.cross_tenant";
    /// Reading concepts (R166).
    UnderstandingRead = "understanding.read";
    /// Reading concepts of sibling scopes (R166).
    UnderstandingReadCrossScope = "understanding.read.cross_scope";
    /// Asking for consolidation now (R166).
    UnderstandingSynthesize = "understanding.synthesize";
    /// Forgetting what was derived (R167).
    ForgetCascadeDerivedOnly = "forget.cascade.derived_only";
    /// Forgetting what was derived and redacting its events (R167).
    ForgetCascadeRedactEvents = "forget.cascade.redact_events";
    /// Erasing (R168).
    ForgetGdpr = "forget.gdpr";
    /// Erasing in shared workspaces too (R168).
    ForgetGdprCrossWorkspace = "forget.gdpr.cross_workspace";
    /// Importing from mem0 (R169).
    ImportFromMem0 = "import.from.mem0";
    /// Importing from Zep (R169).
    ImportFromZep = "import.from.zep";
    /// Importing from Letta (R169).
    ImportFromLetta = "import.from.letta";
    /// Importing from ChatGPT (R169).
    ImportFromOpenai = "import.from.openai";
    /// Importing JSON lines (R169).
    ImportFromJsonl = "import.from.jsonl";
    /// Importing from Claude.
    ImportFromClaude = "import.from.claude";
    /// Importing from Gemini.
    ImportFromGemini = "import.from.gemini";
    /// Importing from Grok.
    ImportFromGrok = "import.from.grok";
    /// Importing from Copilot.
    ImportFromCopilot = "import.from.copilot";
    /// Importing from the MCP memory server.
    ImportFromMcpMemory = "import.from.mcp_memory";
    /// Importing from basic-memory.
    ImportFromBasicMemory = "import.from.basic_memory";
    /// Importing from a LangGraph store.
    ImportFromLanggraph = "import.from.langgraph";
    /// Importing from Hindsight.
    ImportFromHindsight = "import.from.hindsight";
    /// Importing from CSV.
    ImportFromCsv = "import.from.csv";
    /// Importing portable memory stores.
    ImportFromPam = "import.from.pam";
    /// Importing Eventloom logs.
    ImportFromEventloom = "import.from.eventloom";
    /// Importing bundles of the memory export contract.
    ImportFromZaxy = "import.from.zaxy";
    /// Importing evidence bundles.
    (feature "aegx") ImportFromAegx = "import.from.aegx";
    /// Exporting as mem0 does (R170).
    ExportFormatMem0 = "export.format.mem0";
    /// Exporting as Zep does (R170).
    ExportFormatZep = "export.format.zep";
    /// Exporting as Letta does (C22).
    ExportFormatLetta = "export.format.letta";
    /// Exporting portable memory stores.
    ExportFormatPam = "export.format.pam";
    /// Exporting JSON lines (R170).
    ExportFormatJsonl = "export.format.jsonl";
    /// Exporting bundles of the memory export contract.
    ExportFormatZaxy = "export.format.zaxy";
    /// Exporting Eventloom logs.
    ExportFormatEventloom = "export.format.eventloom";
    /// Exporting evidence bundles.
    (feature "aegx") ExportFormatAegx = "export.format.aegx";
    /// Opening the lifecycle stream (R171).
    LifecycleSubscribe = "lifecycle.subscribe";
    /// Making the server call a language model (R172).
    LlmInvoke = "llm.invoke";
    /// Seeing diagnostics in answers (R173).
    DiagnosticsRead = "diagnostics.read";
    /// Reading one's own audit rows (R174).
    AuditRead = "audit.read";
    /// Reading the audit rows of others (R174).
    AuditReadCrossActor = "audit.read.cross_actor";
    /// Revoking tokens (R175).
    AuthRevoke = "auth.revoke";
    /// Minting tokens, where the operator has switched that on.
    AuthMint = "auth.mint";
    /// Listing temporal phrases (R176).
    TemporalPhrasesRead = "temporal.phrases.read";
    /// Changing temporal phrases (R176).
    TemporalPhrasesWrite = "temporal.phrases.write";
    /// Listing vocabularies (R176).
    VocabularyRead = "vocabulary.read";
    /// Changing vocabularies (R176, C24).
    VocabularyWrite = "vocabulary.write";
    /// Changing the deployment's policy (R177).
    PolicyAdministerDeployment = "policy.administer.deployment";
    /// Changing the tenant's policy (R177).
    PolicyAdministerTenant = "policy.administer.tenant";
    /// Changing a scope: its members, its policy, its in-flight writes (R177, C23).
    PolicyAdministerScope = "policy.administer.scope";
    /// Changing an actor's policy (R177).
    PolicyAdministerActor = "policy.administer.actor";
    /// Uploading a blob (R178).
    BlobUpload = "blob.upload";
    /// Reading a blob (R178).
    BlobRead = "blob.read";
    /// Writing out views (R179).
    AdminFlush = "admin.flush";
    /// Compacting views (R179).
    AdminCompact = "admin.compact";
    /// Full health and metrics (R179).
    AdminHealth = "admin.health";
}

#[cfg(test)]
mod tests;
