//! Allocators of the application for the pixels of images.

use crate::border::guard;
use crate::sys;
use std::alloc::Layout;
use std::fmt;
use std::os::raw::c_void;
use std::ptr::{self, NonNull};

/// Memory of the application for the pixels of images: a pool, memory that a device can read. [`Allocator`] makes it a
/// setting of [`DecodeOptions`](crate::DecodeOptions::allocator).
///
/// Its methods are called on decode threads, on the thread of [`Image::decode`](crate::Image::decode), and, to release,
/// on the thread that drops the last reference to an image; several at a time. They must not use the library. A panic
/// counts as no memory.
///
/// # Safety
///
/// Memory that `allocate` returns is valid for reads and writes of the whole layout, is aligned as the layout says, and
/// is used by nothing else until it is released.
pub unsafe trait PixelAllocator: Sync + 'static {
    /// Returns memory, or `None` if there is none. The alignment is at least 16.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Releases memory; the size is that which was asked for.
    ///
    /// # Safety
    ///
    /// The memory comes from `allocate` of this allocator, and is released once.
    unsafe fn release(&self, pixels: NonNull<u8>, size: usize);
}

/// A [`PixelAllocator`] as a setting of [`DecodeOptions`](crate::DecodeOptions). It is used as long as there are images,
/// and so it lives as long as the process. Each `new` keeps a few bytes for ever: make one, and copy it.
///
/// ```
/// use sdd::{Allocator, DecodeOptions, Image, PixelAllocator, PixelFormat};
/// use std::alloc::{alloc, dealloc, Layout};
/// use std::ptr::NonNull;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// #[derive(Default)]
/// struct Counting(AtomicUsize);
///
/// const ALIGNMENT: usize = 4096;
///
/// // SAFETY: the memory is that of the global allocator, whose promises are the same.
/// unsafe impl PixelAllocator for Counting {
///     fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
///         let layout = Layout::from_size_align(layout.size(), ALIGNMENT.max(layout.align())).ok()?;
///         self.0.fetch_add(1, Ordering::SeqCst);
///         NonNull::new(unsafe { alloc(layout) })
///     }
///
///     unsafe fn release(&self, pixels: NonNull<u8>, size: usize) {
///         self.0.fetch_sub(1, Ordering::SeqCst);
///         dealloc(pixels.as_ptr(), Layout::from_size_align(size, ALIGNMENT).unwrap());
///     }
/// }
///
/// static COUNTING: Counting = Counting(AtomicUsize::new(0));
///
/// let options = DecodeOptions::new().allocator(Allocator::new(&COUNTING));
/// let jpeg = Image::from_pixels(8, 8, PixelFormat::Grey8, &[90; 64], 8)?.encode(&Default::default())?;
/// let image = Image::decode_with(&jpeg, &options)?;
/// assert_eq!(image.pixels()?.row(0).as_ptr() as usize % ALIGNMENT, 0);
/// assert_eq!(COUNTING.0.load(Ordering::SeqCst), 1);
/// drop(image);
/// assert_eq!(COUNTING.0.load(Ordering::SeqCst), 0);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Allocator(&'static sys::sdd_pixel_allocator);

// SAFETY: the allocator may be used by any thread, and the struct does not change.
unsafe impl Send for Allocator {}
unsafe impl Sync for Allocator {}

impl Allocator {
    /// Makes a setting of an allocator.
    pub fn new<A: PixelAllocator>(allocator: &'static A) -> Self {
        let lent = sys::sdd_pixel_allocator {
            allocate: Some(allocate::<A>),
            release: Some(release::<A>),
            user_data: allocator as *const A as *mut c_void,
            ..sys::sized!(sdd_pixel_allocator)
        };
        Allocator(Box::leak(Box::new(lent)))
    }

    pub(crate) fn pointer(&self) -> *const sys::sdd_pixel_allocator {
        self.0
    }

    /// What the library compares to share images.
    fn identity(&self) -> [usize; 2] {
        [self.0.user_data as usize, self.0.allocate.map_or(0, |function| function as usize)]
    }
}

impl PartialEq for Allocator {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Allocator {}

impl fmt::Debug for Allocator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Allocator(…)")
    }
}

unsafe extern "C" fn allocate<A: PixelAllocator>(size: usize, alignment: usize, allocator: *mut c_void) -> *mut c_void {
    let made = guard(|| {
        let allocator = unsafe { &*allocator.cast::<A>() }; // SAFETY: it lives for ever
        allocator.allocate(Layout::from_size_align(size, alignment).ok()?)
    });
    made.ok().flatten().map_or(ptr::null_mut(), |pixels| pixels.as_ptr().cast())
}

unsafe extern "C" fn release<A: PixelAllocator>(pixels: *mut c_void, size: usize, allocator: *mut c_void) {
    let _ = guard(|| {
        if let Some(pixels) = NonNull::new(pixels.cast()) {
            // SAFETY: the allocator lives for ever; the memory is its own, and is released once.
            unsafe { (*allocator.cast::<A>()).release(pixels, size) };
        }
    });
}
