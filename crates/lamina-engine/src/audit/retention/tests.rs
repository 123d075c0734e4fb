//! What a policy says counts at once and after a restart.

use std::path::Path;

use lamina_core::policy::Document;

use crate::admin::testing::{noted, open, permit, reopen};
use crate::{Engine, PolicyPermit, PolicyTarget, Settings};

const DAY_US: i64 = 86_400_000_000;

async fn says(engine: &Engine, target: PolicyTarget, settings: &[(&str, &str)]) {
    let mut document = Document::from_lists(&["*"], &[]).unwrap();
    for (setting, value) in settings {
        document.defaults.set(setting, value).unwrap();
    }
    let permit = match target {
        PolicyTarget::Deployment => PolicyPermit::Deployment(permit()),
        _ => PolicyPermit::Tenant(permit()),
    };
    engine.policy_set(&permit, target, Some(&document), &noted()).await.unwrap();
}

/// Of tenant 1: rows, the use of a pepper, and how long it is kept, in days.
fn days(engine: &Engine) -> [i64; 3] {
    let retention = &engine.inner.audit.retention;
    [retention.rows_us(1), retention.rotation_us(1), retention.pepper_us(1)].map(|us| us / DAY_US)
}

#[tokio::test]
async fn r392_r431_a_tenant_keeps_rows_longer_than_the_deployment_and_not_shorter() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(Path::new(dir.path()));
    assert_eq!(Settings::new("x").audit_retention_us, 365 * DAY_US);
    assert_eq!(days(&engine), [365, 90, 455]);
    says(&engine, PolicyTarget::Tenant, &[("audit.retention", "P7D")]).await;
    assert_eq!(days(&engine), [365, 90, 455], "a trace is not shortened by who leaves it");
    let longer = [("audit.retention", "P3Y"), ("audit.pepper_rotation_period", "P7D")];
    says(&engine, PolicyTarget::Tenant, &longer).await;
    assert_eq!(days(&engine), [1_095, 7, 1_185]);
    assert_eq!(engine.inner.audit.retention.rows_us(2), 365 * DAY_US, "of others as before");
    let deployment = [("audit.retention", "P10Y"), ("audit.pepper_retention_buffer", "P1D")];
    says(&engine, PolicyTarget::Deployment, &deployment).await;
    assert_eq!(days(&engine), [3_650, 7, 3_651]);
    let engine = reopen(engine, dir.path()).await;
    assert_eq!(days(&engine), [3_650, 7, 3_651]);
    engine.shutdown().await;
}
