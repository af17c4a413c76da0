//! Requests as futures and streams: without an executor, on tokio, dropped, and woken.

mod server;

use sdd::*;
use server::Server;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Wakes a thread, and counts.
struct Unpark {
    thread: Thread,
    count: AtomicUsize,
}

impl Unpark {
    fn new() -> Arc<Self> {
        Arc::new(Unpark { thread: thread::current(), count: AtomicUsize::new(0) })
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Polls on this thread until there is a result.
fn block_on<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Waker::from(Unpark::new());
    loop {
        if let Poll::Ready(result) = poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        thread::park_timeout(Duration::from_secs(60));
    }
}

fn tokio<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn a_request_needs_no_executor() {
    let server = Server::new();
    let mut request = Downloader::shared().download(server.url("/a.png"));
    let picture = block_on(|context| Pin::new(&mut request).poll(context)).unwrap();
    assert_eq!(picture.image.width(), 4);
    let again = block_on(|context| Pin::new(&mut request).poll(context));
    assert_eq!(again.unwrap_err().status(), Status::NOT_FOUND);
}

#[test]
fn the_last_waker_is_woken() {
    let server = Server::new();
    let mut request = Downloader::shared().download(server.url("/hold/a.png"));
    let (first, last) = (Unpark::new(), Unpark::new());
    for waker in [&first, &last] {
        let waker = Waker::from(waker.clone());
        assert!(Pin::new(&mut request).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    server.release();
    while last.count.load(Ordering::SeqCst) == 0 {
        thread::park_timeout(Duration::from_secs(60));
    }
    assert_eq!(first.count.load(Ordering::SeqCst), 0);
    assert!(request.has_ended());
    request.wait().unwrap();
}

#[test]
fn many_futures_at_once() {
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    tokio(async {
        let requests: Vec<_> = (0..200).map(|number| loader.load(server.url(&format!("/{number}.png")))).collect();
        for request in requests {
            assert_eq!(request.await.unwrap().image.height(), 3);
        }
    });
}

#[test]
fn dropping_a_future_cancels_its_request() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    tokio(async {
        let request = downloader.download(server.url("/hold/a.png"));
        server.wait_requested(1);
        assert!(tokio::time::timeout(Duration::from_millis(50), request).await.is_err());
    });
    server.wait_abandoned(1); // the connection was closed
    downloader.wait_idle(Duration::from_secs(60)).unwrap();
    assert_eq!(downloader.statistics().unwrap().requests_cancelled, 1);
}

#[test]
fn a_dropped_request_does_not_cancel_others_of_the_same_url() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let kept = downloader.download(server.url("/hold/a.png"));
    drop(downloader.download(server.url("/hold/a.png")));
    server.wait_requested(1);
    server.release();
    assert_eq!(kept.wait().unwrap().image.width(), 4);
    assert_eq!(server.requested().len(), 1);
}

#[test]
fn a_detached_request_goes_on() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    downloader.download(server.url("/a.png")).detach();
    downloader.wait_idle(Duration::from_secs(60)).unwrap();
    assert_eq!(downloader.statistics().unwrap().requests_succeeded, 1);
}

#[test]
fn events_come_in_order() {
    let server = Server::new();
    let downloader = Downloader::builder().min_preview_interval(Duration::from_millis(1), 0, 1).build().unwrap();
    let mut events = downloader.events_with_previews(server.url("/steps/photo.png"));
    let (mut facts, mut previews, mut received) = (0, 0, 0);
    let picture = loop {
        match block_on(|context| events.poll_next(context)).expect("not yet the end") {
            Event::Progress(progress) => {
                assert!(progress.received >= received);
                received = progress.received;
            }
            Event::Facts(found) => {
                assert_eq!((found.stored_width, found.stored_height, previews), (64, 64, 0));
                facts += 1;
            }
            Event::Preview(image) => {
                assert!(image.info().is_preview && facts == 1);
                previews += 1;
                server.release();
            }
            Event::Completed(outcome) => break outcome.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert!(block_on(|context| events.poll_next(context)).is_none());
    assert_eq!((facts, received), (1, picture.bytes.unwrap().len() as u64));
    assert!(previews >= 1);
}

#[test]
fn dropping_events_cancels_the_request() {
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    drop(loader.events(server.url("/hold/a.png")));
    let mut events = loader.events(server.url("/hold/b.png"));
    server.wait_requested(1);
    events.next().unwrap();
    drop(events);
    server.wait_abandoned(1);
}

#[test]
fn results_are_a_stream() {
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    let urls = (0..100).map(|number| if number % 10 == 3 { "/missing".into() } else { format!("/{number}.png") });
    let urls: Vec<_> = urls.map(|target| server.url(&target)).collect();
    let mut results = loader.load_all(urls.clone()).look_ahead(7);
    let mut seen = Vec::new();
    while let Some((index, outcome)) = block_on(|context| results.poll_next(context)) {
        assert_eq!(outcome.is_err(), index % 10 == 3, "{outcome:?}");
        assert!(loader.running_count() <= 7);
        seen.push(index);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..100).collect::<Vec<_>>());

    let held: Vec<_> = (0..3).map(|number| server.url(&format!("/hold/{number}.png"))).collect();
    let before = server.requested().len();
    let mut results = loader.load_all(held);
    let pending = results.poll_next(&mut Context::from_waker(&Waker::from(Unpark::new())));
    assert!(pending.is_pending());
    server.wait_requested(before + 3);
    drop(results);
    server.wait_abandoned(3);
}

#[cfg(feature = "futures-core")]
#[test]
fn streams_of_the_ecosystem() {
    use futures_core::Stream;

    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    let mut results = loader.load_all([server.url("/a.png")]);
    let item = block_on(|context| Stream::poll_next(Pin::new(&mut results), context));
    assert_eq!(item.unwrap().1.unwrap().image.width(), 4);
    let mut events = loader.events(server.url("/a.png"));
    while let Some(event) = block_on(|context| Stream::poll_next(Pin::new(&mut events), context)) {
        if let Event::Completed(outcome) = event {
            outcome.unwrap();
        }
    }
}

#[test]
fn a_cached_picture_comes_before_its_refresh() {
    let server = Server::new();
    let directory = std::env::temp_dir().join(format!("sdd-rust-refresh-{}", std::process::id()));
    let cache = Cache::builder().directory(&directory).build().unwrap();
    let loader = Loader::builder().cache(&cache).build().unwrap();
    loader.load(server.url("/a.png")).wait().unwrap();
    let request = LoadRequest::new(server.url("/a.png")).options(Options::REFRESH_CACHED);
    let mut cached = 0;
    for event in loader.events(&request) {
        match event {
            Event::Cached(picture) => {
                assert_eq!(picture.image.width(), 4);
                cached += 1;
            }
            Event::Completed(outcome) => assert_eq!(outcome.unwrap_err().status(), Status::NOT_MODIFIED),
            _ => {}
        }
    }
    assert_eq!(cached, 1);
    let (sender, receiver) = std::sync::mpsc::channel();
    let callbacks = Callbacks::new().cached(move |picture| sender.send(picture.image.width()).unwrap());
    assert!(loader.load_with(&request, callbacks).wait().is_err());
    assert_eq!(receiver.recv(), Ok(4));
    drop((loader, cache));
    std::fs::remove_dir_all(directory).unwrap();
}
