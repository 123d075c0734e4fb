//! Slow is fine, not at all is not.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_is_given_up() {
    let (near, _far) = tokio::io::duplex(16);
    let mut near = Stall::new(near, PATIENCE);
    let started = tokio::time::Instant::now();
    let error = near.write_all(&[0; 64]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(started.elapsed(), PATIENCE);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_not() {
    let (near, mut far) = tokio::io::duplex(16);
    let mut near = Stall::new(near, PATIENCE);
    let reader = tokio::spawn(async move {
        let mut bytes = Vec::new();
        while bytes.len() < 64 {
            sleep(PATIENCE - Duration::from_millis(1)).await;
            let mut few = [0; 8];
            let count = far.read(&mut few).await.unwrap();
            bytes.extend_from_slice(&few[..count]);
        }
    });
    near.write_all(&[0; 64]).await.unwrap();
    reader.await.unwrap();
}
