//! Memory under a crowd: many clients that write and recall at once, then quiet, then a long mixed load.
//!
//! The numbers are of the server's own process (`VmRSS`): idle, the most under load, and some seconds after it.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::http::{Manner, Template, address, read_answer};
use crate::{Options, sample};

/// Clients at once.
const CLIENTS: usize = 300;
/// Every so many requests of a client is a write; the others are recalls and lists.
const WRITE_EVERY: usize = 4;
/// How long after the load memory is looked at.
const QUIET: Duration = Duration::from_secs(15);
/// How often memory is looked at under load.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the clients saw.
#[derive(Debug, Default)]
struct SoakCounts {
    answered: AtomicU64,
    refused: AtomicU64,
}

/// Runs the measurement: `--seconds` of load.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which server to measure")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let dir = tempfile::tempdir_in(&options.dir)?;
    let mut child = Command::new(&binary)
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(dir.path().join("data"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let outcome = address(&mut child)
        .and_then(|address| runtime.block_on(measure(&address, child.id(), options.seconds)));
    child.kill()?;
    child.wait()?;
    outcome
}

async fn measure(address: &str, process: u32, seconds: u64) -> anyhow::Result<()> {
    let statm = format!("/proc/{process}/statm");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let idle = sample::rss_mb(&statm);
    let (stop, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(SoakCounts::default()));
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let (address, stop, counts) = (address.to_owned(), Arc::clone(&stop), Arc::clone(&counts));
        clients.spawn(async move { client(&address, number, &stop, &counts).await });
    }
    let (mut most, mut early) = (0.0_f64, 0.0_f64);
    let looks = Duration::from_secs(seconds).as_millis() / LOOK_EVERY.as_millis();
    for look in 0..looks {
        tokio::time::sleep(LOOK_EVERY).await;
        most = most.max(sample::rss_mb(&statm));
        if look == looks / 6 {
            early = most;
        }
    }
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = clients.join_next().await {
        ended??;
    }
    tokio::time::sleep(QUIET).await;
    let after = sample::rss_mb(&statm);
    println!("{CLIENTS} clients, {seconds} s");
    println!("idle           {idle:>8.0} MB");
    println!("most, a sixth  {early:>8.0} MB");
    println!("most           {most:>8.0} MB (aim: 600)");
    println!("15 s after     {after:>8.0} MB, {:.2} x idle (aim: 1.5)", after / idle);
    println!(
        "answered {}, refused with 503 {}",
        counts.answered.load(Ordering::Relaxed),
        counts.refused.load(Ordering::Relaxed)
    );
    Ok(())
}

/// Writes and reads until it is told to stop.
async fn client(
    address: &str,
    number: usize,
    stop: &AtomicBool,
    counts: &SoakCounts,
) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut template = Template::new(number, Manner::PLAIN);
    let body = format!(
        r#"{{"query":"How many seats did the fox move to?","scope":"org:bench/ws:w{number}"}}"#
    );
    let recall = format!(
        "POST /v1/recall HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let list = format!(
        "GET /v1/events?scope=org:bench/ws:w{number}&limit=50 HTTP/1.1\r\nhost: localhost\r\n\r\n"
    );
    let mut buffer = vec![0; 1 << 20];
    let mut turn = number;
    while !stop.load(Ordering::Relaxed) {
        turn += 1;
        match turn % WRITE_EVERY {
            0 => stream.write_all(template.next()).await?,
            1 => stream.write_all(list.as_bytes()).await?,
            _ => stream.write_all(recall.as_bytes()).await?,
        }
        let (status, _) = read_answer(&mut stream, &mut buffer).await?;
        let counter = if status == 503 { &counts.refused } else { &counts.answered };
        counter.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
