//! Beliefs that are declared: a control entry in a scope that may begin with it.

use lamina_store::entry::control;
use lamina_store::log::NewEntry;

use super::{Capture, DeclareRequest, Due, Group, Placed, Reply, Slot, system_entry};

impl Capture {
    /// A belief that is declared in a scope, which this may be the first write to.
    pub(super) fn take_declared(
        &mut self,
        request: DeclareRequest,
        reply: Reply<Vec<Placed>>,
        group: &mut Group,
    ) {
        let DeclareRequest { tenant, path, owner, registers, who, what } = request;
        if let Err(error) = self.look_up_scope(tenant, &path) {
            return drop(reply.send(Err(error)));
        }
        let scope = if registers {
            self.ordinal(tenant, &path, &owner, group)
        } else {
            self.ordinal_only(tenant, &path, &owner, group)
        };
        let slots = vec![Slot::New(group.entries.len())];
        let entry = system_entry(control::BELIEF_DECLARED, tenant, who, what);
        group.entries.push(NewEntry { scope, ..entry });
        group.due.push(Due::Write { slots, reply });
    }
}
