//! What identity costs: durable writes and reads of a server that asks for tokens, decides by policy
//! and keeps an audit log, against the same server without tokens.
//!
//! Rounds alternate, so that a noisy machine disturbs both. A read is measured in processor time of
//! the server, which does not depend on how busy the rest of the machine is.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow};
use lamina_auth::{Claims, Minter, trust_file};
use lamina_env::disk::write_atomic;
use lamina_env::{Env, RealDisk, SystemRng};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::http::{Manner, Template, address, answer, load};
use crate::{Options, sample};

const ROUNDS: usize = 5;
const READS: usize = 20_000;
const READ_CONNECTIONS: usize = 8;
const ISSUER: &str = "https://issuer.bench";
const HOUR_US: i64 = 3_600_000_000;

/// What one kind of server showed.
#[derive(Debug, Default)]
struct Shown {
    rates: Vec<f64>,
    read_cpu_us: Vec<f64>,
}

/// Runs the comparison.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().context("`--bin` says which server to measure")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let time = Duration::from_secs(options.seconds);
    let minter = Minter::generate(ISSUER, &SystemRng).map_err(|error| anyhow!("{error}"))?;
    let bearer = format!("authorization: Bearer {}\r\n", token(&minter)?);
    let (mut local, mut team) = (Shown::default(), Shown::default());
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        let dir = tempfile::tempdir_in(&options.dir)?;
        let command = serve(&binary, dir.path());
        runtime.block_on(measure(command, "", time, &mut local))?;

        let dir = tempfile::tempdir_in(&options.dir)?;
        let keys = dir.path().join("keys.json");
        let text = trust_file(minter.iss(), std::slice::from_ref(minter.public()));
        write_atomic(&RealDisk, &keys, text.as_bytes())?;
        let mut command = serve(&binary, dir.path());
        command.args(["--preset", "on_prem_enterprise", "--trust"]).arg(&keys);
        runtime.block_on(measure(command, &bearer, time, &mut team))?;
    }
    let (local_rate, team_rate) =
        (sample::median(&mut local.rates), sample::median(&mut team.rates));
    let (local_cpu, team_cpu) =
        (sample::median(&mut local.read_cpu_us), sample::median(&mut team.read_cpu_us));
    println!("{:<34} {:>10} {:>14}", "64 connections, 1 KiB", "writes/s", "CPU µs a read");
    println!("{:<34} {local_rate:>10.0} {local_cpu:>14.1}", "dev_local");
    println!("{:<34} {team_rate:>10.0} {team_cpu:>14.1}", "on_prem_enterprise, with tokens");
    println!();
    println!(
        "writes: {:.0} % of dev_local (bar: 85 %); a read: {:+.1} µs (bar: +20 µs)",
        100.0 * team_rate / local_rate,
        team_cpu - local_cpu
    );
    Ok(())
}

fn serve(binary: &Path, dir: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(dir.join("data"));
    command
}

fn token(minter: &Minter) -> anyhow::Result<String> {
    let now = Env::real().clock.wall();
    let iat = lamina_types::Micros(now.0 / 1_000_000 * 1_000_000);
    let claims = Claims {
        iss: ISSUER.to_owned(),
        sub: "user:bench".parse()?,
        tenant: "bench".parse()?,
        exp: iat.plus(HOUR_US),
        iat,
        jti: "bench".to_owned(),
        deployment: None,
        caps: None,
        scopes: Vec::new(),
    };
    minter.mint(&claims).map_err(|error| anyhow!("{error}"))
}

/// Starts a server, writes and reads, stops it.
async fn measure(
    mut command: Command,
    headers: &str,
    time: Duration,
    shown: &mut Shown,
) -> anyhow::Result<()> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let outcome = async {
        let address = address(&mut child)?;
        // Reads first, while nothing else is left to do.
        let event = write_one(&address, headers).await?;
        reads(&address, headers, &event, READS / 10).await?;
        let before = sample::cpu_us(child.id())?;
        reads(&address, headers, &event, READS).await?;
        shown.read_cpu_us.push((sample::cpu_us(child.id())? - before) / READS as f64);
        shown.rates.push(load(&address, Manner { headers, strict: true }, time).await?.0);
        anyhow::Ok(())
    };
    let outcome = outcome.await;
    child.kill()?;
    child.wait()?;
    outcome
}

async fn write_one(address: &str, headers: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let manner = Manner { headers, strict: true };
    // A key that no connection of the load uses.
    stream.write_all(Template::new(1 << 20, manner).next()).await?;
    let body = answer(&mut stream, &mut vec![0; 16 * 1_024], 202).await?;
    let id = body.split('"').find(|part| part.starts_with("evt_"));
    Ok(id.context("a write is answered with an id")?.to_owned())
}

async fn reads(address: &str, headers: &str, event: &str, count: usize) -> anyhow::Result<()> {
    let head = format!("GET /v1/events/{event} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..READ_CONNECTIONS {
        let (address, head) = (address.to_owned(), head.clone());
        tasks.spawn(async move {
            let mut stream = TcpStream::connect(&address).await?;
            stream.set_nodelay(true)?;
            let mut buffer = vec![0; 16 * 1_024];
            for _ in 0..count / READ_CONNECTIONS {
                stream.write_all(head.as_bytes()).await?;
                answer(&mut stream, &mut buffer, 200).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}
