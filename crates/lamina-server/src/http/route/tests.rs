//! The router and the table of the contract say the same.

use std::collections::BTreeSet;

use lamina_api::{Method, ROUTES, RouteStatus};

use super::{allowed, handlers};

#[test]
fn every_built_route_has_a_handler_and_every_handler_a_route() {
    let built: BTreeSet<(Method, &str)> = ROUTES
        .iter()
        .filter(|route| route.status == RouteStatus::Built)
        .map(|route| (route.method, route.path))
        .collect();
    let handled: BTreeSet<(Method, &str)> =
        handlers::TABLE.iter().map(|(method, path, _)| (*method, *path)).collect();
    assert_eq!(built, handled);
    assert_eq!(handlers::TABLE.len(), handled.len(), "no route has two handlers");
}

#[test]
fn allow_lists_what_the_path_takes() {
    let of =
        |path: &str| allowed(&ROUTES.iter().filter(|route| route.path == path).collect::<Vec<_>>());
    assert_eq!(of("/v1/forget"), "POST");
    assert_eq!(of("/v1/events"), "GET, HEAD");
    assert_eq!(of("/v1/blobs/{blob_id}"), "DELETE, GET, HEAD");
}
