//! The state of one request, shared by its handle and by the library's callbacks.

use crate::border::{guard, is_inside_callback, lock};
use crate::report::Delivered;
use crate::{sys, Downloader, Error, Image, ImageInfo, Progress, Status};
use std::collections::VecDeque;
use std::process;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

pub(crate) type Ended = Result<Delivered, Error>;

/// The state of one request.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    process: u32,
}

#[derive(Default)]
struct State {
    /// The outcome, until it is taken.
    outcome: Option<Ended>,
    has_ended: bool,
    waker: Option<Waker>,
    /// Receives the outcome in place of `outcome`.
    on_end: Option<Box<dyn FnOnce(Ended) + Send>>,
    /// The message of a closure's panic.
    panic: Option<String>,
    /// Events that wait to be taken, if the application takes events.
    events: Option<VecDeque<Arrived>>,
}

/// An event before the end.
pub(crate) enum Arrived {
    Progress(Progress),
    Facts(ImageInfo),
    Preview(Image),
    Cached(Delivered),
}

impl Arrived {
    fn is_progress(&self) -> bool {
        matches!(self, Arrived::Progress(_))
    }

    fn is_preview(&self) -> bool {
        matches!(self, Arrived::Preview(_))
    }
}

pub(crate) enum Next {
    Arrived(Arrived),
    Ended(Ended),
    /// The caller cannot take the outcome here; the request goes on.
    Refused(Error),
}

impl Default for Shared {
    fn default() -> Self {
        Shared { state: Mutex::default(), changed: Condvar::new(), process: process::id() }
    }
}

impl Shared {
    pub(crate) fn with_events() -> Self {
        let shared = Self::default();
        lock(&shared.state).events = Some(VecDeque::new());
        shared
    }

    // Called on threads of the library.

    /// Ends the request; later calls do nothing.
    pub(crate) fn end(&self, outcome: Ended) {
        let mut state = lock(&self.state);
        if state.has_ended {
            return;
        }
        state.has_ended = true;
        let outcome = match state.panic.take() {
            Some(message) => Err(Error::panicked(&message)),
            None => outcome,
        };
        let on_end = state.on_end.take();
        let outcome = match &on_end {
            Some(_) => Some(outcome),
            None => {
                state.outcome = Some(outcome);
                None
            }
        };
        self.notify(state);
        if let (Some(on_end), Some(outcome)) = (on_end, outcome) {
            let _ = guard(|| on_end(outcome));
        }
    }

    /// Adds an event. Of progress and previews the newest replaces one that was not taken in time.
    pub(crate) fn arrived(&self, event: Arrived) {
        let mut state = lock(&self.state);
        if let Some(events) = &mut state.events {
            let is_replaced = |waiting: &Arrived| {
                let (progress, preview) = (Arrived::is_progress, Arrived::is_preview);
                progress(waiting) && progress(&event) || preview(waiting) && preview(&event)
            };
            let replaced = events.iter().position(is_replaced).and_then(|index| events.remove(index));
            events.push_back(event);
            self.notify(state);
            drop(replaced);
        }
    }

    /// Records that a closure has panicked. The request then ends with an error that says so.
    pub(crate) fn panicked(&self, message: String) {
        lock(&self.state).panic.get_or_insert(message);
    }

    pub(crate) fn has_panicked(&self) -> bool {
        lock(&self.state).panic.is_some()
    }

    /// Wakes whoever waits. Wakers are code of the application, so the lock is released first.
    fn notify(&self, mut state: MutexGuard<'_, State>) {
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        if let Some(waker) = waker {
            let _ = guard(|| waker.wake());
        }
    }

    // Called by the application.

    /// Calls a closure with the outcome: at once if the request has ended, otherwise when it ends.
    pub(crate) fn on_end(&self, function: impl FnOnce(Ended) + Send + 'static) {
        if let Some(error) = self.forked() {
            return function(Err(error));
        }
        let mut state = lock(&self.state);
        if state.has_ended {
            let outcome = state.take_outcome();
            drop(state);
            function(outcome);
        } else {
            state.on_end = Some(Box::new(function));
        }
    }

    /// Returns true if the outcome, or an error in its place, can be taken without waiting.
    pub(crate) fn has_ended(&self) -> bool {
        self.forked().is_some() || lock(&self.state).has_ended
    }

