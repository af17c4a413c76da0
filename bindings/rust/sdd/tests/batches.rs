//! Batches: items as images, bytes and slots of tensors, as an iterator and as a stream.

mod server;

use sdd::*;
use server::Server;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn urls(server: &Server, count: u32) -> Vec<String> {
    (0..count).map(|number| server.url(&format!("/{number}.png"))).collect()
}

struct Unpark(Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.unpark();
    }
}

/// Polls on this thread until there is a result.
fn block_on<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current(), AtomicUsize::new(0))));
    loop {
        match poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park_timeout(LIMIT),
        }
    }
}

#[test]
fn items_are_images_or_bytes() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let sources = (0..50).map(|number| (format!("/{number}.png"), 1000 + number));
    let sources: Vec<_> = sources.map(|(target, id)| (server.url(&target), id)).collect();
    let batch = downloader.batch(sources.clone()).ordered().look_ahead(5).responses().images().unwrap();
    for (index, item) in batch.enumerate() {
        let item = item.unwrap();
        assert_eq!((item.index, item.id), (index as u64, 1000 + index as u64));
        assert_eq!(item.outcome.unwrap().width(), 4);
        assert_eq!((item.report.http_status, item.report.response.unwrap().status()), (200, 200));
    }
    let mut batch = downloader.batch(sources).bytes().unwrap();
    for item in &mut batch {
        let item = item.unwrap();
        assert!(item.report.response.is_none());
        assert_eq!(ImageFormat::sniff(&item.outcome.unwrap()), Some(ImageFormat::PNG));
    }
    assert!(batch.next().is_none());
    assert_eq!(batch.statistics().unwrap().succeeded, 50);
}

#[test]
fn a_failed_item_has_class_detail_status_and_sentence() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let sources = [server.url("/none"), "no URL\0".into(), "http://127.0.0.1:1/".into(), "data:,text".into()];
    let batch = downloader.batch(sources).ordered().images().unwrap();
    let errors: Vec<_> = batch.map(|item| item.unwrap().outcome.unwrap_err()).collect();
    assert!(errors.iter().all(|error| error.message().ends_with('.')), "{errors:?}");
    let reports: Vec<_> = downloader.batch([server.url("/none")]).images().unwrap().collect();
    let report = &reports[0].as_ref().unwrap().report; // also of an item that failed
    assert_eq!((report.http_status, report.origin), (404, Origin::None));
    assert!(report.metrics.total >= report.metrics.transfer && report.metrics.attempts == 1);
    assert!(matches!(&errors[0], Error::Response(failure) if failure.http_status == 404 && !failure.retryable));
    assert_eq!(errors[0].failure().stage, Stage::Response);
    assert!(matches!(&errors[1], Error::Request(failure) if failure.detail == sys::SDD_DETAIL_URL_NULL));
    assert!(matches!(&errors[2], Error::Network(failure) if failure.retryable && failure.curl_code == 7));
    assert!(matches!(&errors[3], Error::Image(failure) if failure.detail == sys::SDD_DETAIL_IMAGE_UNKNOWN_FORMAT));
}

#[test]
fn a_batch_is_a_stream_that_is_woken_by_its_descriptor() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let held = [server.url("/hold/a.png"), server.url("/hold/b.png")];
    let mut batch = downloader.batch(held).images().unwrap();
    let woken = Arc::new(Unpark(thread::current(), AtomicUsize::new(0)));
    let waker = Waker::from(woken.clone());
    for _ in 0..3 {
        assert!(batch.poll_next(&mut Context::from_waker(&waker)).is_pending());
    }
    assert!(
        matches!(batch.next_within(Duration::from_millis(1)), Err(error) if error.detail() == sys::SDD_DETAIL_TIMEOUT_WAIT)
    );
    server.wait_requested(2);
    server.release();
    while woken.1.load(Ordering::SeqCst) == 0 {
        thread::park_timeout(LIMIT);
    }
    let mut count = 0;
    while let Some(item) = block_on(|context| batch.poll_next(context)) {
        assert_eq!(item.unwrap().outcome.unwrap().height(), 3);
        count += 1;
    }
    assert_eq!(count, 2);
    assert!(block_on(|context| batch.poll_next(context)).is_none());

    // Many at a time, each with a task of its own.
    let batches: Vec<_> = (0..20).map(|_| downloader.batch(urls(&server, 10)).images().unwrap()).collect();
    thread::scope(|scope| {
        for mut batch in batches {
            scope.spawn(move || {
                let mut count = 0;
                while let Some(item) = block_on(|context| batch.poll_next(context)) {
                    item.unwrap().outcome.unwrap();
                    count += 1;
                }
                assert_eq!(count, 10);
            });
        }
    });
}

