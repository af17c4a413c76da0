//! Events on threads of the application.

mod server;

use sdd::*;
use server::Server;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn downloader() -> Downloader {
    Downloader::builder().delivery(Delivery::Application).build().unwrap()
}

#[test]
fn a_thread_that_waits_takes_the_events() {
    let server = Server::new();
    let downloader = downloader();
    let here = thread::current().id();
    let (sender, called) = channel();
    let callbacks = Callbacks::new().progress(move |_| sender.send(thread::current().id()).unwrap());
    assert_eq!(downloader.download_with(server.url("/a.png"), callbacks).wait().unwrap().image.width(), 4);
    assert!(called.iter().all(|id| id == here));
    let mut request = downloader.download(server.url("/hold/b.png"));
    assert!(request.wait_timeout(Duration::from_millis(30)).is_none());
    server.release();
    assert!(request.wait_timeout(LIMIT).unwrap().is_ok());
    let loader = Loader::builder().no_cache().downloader(&downloader).build().unwrap();
    assert_eq!(loader.load_all((0..30).map(|number| format!("data:,{number}"))).count(), 30);
    assert!(matches!(loader.events(server.url("/c.png")).last(), Some(Event::Completed(Ok(_)))));
    downloader.wait_idle(LIMIT).unwrap();
}

#[test]
fn many_threads_wait_at_a_time() {
    let server = Server::new();
    let downloader = downloader();
    thread::scope(|scope| {
        for thread in 0..8 {
            let (downloader, server) = (&downloader, &server);
            scope.spawn(move || {
                for number in 0..20 {
                    let request = downloader.download(server.url(&format!("/{thread}-{number}.png")));
                    assert_eq!(request.wait().unwrap().image.width(), 4);
                }
            });
        }
    });
}

#[test]
fn events_wait_for_the_application() {
    let server = Server::new();
    let downloader = downloader();
    let (sender, ended) = channel();
    let url = server.url("/a.png");
    downloader.download(&*url).on_end(move |outcome| sender.send(outcome.is_ok()).unwrap());
    assert_eq!(downloader.wait_events(LIMIT).unwrap(), 1);
    assert_eq!(ended.try_recv(), Ok(true));
    assert_eq!((downloader.dispatch(0).unwrap(), downloader.wait_events(Duration::ZERO).unwrap()), (0, 0));
    let threaded = Downloader::new().unwrap();
    assert_eq!(threaded.dispatch(0).unwrap_err().status(), Status::WRONG_DELIVERY);
    assert_eq!(threaded.wait_events(LIMIT).unwrap_err().status(), Status::WRONG_DELIVERY);
    assert!(threaded.event_fd().is_none());

    // The closures of what is left are called where the downloader is dropped.
    let (sender, ended) = channel();
    let here = thread::current().id();
    downloader.download(server.url("/hold/b.png")).on_end(move |outcome| {
        assert!(matches!(outcome, Err(Error::Cancelled(_))));
        sender.send(thread::current().id()).unwrap();
    });
    drop(downloader);
    assert_eq!(ended.try_recv(), Ok(here));
}

/// Tells when it is dropped.
struct Told(Arc<AtomicBool>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_closure_lives_while_it_runs() {
    let downloader = downloader();
    let (inner, (has_ended, is_dropped)) = (downloader.clone(), <(Arc<AtomicBool>, Arc<AtomicBool>)>::default());
    let (ended, dropped, told) = (has_ended.clone(), is_dropped.clone(), Told(is_dropped.clone()));
    let callbacks = Callbacks::new().progress(move |_| {
        let _kept = &told;
        while !ended.load(Ordering::SeqCst) {
            inner.dispatch(0).unwrap(); // the end of this very request, too
        }
        assert!(!dropped.load(Ordering::SeqCst));
    });
    let ending = has_ended.clone();
    downloader.download_with(format!("data:image/png,{}", percent(&server::png(2, 2, 7))), callbacks).on_end(
        move |outcome| {
            assert_eq!(outcome.unwrap().image.width(), 2);
            ending.store(true, Ordering::SeqCst);
        },
    );
    while !is_dropped.load(Ordering::SeqCst) {
        downloader.wait_events(LIMIT).unwrap();
    }
    assert!(has_ended.load(Ordering::SeqCst));
}

/// Bytes as a `data:` URL has them.
fn percent(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("%{byte:02x}")).collect()
}

/// Ends at its second poll, for which another thread wakes it.
struct Woken {
    is_woken: bool,
}

impl Future for Woken {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        if self.is_woken {
            return Poll::Ready(7);
        }
        self.is_woken = true;
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake());
        Poll::Pending
    }
}

#[test]
fn futures_run_without_an_executor() {
    let server = Server::new();
    for downloader in [downloader(), Downloader::new().unwrap()] {
        let widths = downloader.block_on(async {
            let mut widths = Vec::new();
            for number in 0..10 {
                widths.push(downloader.download(server.url(&format!("/{number}.png"))).await.unwrap().image.width());
            }
            widths
        });
        assert_eq!(widths.unwrap(), [4; 10]);
        // Woken by another downloader, and by nothing of the library.
        let other = Downloader::new().unwrap();
        assert!(downloader.block_on(other.download(server.url("/a.png"))).unwrap().is_ok());
        let woken = Woken { is_woken: false };
        assert_eq!(downloader.block_on(woken).unwrap(), 7);
    }
    let threaded = Downloader::new().unwrap();
    let (inner, (sender, answers)) = (threaded.clone(), channel());
    threaded.download(server.url("/a.png")).on_end(move |_| {
        let waited = [inner.block_on(async {}).unwrap_err(), inner.wait_events(None).unwrap_err()];
        sender.send(waited.map(|error| error.status())).unwrap();
    });
    assert_eq!(answers.recv_timeout(LIMIT).unwrap(), [Status::WOULD_DEADLOCK; 2]);
}

#[test]
fn a_panic_on_the_thread_that_waits_is_caught() {
    std::panic::set_hook(Box::new(|_| {}));
    let server = Server::new();
    let downloader = downloader();
    let callbacks = Callbacks::new().progress(|_| panic!("no progress"));
    let outcome = downloader.download_with(server.url("/a.png"), callbacks).wait();
    assert!(matches!(outcome, Err(Error::Panicked(_))));
    downloader.download(server.url("/b.png")).on_end(|_| panic!("at the end"));
    downloader.wait_idle(LIMIT).unwrap();
}