    /// Takes the next event or the outcome; otherwise `waker` is woken when there is one.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Next> {
        if let Some(error) = self.forked() {
            return Poll::Ready(Next::Refused(error));
        }
        let waker = waker.clone(); // cloned and dropped without the lock: its code is the application's
        let mut state = lock(&self.state);
        match state.next() {
            Some(next) => Poll::Ready(next),
            None => {
                let previous = state.waker.replace(waker);
                drop(state);
                drop(previous);
                Poll::Pending
            }
        }
    }

    /// Waits for the next event or the outcome; `None` after the time limit. `driver` is a downloader whose events are
    /// to be taken meanwhile.
    pub(crate) fn wait(&self, limit: Option<Duration>, driver: Option<&Downloader>) -> Option<Next> {
        if let Some(error) = self.forked() {
            return Some(Next::Refused(error));
        }
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = lock(&self.state);
        loop {
            if let Some(next) = state.next() {
                return Some(next);
            }
            if is_inside_callback() {
                return Some(Next::Refused(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK)));
            }
            let left = match end {
                Some(end) => Some(end.checked_duration_since(Instant::now())?),
                None => None,
            };
            state = match driver {
                Some(driver) => {
                    drop(state);
                    match drive(driver, left) {
                        Ok(()) => lock(&self.state),
                        Err(error) if error.status() == Status::BUSY => {
                            let left = left.unwrap_or(STEP).min(STEP);
                            let waited = self.changed.wait_timeout(lock(&self.state), left);
                            waited.unwrap_or_else(PoisonError::into_inner).0
                        }
                        Err(error) => return Some(Next::Refused(error)),
                    }
                }
                None => match left {
                    None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                },
            };
        }
    }

    /// Returns the error of a request of the parent process, which never ends in the child of a fork.
    fn forked(&self) -> Option<Error> {
        (self.process != process::id()).then(|| Error::of_status(sys::SDD_ERROR_FORKED))
    }
}

/// The longest that a thread waits for events before it looks again whether another thread has taken its own.
pub(crate) const STEP: Duration = Duration::from_millis(20);

/// Takes the events of a downloader for a while. An error with [`Status::BUSY`] if another thread does.
pub(crate) fn drive(downloader: &Downloader, left: Option<Duration>) -> Result<(), Error> {
    downloader.wait_events(left.unwrap_or(STEP).min(STEP)).map(drop)
}

impl State {
    fn next(&mut self) -> Option<Next> {
        if let Some(event) = self.events.as_mut().and_then(VecDeque::pop_front) {
            return Some(Next::Arrived(event));
        }
        self.has_ended.then(|| Next::Ended(self.take_outcome()))
    }

    fn take_outcome(&mut self) -> Ended {
        // It was taken before if a future is polled after its end.
        self.outcome.take().unwrap_or_else(|| Err(Error::of_status(sys::SDD_ERROR_NOT_FOUND)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelFormat;

    #[test]
    fn events_that_are_not_taken_do_not_pile_up() {
        let shared = Shared::with_events();
        for width in 1..100 {
            shared.arrived(Arrived::Progress(Progress { received: width.into(), expected: None }));
            let pixels = vec![0; width as usize];
            let image = Image::from_pixels(width, 1, PixelFormat::Grey8, &pixels, width as usize).unwrap();
            shared.arrived(Arrived::Preview(image));
        }
        shared.end(Err(Error::of_status(sys::SDD_ERROR_CANCELLED)));
        assert!(
            matches!(shared.wait(None, None), Some(Next::Arrived(Arrived::Progress(progress))) if progress.received == 99)
        );
        assert!(matches!(shared.wait(None, None), Some(Next::Arrived(Arrived::Preview(image))) if image.width() == 99));
        assert!(matches!(shared.wait(None, None), Some(Next::Ended(Err(_)))));
    }

    #[test]
    fn a_request_ends_once() {
        let shared = Shared::default();
        shared.end(Err(Error::of_status(sys::SDD_ERROR_TIMEOUT)));
        shared.end(Err(Error::of_status(sys::SDD_ERROR_CANCELLED)));
        assert!(matches!(shared.wait(None, None), Some(Next::Ended(Err(Error::Timeout(_))))));
        assert!(matches!(shared.wait(None, None), Some(Next::Ended(Err(Error::Request(_))))));
        // it was taken
    }
}
