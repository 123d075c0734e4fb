//! One request, as a handler sees it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use bytes::Bytes;
use hyper::body::Body as _;
use lamina_api::v1::experience::Strictness;
use lamina_api::v1::scopes::ScopePolicies;
use lamina_api::{ApiError, query as api_query};
use lamina_core::policy::{self, Caller, Denial, Permit, SystemSpeech};
use lamina_engine::{Error as EngineError, ReadPermit, VocabularyPermit};
use lamina_types::capability::{
    self, Capability, ExportFormat, ImportFrom, PolicyAdministerTenant, ScopeWrite, VocabularyWrite,
};
use lamina_types::ids::IdError;
use lamina_types::{ActorId, ErrorCode, Experience, ScopePath, ScopeView};

use super::app::App;
use super::body::{self, Bounds};
use super::failure::{Failure, denied};
use super::query;
use super::record::Record;
use super::request_id::Id;

const IDEMPOTENCY_KEY: &str = "x-cortex-idempotency-key";

/// A request under way.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    pub(crate) id: Id,
    pub(crate) head: Parts,
    pub(crate) body: Body,
    /// Who calls, or why that is not known.
    pub(crate) identity: Result<Caller, ApiError>,
    pub(crate) record: Arc<Record>,
    /// The body without its idempotency key, once that was taken out.
    pub(crate) rest: Option<Bytes>,
    /// Where permission is asked for.
    pub(crate) desk: Desk,
    /// The parameter of the path, where a caller inside of the process names it.
    pub(crate) named: Option<(&'static str, String)>,
}

/// Where permission is asked for, apart from the rest of the request, which cannot be shared while
/// something is waited for.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) app: Arc<App>,
    pub(crate) record: Arc<Record>,
}

