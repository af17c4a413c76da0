//! Panics in closures of the application: each is caught, reported by the request, and nothing else is lost.

mod server;

use sdd::*;
use server::{png, Server};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A payload whose destructor panics as well.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the destructor of a payload");
    }
}

/// Lets the panics of a test be quiet, whichever thread they are on. Messages of other tests of this file go, too.
fn quietly() {
    std::panic::set_hook(Box::new(|_| {}));
}

fn assert_works(downloader: &Downloader, server: &Server) {
    assert_eq!(downloader.download(server.url("/after.png")).wait().unwrap().image.width(), 4);
}

#[test]
fn closures_of_requests() {
    quietly();
    let server = Server::new();
    server.release();
    let downloader = Downloader::builder().min_preview_interval(Duration::from_millis(1), 0, 1).build().unwrap();
    let callbacks: [fn() -> Callbacks; 4] = [
        || Callbacks::new().progress(|_| panic!("no {}", "progress")),
        || Callbacks::new().facts(|_| panic!("no facts")),
        || Callbacks::new().progress(|_| std::panic::panic_any(7)),
        || Callbacks::new().progress(|_| std::panic::panic_any(Bomb)),
    ];
    let messages = ["no progress", "no facts", "a panic without a text", "a panic without a text"];
    for (callbacks, message) in callbacks.iter().zip(messages) {
        let error = downloader.download_with(server.url("/photo.png"), callbacks()).wait().unwrap_err();
        assert!(matches!(error, Error::Panicked(_)), "{error:?}");
        assert!(error.message().contains(message), "{error}");
    }
    assert_works(&downloader, &server);
}

#[test]
fn a_preview() {
    quietly();
    let server = Server::new();
    let downloader = Downloader::builder().min_preview_interval(Duration::from_millis(1), 0, 1).build().unwrap();
    let (sender, panicked) = channel();
    let callbacks = Callbacks::new().preview(move |_| {
        sender.send(()).unwrap();
        panic!("no preview");
    });
    let request = downloader.download_with(server.url("/steps/photo.png"), callbacks);
    panicked.recv().unwrap();
    assert!(matches!(request.wait(), Err(Error::Panicked(_))));
    assert!(panicked.recv().is_err()); // it was not called again, and is free
    assert_works(&downloader, &server);
}

#[test]
fn the_end_of_a_request() {
    quietly();
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let (sender, called) = channel();
    downloader.download(server.url("/a.png")).on_end(move |_| {
        sender.send(()).unwrap();
        panic!("at the end");
    });
    called.recv().unwrap();
    downloader.wait_idle(Duration::from_secs(60)).unwrap();
    assert!(called.recv().is_err());
    assert_works(&downloader, &server);
}

#[test]
fn modifiers() {
    quietly();
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let cases = [
        (Modifiers::new().request(|_| panic!()), sys::SDD_DETAIL_OPERATION_MODIFIER),
        (Modifiers::new().response(|_, _| panic!()), 0),
        (Modifiers::new().body(|_, _| panic!()), sys::SDD_DETAIL_IMAGE_TRANSFORM),
    ];
    for (modifiers, detail) in &cases {
        let request = DownloadRequest::new(server.url("/a.png")).modifiers(modifiers);
        let error = downloader.download(request).wait().unwrap_err();
        assert_eq!(error.detail(), *detail, "{error:?}");
    }
    assert_works(&downloader, &server);
}

#[test]
fn observers() {
    quietly();
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let (sender, notices) = channel();
    downloader
        .set_observer(move |_| {
            sender.send(()).unwrap();
            panic!();
        })
        .unwrap();
    downloader.set_log(LogLevel::Debug, |_| panic!()).unwrap();
    assert_works(&downloader, &server);
    downloader.remove_observer().unwrap();
    assert_works(&downloader, &server);
    assert_eq!(notices.iter().count(), 1); // not called again after its panic, and free
}

struct Failing(u32);

impl Transport for Failing {
    fn start(&self, mut transfer: Transfer, _: &TransferRequest<'_>) {
        transfer.write(b"some").unwrap();
        assert!(self.0 != 1);
        transfer.finish();
    }

    fn can_load(&self, _: &str) -> bool {
        assert!(self.0 != 2);
        true
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        panic!("in the destructor of a transport");
    }
}

#[test]
fn transports() {
    quietly();
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let expected = [None, Some(Status::TRANSPORT), Some(Status::INVALID_URL)];
    for (stage, status) in expected.iter().enumerate() {
        downloader.add_transport("failing", Failing(stage as u32)).unwrap();
        let outcome = downloader.download_bytes("failing:it").wait();
        assert_eq!(outcome.err().map(|error| error.status()), *status);
        downloader.remove_transport("failing").unwrap();
    }
    assert_works(&downloader, &server);
}

/// A coder that panics at a stage.
struct BadCoder(u32);
struct BadDecoder(u32);

impl Coder for BadCoder {
    type Decoder = BadDecoder;
    const CAN_ENCODE: bool = true;

