//! Pictures that are decoded by processes of their own.

mod server;

use sdd::{Downloader, Loader};
use server::Server;

#[test]
fn pixels_are_those_of_this_process() {
    let server = Server::new();
    let load = |downloader: Downloader| {
        let loader = Loader::builder().no_cache().downloader(&downloader).build().unwrap();
        loader.load(server.url("/7.png")).wait().unwrap().image
    };
    let here = load(Downloader::new().unwrap());
    let all = load(Downloader::builder().all_decoding_in_process().build().unwrap());
    let isolated = load(Downloader::builder().isolated_decoding().build().unwrap());
    assert_eq!((here.width(), here.height()), (isolated.width(), isolated.height()));
    for y in 0..here.height() {
        assert_eq!(here.pixels().unwrap().row(y as _), all.pixels().unwrap().row(y as _));
        assert_eq!(here.pixels().unwrap().row(y as _), isolated.pixels().unwrap().row(y as _));
    }
}
