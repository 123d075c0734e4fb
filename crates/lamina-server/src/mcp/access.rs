//! What the operator has set for agents: profiles, tokens, and the metadata of the resource.

use lamina_env::Env;

use super::profile::Profile;
use crate::config::{McpConfig, TokenSource};
use crate::secret::{Secret, SecretFileError, read_secret_file};

/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 16 << 10;
/// Characters of a token that is not guessed.
const TOKEN_CHARS_MIN: usize = 16;

/// The settings of the protocol with their tokens read.
#[derive(Debug, Default)]
pub struct McpAccess {
    /// The profile of clients that name none.
    pub(crate) profile: Profile,
    /// Whether calls of the profile `zaxy` leave events about themselves.
    pub(crate) lifecycle: bool,
    /// The token that replay, invalidation and export ask for.
    pub(crate) admin_token: Option<SecretToken>,
}

/// Why a token cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpAccessError {
    /// Its file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] SecretFileError),
    /// It is too short, or no text.
    #[error("the {0} must be a text of at least {TOKEN_CHARS_MIN} characters")]
    Weak(&'static str),
}

/// A token that is compared and never shown.
#[derive(Debug)]
pub(crate) struct SecretToken(Secret<String>);

impl SecretToken {
    fn read(
        source: &TokenSource,
        env: &Env,
        what: &'static str,
    ) -> Result<SecretToken, McpAccessError> {
        let text = match source {
            TokenSource::Variable(token) => token.expose().trim().to_owned(),
            TokenSource::File(path) => {
                let bytes = read_secret_file(&*env.disk, path, TOKEN_BYTES_MAX)?;
                let text = std::str::from_utf8(bytes.expose());
                text.map_err(|_| McpAccessError::Weak(what))?.trim().to_owned()
            }
        };
        match text.chars().count() >= TOKEN_CHARS_MIN {
            true => Ok(SecretToken(Secret::new(text))),
            false => Err(McpAccessError::Weak(what)),
        }
    }

    /// Whether this is the token. Takes the same time wherever they differ.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.expose().as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given).fold(0, |seen, (one, other)| seen | (one ^ other));
        own.len() == given.len() && differences == 0
    }
}

impl McpAccess {
    /// Reads the tokens of the configuration.
    pub fn open(config: &McpConfig, env: &Env) -> Result<McpAccess, McpAccessError> {
        let admin_token = config.admin_token.as_ref();
        let admin_token =
            admin_token.map(|source| SecretToken::read(source, env, "admin token")).transpose()?;
        Ok(McpAccess { profile: config.profile, lifecycle: config.lifecycle, admin_token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_itself_and_nothing_else() {
        let token = SecretToken(Secret::new("0123456789abcdef".to_owned()));
        assert!(token.is("0123456789abcdef"));
        for other in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef0"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "SecretToken(Secret)");
    }
}
