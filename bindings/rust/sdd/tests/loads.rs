//! Downloads and loads against a real server: results, errors, caches.

mod server;

use sdd::*;
use server::Server;
use std::sync::mpsc::{channel, Sender};
use std::sync::Mutex;
use std::time::Duration;

/// A directory that is removed with this object.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        Directory(std::env::temp_dir().join(format!("sdd-rust-{name}-{}", std::process::id())))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn pixels_are_those_of_the_picture() {
    let server = Server::new();
    let picture = Downloader::new().unwrap().download(server.url("/photo.png")).wait().unwrap();
    let expected = Image::decode(&server::png(64, 64, 7)).unwrap();
    let (pixels, expected) = (picture.image.pixels().unwrap(), expected.pixels().unwrap());
    assert_eq!((pixels.width(), pixels.height(), pixels.stride()), (64, 64, 256));
    assert_eq!(pixels.format(), PixelFormat::Rgba8);
    assert_eq!(pixels.bytes(), expected.bytes());
    assert_eq!(picture.bytes.unwrap(), Bytes::new(&server::png(64, 64, 7)).unwrap());
    assert_eq!(picture.report.http_status, 200);
    assert!(picture.report.metrics.total > Duration::ZERO);
    assert_eq!(picture.report.metrics.remote_address, "127.0.0.1");
}

#[test]
fn rows_have_padding_only_with_an_alignment() {
    let png = server::png(5, 3, 1);
    let options = DecodeOptions::new().pixel_format(PixelFormat::Rgb8).row_alignment(64);
    let image = Image::decode_with(&png, &options).unwrap();
    let pixels = image.pixels().unwrap();
    assert_eq!(pixels.stride(), 64);
    assert!(pixels.bytes().is_none());
    assert!(pixels.padded_bytes().len() >= 2 * 64 + 15);
    assert_eq!(pixels.rows().map(<[u8]>::len).collect::<Vec<_>>(), [15, 15, 15]);
    let plain = Image::decode_with(&png, &DecodeOptions::new().pixel_format(PixelFormat::Rgb8)).unwrap();
    assert!(pixels.rows().eq(plain.pixels().unwrap().rows()));
    let planes = Image::decode_with(&png, &DecodeOptions::new().pixel_format(PixelFormat::Rgb8Planar)).unwrap();
    let planes = planes.pixels().unwrap();
    assert_eq!(planes.rows().count(), 9);
    assert_eq!(planes.row(8)[4], plain.pixels().unwrap().row(2)[14]);
}

#[test]
fn errors_have_classes() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let missing = downloader.download(server.url("/missing")).wait().unwrap_err();
    assert!(matches!(missing, Error::Response(_)), "{missing:?}");
    assert_eq!((missing.status(), missing.http_status()), (Status::INVALID_DOWNLOAD_STATUS_CODE, Some(404)));
    assert!(!missing.is_retryable() && missing.message().contains("404"), "{missing}");
    let report = missing.failure().report.as_ref().unwrap();
    assert_eq!(report.response.as_ref().unwrap().mime_type(), "text/html");

    let no_picture = downloader.download(server.url("/echo")).wait().unwrap_err();
    assert!(matches!(no_picture, Error::Image(_)), "{no_picture:?}");
    assert_eq!(no_picture.failure().stage, Stage::Decode);

    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = downloader.download(format!("http://127.0.0.1:{port}/")).wait().unwrap_err();
    assert!(matches!(refused, Error::Network(_)) && refused.is_retryable(), "{refused:?}");

    let malformed = downloader.download("no URL").wait().unwrap_err();
    assert!(matches!(malformed, Error::Request(_)), "{malformed:?}");
    let with_nul = downloader.download("http://host/\0").wait().unwrap_err();
    assert_eq!(with_nul.status(), Status::INVALID_ARGUMENT);

    let limit = Duration::from_millis(50);
    let late = downloader.download(DownloadRequest::new(server.url("/hold/a.png")).total_timeout(limit));
    let late = late.wait().unwrap_err();
    assert!(matches!(late, Error::Timeout(_)), "{late:?}");
    assert_eq!(late.detail(), sys::SDD_DETAIL_TIMEOUT_TOTAL);

    let large = DownloadRequest::new(server.url("/photo.png")).max_body_bytes(10);
    assert!(matches!(downloader.download(large).wait(), Err(Error::Limit(_))));
}

