//! Requests under way: futures that cancel when they are dropped.

use crate::callbacks::Task;
use crate::error::check;
use crate::numbers::{microseconds, numbers};
use crate::report::{Output, Sealed};
use crate::shared::{Ended, Next, Shared};
use crate::{sys, text, Downloader, Error, Priority, Response};
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A request under way: a future of its outcome. Dropping it cancels the request; [`detach`](Request::detach) lets it
/// go on. It needs no particular executor, and runs whether or not it is polled. While it is held, its loader and its
/// downloader live on.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let (url, other) = (server.url("/a.png"), server.url("/b.png"));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// let loader = sdd::Loader::without_cache()?;
/// # runtime.block_on(async {
/// let picture = loader.load(url).await?;
/// # assert_eq!(picture.image.width(), 4);
/// # Ok::<(), sdd::Error>(())
/// # })?;
/// let picture = loader.load(other).wait()?; // without an executor
/// # assert_eq!(picture.image.width(), 4);
/// # Ok::<(), sdd::Error>(())
/// ```
#[must_use = "a request is cancelled when it is dropped"]
pub struct Request<T> {
    pub(crate) shared: Arc<Shared>,
    token: sys::sdd_token,
    is_taken: bool,
    /// The downloader, if its events wait for the application: a thread that waits takes them.
    pub(crate) driver: Option<Downloader>,
    /// What the request needs until it ends: its loader, downloader or cache.
    _owners: Owners,
    output: PhantomData<fn() -> T>,
}

/// A handle that lives as long as a request is held; `None` for a shared object, which lives as long as the process.
pub(crate) type Owner = Option<Arc<dyn Any + Send + Sync>>;
pub(crate) type Owners = [Owner; 2];

impl<T: Output> Request<T> {
    /// Waits for the outcome on this thread. With [`Delivery::Application`](crate::Delivery::Application) it takes the
    /// events of the downloader meanwhile, and calls their closures. Inside a callback of the library, where it could wait for itself, it fails
    /// with [`Status::WOULD_DEADLOCK`](crate::Status::WOULD_DEADLOCK) if the request has not ended.
    pub fn wait(mut self) -> Result<T, Error> {
        loop {
            match self.shared.wait(None, self.driver.as_ref()) {
                Some(Next::Ended(outcome)) => return self.taken(outcome),
                Some(Next::Refused(error)) => return Err(error),
                Some(Next::Arrived(_)) | None => {}
            }
        }
    }

    /// Waits at most so long; `None` if the request goes on.
    pub fn wait_timeout(&mut self, limit: Duration) -> Option<Result<T, Error>> {
        match self.shared.wait(Some(limit), self.driver.as_ref())? {
            Next::Ended(outcome) => Some(self.taken(outcome)),
            Next::Refused(error) => Some(Err(error)),
            Next::Arrived(_) => None,
        }
    }

    /// Lets the request go on until its loader or downloader is dropped, and calls a closure with the outcome: on the
    /// callback thread of the downloader, or at once on this thread if the request has ended.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// # let url = server.url("/a.png");
    /// let loader = sdd::Loader::without_cache()?;
    /// let (sender, widths) = std::sync::mpsc::channel();
    /// loader.load(url).on_end(move |outcome| {
    ///     let _ = sender.send(outcome.map(|picture| picture.image.width()));
    /// });
    /// assert_eq!(widths.recv().unwrap()?, 4);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn on_end(mut self, function: impl FnOnce(Result<T, Error>) + Send + 'static) {
        self.is_taken = true;
        self.shared.on_end(move |outcome| function(converted(outcome)));
    }

    pub(crate) fn taken(&mut self, outcome: Ended) -> Result<T, Error> {
        self.is_taken = true;
        converted(outcome)
    }
}

fn converted<T: Output>(outcome: Ended) -> Result<T, Error> {
    outcome.and_then(|outcome| T::of(Sealed(outcome)))
}

