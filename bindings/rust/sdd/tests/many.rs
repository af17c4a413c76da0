//! 10,000 loads, of which some are cancelled: descriptors, threads, images and closures do not grow in number.

mod server;

use sdd::*;
use server::Server;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

fn count(directory: &str) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

/// Loads `rounds` times 100 pictures.
fn load(loader: &Loader, server: &Server, rounds: usize, freed: &Arc<AtomicUsize>) {
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    for _ in 0..rounds {
        let requests: Vec<_> = (0..100)
            .map(|number| {
                let counted = Counted(freed.clone());
                let callbacks = Callbacks::new().progress(move |_| assert!(counted.0.load(Ordering::SeqCst) < 1 << 20));
                loader.load_with(server.url(&format!("/{}.png", number % 50)), callbacks)
            })
            .collect();
        for (number, request) in requests.into_iter().enumerate() {
            if number % 10 == 9 {
                drop(request);
            } else {
                assert_eq!(request.wait().unwrap().image.width(), 4);
            }
        }
    }
}

#[test]
fn ten_thousand_loads() {
    let server = Server::new();
    let freed = Arc::new(AtomicUsize::new(0));
    let at_start = ProcessStatistics::now().unwrap();
    let downloader = Downloader::new().unwrap();
    let loader = Loader::builder().no_cache().downloader(&downloader).build().unwrap();
    load(&loader, &server, 2, &freed); // opens the connections and starts the threads
    downloader.wait_idle(Duration::from_secs(60)).unwrap();
    let (descriptors, threads) = (count("/proc/self/fd"), count("/proc/self/task"));
    load(&loader, &server, 100, &freed);
    downloader.wait_idle(Duration::from_secs(60)).unwrap();
    // The server is in this process, too: each connection has two descriptors and a thread of its own.
    let connections = 6;
    assert!(count("/proc/self/fd") <= descriptors + 2 * connections, "{descriptors} descriptors before");
    assert!(count("/proc/self/task") <= threads + connections, "{threads} threads before");
    assert_eq!(downloader.statistics().unwrap().requests, 10_200);
    drop((loader, downloader));
    assert_eq!(freed.load(Ordering::SeqCst), 10_200);
    assert_eq!(ProcessStatistics::now().unwrap(), at_start); // images and byte buffers

    // Downloaders end with all that they have.
    let (descriptors, threads) = (count("/proc/self/fd"), count("/proc/self/task"));
    for _ in 0..20 {
        drop(Downloader::new().unwrap());
    }
    assert!(count("/proc/self/fd") <= descriptors && count("/proc/self/task") <= threads);
}