impl Desk {
    /// Asks the policy; a refusal names tier and capability.
    pub(crate) async fn permit<C: Capability>(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Permit<C>, Failure> {
        let stack = self.app.stack(caller, scope).await?;
        let decided = stack.permit::<C>(caller, scope);
        self.decided(decided, C::NAME, scope)
    }

    /// Asks the policy for the right to import a format, in a scope or in the whole tenant.
    pub(crate) async fn permit_import(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
        format: &str,
    ) -> Result<Permit<ImportFrom>, Failure> {
        let stack = self.app.stack(caller, scope).await?;
        let decided = stack.permit_import(caller, scope, format);
        let name = capability::import_from(format).unwrap_or(ImportFrom::NAME);
        self.decided(decided, name, scope)
    }

    /// Asks the policy for everything a write needs. `at` is the place of the item in a bulk write.
    pub(crate) async fn permit_write(
        &self,
        caller: &Caller,
        experience: &Experience,
        at: &str,
    ) -> Result<Permit<ScopeWrite>, Failure> {
        let actors = (&experience.observed_actor.id, &experience.subject);
        let permit = self.permit_written(caller, &experience.scope, actors).await?;
        let Some(speech) = SystemSpeech::of(experience) else { return Ok(permit) };
        let stack = self.app.stack(caller, Some(&experience.scope)).await?;
        stack.permit_system_speech(caller, permit, speech).map_err(|denial| {
            self.record.denied(&denial, Some(&experience.scope));
            let reason = "only an operator writes in the name of `system:` actors";
            let field = format!("{at}observed_actor");
            denied(&denial).with("field", field).with("reason", reason).into()
        })
    }

    /// The same for what the caller writes in their own name.
    pub(crate) async fn permit_write_to(
        &self,
        caller: &Caller,
        scope: &ScopePath,
    ) -> Result<Permit<ScopeWrite>, Failure> {
        self.permit_written(caller, scope, (&caller.actor, &caller.actor)).await
    }

    async fn permit_written(
        &self,
        caller: &Caller,
        scope: &ScopePath,
        (observed_actor, subject): (&ActorId, &ActorId),
    ) -> Result<Permit<ScopeWrite>, Failure> {
        let stack = self.app.stack(caller, Some(scope)).await?;
        let creates = !stack.membership.registered;
        let write = policy::Write { scope, observed_actor, subject, creates };
        let decided = stack.permit_write(caller, &write);
        // The most particular of what was asked for says most about the call; what a first write
        // takes beside is nothing particular.
        let also = decided.as_ref().ok().filter(|_| !write.creates);
        let also = also.and_then(|permit| permit.also().first().copied());
        let creates = write.creates;
        let permit = self.decided(decided, also.unwrap_or(ScopeWrite::NAME), Some(scope))?;
        if !creates {
            return Ok(permit);
        }
        self.registers_below(permit, scope).await
    }

    /// The permit of a first write, which registers nothing where a scope above says so.
    pub(crate) async fn registers_below(
        &self,
        permit: Permit<ScopeWrite>,
        scope: &ScopePath,
    ) -> Result<Permit<ScopeWrite>, Failure> {
        let above = self.app.engine.scope_policies_above(&permit, scope).await?;
        let registers = |text: &String| ScopePolicies::stored(text).registers_children();
        Ok(if above.iter().all(registers) { permit } else { permit.without_registering() })
    }

    /// Asks the policy how far a read reaches.
    pub(crate) async fn permit_read(
        &self,
        caller: &Caller,
        scope: &ScopePath,
        view: ScopeView,
    ) -> Result<ReadPermit, Failure> {
        let decided = self.app.engine.read_permit(&self.app.boot(), caller, scope, view).await?;
        match decided {
            Ok(permit) => {
                self.record.allowed(permit.capability(), permit.decided_by(), Some(scope));
                Ok(permit)
            }
            Err(denial) => {
                self.record.denied(&denial, Some(scope));
                Err(denied(&denial).into())
            }
        }
    }

    /// Asks the policy for the right to export a format.
    pub(crate) async fn permit_export(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
        format: &str,
    ) -> Result<Permit<ExportFormat>, Failure> {
        let stack = self.app.stack(caller, scope).await?;
        let decided = stack.permit_export(caller, scope, format);
        let name = capability::export_format(format).unwrap_or(ExportFormat::NAME);
        self.decided(decided, name, scope)
    }

    /// Asks the policy for the right to change vocabularies, which either of two grants (C24). A
    /// refusal is that of the first.
    pub(crate) async fn permit_vocabularies(
        &self,
        caller: &Caller,
    ) -> Result<VocabularyPermit, Failure> {
        let stack = self.app.stack(caller, None).await?;
        let first = stack.permit::<VocabularyWrite>(caller, None);
        if first.is_err() && stack.permit::<PolicyAdministerTenant>(caller, None).is_ok() {
            return Ok(VocabularyPermit::Tenant(self.permit(caller, None).await?));
        }
        self.decided(first, VocabularyWrite::NAME, None).map(VocabularyPermit::Write)
    }

    /// Asks for several capabilities without a permit for them: conditions of another permit.
    pub(crate) async fn ask(
        &self,
        caller: &Caller,
        capabilities: &[&'static str],
        scope: Option<&ScopePath>,
    ) -> Result<(), Failure> {
        let stack = self.app.stack(caller, scope).await?;
        stack.allows_all(caller, capabilities, scope).map_err(|denial| {
            self.record.denied(&denial, scope);
            Failure::from(denied(&denial))
        })?;
        capabilities.iter().for_each(|capability| self.record.condition(capability, scope));
        Ok(())
    }

    /// Something that an id names: in the caller's tenant or else, if the caller may use `C` there,
    /// among what all tenants share. What it may not is as unknown to it as what is not there.
    pub(crate) async fn found<C: Capability, T, F>(
        &self,
        caller: &Caller,
        own: Result<T, EngineError>,
        shared: impl FnOnce(u32) -> F,
        scope: fn(&T) -> &ScopePath,
    ) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        let Err(EngineError::NotFound) = own else { return own };
        let Some(tenant) = self.app.engine.shared_tenant(&self.app.boot()) else { return own };
        let Ok(found) = shared(tenant).await else { return own };
        let scope = scope(&found);
        let stack = self.app.stack(caller, Some(scope)).await?;
        if stack.allows(caller, C::NAME, Some(scope)).is_ok() { Ok(found) } else { own }
    }

    /// Before something that an id names is refused: whoever may read nowhere is told what they are told
    /// of an id that is not there (C35).
    pub(crate) async fn alike<C: Capability>(
        &self,
        caller: &Caller,
        scope: &ScopePath,
    ) -> Result<(), Failure> {
        let stack = self.app.stack(caller, Some(scope)).await?;
        if stack.allows(caller, C::NAME, Some(scope)).is_err() {
            self.permit::<C>(caller, None).await?;
            self.record.forget();
        }
        Ok(())
    }

    fn decided<C: Capability>(
        &self,
        decided: Result<Permit<C>, Denial>,
        capability: &'static str,
        scope: Option<&ScopePath>,
    ) -> Result<Permit<C>, Failure> {
        match decided {
            Ok(permit) => {
                self.record.allowed(capability, permit.decided_by(), scope);
                let also = permit.also().iter().copied();
                for capability in also.chain([permit.capability()]) {
                    self.record.condition(capability, scope);
                }
                Ok(permit)
            }
            Err(denial) => {
                self.record.denied(&denial, scope);
                Err(denied(&denial).into())
            }
        }
    }
}

impl Call {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Who calls. Under `dev_local` it is whoever the header names; a token, if one is sent, is
    /// neither needed nor looked at.
    pub(crate) fn caller(&self) -> Result<Caller, ApiError> {
        self.identity.clone()
    }

