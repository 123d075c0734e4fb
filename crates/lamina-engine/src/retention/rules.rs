//! Setting, removing and showing rules.

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_store::codec::control::RetentionSet;
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::log::NewEntry;
use lamina_types::capability::{AdminCompact, DiagnosticsRead};
use lamina_types::limits::RETENTION_RULES_MAX;
use lamina_types::retention::{Keep, Lasting, Rule};
use lamina_types::{RecordedAt, ScopePath};
use tokio::sync::oneshot;

use super::{RetentionStatus, RuleShown};
use crate::admin::{Noted, by};
use crate::derive::retention::{Ended, Rules, past};
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

impl Engine {
    /// Sets the rule of a scope, in place of what was said about it. It is in force when this returns; the next sweep
    /// begins anew. Says whether there was one.
    pub async fn retention_set(
        &self,
        permit: &Permit<AdminCompact>,
        rule: Rule,
        noted: &Noted,
    ) -> Result<(RuleShown, bool), Error> {
        let _turn = self.inner.admin.retention.ruling.lock().await;
        let known = self.retention_rules(permit.caller().tenant);
        let mut rules: Vec<Rule> =
            known.all().iter().filter(|known| known.scope != rule.scope).cloned().collect();
        let was = rules.len() < known.all().len();
        if rules.len() >= RETENTION_RULES_MAX {
            return Err(Error::LimitReached { limit: "RETENTION_RULES_MAX" });
        }
        rules.push(rule.clone());
        rules.sort_by(|one, other| one.scope.cmp(&other.scope));
        let shown = self.ruled(&rules, rule);
        self.retention_change(permit, rules, noted).await?;
        Ok((shown, was))
    }

    /// Removes the rule of a scope.
    pub async fn retention_remove(
        &self,
        permit: &Permit<AdminCompact>,
        scope: &ScopePath,
        noted: &Noted,
    ) -> Result<(), Error> {
        let _turn = self.inner.admin.retention.ruling.lock().await;
        let known = self.retention_rules(permit.caller().tenant);
        let left: Vec<Rule> =
            known.all().iter().filter(|known| known.scope != *scope).cloned().collect();
        if left.len() == known.all().len() {
            return Err(Error::NotFound);
        }
        self.retention_change(permit, left, noted).await
    }

    /// The rule of exactly this scope.
    pub fn retention_get(
        &self,
        permit: &Permit<DiagnosticsRead>,
        scope: &ScopePath,
    ) -> Result<RuleShown, Error> {
        let known = self.retention_rules(permit.caller().tenant);
        let rule = known.all().iter().find(|rule| rule.scope == *scope).ok_or(Error::NotFound)?;
        Ok(self.ruled(known.all(), rule.clone()))
    }

    /// How retention stands.
    pub fn retention(&self, permit: &Permit<DiagnosticsRead>) -> RetentionStatus {
        let tenant = permit.caller().tenant;
        let known = self.retention_rules(tenant);
        let desk = &self.inner.admin.retention;
        RetentionStatus {
            deployment: self.retention_default(),
            rules: known.all().iter().map(|rule| self.ruled(known.all(), rule.clone())).collect(),
            running: desk.turn.try_lock().is_err(),
            cursor: desk.cursor(tenant, known.offset()),
            watermark: self.inner.shared.applied.offset(),
            last: desk.last(tenant),
        }
    }

    /// The tenants in which something may be past its time.
    pub async fn retention_due(&self) -> Result<Vec<u32>, Error> {
        let ended = Ended { after: None, by: RecordedAt(self.inner.guard.machine()) };
        let always = self.retention_default() != Keep::Forever;
        self.blocking(move |inner| {
            let mut due = Vec::new();
            for tenant in inner.views.tenants()? {
                let tenant = tenant.ordinal;
                let ruled = || !inner.admin.standing.retention(tenant).all().is_empty();
                if always || ruled() || !past(&inner.views, tenant, ended, 1)?.is_empty() {
                    due.push(tenant);
                }
            }
            Ok(due)
        })
        .await
    }

    /// How long events are kept where no rule is.
    pub(super) fn retention_default(&self) -> Keep {
        self.inner.settings.retention_days.map_or(Keep::Forever, Keep::Days)
    }

    pub(super) fn retention_rules(&self, tenant: u32) -> Arc<Rules> {
        self.inner.admin.standing.retention(tenant)
    }

    fn ruled(&self, rules: &[Rule], rule: Rule) -> RuleShown {
        let lasting = Lasting::of(rules.iter(), &rule.scope, self.retention_default());
        RuleShown { rule, effective: lasting.keep }
    }

    async fn retention_change(
        &self,
        permit: &Permit<AdminCompact>,
        rules: Vec<Rule>,
        noted: &Noted,
    ) -> Result<(), Error> {
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::RETENTION_SET,
            tenant: permit.caller().tenant,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &RetentionSet { rules }.encode()),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await
    }
}
