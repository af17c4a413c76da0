#![doc = include_str!("../README.md")]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs, missing_debug_implementations, rust_2018_idioms)]

pub use sdd_sys as sys;

mod allocator;
mod batch;
mod batch_builder;
mod batch_counts;
mod border;
mod bytes;
mod cache;
mod cache_builder;
mod callbacks;
mod coder;
mod coder_calls;
mod colour;
#[cfg(doctest)]
mod compile_fail;
mod cookies;
mod credential;
mod decode;
mod delivery;
mod download_request;
mod downloader;
mod downloader_builder;
mod encode;
mod entry;
mod error;
mod events;
mod gain_map;
mod image;
mod image_info;
mod limits;
mod listing;
mod load_request;
mod loader;
mod loader_builder;
mod modifiers;
mod network;
mod numbers;
mod observer;
mod pixels;
mod plain;
mod prefetch;
mod readiness;
mod report;
mod request;
mod response;
mod results;
mod shared;
mod statistics;
mod status;
mod stores;
mod tensor;
mod text;
mod transfer;
mod transform;
mod transport;

pub use allocator::{Allocator, PixelAllocator};
pub use batch::{Batch, BatchItem, BatchOutput};
pub use batch_builder::{BatchBuilder, BatchSource};
pub use batch_counts::{BatchHost, BatchOutcome, BatchStatistics};
pub use bytes::Bytes;
pub use cache::{Cache, Trim};
pub use cache_builder::{CacheBuilder, Durability};
pub use callbacks::{Callbacks, Progress};
pub use coder::{
    load_coder, register_coder, unregister_coder, CanDecode, Coder, CoderError, CoderTask, Decoder, Estimate, Frame,
    Frames, Preview,
};
pub use colour::{Colour, ColourKind, ImageColour};
pub use cookies::Cookie;
pub use credential::{AuthSchemes, Credential};
pub use decode::{DecodeOptions, Fit, Scaling};
pub use delivery::{Delivery, Settings};
pub use download_request::DownloadRequest;
pub use downloader::{Downloader, Order};
pub use downloader_builder::DownloaderBuilder;
pub use encode::{Chroma, EncodeOptions};
pub use entry::{CacheItem, Query, Wants};
pub use error::{Error, Failure};
pub use events::{Event, Events};
pub use gain_map::{GainMapInfo, GainMapKind};
pub use image::{Image, ImageFormat, PixelFormat};
pub use image_info::{ImageInfo, ImageText, Metadata};
pub use limits::Limits;
pub use listing::{CacheEntry, EntryState, Listing};
pub use load_request::LoadRequest;
pub use loader::Loader;
pub use loader_builder::{FailPolicy, LoaderBuilder};
pub use modifiers::{Draft, Modifiers, Refused, ResponseChange};
pub use network::{HttpVersion, IpVersion, Network, TlsVersion};
pub use numbers::{Levels, Options, Origin, Priority, Redirects, Stage};
pub use observer::{LogLevel, Notice, NoticeKind};
pub use pixels::Pixels;
pub use prefetch::{PrefetchList, PrefetchProgress, PrefetchReport};
pub use report::{Body, Metrics, Outcome, Output, Picture, Report};
pub use request::{Request, RequestInfo, RequestState};
pub use response::Response;
pub use results::Results;
pub use statistics::{set_decode_memory_limit, CacheStatistics, ProcessStatistics, Statistics};
pub use status::Status;
pub use stores::{EntryStore, MemoryStore, StoreError};
pub use tensor::{Slot, Tensor, TensorBatch};
pub use transfer::TransferOptions;
pub use transform::{Corners, CustomTransform, Transform};
pub use transport::{Transfer, TransferRequest, Transport};

/// Returns the version of the loaded library, such as "0.4.0".
///
/// ```
/// assert!(sdd::version().starts_with("0."));
/// ```
pub fn version() -> &'static str {
    unsafe { text::borrowed(sys::sdd_version_string()) } // SAFETY: a static string
}
