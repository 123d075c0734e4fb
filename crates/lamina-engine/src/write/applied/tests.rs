//! Who waits is woken when the views are there, or will never be.

use std::sync::Arc;

use super::Applied;

async fn waits(applied: &Arc<Applied>, offset: u64) -> tokio::task::JoinHandle<()> {
    let other = Arc::clone(applied);
    let waiting = tokio::spawn(async move { other.reached(offset).await });
    tokio::task::yield_now().await;
    waiting
}

#[tokio::test]
async fn a_reader_waits_until_the_views_are_there() {
    let applied = Arc::new(Applied::default());
    applied.reached(0).await;
    let waiting = waits(&applied, 3).await;
    applied.advance(2);
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    applied.advance(3);
    waiting.await.unwrap();
    assert_eq!(applied.offset(), 3);
}

#[tokio::test]
async fn nobody_waits_for_views_that_have_stopped() {
    let applied = Arc::new(Applied::default());
    let waiting = waits(&applied, 3).await;
    applied.stop();
    waiting.await.unwrap();
    applied.reached(u64::MAX).await;
    assert_eq!(applied.offset(), 0);
}