#[test]
fn refused_settings_are_errors() {
    assert_eq!(Downloader::builder().reserved_urgent_slots(9).build().unwrap_err().status(), Status::INVALID_ARGUMENT);
    assert_eq!(Cache::builder().name("a/b").build().unwrap_err().status(), Status::INVALID_ARGUMENT);
    let large = Limits::new().max_pixels(u64::MAX);
    assert!(Downloader::builder().limits(large).build().is_err());
    assert!(Image::from_pixels(2, 2, PixelFormat::Rgba8, &[0; 15], 8).is_err());
    assert!(Image::from_pixels(u32::MAX, u32::MAX, PixelFormat::Rgba8, &[0; 16], usize::MAX).is_err());
    let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[0], 1).unwrap();
    assert!(image.encode(&EncodeOptions::new().quality(101)).is_err());
    assert!(image.transform(&[Transform::Turn { degrees: f64::NAN, keep_size: false }]).is_err());
    assert!(image.frame(1).is_err());
    assert_eq!(image.metadata(Metadata::Icc).unwrap(), None);
    assert_eq!(image.texts().count(), 0);
    let mut small = [0; 3];
    let png = server::png(2, 2, 0);
    let error = Image::decode_into(&png, &DecodeOptions::new(), &mut small).unwrap_err();
    assert_eq!(error.detail(), sys::SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL);
}

/// The error of a call has all that the library says of it, and is not one of a call before.
#[test]
fn errors_of_calls() {
    let no_directory = Cache::builder().directory("/proc/version/none").build().unwrap_err();
    assert!(matches!(no_directory, Error::System(_)), "{no_directory:?}");
    assert_eq!((no_directory.status(), no_directory.detail()), (Status::CACHE, sys::SDD_DETAIL_CACHE_DIRECTORY));
    let no_picture = Image::decode(b"no picture").unwrap_err();
    assert!(matches!(no_picture, Error::Image(_)), "{no_picture:?}");
    assert_eq!(no_picture.detail(), sys::SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    let downloader = Downloader::new().unwrap();
    let held = downloader.download(Server::new().url("/hold/a.png"));
    let late = downloader.wait_idle(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(late, Error::Timeout(_)) && late.detail() == sys::SDD_DETAIL_TIMEOUT_WAIT, "{late:?}");
    drop(held);
    let no_coder = unregister_coder("none").unwrap_err();
    assert_eq!((no_coder.status(), no_coder.detail()), (Status::NOT_FOUND, 0));
    assert!(no_coder.failure().report.is_none());
    let no_token = Loader::shared().load(LoadRequest::new("http://host/").cache_key("")).wait().unwrap_err();
    assert_eq!(no_token.status(), Status::INVALID_ARGUMENT);
    assert!(no_token.message().contains("cache_key"), "{no_token}");
}

/// Each kind of request has a priority and options of its transfer.
#[test]
fn priorities_and_transfers() {
    let (server, directory) = (Server::new(), Directory::new("transfers"));
    let cache = Cache::builder().directory(&directory.0).build().unwrap();
    let downloader = Downloader::new().unwrap();
    let loader = Loader::builder().cache(&cache).downloader(&downloader).build().unwrap();
    let url = server.url("/hold/echo");
    let transfer = TransferOptions::new().header("X-Number", "7").max_attempts(3);
    let list = PrefetchList::new([&*url]).to_disk().priority(Priority::High).transfer(&transfer).header("X-List", "8");
    let request = loader.prefetch(list);
    assert_eq!(request.info().unwrap().priority, Priority::High);
    let usual = loader.prefetch(PrefetchList::new([server.url("/hold/a.png")]));
    assert_eq!(usual.info().unwrap().priority, Priority::VeryLow);
    let download = DownloadRequest::new(server.url("/hold/b.png")).transfer(&transfer).priority(Priority::Low);
    let download = downloader.download(download);
    assert_eq!(download.info().unwrap().priority, Priority::Low);
    server.release();
    let report = request.wait().unwrap();
    assert!(matches!(&report.outcomes[..], [Outcome { error: None, http_status: 200, origin: Origin::Network, .. }]));
    download.wait().unwrap();
    let (bytes, _) = cache.query_bytes(&Query::new(&url)).unwrap().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("X-Number: 7") && text.contains("X-List: 8"), "{text}");

    let batch = downloader.batch([server.url("/missing"), server.url("/echo")]).ordered().priority(Priority::VeryHigh);
    let items: Vec<_> = batch.transfer(&transfer).accepted_status_codes("200,404").bytes().unwrap().collect();
    let statuses: Vec<_> = items.iter().map(|item| item.as_ref().unwrap().report.http_status).collect();
    assert_eq!(statuses, [404, 200]);
    let bytes = items.into_iter().last().unwrap().unwrap().outcome.unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("X-Number: 7"));

    let query = Query::new(&url).priority(Priority::High).levels(Levels::Memory);
    assert_eq!(cache.query_async(&downloader, query).wait().unwrap_err().status(), Status::NOT_CACHED);
}

