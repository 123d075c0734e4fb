//! Scopes: registering, showing, listing, members, removing, pruning (R301-R307).

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::scopes::{
    Member, MembersBody, PruneCandidate, PruneRequest, Pruned, PrunedRecords, ScopeBody,
    ScopePolicies, ScopeRegistration, path_of, prefix_of,
};
use lamina_api::{ApiError, Page, PageStart, cursor, time};
use lamina_core::policy::{Caller, Denial, Permit, is_of, others_scope_needs};
use lamina_engine::{Noted, Records, ScopeListed, ScopeRecord, ScopesQuery, Whose};
use lamina_types::capability::{
    Capability, ForgetGdpr, PolicyAdministerScope, PolicyAdministerTenant, ScopeReadLocal,
};
use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{ErrorCode, MemberRole, ScopePath};

use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// `POST /v1/scopes`.
pub(super) async fn register(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let registration = ScopeRegistration::read(&body)?;
    administers(&call.desk, &caller, &registration.path).await?;
    creates(&call.desk, &caller, &registration.path).await?;
    let permit =
        call.desk.permit::<PolicyAdministerScope>(&caller, Some(&registration.path)).await?;
    takes_over(&call.desk, &caller, &permit, &registration.path).await?;
    if let Some(policies) = &registration.policies {
        inherits(&call.desk, &caller, &registration.path, &policies.inherited()).await?;
    }
    let policies =
        registration.policies.map(|policies| serde_json::to_string(&policies).unwrap_or_default());
    let noted = call.noted("");
    let made = call.app.engine.scope_register(
        &permit,
        &registration.path,
        registration.members,
        policies.unwrap_or_default(),
        &noted,
    );
    let made = made.await?;
    reply::json(StatusCode::CREATED, &shown(made))
}

/// Whoever changes a scope that others have needs more than the capability (R192).
pub(super) async fn administers(
    desk: &Desk,
    caller: &Caller,
    path: &ScopePath,
) -> Result<(), Failure> {
    let stack = desk.app.stack(caller, Some(path)).await?;
    desk.ask(caller, &[PolicyAdministerScope::NAME], Some(path)).await?;
    match others_scope_needs(&stack) {
        Some(need) => desk.ask(caller, &[need], None).await,
        None => Ok(()),
    }
}

/// Whether a role above would take over scopes that others have below by a first write. One that
/// somebody registered speaks for itself. A person's agents write below in names of their own, and
/// administrators may anyway.
async fn takes_over(
    desk: &Desk,
    caller: &Caller,
    permit: &Permit<PolicyAdministerScope>,
    path: &ScopePath,
) -> Result<(), Failure> {
    match caller.administers() || is_of(path, &caller.actor) {
        true => Ok(()),
        false => reaches_into(desk, caller, permit, path, Whose::Written).await,
    }
}

/// What is done above a scope reaches into it: a rule, an erasure. Where others have scopes below, it
/// takes who may do the same in those.
///
/// What others have by a first write below a scope that bears the caller's name does not count, nor does
/// it to administrators, who may anyway.
pub(super) async fn reaches<C: Capability + Send + 'static>(
    desk: &Desk,
    caller: &Caller,
    permit: &Permit<C>,
    path: &ScopePath,
) -> Result<(), Failure> {
    let whose = match caller.administers() || is_of(path, &caller.actor) {
        true => Whose::Registered,
        false => Whose::Anybodys,
    };
    reaches_into(desk, caller, permit, path, whose).await
}

async fn reaches_into<C: Capability + Send + 'static>(
    desk: &Desk,
    caller: &Caller,
    permit: &Permit<C>,
    path: &ScopePath,
    whose: Whose,
) -> Result<(), Failure> {
    let engine = &desk.app.engine;
    let sight = engine.sight::<C, C>(desk.app.boot(), permit).await;
    let Some(below) = engine.scope_out_of_sight(sight, path, whose).await? else {
        return Ok(());
    };
    let stack = desk.app.stack(caller, Some(&below)).await?;
    let Err(denial) = stack.permit::<C>(caller, Some(&below)) else { return Ok(()) };
    let remediation = "somebody has a scope below, and this would reach into it; ask an owner of that \
                       one, or the operator";
    let denial = Denial { remediation: remediation.to_owned(), ..denial };
    desk.record.denied(&denial, Some(path));
    Err(denial.into())
}

