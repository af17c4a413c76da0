//! A process that exits with loads under way: by returning from `main`, by `exit`, and in a callback. The test runs its
//! own program again for each.

mod server;

use sdd::*;
use server::Server;
use std::process::{exit, Command};
use std::sync::mpsc::channel;

const WAYS: [&str; 6] = ["return", "exit", "in a callback", "statics", "batch", "stream"];

/// What is never dropped.
static KEPT: std::sync::Mutex<Vec<Box<dyn std::any::Any + Send>>> = std::sync::Mutex::new(Vec::new());

fn run(way: &str) {
    let server = Server::new();
    let (downloader, loader) = (Downloader::new().unwrap(), Loader::without_cache().unwrap());
    let held = |count: u32| -> Vec<_> { (0..count).map(|number| server.url(&format!("/hold/{number}.png"))).collect() };
    for url in held(20) {
        loader.load(&*url).detach();
        downloader.download(url).on_end(|_| panic!("it has not ended"));
    }
    match way {
        "return" => std::mem::forget((downloader, loader)),
        "exit" => exit(0),
        "in a callback" => {
            let (_sender, never) = channel::<()>();
            let own = Downloader::new().unwrap(); // the places of the others are taken
            own.download(server.url("/a.png")).on_end(|_| exit(0));
            never.recv().unwrap();
        }
        "statics" => {
            let request = loader.load(server.url("/hold/kept.png"));
            KEPT.lock().unwrap().push(Box::new((downloader, loader, request)));
        }
        "batch" => {
            let batch = downloader.batch(held(10)).tensor(&Tensor::new(2, 2), vec![0; 120]).unwrap();
            std::mem::forget((batch, downloader));
            exit(0);
        }
        "stream" => {
            struct Nothing;
            impl std::task::Wake for Nothing {
                fn wake(self: std::sync::Arc<Self>) {}
            }
            let mut batch = downloader.batch(held(10)).images().unwrap();
            let waker = std::task::Waker::from(std::sync::Arc::new(Nothing));
            assert!(batch.poll_next(&mut std::task::Context::from_waker(&waker)).is_pending());
            exit(0);
        }
        _ => panic!("{way}"),
    }
}

#[test]
fn the_process_exits_with_loads_under_way() {
    if let Ok(way) = std::env::var("SDD_TEST_EXIT") {
        run(&way);
        return;
    }
    for way in WAYS {
        let mut program = Command::new(std::env::current_exe().unwrap());
        let output = program.env("SDD_TEST_EXIT", way).env_remove("SDD_LOG").output().unwrap();
        assert!(output.status.success(), "{way}: {output:?}");
    }
}
