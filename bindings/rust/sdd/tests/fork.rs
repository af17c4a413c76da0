//! The child of a fork: requests of the parent are errors there and never hang, and new objects work.

mod server;

use sdd::*;
use server::Server;
use std::time::Duration;

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
    fn alarm(seconds: u32) -> u32;
}

/// The number of the first thing that is not so in the child, or 0.
fn check_child(parent: &Downloader, mut request: Request<Picture>, mut results: Results<Picture>, url: &str) -> i32 {
    let facts = [
        matches!(request.wait_timeout(Duration::from_secs(60)), Some(Err(error)) if error.status() == Status::FORKED),
        request.has_ended(),
        matches!(results.next(), Some((0, Err(error))) if error.status() == Status::FORKED),
        results.next().is_none(),
        matches!(parent.download(url).wait(), Err(error) if error.status() == Status::FORKED),
        Downloader::new().and_then(|own| own.download(url).wait()).map_or(false, |picture| picture.image.width() == 4),
        Downloader::shared().download(url).wait().is_ok(),
    ];
    drop((request, results));
    facts.iter().position(|&fact| !fact).map_or(0, |index| index as i32 + 1)
}

#[test]
fn requests_of_the_parent_are_errors_in_the_child() {
    let server = Server::new();
    let parent = Downloader::new().unwrap();
    parent.download(server.url("/first.png")).wait().unwrap(); // all parts of the library have been used
    let request = parent.download(server.url("/hold/a.png"));
    let mut results = parent.download_all([server.url("/hold/b.png")]);
    let waker = std::task::Waker::from(std::sync::Arc::new(Nothing));
    assert!(results.poll_next(&mut std::task::Context::from_waker(&waker)).is_pending());
    server.wait_requested(3);
    let url = server.url("/child.png");
    // SAFETY: the child calls this library alone, which allows it, and ends by _exit.
    unsafe {
        let child = fork();
        assert!(child >= 0);
        if child == 0 {
            alarm(60);
            let outcome =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check_child(&parent, request, results, &url)));
            _exit(outcome.unwrap_or(99));
        }
        let mut status = -1;
        assert_eq!(waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0, "wait status of the child");
    }
    server.release();
    assert_eq!(request.wait().unwrap().image.width(), 4); // the parent's goes on
    assert!(results.all(|(_, outcome)| outcome.is_ok()));
}

struct Nothing;

impl std::task::Wake for Nothing {
    fn wake(self: std::sync::Arc<Self>) {}
}