/// What a scope inherits from is registered and can be read by who says so: members of a place that
/// nobody has could be made by anybody.
async fn inherits(
    desk: &Desk,
    caller: &Caller,
    path: &ScopePath,
    from: &[ScopePath],
) -> Result<(), Failure> {
    for (index, inherited) in from.iter().enumerate() {
        let bad = |reason: &str| {
            let field = format!("policies.inherit_from[{index}]");
            Failure::from(ApiError::invalid_shape(field, reason))
        };
        if desk.app.preset().is_shared() && inherited.is_shared() != path.is_shared() {
            return Err(bad(
                "is shared by all tenants and the scope is not, or the other way round",
            ));
        }
        let stack = desk.app.stack(caller, Some(inherited)).await?;
        // An organization that is not registered yet has no members to hand on, and those it will have
        // an administrator names.
        if inherited.is_group() && !stack.membership.closed {
            continue;
        }
        let permit = stack.permit::<ScopeReadLocal>(caller, Some(inherited)).ok();
        let found = match &permit {
            Some(permit) => desk.app.engine.scope_get(permit, inherited).await.ok(),
            None => None,
        };
        if found.is_none_or(|scope| scope.auto_provisioned) {
            return Err(bad(
                "is no registered scope that you may read; register it first, or name an org:, dept: or \
                 team:",
            ));
        }
    }
    Ok(())
}

/// Whoever registers what was not there makes a scope, as a first write would (C09, R156, R157).
async fn creates(desk: &Desk, caller: &Caller, path: &ScopePath) -> Result<(), Failure> {
    let stack = desk.app.stack(caller, Some(path)).await?;
    if stack.membership.registered {
        return Ok(());
    }
    stack.allows_registering(caller, path).map_err(|denial| {
        desk.record.denied(&denial, Some(path));
        Failure::from(denial)
    })?;
    Ok(())
}

/// `GET /v1/scopes`: one with `path`, a list without (C18).
pub(super) async fn get(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    match Params::new(&pairs).raw("path")? {
        Some(path) => one(call, &path_of(Some(path))?).await,
        None => list(call).await,
    }
}

async fn one(call: Call, path: &ScopePath) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = call.desk.permit::<ScopeReadLocal>(&caller, Some(path)).await?;
    let found = call.app.engine.scope_get(&permit, path).await?;
    reply::json(StatusCode::OK, &shown(found))
}

/// `GET /v1/scopes/list`.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let pairs = call.pairs()?;
    let params = Params::new(&pairs);
    let prefix = match params.one("prefix")? {
        Some(prefix) => Some(prefix_of(prefix)?),
        None => None,
    };
    let auto_provisioned = params
        .choice("auto_provisioned", &[("", None), ("true", Some(true)), ("false", Some(false))])?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    // A cursor is good for the list it came from.
    let list = format!("scopes {prefix:?} {auto_provisioned:?}");
    let list = mac(list.as_bytes());
    let after = match cursor::decode(params.one("cursor")?, &list, &mac)? {
        PageStart::Begin | PageStart::Offset(0) => None,
        // A number of ours would count scopes that the caller may not know of.
        PageStart::Offset(_) => {
            let reason = "this list takes only the cursors it has given out";
            return Err(ApiError::at(ErrorCode::InvalidCursor, "cursor", reason).into());
        }
        PageStart::After(bytes) => Some(u64::from_be_bytes(
            bytes.try_into().map_err(|_| ApiError::of(ErrorCode::InvalidCursor))?,
        )),
    };
    let limit = params.limit(PAGE_DEFAULT)?;
    let permit = call.desk.permit::<ScopeReadLocal>(&caller, prefix.as_ref()).await?;
    let query = ScopesQuery { prefix, auto_provisioned, after, limit };
    let sight = engine.sight(call.app.boot(), &permit).await;
    let page = engine.scope_list(&permit, sight, query).await?;
    let items = page.items.into_iter().map(listed).collect();
    let next = page.next.filter(|_| page.has_more);
    let next = next.map(|next| cursor::encode(&next.to_be_bytes(), &list, &mac));
    reply::json(StatusCode::OK, &Page::new(items, next))
}

