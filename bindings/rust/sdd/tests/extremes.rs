//! The least and greatest numbers, and odd texts, in every setting: each gives a result or an error, and none ends the
//! process or hangs.

mod server;

use sdd::*;
use server::{png, Server};
use std::time::Duration;

const COUNTS: [u32; 5] = [0, 1, 7, i32::MAX as u32, u32::MAX];
const SIZES: [u64; 5] = [0, 1, 1 << 20, i64::MAX as u64, u64::MAX];
const TIMES: [Duration; 4] = [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(1), Duration::MAX];
const TEXTS: [&str; 7] = ["", " ", "\0", "\r\n", "é☃", "*", "a:b:c,d;e=f"];

fn large_text() -> String {
    "x".repeat(100_000)
}

#[test]
fn decoding_encoding_and_transforms() {
    let picture = png(9, 5, 1);
    let image = Image::decode(&picture).unwrap();
    for width in COUNTS {
        for height in COUNTS {
            for fit in [Fit::Inside, Fit::Fill, Fit::Stretch] {
                let options = DecodeOptions::new().target(width, height, fit);
                let _ = Image::decode_with(&picture, &options);
                let _ = Image::decode_with(&picture, &options.row_alignment(width).background(height));
                if width < 100 && height < 100 {
                    assert!(Image::decode_with(&picture, &options.allow_enlarging()).is_ok());
                    let resize = Transform::Resize { width, height, fit, enlarge: true };
                    let _ = image.transform(&[resize]);
                } else {
                    let _ = Image::decode_with(&picture, &options.allow_enlarging());
                }
                let _ = image.transform(&[Transform::Resize { width, height, fit, enlarge: false }]);
            }
            for place in [i32::MIN, -1, 0, 4, i32::MAX] {
                let crop = Transform::Crop { x: place, y: place, width, height };
                if let Ok(cropped) = image.transform(&[crop]) {
                    assert!(cropped.width() <= 9 && cropped.pixels().unwrap().rows().count() <= 5);
                }
            }
            let _ = image.encode(&EncodeOptions::new().inside(width, height).quality(width));
            let _ = Image::from_pixels(width, height, PixelFormat::Rgba16, &[0; 64], usize::MAX);
            let _ = Image::from_pixels(width, height, PixelFormat::Rgb8Planar, &[0; 64], 1);
        }
        let _ = image.transform(&[
            Transform::Rotate(width),
            Transform::RoundCorners { radius: width, corners: Corners::TOP_LEFT },
        ]);
        let _ = image.frame(width);
        assert_eq!(image.frame_duration(width), Duration::ZERO);
        assert!(
            std::panic::catch_unwind(|| image.pixels().unwrap().row(width as usize).len()).is_ok()
                == (width == 0 || width == 1)
        );
    }
    for bytes in SIZES {
        let _ = image.encode(&EncodeOptions::new().max_bytes(bytes));
        let _ = Image::decode_with(&picture, &DecodeOptions::new().scale_down_limit_bytes(bytes));
    }
    let _ = image.transform(&vec![Transform::flip_horizontal(); 1000]);
    for text in TEXTS {
        let _ = image.transform(&[Transform::custom(text, |image| Some(image.clone()))]);
    }
    for length in 0..picture.len() {
        assert!(Image::decode(&picture[..length]).is_err());
        let lenient = Image::decode_with(&picture[..length], &DecodeOptions::new().lenient());
        assert!(lenient.map_or(true, |image| image.pixels().unwrap().rows().count() == 5));
        let _ = ImageInfo::probe(&picture[..length]);
    }
}

#[test]
fn the_longest_time_is_a_limit() {
    let server = Server::new();
    let longest = Duration::MAX;
    let downloader = Downloader::new().unwrap();
    let request = DownloadRequest::new(server.url("/a.png")).total_timeout(longest).queue_timeout(longest);
    let request = request.connect_timeout(longest).first_byte_timeout(longest);
    assert!(downloader.download(request).wait().is_ok());
}

