//! The border to C: every call of the application's code by the library goes through [`guard`].

use std::any::Any;
use std::cell::Cell;
use std::mem;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

thread_local! {
    /// How many calls of the application's code by the library are on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs code of the application that the library has called. A panic becomes an error with its message, and does not
/// unwind into the library.
pub(crate) fn guard<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    add_to_depth(1);
    let outcome = catch_unwind(AssertUnwindSafe(body));
    add_to_depth(u32::MAX);
    outcome.map_err(|payload| {
        let message = message_of(&*payload);
        // The destructor of a payload may panic as well; that of the second payload does not run.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(second);
        }
        message
    })
}

/// Runs code of the application that the library has called inside a call of the application, on its own thread. The
/// panic is for that call to go on with.
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> thread::Result<T> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Returns true on a thread that is inside a call of the application's code by the library.
pub(crate) fn is_inside_callback() -> bool {
    DEPTH.try_with(|depth| depth.get() > 0).unwrap_or(false)
}

/// Runs work that waits for threads of the library. Inside a callback, where it could wait for itself, it runs on a
/// thread of its own, or not at all if the system gives none.
pub(crate) fn outside_callbacks(work: impl FnOnce() + Send + 'static) {
    if is_inside_callback() {
        drop(thread::Builder::new().name("sdd-destroy".into()).spawn(work));
    } else {
        work();
    }
}

/// Locks a mutex whose sections call no code of the application, so that a poisoned one is consistent too.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks at compile time that the library may use values of a type from any of its threads: `user_data` pointers hide
/// their types from the compiler.
#[allow(dead_code)] // only constants call it
pub(crate) const fn used_by_any_thread<T: Send + Sync>() {}

fn add_to_depth(number: u32) {
    let _ = DEPTH.try_with(|depth| depth.set(depth.get().wrapping_add(number)));
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a text".to_owned()
    }
}