impl<T> Request<T> {
    /// Returns the number of the request, which is used once in a process; 0 for one that could not be submitted.
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Cancels the request, which then ends with [`Error::Cancelled`]. An error if it has ended.
    pub fn cancel(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_cancel(self.token) }) // SAFETY: any number is allowed
    }

    /// Lets the request go on until its loader or downloader is dropped, without anyone to take its outcome.
    pub fn detach(mut self) {
        self.is_taken = true;
    }

    /// Returns true once there is an outcome: neither `await` nor [`wait`](Request::wait) then takes any time.
    pub fn has_ended(&self) -> bool {
        self.shared.has_ended()
    }

    /// Changes the priority of the request, waiting or running.
    pub fn set_priority(&self, priority: Priority) -> Result<(), Error> {
        check(unsafe { sys::sdd_set_priority(self.token, priority as i32) }) // SAFETY: any number is allowed
    }

    /// Returns the state of the request; an error if it has ended.
    pub fn info(&self) -> Result<RequestInfo, Error> {
        let mut info = sys::sized!(sdd_token_info);
        check(unsafe { sys::sdd_token_get_info(self.token, &mut info) })?; // SAFETY: filled as struct_size says
        Ok(RequestInfo {
            state: RequestState::of(info.state).unwrap_or_default(),
            priority: Priority::of(info.priority).unwrap_or_default(),
            effective_priority: Priority::of(info.effective_priority).unwrap_or_default(),
            http_status: info.http_status,
            received: u64::try_from(info.received_bytes).unwrap_or(0),
            expected: u64::try_from(info.expected_bytes).ok(),
            waiting: microseconds(info.waiting_us),
            running: microseconds(info.running_us),
        })
    }

    /// Returns the URL of the request, as its modifier has left it; an error if it has ended.
    pub fn url(&self) -> Result<String, Error> {
        // SAFETY: at most `capacity` bytes are written before the call returns.
        text::read(|buffer, capacity, length| unsafe { sys::sdd_token_get_url(self.token, buffer, capacity, length) })
    }

    /// Returns the response of the request while it is under way, once its header has arrived.
    pub fn response(&self) -> Option<Response> {
        let mut response = std::ptr::null_mut();
        // SAFETY: on success the response is ours; otherwise it stays NULL.
        unsafe {
            let status = sys::sdd_token_get_response(self.token, &mut response);
            Response::owned(response).filter(|_| status == sys::SDD_OK)
        }
    }
}

numbers! {
    /// The stage at which a request is.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let request = sdd::Downloader::shared().download(server.url("/hold/a.png"));
    /// server.wait_requested(1);
    /// assert_eq!(request.info()?.state, sdd::RequestState::Running);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    RequestState: Waiting {
        /// Waiting for its turn.
        Waiting = SDD_STATE_WAITING,
        /// On the network.
        Running = SDD_STATE_RUNNING,
        /// The body is complete and waits for a decode thread.
        Received = SDD_STATE_RECEIVED,
        /// Being decoded.
        Decoding = SDD_STATE_DECODING,
    }
}

/// The state of a request that is under way: [`Request::info`].
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let request = sdd::Downloader::shared().download(server.url("/hold/a.png"));
/// request.set_priority(sdd::Priority::High)?;
/// let info = request.info()?;
/// assert_eq!((info.priority, info.http_status, info.received), (sdd::Priority::High, 0, 0));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestInfo {
    /// The stage.
    pub state: RequestState,
    /// The priority of this request.
    pub priority: Priority,
    /// The priority of its transfer, which several requests may share.
    pub effective_priority: Priority,
    /// The HTTP status; 0 before there is a response.
    pub http_status: i32,
    /// Bytes of the body so far.
    pub received: u64,
    /// Bytes of the body in all, if known.
    pub expected: Option<u64>,
    /// From submission to the start of the transfer, or until now.
    pub waiting: Duration,
    /// From the start of the transfer to its end, or until now.
    pub running: Duration,
}

impl<T: Output> Future for Request<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match self.shared.poll(context.waker()) {
                Poll::Ready(Next::Ended(outcome)) => return Poll::Ready(self.taken(outcome)),
                Poll::Ready(Next::Refused(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Next::Arrived(_)) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<T> Drop for Request<T> {
    fn drop(&mut self) {
        if !self.is_taken && self.token != 0 {
            unsafe { sys::sdd_cancel(self.token) }; // SAFETY: any number is allowed; one that has ended is ignored
        }
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Request({})", self.token)
    }
}

/// Gives a task to the library, by a call that returns a token. An error of the call becomes the outcome.
pub(crate) fn submit<T: Output>(
    task: Task,
    downloader: &Downloader,
    owners: Owners,
    call: impl FnOnce(*mut c_void) -> Result<sys::sdd_token, Error>,
) -> Request<T> {
    let shared = task.shared.clone();
    let task = Box::into_raw(Box::new(task));
    let token = call(task.cast()).unwrap_or_else(|error| {
        drop(unsafe { Box::from_raw(task) }); // SAFETY: not accepted, so it stayed ours
        shared.end(Err(error));
        0
    });
    let driver = downloader.driver();
    Request { shared, token, is_taken: false, driver, _owners: owners, output: PhantomData }
}
