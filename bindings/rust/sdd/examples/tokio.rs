//! Loads pictures on tokio, all at once, with a time limit for each, and tells of each when it is there.
//!
//!     cargo run --example tokio -- URL...
//!
//! Without a URL it loads one that contains a picture of a single pixel. Exit status 0: all worked.

use sdd::{LoadRequest, Loader};
use std::time::Duration;

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\
                     +M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn load(loader: Loader, url: String) -> bool {
    let shown: String = url.chars().take(60).collect();
    let request = loader.load(LoadRequest::new(url));
    // Where the time limit passes, the request is dropped, and so is cancelled.
    match tokio::time::timeout(Duration::from_secs(30), request).await {
        Ok(Ok(picture)) => {
            println!("{shown}: {} x {}", picture.image.width(), picture.image.height());
            true
        }
        Ok(Err(error)) => {
            println!("{shown}: {error}");
            false
        }
        Err(_) => {
            println!("{shown}: not there after 30 seconds");
            false
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let loader = Loader::without_cache().expect("a loader");
    let mut urls: Vec<String> = std::env::args().skip(1).collect();
    if urls.is_empty() {
        urls.push(PIXEL.into());
    }
    let tasks: Vec<_> = urls.into_iter().map(|url| tokio::spawn(load(loader.clone(), url))).collect();
    let mut failed = 0;
    for task in tasks {
        failed += usize::from(!task.await.unwrap_or(false));
    }
    std::process::exit(i32::from(failed > 0));
}
