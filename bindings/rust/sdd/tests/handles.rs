//! Objects that are dropped in every order, also inside callbacks, and calls that would wait for themselves.

mod server;

use sdd::*;
use server::Server;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn images_outlive_what_made_them() {
    let server = Server::new();
    let directory = std::env::temp_dir().join(format!("sdd-rust-outlive-{}", std::process::id()));
    let cache = Cache::builder().directory(&directory).build().unwrap();
    let loader = Loader::builder().cache(&cache).downloader(&Downloader::new().unwrap()).build().unwrap();
    let picture = loader.load(server.url("/photo.png")).wait().unwrap();
    let lazy = LoadRequest::new(server.url("/lazy.png")).options(Options::AVOID_DECODE_IMAGE);
    let lazy = loader.load(lazy).wait().unwrap().image;
    cache.clear(Levels::All).unwrap();
    drop((loader, cache));
    std::fs::remove_dir_all(directory).unwrap();
    let Picture { image, bytes, .. } = picture;
    let clone = image.clone();
    drop(image);
    assert_eq!(clone.pixels().unwrap().rows().count(), 64);
    assert_eq!(bytes.unwrap().len(), server::png(64, 64, 7).len());
    assert_eq!(lazy.info().pixels_size, 0);
    assert_eq!(lazy.pixels().unwrap().width(), 4); // decoded here, after all else has gone
}

#[test]
fn requests_keep_their_loader() {
    let server = Server::new();
    let request = Loader::builder().no_cache().downloader(&Downloader::new().unwrap()).build().unwrap();
    let request = request.load(server.url("/hold/a.png"));
    let events = Loader::without_cache().unwrap().events(server.url("/hold/b.png"));
    server.wait_requested(2);
    server.release();
    assert_eq!(request.wait().unwrap().image.width(), 4);
    assert!(matches!(events.last(), Some(Event::Completed(Ok(_)))));
}

#[test]
fn a_loader_is_dropped_with_loads_under_way() {
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    let (sender, outcomes) = channel();
    for number in 0..5 {
        let sender = sender.clone();
        let request = loader.load(server.url(&format!("/hold/{number}.png")));
        request.on_end(move |outcome| sender.send(outcome.map(drop)).unwrap());
    }
    drop(sender);
    server.wait_requested(5);
    drop(loader);
    assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::Cancelled(_)))).count(), 5);
    server.wait_abandoned(5);
}

#[test]
fn a_downloader_is_dropped_with_downloads_under_way() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    downloader.download(server.url("/hold/a.png")).detach();
    let (sender, ended) = channel();
    downloader.download(server.url("/hold/b.png")).on_end(move |outcome| sender.send(outcome.err()).unwrap());
    drop(downloader);
    // The drop has waited for the end.
    assert!(matches!(ended.try_recv(), Ok(Some(Error::Cancelled(_)))));
}

#[test]
fn the_last_handles_are_dropped_inside_a_callback() {
    let server = Server::new();
    for _ in 0..20 {
        let directory = std::env::temp_dir().join(format!("sdd-rust-inside-{}", std::process::id()));
        let cache = Cache::builder().directory(&directory).build().unwrap();
        let downloader = Downloader::builder().cache(&cache).build().unwrap();
        let loader = Loader::builder().cache(&cache).downloader(&downloader).build().unwrap();
        let request = loader.load(server.url("/a.png"));
        let (sender, ended) = channel();
        request.on_end(move |outcome| {
            drop((loader, downloader, cache));
            sender.send(outcome.unwrap().image.width()).unwrap();
        });
        assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(4));
    }
}

#[test]
fn a_downloader_is_dropped_on_its_decode_thread() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let kept = std::sync::Mutex::new(Some(downloader.clone()));
    let (sender, called) = channel();
    let sender = std::sync::Mutex::new(sender);
    let modifiers = Modifiers::new().body(move |body, _| {
        drop(kept.lock().unwrap().take()); // perhaps the last one
        sender.lock().unwrap().send(()).unwrap();
        Some(body.clone())
    });
    let (end, ended) = channel();
    let request = downloader.download(DownloadRequest::new(server.url("/hold/a.png")).modifiers(&modifiers));
    request.on_end(move |outcome| end.send(outcome.is_ok()).unwrap());
    drop((downloader, modifiers));
    server.release();
    called.recv_timeout(Duration::from_secs(60)).unwrap();
    ended.recv_timeout(Duration::from_secs(60)).unwrap(); // in any case: delivered, or cancelled
}