#[test]
fn dropping_a_batch_cancels_its_items() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let mut batch = downloader.batch([server.url("/hold/a.png"), server.url("/hold/b.png")]).images().unwrap();
    let waker = Waker::from(Arc::new(Unpark(thread::current(), AtomicUsize::new(0))));
    assert!(batch.poll_next(&mut Context::from_waker(&waker)).is_pending());
    server.wait_requested(2);
    drop(batch);
    server.wait_abandoned(2);

    let mut batch = downloader.batch([server.url("/hold/c.png")]).images().unwrap();
    batch.cancel().unwrap();
    assert!(matches!(batch.next().unwrap().unwrap().outcome, Err(Error::Cancelled(_))));
    let mut batch = downloader.batch([server.url("/hold/d.png")]).deadline(Duration::from_millis(1)).images().unwrap();
    assert!(matches!(batch.next().unwrap().unwrap().outcome, Err(Error::Timeout(_))));
    downloader.wait_idle(LIMIT).unwrap();
}

#[test]
fn a_panic_of_the_iterator_goes_on_where_it_was_asked() {
    std::panic::set_hook(Box::new(|_| {}));
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let builder = downloader.batch((0..1).map(|_| -> String { panic!("no first") }));
    let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| builder.images().map(drop)));
    assert_eq!(thrown.unwrap_err().downcast_ref::<&str>(), Some(&"no first"));

    let (first, url) = (std::sync::atomic::AtomicBool::new(true), server.url("/a.png"));
    let urls = (0..5).map(move |_| if first.swap(false, Ordering::SeqCst) { url.clone() } else { panic!("no second") });
    let mut batch = downloader.batch(urls).look_ahead(1).images().unwrap();
    let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| batch.next().is_some()));
    assert_eq!(thrown.unwrap_err().downcast_ref::<&str>(), Some(&"no second"));
    assert_eq!(batch.next().unwrap().unwrap().outcome.unwrap().width(), 4); // it was not lost
    assert!(batch.next().is_none());
}

#[test]
fn the_iterator_may_wait_for_the_library() {
    let server = Server::new();
    let lists = Downloader::new().unwrap();
    let (echo, picture) = (server.url("/echo"), server.url("/a.png"));
    let urls = (0..3).map(move |_| {
        assert!(lists.download_bytes(&*echo).wait().is_ok());
        picture.clone()
    });
    assert_eq!(Downloader::new().unwrap().batch(urls).images().unwrap().count(), 3);
}

#[test]
fn waiting_inside_a_callback_is_an_error() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let (sender, answers) = channel();
    let (inner, held) = (downloader.clone(), server.url("/hold/a.png"));
    downloader.download(server.url("/a.png")).on_end(move |_| {
        let mut batch = inner.batch([held.clone()]).images().unwrap();
        let next = batch.next().unwrap().unwrap_err().status();
        let tensor = Tensor::new(2, 2);
        let filled = inner.batch([held.clone()]).fill(&tensor, &mut [0; 12], |_| ()).unwrap_err().status();
        let owned = inner.batch([held]).tensor(&tensor, vec![0; 12]).unwrap();
        sender.send([next, filled, owned.into_pixels().unwrap_err().status()]).unwrap();
    });
    assert_eq!(answers.recv_timeout(LIMIT).unwrap(), [Status::WOULD_DEADLOCK; 3]);
    downloader.wait_idle(LIMIT).unwrap(); // the batches were dropped inside the callback, and have ended
}

#[test]
fn tensors_are_checked() {
    let downloader = Downloader::new().unwrap();
    let start = |tensor: Tensor, bytes: usize| downloader.batch(["data:,a", "data:,b"]).tensor(&tensor, vec![0; bytes]);
    assert!(start(Tensor::new(2, 2), 24).is_ok());
    for (tensor, bytes) in [
        (Tensor::new(2, 2), 23), // one slot for two URLs
        (Tensor::new(2, 2), 0),
        (Tensor::new(0, 2), 24),
        (Tensor::new(u32::MAX, u32::MAX), 24),
        (Tensor::new(1 << 31, 1), 24),
        (Tensor::new(2, 2).stride(usize::MAX), 24),
        (Tensor::new(2, 2).pixel_format(PixelFormat::Rgba16), 100),
        (Tensor::new(2, 2).pixel_format(PixelFormat::Grey8).planar(), 24),
    ] {
        assert!(start(tensor, bytes).is_err(), "{tensor:?}");
    }
    let builder = downloader.batch(["data:,a"]).decode(DecodeOptions::new());
    assert_eq!(builder.tensor(&Tensor::new(1, 1), vec![0; 3]).unwrap_err().status(), Status::INVALID_ARGUMENT);
    assert!(downloader.batch(["data:,a"]).look_ahead(u32::MAX).images().is_err());
}