/// `PUT /v1/scopes/members?path=`.
pub(super) async fn members(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let pairs = call.pairs()?;
    let path = path_of(Params::new(&pairs).raw("path")?)?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let members = MembersBody::read(&body)?;
    administers(&call.desk, &caller, &path).await?;
    let permit = call.desk.permit::<PolicyAdministerScope>(&caller, Some(&path)).await?;
    takes_over(&call.desk, &caller, &permit, &path).await?;
    let noted = call.noted("");
    let changed = call.app.engine.scope_members_set(&permit, &path, members, &noted).await?;
    reply::json(StatusCode::OK, &shown(changed.scope))
}

/// `DELETE /v1/scopes?path=`.
pub(super) async fn remove(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let pairs = call.pairs()?;
    let params = Params::new(&pairs);
    let path = path_of(params.raw("path")?)?;
    let records = params.choice(
        "records",
        &[("", None), ("keep", Some(Records::Keep)), ("forget", Some(Records::Forget))],
    )?;
    administers(&call.desk, &caller, &path).await?;
    let permit = call.desk.permit::<PolicyAdministerScope>(&caller, Some(&path)).await?;
    let mut forgets = None;
    if records == Some(Records::Forget)
        && call.app.engine.scope_get(&permit, &path).await?.events > 0
    {
        forgets = Some(call.desk.permit::<ForgetGdpr>(&caller, Some(&path)).await?);
    }
    let noted = call.noted("");
    let how = (records, forgets.as_ref());
    let removed = call.app.engine.scope_remove(&permit, &path, how, &noted).await;
    if forgets.is_some() {
        // A pack that is kept may hold what went.
        call.app.forget_packs_of(caller.tenant);
    }
    removed?;
    Ok(reply::empty())
}

/// `POST /v1/scopes/prune`.
pub(super) async fn prune(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let (age_us, dry_run) = PruneRequest::read(&body)?;
    let permit = call.desk.permit::<PolicyAdministerTenant>(&caller, None).await?;
    let before = call.app.engine.now().plus(-age_us);
    let noted = call.noted("");
    // What somebody has is not taken from them because they were away; operators may.
    let engine = call.app.engine.clone();
    let sight = engine.sight(call.app.boot(), &permit).await;
    let found = engine.scope_prune(&permit, sight, before, dry_run, &noted).await?;
    let candidates = found.candidates.into_iter().map(|candidate| PruneCandidate {
        path: candidate.path.to_string(),
        last_write: candidate.last_write.map(time::print),
        records: PrunedRecords { events: candidate.events, facts: candidate.facts },
    });
    let shape = Pruned { candidates: candidates.collect(), total: found.total, dry_run };
    reply::json(StatusCode::OK, &shape)
}

fn shown(scope: ScopeRecord) -> ScopeBody {
    let owner = scope.members.iter().find(|(_, role)| *role == MemberRole::Owner);
    ScopeBody {
        path: scope.path.to_string(),
        owner: owner.map(|(actor, _)| actor.to_string()),
        member_count: scope.members.len() as u64,
        members: Some(scope.members.into_iter().map(member).collect()),
        policies: ScopePolicies::stored(&scope.policies),
        auto_provisioned: scope.auto_provisioned,
        created_at: time::print(scope.registered_at),
        last_write: scope.last_write.map(time::print),
        records: Some(scope.events),
    }
}

fn listed(scope: ScopeListed) -> ScopeBody {
    ScopeBody {
        path: scope.path.to_string(),
        owner: None,
        members: None,
        member_count: scope.members,
        policies: ScopePolicies::default(),
        auto_provisioned: scope.auto_provisioned,
        created_at: time::print(scope.registered_at),
        last_write: scope.last_write.map(time::print),
        records: None,
    }
}

fn member((actor, role): (lamina_types::ActorId, MemberRole)) -> Member {
    Member { actor: actor.to_string(), role: role.as_str().to_owned() }
}

impl Call {
    /// What the entry of a change notes; its audit row has the same id.
    pub(super) fn noted(&self, note: &str) -> Noted {
        let audit_id = self.app.engine.audit_id();
        self.record.audit_id(audit_id);
        Noted { audit_id, request_id: self.id.as_str().to_owned(), note: note.to_owned() }
    }
}
