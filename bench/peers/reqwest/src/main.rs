//! Fetches the bytes of a workload's URLs with reqwest, on a tokio runtime with two threads.
//!
//!     reqwest-peer --workload W1 --urls FILE [--inflight N] [--cacert PEM] [--verify]
//!
//! It prints the line of JSON of the other programs. It decodes nothing, because the decoder that Debian has for Rust
//! (the crate `image`) makes other pixels of a JPEG than libjpeg.

use std::error::Error;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Default)]
struct Total {
    ok: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    checksum: AtomicU64,
    sum: AtomicU64,
}

struct Work {
    client: reqwest::Client,
    urls: Vec<String>,
    next: AtomicUsize,
    total: Total,
    verifies: bool,
}

/// Returns the value of an option, the argument behind it.
fn value(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

/// FNV-1a with 64 bits, as bench/checksum.c.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(1_469_598_103_934_665_603, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211))
}

impl Work {
    async fn fetch(&self, url: &str) -> Result<(), Failure> {
        let body = self.client.get(url).send().await?.error_for_status()?.bytes().await?;
        let hash = if self.verifies { checksum(&body) } else { 0 };
        self.total.ok.fetch_add(1, Relaxed);
        self.total.bytes.fetch_add(body.len() as u64, Relaxed);
        self.total.checksum.fetch_xor(hash, Relaxed);
        self.total.sum.fetch_add(hash, Relaxed);
        Ok(())
    }

    /// Fetches one URL after another until none is left. As many of these run as requests may be in flight.
    async fn fetch_some(self: Arc<Self>) {
        while let Some(url) = self.urls.get(self.next.fetch_add(1, Relaxed)) {
            if let Err(error) = self.fetch(url).await {
                if self.total.failed.fetch_add(1, Relaxed) == 0 {
                    eprintln!("{url}: {error}");
                }
            }
        }
    }
}

fn make_client(in_flight: usize) -> Result<reqwest::Client, Failure> {
    let mut builder = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(in_flight);
    if let Some(file) = value("--cacert") {
        let certificate = reqwest::Certificate::from_pem(&std::fs::read(file)?)?;
        builder = builder.add_root_certificate(certificate).tls_built_in_root_certs(false);
    }
    if value("--workload").as_deref() != Some("W8") {
        builder = builder.http1_only();
    }
    Ok(builder.build()?)
}

fn main() -> Result<(), Failure> {
    let workload = value("--workload").ok_or("--workload is missing")?;
    let file = value("--urls").ok_or("--urls is missing")?;
    let in_flight = value("--inflight").map_or(Ok(6), |number| number.parse())?;
    let urls = std::fs::read_to_string(file)?.lines().map(String::from).collect();
    let start = Instant::now();
    let work = Arc::new(Work {
        client: make_client(in_flight)?,
        urls,
        next: AtomicUsize::new(0),
        total: Total::default(),
        verifies: std::env::args().any(|argument| argument == "--verify"),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let tasks: Vec<_> = (0..in_flight).map(|_| tokio::spawn(work.clone().fetch_some())).collect();
        for task in tasks {
            task.await?;
        }
        Ok::<(), Failure>(())
    })?;
    let wall = start.elapsed().as_secs_f64();
    let total = &work.total;
    println!(
        "{{\"workload\":\"{workload}\",\"ok\":{},\"failed\":{},\"bytes\":{},\"pixels\":0,\"wall_s\":{wall:.6},\
         \"first_frame_ms\":-1,\"checksum\":\"{:016x}\",\"sum\":\"{:016x}\"}}",
        total.ok.load(Relaxed),
        total.failed.load(Relaxed),
        total.bytes.load(Relaxed),
        total.checksum.load(Relaxed),
        total.sum.load(Relaxed)
    );
    std::process::exit(i32::from(total.failed.load(Relaxed) > 0))
}