#[test]
fn pictures_go_into_a_slice_of_the_caller() {
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    let tensor = Tensor::new(4, 3).stride(40);
    let mut pixels = vec![9; 40 * 10];
    let seen = loader.batch(urls(&server, 10)).fill(&tensor, &mut pixels, |batch| {
        assert_eq!(batch.slot_count(), 10);
        let mut seen = [false; 10];
        while let Some(item) = batch.next() {
            let slot = item.unwrap().outcome.unwrap();
            assert_eq!(batch.pixels(&slot).len(), 36);
            seen[slot.index()] = true;
            assert!(batch.release(slot).is_err()); // each has a slot of its own
        }
        seen
    });
    assert_eq!(seen.unwrap(), [true; 10]);
    let expected = Image::decode_with(&server::png(4, 3, 0), &DecodeOptions::new().pixel_format(PixelFormat::Rgb8));
    assert_eq!(expected.unwrap().width(), 4);
    assert!(pixels.chunks(40).all(|slot| slot[36..] == [9; 4] && slot[..36] != [9; 36]));

    // The batch ends with the call, also after a panic: nothing writes to the slice afterwards.
    let held: Vec<_> = (0..10).map(|number| server.url(&format!("/hold/{number}.png"))).collect();
    let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        loader.batch(held).fill(&tensor, &mut pixels, |_| std::panic::panic_any(7))
    }));
    assert!(thrown.is_err());
    let before = pixels.clone();
    server.release();
    loader.load(server.url("/after.png")).wait().unwrap();
    assert_eq!(pixels, before);
}

#[test]
fn slots_are_used_again() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let tensor = Tensor::new(4, 3).reuse_slots();
    let mut batch = downloader.batch(urls(&server, 20)).tensor(&tensor, vec![0; 3 * 36]).unwrap();
    let mut kept: Vec<Slot> = (0..3).map(|_| batch.next().unwrap().unwrap().outcome.unwrap()).collect();
    // All are in use: nobody could release one while this thread waits.
    assert_eq!(batch.next().unwrap().unwrap_err().status(), Status::WOULD_DEADLOCK);
    assert!(batch.next().is_none());
    let polled = block_on(|context| batch.poll_next(context));
    assert!(polled.is_none());
    let mut count = 3;
    while let Some(slot) = kept.pop() {
        batch.release(slot).unwrap();
        if let Some(item) = batch.next() {
            let slot = item.unwrap().outcome.unwrap();
            assert!(batch.pixels(&slot).iter().any(|&value| value != 0));
            kept.push(slot);
            count += 1;
        }
    }
    assert_eq!(count, 20);

    let mut other = downloader.batch(urls(&server, 1)).tensor(&tensor, vec![0; 36]).unwrap();
    let slot = other.next().unwrap().unwrap().outcome.unwrap();
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| batch.pixels(&slot).len())).is_err());
    assert_eq!(batch.release(slot).unwrap_err().status(), Status::INVALID_ARGUMENT);
    assert_eq!(other.into_pixels().unwrap().len(), 36);
}

#[cfg(feature = "futures-core")]
#[test]
fn streams_of_the_ecosystem() {
    use futures_core::Stream;
    use std::pin::Pin;

    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let mut batch = downloader.batch(urls(&server, 1)).images().unwrap();
    let item = block_on(|context| Stream::poll_next(Pin::new(&mut batch), context));
    assert!(item.unwrap().unwrap().outcome.is_ok());
    let mut slots = downloader.batch(urls(&server, 1)).tensor(&Tensor::new(1, 1), vec![0; 3]).unwrap();
    let item = block_on(|context| Stream::poll_next(Pin::new(&mut slots), context));
    assert_eq!(item.unwrap().unwrap().outcome.unwrap().index(), 0);
}
