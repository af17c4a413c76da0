//! The child of a fork: requests of the parent are errors there and never hang, and new objects work.

mod server;

use sdd::*;
use server::Server;
use std::task::Poll;
use std::time::Duration;

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
    fn alarm(seconds: u32) -> u32;
}

/// The number of the first thing that is not so in the child, or 0.
fn check_child(
    parent: &Downloader,
    (mut request, mut results): (Request<Picture>, Results<Picture>),
    (mut batch, mut slots): (Batch<Image>, TensorBatch<'static>),
    url: &str,
) -> i32 {
    let waker = std::task::Waker::from(std::sync::Arc::new(Nothing));
    let context = &mut std::task::Context::from_waker(&waker);
    let own = Downloader::new().unwrap();
    let mut own_batch = own.batch([url.to_owned()]).images().unwrap();

    let facts = [
        matches!(request.wait_timeout(Duration::from_secs(60)), Some(Err(error)) if error.status() == Status::FORKED),
        request.has_ended(),
        matches!(results.next(), Some((0, Err(error))) if error.status() == Status::FORKED),
        results.next().is_none(),
        matches!(parent.download(url).wait(), Err(error) if error.status() == Status::FORKED),
        Downloader::new().and_then(|own| own.download(url).wait()).map_or(false, |picture| picture.image.width() == 4),
        Downloader::shared().download(url).wait().is_ok(),
        matches!(batch.poll_next(context), Poll::Ready(Some(Err(error))) if error.status() == Status::FORKED),
        batch.next().is_none(),
        matches!(slots.next(), Some(Err(error)) if error.status() == Status::FORKED) && slots.next().is_none(),
        slots.into_pixels().unwrap().len() == 12,
        matches!(own.block_on(next(&mut own_batch)).unwrap(), Some(Ok(item)) if item.outcome.is_ok()),
    ];
    drop((request, results, batch));
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
    let mut batch = parent.batch([server.url("/hold/c.png")]).images().unwrap();
    assert!(batch.poll_next(&mut std::task::Context::from_waker(&waker)).is_pending());
    let slots = parent.batch([server.url("/hold/d.png")]).tensor(&Tensor::new(2, 2), vec![0; 12]).unwrap();
    server.wait_requested(5);
    let url = server.url("/child.png");
    // SAFETY: the child calls this library alone, which allows it, and ends by _exit.
    unsafe {
        let child = fork();
        assert!(child >= 0);
        if child == 0 {
            alarm(60);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                check_child(&parent, (request, results), (batch, slots), &url)
            }));
            _exit(outcome.unwrap_or(99));
        }
        let mut status = -1;
        assert_eq!(waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0, "wait status of the child");
    }
    server.release();
    assert_eq!(request.wait().unwrap().image.width(), 4); // the parent's goes on
    assert!(results.all(|(_, outcome)| outcome.is_ok()));
    let item = parent.block_on(next(&mut batch)).unwrap(); // the child has taken nothing from the thread that wakes
    assert!(item.unwrap().unwrap().outcome.is_ok());
    assert_eq!(slots.count(), 1);
}

fn next(batch: &mut Batch<Image>) -> impl std::future::Future<Output = Option<Result<BatchItem<Image>, Error>>> + '_ {
    struct Next<'a>(&'a mut Batch<Image>);

    impl std::future::Future for Next<'_> {
        type Output = Option<Result<BatchItem<Image>, Error>>;

        fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Self::Output> {
            self.0.poll_next(context)
        }
    }

    Next(batch)
}

struct Nothing;

impl std::task::Wake for Nothing {
    fn wake(self: std::sync::Arc<Self>) {}
}
