//! What an actor is called in sentences.
//!
//! `user:local` is whoever uses a server that asks nobody who they are. A person's scope says who that is; without
//! one the words are about "the user". The id is never read as a name.

use lamina_types::{ActorId, ScopePath};

/// The id of the caller of a server without authentication.
const UNNAMED: &str = "local";
/// What somebody is called of whom nothing is known.
const THE_USER: &str = "the user";

/// The name of an actor in a sentence about what a scope knows.
pub fn spoken_name(actor: &ActorId, scope: Option<&ScopePath>) -> String {
    let own = name_of(actor);
    if own != UNNAMED {
        return own.to_owned();
    }
    let person = scope.and_then(ScopePath::person);
    let named = person.as_ref().map(name_of).filter(|name| *name != UNNAMED);
    named.unwrap_or(THE_USER).to_owned()
}

fn name_of(actor: &ActorId) -> &str {
    actor.as_str().split_once(':').map_or(actor.as_str(), |(_, name)| name)
}

#[cfg(test)]
mod tests;