    fn can_decode(&self, first: &[u8]) -> CanDecode {
        assert!(self.0 != 0);
        if first.starts_with(b"BAD") {
            CanDecode::Yes
        } else {
            CanDecode::No
        }
    }

    fn open(&self, _: &CoderTask) -> Result<BadDecoder, CoderError> {
        assert!(self.0 != 1);
        Ok(BadDecoder(self.0))
    }

    fn encode(
        &self,
        _: &Frame<'_>,
        _: u32,
        _: &mut dyn FnMut(&[u8]) -> Result<(), CoderError>,
    ) -> Result<(), CoderError> {
        panic!()
    }
}

impl Decoder for BadDecoder {
    fn feed(&mut self, _: &[u8], _: bool) -> Result<(), CoderError> {
        assert!(self.0 != 2);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
        assert!(self.0 != 3);
        Ok(Some(Frame::new(1, 1, PixelFormat::Grey8, &[9])))
    }
}

impl Drop for BadDecoder {
    fn drop(&mut self) {
        assert!(self.0 != 4);
    }
}

#[test]
fn coders() {
    quietly();
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    for stage in 0..5 {
        downloader.add_coder("bad", ImageFormat::application(1), None, BadCoder(stage)).unwrap();
        let outcome = downloader.download("data:,BAD").wait();
        match stage {
            4 => assert_eq!(outcome.unwrap().image.width(), 1), // only the destructor has panicked
            _ => assert_eq!(outcome.unwrap_err().status(), Status::BAD_IMAGE_DATA),
        }
        downloader.remove_coder("bad").unwrap();
    }
    let format = ImageFormat::application(2);
    register_coder("bad-encoder", format, None, BadCoder(9)).unwrap();
    let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[0], 1).unwrap();
    assert!(image.encode(&EncodeOptions::new().format(format)).is_err());
    unregister_coder("bad-encoder").unwrap();
    assert_works(&downloader, &server);
}

#[test]
fn decisions_of_loaders_and_networks() {
    quietly();
    let server = Server::new();
    let url = server.url("/a.png");
    let loader = Loader::builder().no_cache().should_download(|_| panic!()).build().unwrap();
    assert_eq!(loader.load(&*url).wait().unwrap_err().status(), Status::NOT_CACHED);
    let loader = Loader::builder().no_cache().options_processor(|_, _| panic!()).build().unwrap();
    assert_eq!(loader.load(&*url).wait().unwrap().image.width(), 4);
    let loader = Loader::builder().no_cache().should_block_failed_url(|_, _| panic!()).build().unwrap();
    loader.load(server.url("/missing")).wait().unwrap_err();
    assert!(loader.is_blocked(&server.url("/missing"))); // as the policy says
    let transform = LoadRequest::new(&*url).transform(Transform::custom("panicking", |_| panic!()));
    assert_eq!(loader.load(transform).wait().unwrap_err().detail(), sys::SDD_DETAIL_IMAGE_TRANSFORM);
    let network = Network::new().address_filter(|_, _| panic!());
    let downloader = Downloader::builder().network(network).build().unwrap();
    assert_eq!(downloader.download(&*url).wait().unwrap_err().status(), Status::ADDRESS_REFUSED);
}

#[test]
fn closures_of_caches() {
    quietly();
    let directory = std::env::temp_dir().join(format!("sdd-rust-panics-{}", std::process::id()));
    let builder = Cache::builder().directory(&directory).key_filter(|_| panic!()).serializer(|_, _, _| panic!());
    let cache = builder.build().unwrap();
    assert_eq!(cache.key("http://host/a", &DecodeOptions::new(), &[]).unwrap(), "http://host/a");
    let _ = cache.store(&CacheItem::new("key").bytes(&Bytes::new(&png(1, 1, 1)).unwrap()));
    assert_eq!(cache.contains("key", Levels::Disk), Levels::None); // nothing was written
    drop(cache);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn prefetching() {
    quietly();
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    let list = PrefetchList::new([server.url("/a.png"), server.url("/hold/b.png")]).progress(|_| panic!("no progress"));
    assert!(matches!(loader.prefetch(list).wait(), Err(Error::Panicked(_))));
}

#[test]
fn wakers() {
    use std::future::Future;
    use std::task::{Context, Wake, Waker};

    struct Panicking(std::sync::Mutex<std::sync::mpsc::Sender<()>>);

    impl Wake for Panicking {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.lock().unwrap().send(()).unwrap();
            panic!("in a waker");
        }
    }

    quietly();
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let (sender, woken) = channel();
    let waker = Waker::from(std::sync::Arc::new(Panicking(std::sync::Mutex::new(sender))));
    let mut request = downloader.download(server.url("/hold/a.png"));
    assert!(std::pin::Pin::new(&mut request).poll(&mut Context::from_waker(&waker)).is_pending());
    server.release();
    woken.recv().unwrap();
    assert_eq!(request.wait().unwrap().image.width(), 4);
}
