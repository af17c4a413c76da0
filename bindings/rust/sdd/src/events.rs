//! The events of one request, as a stream.

use crate::report::Output;
use crate::shared::{Arrived, Next};
use crate::{Error, Image, ImageInfo, Picture, Progress, Request};
use std::fmt;
use std::task::{Context, Poll};

/// An event of a request: see [`Events`].
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// use sdd::Event;
///
/// let events = sdd::Loader::without_cache()?.events(server.url("/a.png"));
/// let widths = events.filter_map(|event| match event {
///     Event::Completed(outcome) => outcome.ok().map(|picture| picture.image.width()),
///     _ => None,
/// });
/// assert_eq!(widths.collect::<Vec<_>>(), [4]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<T> {
    /// More of the body has arrived.
    Progress(Progress),
    /// The kind of picture is known: once, before any preview.
    Facts(ImageInfo),
    /// An image of what has arrived so far: of
    /// [`Loader::events_with_previews`](crate::Loader::events_with_previews) and
    /// [`Downloader::events_with_previews`](crate::Downloader::events_with_previews) alone.
    Preview(Image),
    /// The cached picture, with [`Options::REFRESH_CACHED`](crate::Options::REFRESH_CACHED).
    Cached(Picture),
    /// The outcome: the last event.
    Completed(Result<T, Error>),
}

/// The events of one request, as a stream, or as an iterator that waits. Dropping it cancels the request. A progress or
/// preview that is not taken in time is replaced by the next one.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/a.png");
/// use sdd::Event;
///
/// let loader = sdd::Loader::without_cache()?;
/// let mut received = 0;
/// for event in loader.events(url) {
///     match event {
///         Event::Progress(progress) => received = progress.received,
///         Event::Completed(outcome) => assert_eq!(outcome?.bytes.unwrap().len() as u64, received),
///         _ => {}
///     }
/// }
/// assert!(received > 0);
/// # Ok::<(), sdd::Error>(())
/// ```
#[must_use = "the request is cancelled when its events are dropped"]
pub struct Events<T> {
    request: Request<T>,
    is_over: bool,
}

impl<T: Output> Events<T> {
    pub(crate) fn of(request: Request<T>) -> Self {
        Events { request, is_over: false }
    }

    /// Returns the request, to cancel it or to change its priority.
    pub fn request(&self) -> &Request<T> {
        &self.request
    }

    /// Takes the next event; `None` after [`Event::Completed`].
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        self.request.shared.poll(context.waker()).map(|next| Some(self.event(next)))
    }

    fn event(&mut self, next: Next) -> Event<T> {
        match next {
            Next::Arrived(Arrived::Progress(progress)) => Event::Progress(progress),
            Next::Arrived(Arrived::Facts(facts)) => Event::Facts(facts),
            Next::Arrived(Arrived::Preview(image)) => Event::Preview(image),
            Next::Arrived(Arrived::Cached(outcome)) => match outcome.into_picture() {
                Ok(picture) => Event::Cached(picture),
                Err(error) => self.completed(Err(error)),
            },
            Next::Ended(outcome) => {
                let outcome = self.request.taken(outcome);
                self.completed(outcome)
            }
            Next::Refused(error) => self.completed(Err(error)),
        }
    }

    fn completed(&mut self, outcome: Result<T, Error>) -> Event<T> {
        self.is_over = true;
        Event::Completed(outcome)
    }
}

impl<T: Output> Iterator for Events<T> {
    type Item = Event<T>;

    /// Waits for the next event.
    fn next(&mut self) -> Option<Event<T>> {
        if self.is_over {
            return None;
        }
        let next = self.request.shared.wait(None, self.request.driver.as_ref())?;
        Some(self.event(next))
    }
}

#[cfg(feature = "futures-core")]
impl<T: Output> futures_core::Stream for Events<T> {
    type Item = Event<T>;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        Events::poll_next(self.get_mut(), context)
    }
}

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Events({:?})", self.request)
    }
}
