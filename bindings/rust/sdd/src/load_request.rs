//! Loads: requests for pictures through a loader's cache.

use crate::credential::pointer;
use crate::error::accepted;
use crate::plain::PlainLoadRequest;
use crate::text::Texts;
use crate::transfer::transfer_setters;
use crate::transform::LentTransforms;
use crate::{sys, DecodeOptions, Error, Levels, Options, TransferOptions, Transform};
use std::fmt;

/// A load with its settings. A URL alone is one, too: methods that take a load take `&str` and `String`.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// use sdd::{DecodeOptions, LoadRequest, Loader, Transform};
///
/// let request = LoadRequest::new(server.url("/missing"))
///     .alternative(&server.url("/a.png"))
///     .decode(DecodeOptions::new().inside(2, 2))
///     .transform(Transform::flip_horizontal());
/// let picture = Loader::without_cache()?.load(request).wait()?;
/// assert!(picture.image.width() <= 2 && picture.image.height() <= 2);
/// assert_eq!(picture.report.sources[0].http_status, 404);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct LoadRequest {
    pub(crate) plain: PlainLoadRequest,
    url: String,
    options: Options,
    decode: Option<DecodeOptions>,
    transforms: Vec<Transform>,
    alternatives: Vec<String>,
    query: Option<Levels>,
    store: Option<Levels>,
    original_query: Option<Levels>,
    original_store: Option<Levels>,
    transfer: TransferOptions,
}

impl LoadRequest {
    /// Returns a load of a URL without any setting.
    pub fn new(url: impl Into<String>) -> Self {
        LoadRequest { url: url.into(), ..Default::default() }
    }

    /// Adds option bits.
    pub fn options(mut self, options: Options) -> Self {
        self.options |= options;
        self
    }

    /// Sets the form in which the picture is wanted.
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = Some(options);
        self
    }

    /// Adds a transform, applied after those before it.
    pub fn transform(mut self, transform: Transform) -> Self {
        self.transforms.push(transform);
        self
    }

    /// Adds another URL of the same picture, tried if those before it fail; at most 64.
    pub fn alternative(mut self, url: &str) -> Self {
        self.alternatives.push(url.into());
        self
    }

    /// Sets where the picture in its wanted form is looked for, and where it is stored; initially all levels.
    pub fn levels(mut self, query: Levels, store: Levels) -> Self {
        (self.query, self.store) = (Some(query), Some(store));
        self
    }

    /// Sets where the original is looked for, and where it is stored; initially the disk.
    pub fn original_levels(mut self, query: Levels, store: Levels) -> Self {
        (self.original_query, self.original_store) = (Some(query), Some(store));
        self
    }

    transfer_setters!(transfer);

    pub(crate) fn refreshes_cached(&self) -> bool {
        self.options.0 & sys::SDD_OPTION_REFRESH_CACHED != 0
    }

    /// Passes the load to `body` as a C struct, which lives until `body` returns, with all that it points to. `body`
    /// returns the token.
    pub(crate) fn lend(
        &self,
        body: impl FnOnce(&mut sys::sdd_load_request) -> sys::sdd_token,
    ) -> Result<sys::sdd_token, Error> {
        let mut texts = Texts::default();
        let mut request: sys::sdd_load_request = self.plain.lend(&mut texts)?;
        request.url = texts.add(&self.url)?;
        request.options = self.options.0;
        let decode = self.decode.as_ref().map(DecodeOptions::lend);
        request.decode = pointer(&decode);
        let mut transforms = LentTransforms::new(&self.transforms, &mut texts)?;
        (request.transforms, request.transform_count) = (transforms.list().as_ptr(), transforms.list().len());
        let alternatives = texts.add_list(&self.alternatives)?;
        (request.alternatives, request.alternative_count) = (alternatives.as_ptr(), alternatives.len());
        let number = |levels: Option<Levels>| levels.map_or(0, |levels| levels as i32);
        request.query = number(self.query);
        request.store = number(self.store);
        request.original_query = number(self.original_query);
        request.original_store = number(self.original_store);
        let token = self.transfer.lend(&mut texts, |transfer| {
            request.transfer = transfer;
            accepted(body(&mut request))
        })?;
        transforms.taken();
        Ok(token)
    }
}

impl From<&str> for LoadRequest {
    fn from(url: &str) -> Self {
        LoadRequest::new(url)
    }
}

impl From<String> for LoadRequest {
    fn from(url: String) -> Self {
        LoadRequest::new(url)
    }
}

impl From<&LoadRequest> for LoadRequest {
    fn from(request: &LoadRequest) -> Self {
        request.clone()
    }
}

impl fmt::Debug for LoadRequest {
    /// Shows no more, since URL and header fields may contain secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LoadRequest(…)")
    }
}