#[test]
fn waiting_inside_a_callback_is_an_error() {
    let server = Server::new();
    let downloader = Downloader::new().unwrap();
    let (sender, outcomes) = channel();
    let (inner, url) = (downloader.clone(), server.url("/hold/a.png"));
    downloader.download(server.url("/a.png")).on_end(move |_| {
        let wait = inner.download(&*url).wait().unwrap_err().status();
        let next = inner.events(&*url).find_map(|event| match event {
            Event::Completed(outcome) => outcome.err().map(|error| error.status()),
            _ => None,
        });
        let all = inner.download_all([url.clone()]).next().and_then(|(_, outcome)| outcome.err());
        let idle = inner.wait_idle(None).unwrap_err().status();
        sender.send([Some(wait), next, all.map(|error| error.status()), Some(idle)]).unwrap();
    });
    let outcomes = outcomes.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(outcomes, [Some(Status::WOULD_DEADLOCK); 4]);
    downloader.wait_idle(Duration::from_secs(60)).unwrap(); // all four were cancelled
}

#[test]
fn closures_are_freed_once() {
    struct Counted(std::sync::Arc<()>);

    let server = Server::new();
    let count = std::sync::Arc::new(());
    let downloader = Downloader::new().unwrap();
    for number in 0..50 {
        let counted = Counted(count.clone());
        let callbacks = Callbacks::new().progress(move |_| assert!(std::sync::Arc::strong_count(&counted.0) > 1));
        let request = downloader.download_with(server.url(&format!("/hold/{number}.png")), callbacks);
        match number % 3 {
            0 => drop(request),
            1 => request.detach(),
            _ => request.on_end(|_| {}),
        }
    }
    // One that the library refuses: its closures are freed at once.
    let counted = Counted(count.clone());
    let refused = Callbacks::new().facts(move |_| drop(counted.0.clone()));
    downloader.download_with("http://host/\0", refused).wait().unwrap_err();
    assert!(std::sync::Arc::strong_count(&count) > 1);
    drop(downloader);
    assert_eq!(std::sync::Arc::strong_count(&count), 1);

    // Those of settings: of an object that is made, of one that is refused, and of requests of each kind.
    let counted = Counted(count.clone());
    let network = Network::new().address_filter(move |_, _| std::sync::Arc::strong_count(&counted.0) > 1);
    let downloader = Downloader::builder().network(network.clone()).build().unwrap();
    Downloader::builder().network(network).reserved_urgent_slots(9).build().unwrap_err();
    assert_eq!(downloader.download(server.url("/a.png")).wait().unwrap().image.width(), 4);
    let counted = Counted(count.clone());
    let modifiers = Modifiers::new().request(move |draft| {
        draft.set_header("X-Count", Some(&std::sync::Arc::strong_count(&counted.0).to_string())).map_err(|_| Refused)
    });
    let transfer = TransferOptions::new().modifiers(&modifiers);
    drop(modifiers);
    let loader = Loader::builder().no_cache().downloader(&downloader).build().unwrap();
    for (url, is_accepted) in [(server.url("/echo"), true), ("\0".to_owned(), false)] {
        let download = downloader.download_bytes(DownloadRequest::new(&*url).transfer(&transfer));
        let load = loader.load_bytes(LoadRequest::new(&*url).transfer(&transfer));
        let list = loader.prefetch(PrefetchList::new([&*url]).to_disk().transfer(&transfer));
        let accepted = [download.wait().is_ok(), load.wait().is_ok(), list.wait().is_ok()];
        assert_eq!(accepted, [is_accepted; 3]);
    }
    let batch = |look_ahead| downloader.batch([server.url("/echo")]).look_ahead(look_ahead).transfer(&transfer).bytes();
    assert!(batch(u32::MAX).is_err());
    let bytes = batch(1).unwrap().next().unwrap().unwrap().outcome.unwrap();
    assert!(String::from_utf8_lossy(&bytes).contains("X-Count: "));
    assert!(std::sync::Arc::strong_count(&count) > 1);
    drop((transfer, loader, downloader));
    assert_eq!(std::sync::Arc::strong_count(&count), 1);
}

#[test]
fn threads_share_everything() {
    let server = Server::new();
    let loader = Loader::without_cache().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (loader, server) = (&loader, &server);
            scope.spawn(move || {
                for number in 0..20 {
                    let request = loader.load(server.url(&format!("/{}.png", (thread + number) % 5)));
                    if number % 4 == 0 {
                        drop(request);
                    } else {
                        assert_eq!(request.wait().unwrap().image.width(), 4);
                    }
                }
            });
        }
    });
}
