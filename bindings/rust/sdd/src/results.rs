//! The outcomes of many requests, in the order in which they end.

use crate::border::{guard, is_inside_callback, lock};
use crate::report::Output;
use crate::shared::{drive, STEP};
use crate::{sys, Downloader, Error, Request, Status};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::process;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The outcomes of many requests as they end, as a stream, or as an iterator that waits. Each item is the index of the
/// request and its outcome. At most [`look_ahead`](Results::look_ahead) requests are under way or wait to be taken;
/// the next one is submitted when an outcome is taken. Dropping it cancels those under way.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let loader = sdd::Loader::without_cache()?;
/// let urls: Vec<_> = (0..20).map(|number| server.url(&format!("/{number}.png"))).collect();
/// let mut seen = [false; 20];
/// for (index, outcome) in loader.load_all(urls) {
///     assert_eq!(outcome?.report.url, server.url(&format!("/{index}.png")));
///     seen[index] = true;
/// }
/// assert_eq!(seen, [true; 20]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[must_use = "the requests are cancelled when their results are dropped"]
pub struct Results<T> {
    submit: Box<dyn FnMut() -> Option<Request<T>> + Send>,
    inbox: Arc<Inbox<T>>,
    /// The tokens of requests whose outcome has not been taken.
    running: HashMap<usize, sys::sdd_token>,
    look_ahead: usize,
    next_index: usize,
    has_more: bool,
    process: u32,
    /// As that of a request.
    driver: Option<Downloader>,
}

struct Inbox<T> {
    state: Mutex<InboxState<T>>,
    changed: Condvar,
}

struct InboxState<T> {
    outcomes: VecDeque<Item<T>>,
    waker: Option<Waker>,
}

type Item<T> = (usize, Result<T, Error>);

impl<T: Output> Results<T> {
    pub(crate) fn of(downloader: &Downloader, submit: impl FnMut() -> Option<Request<T>> + Send + 'static) -> Self {
        let state = Mutex::new(InboxState { outcomes: VecDeque::new(), waker: None });
        Results {
            submit: Box::new(submit),
            inbox: Arc::new(Inbox { state, changed: Condvar::new() }),
            running: HashMap::new(),
            look_ahead: 64,
            next_index: 0,
            has_more: true,
            process: process::id(),
            driver: downloader.driver(),
        }
    }

    /// Sets how many requests may be under way or wait to be taken: at least 1; initially 64.
    pub fn look_ahead(mut self, count: usize) -> Self {
        self.look_ahead = count.max(1);
        self
    }

    /// Takes the next outcome; `None` after the last one.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Item<T>>> {
        if self.process != process::id() {
            return Poll::Ready(self.forked());
        }
        self.fill();
        if self.running.is_empty() {
            return Poll::Ready(None);
        }
        let waker = context.waker().clone(); // cloned and dropped without the lock: its code is the application's
        let mut state = lock(&self.inbox.state);
        match state.outcomes.pop_front() {
            Some(item) => {
                drop(state);
                Poll::Ready(Some(self.taken(item)))
            }
            None => {
                let previous = state.waker.replace(waker);
                drop(state);
                drop(previous);
                Poll::Pending
            }
        }
    }

    /// Submits requests up to the look-ahead.
    fn fill(&mut self) {
        while self.has_more && self.running.len() < self.look_ahead {
            match (self.submit)() {
                Some(request) => {
                    let (index, inbox) = (self.next_index, self.inbox.clone());
                    self.running.insert(index, request.token());
                    self.next_index += 1;
                    request.on_end(move |outcome| inbox.add((index, outcome)));
                }
                None => self.has_more = false,
            }
        }
    }

    fn taken(&mut self, item: Item<T>) -> Item<T> {
        self.running.remove(&item.0);
        item
    }

    /// In the child of a fork, ends the parent's requests with an error.
    fn forked(&mut self) -> Option<Item<T>> {
        self.has_more = false;
        let index = *self.running.keys().min()?;
        Some(self.taken((index, Err(Error::of_status(sys::SDD_ERROR_FORKED)))))
    }
}

impl<T: Output> Iterator for Results<T> {
    type Item = Item<T>;

    /// Waits for the next outcome. Inside a callback of the library, where it could wait for itself, an outcome that is
    /// not there yet is an error, [`Status::WOULD_DEADLOCK`](crate::Status::WOULD_DEADLOCK), and its request is
    /// cancelled.
    fn next(&mut self) -> Option<Item<T>> {
        if self.process != process::id() {
            return self.forked();
        }
        self.fill();
        let first = *self.running.keys().min()?;
        match self.inbox.wait(self.driver.as_ref()) {
            Ok(item) => Some(self.taken(item)),
            Err(error) => {
                self.has_more = false;
                self.cancel();
                self.running.clear();
                Some((first, Err(error)))
            }
        }
    }
}

#[cfg(feature = "futures-core")]
impl<T: Output> futures_core::Stream for Results<T> {
    type Item = Item<T>;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item<T>>> {
        Results::poll_next(self.get_mut(), context)
    }
}

impl<T> Results<T> {
    fn cancel(&self) {
        for &token in self.running.values() {
            unsafe { sys::sdd_cancel(token) }; // SAFETY: any number is allowed; one that has ended is ignored
        }
    }
}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<T> Inbox<T> {
    fn add(&self, item: Item<T>) {
        let mut state = lock(&self.state);
        state.outcomes.push_back(item);
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        if let Some(waker) = waker {
            let _ = guard(|| waker.wake());
        }
    }

    /// Waits for an item; an error inside a callback, if there is none.
    fn wait(&self, driver: Option<&Downloader>) -> Result<Item<T>, Error> {
        let mut state = lock(&self.state);
        loop {
            if let Some(item) = state.outcomes.pop_front() {
                return Ok(item);
            }
            if is_inside_callback() {
                return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
            }
            state = match driver {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(driver) => {
                    drop(state);
                    let driven = drive(driver, None);
                    match driven {
                        Err(error) if error.status() != Status::BUSY => return Err(error),
                        Err(_) => {
                            let waited = self.changed.wait_timeout(lock(&self.state), STEP);
                            waited.unwrap_or_else(PoisonError::into_inner).0
                        }
                        Ok(()) => lock(&self.state),
                    }
                }
            };
        }
    }
}

impl<T> fmt::Debug for Results<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Results({} running)", self.running.len())
    }
}
