//! Which types may be sent to, or shared with, other threads. `src/compile_fail.rs` has those that may not.

use sdd::*;

fn send_and_sync<T: Send + Sync>() {}
fn send<T: Send>() {}

#[test]
fn types_are_send_and_sync() {
    send_and_sync::<(Downloader, Loader, Cache, Request<Picture>, Request<Body>, Events<Picture>)>();
    send_and_sync::<(Image, Pixels<'static>, Bytes, Response, Picture, Body, Report, Error, Event<Picture>)>();
    send_and_sync::<(DownloadRequest, LoadRequest, DownloaderBuilder, LoaderBuilder, CacheBuilder, Network, Limits)>();
    send_and_sync::<(Modifiers, Transform, Credential, Cookie, CacheItem, Query, DecodeOptions, EncodeOptions)>();
    send_and_sync::<(Transfer, Notice, Statistics, CacheStatistics, ImageInfo, PrefetchReport)>();
    send_and_sync::<(Batch<Image>, Batch<Bytes>, TensorBatch<'static>, Slot, BatchItem<Image>, Tensor, Allocator)>();
    send::<(BatchBuilder, Callbacks, PrefetchList, Results<Picture>)>();
}
