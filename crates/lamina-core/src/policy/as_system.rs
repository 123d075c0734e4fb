//! Writing as the system: what it takes, and what becomes of a write whose caller lacks it.

use lamina_types::capability::{Capability as _, ScopeWrite, ScopeWriteAsSystem};
use lamina_types::{Content, Experience, Role};

use super::{Caller, Denial, Permit, Stack};

/// The type of actors that stand for the database itself.
const SYSTEM: &str = "system";

/// How a write claims to come from the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemSpeech {
    /// A message of role `system`: stored in any case (R089), shown as such only with the capability.
    Role,
    /// An observed actor `system:*`: refused without the capability.
    Actor,
}

impl SystemSpeech {
    /// The claim that an experience makes, if any.
    pub fn of(experience: &Experience) -> Option<SystemSpeech> {
        if experience.observed_actor.id.kind() == SYSTEM {
            return Some(SystemSpeech::Actor);
        }
        matches!(experience.content, Content::Message { role: Role::System, .. })
            .then_some(SystemSpeech::Role)
    }
}

impl Stack {
    /// Adds `scope.write.as_system` to a write permit whose caller has it. Without it an actor `system:*` is
    /// denied, and a role `system` stays a claim.
    pub fn permit_system_speech(
        &self,
        caller: &Caller,
        permit: Permit<ScopeWrite>,
        speech: SystemSpeech,
    ) -> Result<Permit<ScopeWrite>, Denial> {
        match (self.allows(caller, ScopeWriteAsSystem::NAME, permit.scope()), speech) {
            (Ok(_), _) => {
                let also = [permit.also(), &[ScopeWriteAsSystem::NAME]].concat();
                Ok(permit.with(also))
            }
            (Err(denial), SystemSpeech::Actor) => Err(denial),
            (Err(_), SystemSpeech::Role) => Ok(permit),
        }
    }
}

impl Permit<ScopeWrite> {
    /// Whether the holder may write as the system.
    pub fn speaks_as_system(&self) -> bool {
        self.also().contains(&ScopeWriteAsSystem::NAME)
    }
}

#[cfg(test)]
mod tests;
