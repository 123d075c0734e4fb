//! The capability list, as types: a permit is for one of them.

macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl Capability for $name {
                const NAME: &'static str = $text;
            }
        )*

        /// Every capability that has a type, for the tests that walk the list.
        pub const NAMES: &[&str] = &[$($text),*];
    };
}

/// A named permission, as a type.
pub trait Capability {
    /// The dot-delimited name on the wire.
    const NAME: &'static str;
}

capabilities! {
    /// Writing to a scope (R158).
    ScopeWrite = "scope.write";
    /// Reading exactly the named scope (R163).
    ScopeReadLocal = "scope.read.local";
    /// Walking up on read (R164).
    ScopeReadHolistic = "scope.read.holistic";
    /// Walking down on read (R164).
    ScopeReadDescend = "scope.read.descend";
    /// Opening the lifecycle stream (R171).
    LifecycleSubscribe = "lifecycle.subscribe";
    /// Uploading a blob (R178).
    BlobUpload = "blob.upload";
    /// Reading a blob (R178).
    BlobRead = "blob.read";
    /// Full health and metrics (R179).
    AdminHealth = "admin.health";
}