    /// What the body asks for is experimental, though its route is not (R035): the answer says so, and
    /// there is none where that is switched off (R041).
    pub(crate) fn experimental(&self) -> Result<(), ApiError> {
        self.record.experimental();
        match self.app.experimental_enabled {
            true => Ok(()),
            false => Err(ApiError::of(ErrorCode::ExperimentalDisabled)),
        }
    }

    pub(crate) fn pairs(&self) -> Result<Vec<(String, String)>, ApiError> {
        query::pairs(self.head.uri.query())
    }

    pub(crate) fn idempotency_key(&self) -> Result<Option<&str>, ApiError> {
        self.header_text(IDEMPOTENCY_KEY)
    }

    /// A header that has to be text; an empty one counts as absent.
    pub(crate) fn header_text(&self, name: &'static str) -> Result<Option<&str>, ApiError> {
        let Some(value) = self.headers().get(name) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(value.as_bytes())
            .map_err(|_| ApiError::invalid_parameter(name, "is not UTF-8"))?;
        Ok(Some(text.trim()).filter(|text| !text.is_empty()))
    }

    /// The named part of the path, percent-decoded.
    pub(crate) async fn path_text(&mut self, name: &'static str) -> Result<String, ApiError> {
        if let Some((_, value)) = self.named.take_if(|(known, _)| *known == name) {
            return Ok(value);
        }
        let undecodable =
            || ApiError::at(ErrorCode::InvalidId, name, "is not UTF-8 after decoding");
        let params = RawPathParams::from_request_parts(&mut self.head, &()).await;
        let params = params.map_err(|_| undecodable())?;
        let found = params.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.to_owned()).ok_or_else(undecodable)
    }

    /// The named part of the path as an id of one kind; a wrong prefix is 422 (R108).
    pub(crate) async fn path_id<T>(&mut self, name: &'static str) -> Result<T, ApiError>
    where
        T: std::str::FromStr<Err = IdError>,
    {
        api_query::id(name, &self.path_text(name).await?)
    }

    /// The JSON body, whole and within its limit. Takes it: a body can be read once.
    pub(crate) async fn json_body(&mut self, bytes_max: u64) -> Result<Bytes, Failure> {
        if self.app.strictness == Strictness::Strict {
            self.require_json()?;
        }
        let body = std::mem::take(&mut self.body);
        let bounds = Bounds { bytes: bytes_max, time: self.app.body_timeout() };
        let bytes = body::read(&self.head.headers, body, bounds).await?;
        if let Ok(caller) = &self.identity
            && let Ok(pepper) = self.app.engine.audit_pepper(caller.tenant)
        {
            self.record.body(pepper.body(&bytes), bytes.len() as u64);
        }
        Ok(self.rest.take().unwrap_or(bytes))
    }

    /// A JSON body that may be left out; without one there is no content type to check.
    pub(crate) async fn optional_json_body(&mut self, bytes_max: u64) -> Result<Bytes, Failure> {
        if self.body.is_end_stream() {
            return Ok(Bytes::new());
        }
        self.json_body(bytes_max).await
    }

    /// A request that needs no body has none that says something.
    pub(crate) async fn no_body(&mut self) -> Result<(), Failure> {
        let bytes = self.optional_json_body(self.app.limits.body_bytes).await?;
        Ok(lamina_api::v1::keyed::nothing(&bytes)?)
    }

    fn require_json(&self) -> Result<(), ApiError> {
        let given = self.header_text(CONTENT_TYPE.as_str())?.unwrap_or_default();
        let media = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_json = media == "application/json"
            || (media.starts_with("application/") && media.ends_with("+json"));
        if is_json {
            return Ok(());
        }
        Err(ApiError::at(
            ErrorCode::UnsupportedMediaType,
            "Content-Type",
            "must be application/json",
        ))
    }
}
