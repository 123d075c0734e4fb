//! What others have below a scope: whoever does something above it reaches into it.

use lamina_store::view::Registration;
use lamina_types::ScopePath;
use lamina_types::capability::Capability;

use super::Sight;
use crate::engine::Inner;
use crate::{Engine, Error};

/// Scopes read from the views at a time.
const SCOPES_READ: usize = 256;

/// Which scopes below one count as somebody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those that somebody registered.
    Registered,
    /// Those that somebody has by a first write.
    Written,
    /// Both.
    Anybodys,
}

impl Engine {
    /// The first scope below one that is somebody's and out of sight: whoever gets a role above it,
    /// sets rules there or erases there reaches into it.
    pub async fn scope_out_of_sight<C: Capability + Send + 'static>(
        &self,
        mut sight: Sight<C>,
        path: &ScopePath,
        whose: Whose,
    ) -> Result<Option<ScopePath>, Error> {
        self.inner.caught_up().await;
        let path = path.clone();
        self.blocking(move |inner| inner.out_of_sight(&mut sight, &path, whose)).await
    }
}

impl Inner {
    fn out_of_sight<C: Capability>(
        &self,
        sight: &mut Sight<C>,
        path: &ScopePath,
        whose: Whose,
    ) -> Result<Option<ScopePath>, Error> {
        let tenant = sight.caller().tenant;
        let mut after = None;
        loop {
            let ordinals = self.views.scopes_below(tenant, path, after, SCOPES_READ)?;
            let Some(last) = ordinals.last() else { return Ok(None) };
            after = Some(*last);
            for ordinal in ordinals {
                let row = self.views.scope_standing(tenant, ordinal)?;
                let looked_at = row.is_some_and(|row| match row.registration {
                    Registration::Explicit => whose != Whose::Written,
                    Registration::Auto => whose != Whose::Registered,
                    Registration::Removed | Registration::Erased => false,
                });
                if !looked_at || sight.sees(ordinal)? {
                    continue;
                }
                match self.scope_path(tenant, ordinal) {
                    Ok(below) if below != *path => return Ok(Some(below)),
                    Ok(_) | Err(Error::Deleted) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
}