#[test]
fn a_cache_serves_memory_then_disk() {
    let (server, directory) = (Server::new(), Directory::new("levels"));
    let url = server.url("/a.png");
    let cache = Cache::builder().directory(&directory.0).build().unwrap();
    let loader = Loader::builder().cache(&cache).downloader(&Downloader::new().unwrap()).build().unwrap();
    let origin = |request: LoadRequest| loader.load(request).wait().map(|picture| picture.report.origin);
    assert_eq!(origin(LoadRequest::new(&*url).options(Options::WAIT_STORE_CACHE)).unwrap(), Origin::Network);
    assert_eq!(origin(LoadRequest::new(&*url)).unwrap(), Origin::Memory);
    let key = cache.key(&url, &DecodeOptions::new(), &[]).unwrap();
    assert!(cache.memory_image(&key).is_some());
    assert_eq!(cache.contains(&key, Levels::All), Levels::All);
    cache.remove(&key, Levels::Memory).unwrap();
    assert_eq!(cache.contains(&key, Levels::All), Levels::Disk);
    assert_eq!(origin(LoadRequest::new(&*url)).unwrap(), Origin::Disk);
    assert!(cache.path(&key).unwrap().exists());
    let (mut file, size) = cache.open(&key).unwrap();
    let mut encoded = vec![0; size as usize];
    std::io::Read::read_exact(&mut file, &mut encoded).unwrap();
    assert_eq!(ImageFormat::sniff(&encoded), Some(ImageFormat::PNG));
    assert_eq!(server.requested(), ["/a.png"]);

    let small = LoadRequest::new(&*url).decode(DecodeOptions::new().inside(2, 2));
    assert_eq!(origin(small).unwrap(), Origin::Disk);
    cache.clear(Levels::All).unwrap();
    assert_eq!(cache.contains(&key, Levels::All), Levels::None);
    let miss = origin(LoadRequest::new(&*url).options(Options::FROM_CACHE_ONLY)).unwrap_err();
    assert_eq!(miss.status(), Status::NOT_CACHED);
    let statistics = cache.statistics().unwrap();
    assert!(statistics.memory_hits >= 1 && statistics.disk_hits >= 1, "{statistics:?}");
}

