//! Idle is counted from the last request, not from the first.

use super::*;

const TIME: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_so_long_after_its_last_request() {
    let busy = Busy::new();
    let started = tokio::time::Instant::now();
    let watched = tokio::spawn({
        let busy = busy.clone();
        async move { busy.idle(TIME).await }
    });
    sleep(TIME / 2).await;
    let (first, second) = (busy.begin(), busy.begin());
    sleep(TIME * 3).await;
    drop(first);
    sleep(TIME * 3).await;
    assert!(!watched.is_finished(), "one is still under way");
    drop(second);
    sleep(TIME / 2).await;
    drop(busy.begin());
    watched.await.unwrap();
    assert_eq!(started.elapsed(), TIME * 8);
}