#[test]
fn settings_of_requests() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let loader = Loader::builder().no_cache().downloader(&downloader).build().unwrap();
    let url = server.url("/a.png");
    for (index, count) in COUNTS.into_iter().enumerate() {
        let (size, time) = (SIZES[index], TIMES[index % TIMES.len()]);
        let request = DownloadRequest::new(&*url).max_attempts(count).max_redirects(count).max_body_bytes(size);
        let request = request.expected_bytes(size).low_speed(size, time).total_timeout(time).queue_timeout(time);
        let _ = downloader.download(request.connect_timeout(time).first_byte_timeout(time)).wait();
    }
    let long = large_text();
    for text in TEXTS.into_iter().chain([&*long]) {
        let requests = [
            DownloadRequest::new(text),
            DownloadRequest::new(&*url).header(text, text),
            DownloadRequest::new(&*url).method(text, text.as_bytes()),
            DownloadRequest::new(&*url).range(text),
            DownloadRequest::new(&*url).referrer(text).without_header(text),
            DownloadRequest::new(&*url).accepted_status_codes(text),
            DownloadRequest::new(&*url).accepted_content_types(text),
            DownloadRequest::new(&*url).integrity(text),
            DownloadRequest::new(&*url).ca_file(text),
            DownloadRequest::new(&*url).credential(Credential::password(text, text)),
            DownloadRequest::new(&*url).credential(Credential::bearer(text)),
        ];
        for request in requests {
            let _ = downloader.download(request).wait();
        }
        let _ = loader.load(LoadRequest::new(text).cache_key(text).alternative(text)).wait();
        let _ = loader.prefetch(PrefetchList::new([text, text])).wait();
        let _ = downloader.set_header(text, Some(text));
        let _ = downloader.header(text);
        let _ = downloader.set_cookie(&Cookie::new(text, text, text));
        let _ = downloader.clear_cookies(Some(text));
        let _ = (loader.is_blocked(text), loader.remove_failed_url(text));
        let _ = downloader.remove_transport(text);
        let _ = downloader.remove_coder(text);
    }
    let all = [
        Options::STOP_WHEN_COMPLETE,
        Options::AVOID_DECODE_IMAGE,
        Options::DECODE_FIRST_FRAME_ONLY,
        Options::PRELOAD_ALL_FRAMES,
        Options::TRANSFORM_ANIMATED_IMAGE,
        Options::IGNORE_CACHED_RESPONSE,
        Options::FROM_CACHE_ONLY,
        Options::FROM_LOADER_ONLY,
        Options::WAIT_STORE_CACHE,
        Options::QUERY_MEMORY_DATA,
        Options::BODY_AS_SENT,
    ];
    for one in all {
        for other in all {
            let _ = loader.load(LoadRequest::new(&*url).options(one | other)).wait();
            let _ = downloader.download_bytes(DownloadRequest::new(&*url).options(one | other)).wait();
        }
    }
    assert!(downloader.download(&*url).wait().is_ok());
}

#[test]
fn settings_of_objects() {
    let directory = std::env::temp_dir().join(format!("sdd-rust-extremes-{}", std::process::id()));
    for (index, count) in COUNTS.into_iter().enumerate() {
        let (size, time) = (SIZES[index], TIMES[index % TIMES.len()]);
        let limits = Limits::new().max_body_bytes(size).max_pixels(size).max_header(size, count).max_scans(count);
        let limits =
            limits.max_decode_bytes(Some(size)).max_decode_ratio(Some(size)).decode_time(Some(time), Some(time));
        let _ = Downloader::builder().limits(limits).build();
        let network = Network::new()
            .max_connections(count, count)
            .max_idle_connections(count)
            .max_redirects(count)
            .network_threads(count);
        let network = network.dns_cache(Some(time)).tcp_keepalive(Some(time)).receive_buffer_bytes(count);
        let _ = Downloader::builder().network(network).build();
        let builder = Downloader::builder().max_concurrent_downloads(count).max_concurrent_per_host(count);
        let _ = builder.reserved_urgent_slots(count).ageing(time).min_host_interval(time).build();
        let _ = Downloader::builder().retries(count).retry_budget(Some(count)).retry_delay(time, time).build();
        let builder = Downloader::builder().min_progress_fraction(f64::NAN, time);
        let _ = builder.min_preview_interval(time, size, count).build();
        let builder = Cache::builder().directory(&directory).max_memory_cost(Some(size)).max_memory_count(size);
        let builder = builder.max_disk_bytes(Some(size)).max_disk_age(Some(time)).low_water_percent(count);
        let builder = builder.trim_interval(Some(time)).share_wait(Some(time)).max_parts(Some(size), Some(time));
        let _ = builder.max_queued_bytes(Some(size)).destroy_timeout(Some(time)).build();
    }
    let long = large_text();
    for text in TEXTS.into_iter().chain([&*long]) {
        let _ = Cache::builder().name(text).levels(Levels::Memory).build();
        let _ = Cache::builder().directory(&directory).ignored_query_parameters(text).build();
        let networks = [
            Network::new().proxy(text),
            Network::new().no_proxy_for(text),
            Network::new().interface(text),
            Network::new().resolve(text),
            Network::new().dns_servers(text),
            Network::new().public_addresses_only(&[text]),
            Network::new().unix_socket(text),
            Network::new().ca_file(text).ca_path(text),
        ];
        for network in networks {
            let _ = Downloader::builder().network(network).build();
        }
        let cache = Cache::builder().directory(&directory).build().unwrap();
        let _ = (cache.query(text), cache.remove(text, Levels::All), cache.path(text), cache.open(text));
        let _ = (cache.memory_image(text), cache.contains(text, Levels::All), cache.merge(std::path::Path::new(text)));
        let _ = (cache.store(&CacheItem::new(text)), cache.key(text, &DecodeOptions::new(), &[]));
    }
    let cache = Cache::builder().directory(&directory).build().unwrap();
    cache.flush(Duration::MAX).unwrap();
    Downloader::shared().wait_idle(Duration::MAX).unwrap();
    for size in SIZES {
        let _ = cache.set_memory_limits(Some(size), Some(size));
        let _ = cache.set_disk_limits(Some(size), Some(Duration::MAX));
        let _ = set_decode_memory_limit(size);
    }
    set_decode_memory_limit(0).unwrap();
    drop(cache);
    std::fs::remove_dir_all(directory).unwrap();
}