#[test]
fn serializer_and_key_filter_are_called() {
    let directory = Directory::new("serializer");
    let builder = Cache::builder().directory(&directory.0).levels(Levels::Disk);
    let builder = builder.serializer(|_, bytes, key| Bytes::new(&[bytes?, key.as_bytes()].concat()).ok());
    let cache = builder.key_filter(|url| Some(format!("filtered {url}"))).build().unwrap();
    cache.store(&CacheItem::new("key").bytes(&Bytes::new(b"bytes ").unwrap())).unwrap();
    assert_eq!(&cache.query_bytes(&Query::new("key")).unwrap().unwrap().0[..], b"bytes key");
    let key = cache.key("http://host/", &DecodeOptions::new(), &[]).unwrap();
    assert_eq!(key, "filtered http://host/");
}

#[test]
fn a_failed_url_is_blocked() {
    let server = Server::new();
    let url = server.url("/missing");
    let loader = Loader::without_cache().unwrap();
    assert_eq!(loader.load(&*url).wait().unwrap_err().http_status(), Some(404));
    assert!(loader.is_blocked(&url));
    assert_eq!(loader.load(&*url).wait().unwrap_err().status(), Status::BLOCKED);
    loader.remove_failed_url(&url).unwrap();
    assert!(!loader.is_blocked(&url));

    let never = Loader::builder().no_cache().should_block_failed_url(|_, error| Some(error.http_status() != Some(404)));
    let never = never.build().unwrap();
    assert!(never.load(&*url).wait().is_err());
    assert!(!never.is_blocked(&url));
}

#[test]
fn the_options_processor_changes_options() {
    let server = Server::new();
    let builder = Loader::builder().no_cache();
    let loader = builder.options_processor(|_, options| options | Options::FROM_CACHE_ONLY).build().unwrap();
    assert_eq!(loader.load(server.url("/a.png")).wait().unwrap_err().status(), Status::NOT_CACHED);
}

#[test]
fn modifiers_change_responses_and_bodies() {
    let server = Server::new();
    let modifiers = Modifiers::new()
        .response(|response, change| {
            assert_eq!(response.status(), 404);
            (change.http_status, change.mime_type) = (200, Some("image/png".into()));
            change.headers.push(("X-Added".into(), Some("yes".into())));
            Ok(())
        })
        .body(|body, response| {
            assert_eq!(response.header("x-added").as_deref(), Some("yes"));
            assert!(body.starts_with(b"<!doctype"));
            Bytes::new(&server::png(2, 1, 3)).ok()
        });
    let downloader = Downloader::builder().modifiers(&modifiers).build().unwrap();
    let picture = downloader.download(server.url("/missing")).wait().unwrap();
    assert_eq!(picture.image.width(), 2);
    let refusing = Modifiers::new().request(|_| Err(Refused));
    let error = downloader.download(DownloadRequest::new(server.url("/a.png")).modifiers(&refusing)).wait();
    assert_eq!(error.unwrap_err().detail(), sys::SDD_DETAIL_OPERATION_MODIFIER);
}

#[test]
fn settings_of_a_downloader_can_be_read_and_changed() {
    let downloader = Downloader::new().unwrap();
    assert!(downloader.header("user-agent").unwrap().unwrap().starts_with("libsdd/"));
    assert_eq!(downloader.header("x-none").unwrap(), None);
    let long = "x".repeat(1000);
    downloader.set_header("X-Long", Some(&long)).unwrap();
    assert_eq!(downloader.header("x-long").unwrap(), Some(long));
    assert!(downloader.set_header("bad name", Some("value")).is_err());
    downloader.set_max_concurrent_downloads(3).unwrap();
    assert!(downloader.set_max_concurrent_downloads(0).is_err());
    downloader.set_min_host_interval(Duration::ZERO).unwrap();
    downloader.suspend().unwrap();
    assert!(downloader.is_suspended());
    downloader.resume().unwrap();
    downloader.wait_idle(Duration::from_secs(30)).unwrap();
    downloader.close(false).unwrap();
    let closed = downloader.download("http://127.0.0.1/").wait().unwrap_err();
    assert_eq!(closed.detail(), sys::SDD_DETAIL_OPERATION_CLOSED);
}

#[test]
fn transforms_with_equal_keys_share_their_closures() {
    let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[5], 1).unwrap();
    let plus = |number: u8| {
        Transform::custom("plus", move |image| {
            let value = image.pixels().ok()?.row(0)[0] + number;
            Image::from_pixels(1, 1, PixelFormat::Grey8, &[value], 1).ok()
        })
    };
    let (first, second) = (plus(1), plus(1));
    drop(first);
    let made = image.transform(&[second.clone(), second]).unwrap();
    assert_eq!(made.pixels().unwrap().row(0), [7]);
    assert!(image.transform(&[Transform::custom("none", |_| None)]).is_err());
    assert_eq!(Transform::key(&[plus(1)]).unwrap(), "plus");
}

#[test]
fn requests_tell_their_state() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let request = downloader.download(server.url("/steps/photo.png"));
    server.wait_requested(1);
    request.set_priority(Priority::VeryHigh).unwrap();
    assert_eq!(request.info().unwrap().priority, Priority::VeryHigh);
    assert_eq!(request.info().unwrap().state, RequestState::Running);
    assert!(!request.has_ended() && request.token() > 0);
    server.release();
    assert_eq!(request.wait().unwrap().image.width(), 64);
    let mut held = downloader.download(Server::new().url("/hold/a.png"));
    assert!(held.wait_timeout(Duration::from_millis(20)).is_none());
    held.cancel().unwrap();
    assert!(matches!(held.wait_timeout(Duration::from_secs(30)), Some(Err(Error::Cancelled(_)))));
    assert!(held.info().is_err());
}

#[test]
fn extra_sinks() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    assert!(downloader.discard(server.url("/photo.png")).wait().unwrap().metrics.body_bytes > 1000);
    let (reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
    let report = downloader.download_to(server.url("/a.png"), writer);
    assert_eq!(report.wait().unwrap().http_status, 200);
    drop(downloader); // with it the last copy of the writer's descriptor
    let mut received = Vec::new();
    std::io::Read::read_to_end(&mut { reader }, &mut received).unwrap();
    assert_eq!(ImageFormat::sniff(&received), Some(ImageFormat::PNG));
}

/// A load that is cancelled ends at once, while its transform runs on: its closure lives until it has returned.
#[test]
fn a_transform_outlives_its_load() {
    struct Told(Mutex<Sender<&'static str>>);

    impl Drop for Told {
        fn drop(&mut self) {
            self.0.lock().unwrap().send("freed").unwrap();
        }
    }

    let server = Server::new();
    let (sender, told) = channel();
    let (go, may_go) = channel::<()>();
    let (teller, may_go) = (Told(Mutex::new(sender)), Mutex::new(may_go));
    let transform = Transform::custom("waiting", move |image| {
        teller.0.lock().unwrap().send("started").unwrap();
        may_go.lock().unwrap().recv().unwrap();
        teller.0.lock().unwrap().send("returned").unwrap();
        Some(image.clone())
    });
    let loader = Loader::without_cache().unwrap();
    let load = loader.load(LoadRequest::new(server.url("/a.png")).transform(transform));
    assert_eq!(told.recv(), Ok("started"));
    drop((load, loader));
    assert!(told.try_recv().is_err());
    go.send(()).unwrap();
    assert_eq!(told.iter().collect::<Vec<_>>(), ["returned", "freed"]);

    // One that is refused frees it, too.
    let (sender, told) = channel();
    let teller = Told(Mutex::new(sender));
    let transform = Transform::custom("refused", move |image| Some(image.clone()).filter(|_| teller.0.is_poisoned()));
    Loader::shared().load(LoadRequest::new("\0").transform(transform)).wait().unwrap_err();
    assert_eq!(told.recv(), Ok("freed"));
}
