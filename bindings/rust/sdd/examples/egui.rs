//! The loader of pictures for egui: `context.add_image_loader(Arc::new(SddLoader::default()))`, and `ui.image("https://...")`
//! shows pictures of libsdd, decoded at the size of the widget, from its caches, cancelled when they are forgotten.
//!
//!     cargo run --example egui -- URL
//!
//! Debian has no crate of egui. So the module `egui` below has what of its interface (0.34) a loader sees, and `main()`
//! does what a frame of egui does. In a program, `use egui;` takes its place, and `SddLoader` stays as it is.

use egui::load::{ImageLoadResult, ImageLoader, ImagePoll, LoadError, SizeHint};
use egui::ColorImage;
use sdd::{DecodeOptions, Fit, Image, LoadRequest, Loader, Picture, PixelFormat, Request};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Wake, Waker};

/// Loads URLs of http, https, file and data. Its clones are the same loader.
pub struct SddLoader {
    loader: Loader,
    pictures: Mutex<HashMap<(String, SizeHint), State>>,
}

/// A picture at one size. Dropping the request cancels it.
enum State {
    Loading(Request<Picture>),
    Ended(Result<Arc<ColorImage>, String>),
}

/// A loader over the one that all parts of the process share, with its caches.
impl Default for SddLoader {
    fn default() -> Self {
        SddLoader { loader: Loader::shared(), pictures: Mutex::default() }
    }
}

impl SddLoader {
    /// A panic of egui's has not left the map half changed.
    fn pictures(&self) -> MutexGuard<'_, HashMap<(String, SizeHint), State>> {
        self.pictures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets egui draw again when a request has ended.
struct Repaint(egui::Context);

impl Wake for Repaint {
    fn wake(self: Arc<Self>) {
        self.0.request_repaint();
    }
}

fn request(url: &str, hint: SizeHint) -> LoadRequest {
    let options = DecodeOptions::new().pixel_format(PixelFormat::Rgba8Premultiplied);
    LoadRequest::new(url).decode(match hint {
        SizeHint::Width(width) => options.inside(width, 0),
        SizeHint::Height(height) => options.inside(0, height),
        SizeHint::Size { width, height, maintain_aspect_ratio: true } => options.inside(width, height),
        SizeHint::Size { width, height, .. } => options.target(width, height, Fit::Stretch),
        _ => options,
    })
}

fn colour_image(image: &Image) -> Result<Arc<ColorImage>, String> {
    let pixels = image.pixels().map_err(|error| error.to_string())?;
    let size = [pixels.width() as usize, pixels.height() as usize];
    let rows: Vec<u8> = pixels.rows().flatten().copied().collect();
    Ok(Arc::new(ColorImage::from_rgba_premultiplied(size, &rows)))
}

impl ImageLoader for SddLoader {
    fn id(&self) -> &str {
        concat!(module_path!(), "::SddLoader")
    }

    fn load(&self, ctx: &egui::Context, uri: &str, size_hint: SizeHint) -> ImageLoadResult {
        if !["http:", "https:", "file:", "data:"].iter().any(|scheme| uri.starts_with(scheme)) {
            return Err(LoadError::NotSupported);
        }
        let mut pictures = self.pictures();
        let state = pictures
            .entry((uri.to_owned(), size_hint))
            .or_insert_with(|| State::Loading(self.loader.load(request(uri, size_hint))));
        if let State::Loading(load) = state {
            let waker = Waker::from(Arc::new(Repaint(ctx.clone())));
            match Pin::new(load).poll(&mut std::task::Context::from_waker(&waker)) {
                Poll::Pending => return Ok(ImagePoll::Pending { size: None }),
                Poll::Ready(Ok(picture)) => *state = State::Ended(colour_image(&picture.image)),
                Poll::Ready(Err(error)) => *state = State::Ended(Err(error.to_string())),
            }
        }
        match state {
            State::Ended(Ok(image)) => Ok(ImagePoll::Ready { image: image.clone() }),
            State::Ended(Err(error)) => Err(LoadError::Loading(error.clone())),
            State::Loading(_) => Ok(ImagePoll::Pending { size: None }),
        }
    }

    fn forget(&self, uri: &str) {
        self.pictures().retain(|(url, _), _| url != uri);
    }

    fn forget_all(&self) {
        self.pictures().clear();
    }

    fn byte_size(&self) -> usize {
        let size = |state: &State| if let State::Ended(Ok(image)) = state { image.pixels.len() * 4 } else { 0 };
        self.pictures().values().map(size).sum()
    }

    fn has_pending(&self) -> bool {
        self.pictures().values().any(|state| matches!(state, State::Loading(_)))
    }
}

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\
                     +M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn main() {
    let url = std::env::args().nth(1).unwrap_or_else(|| PIXEL.into());
    let (context, loader) = (egui::Context::default(), SddLoader::default());
    let hint = SizeHint::Size { width: 200, height: 100, maintain_aspect_ratio: true };
    assert!(matches!(loader.load(&context, "bytes://here", hint), Err(LoadError::NotSupported)));
    let image = loop {
        match loader.load(&context, &url, hint) {
            Ok(ImagePoll::Ready { image }) => break image,
            Ok(ImagePoll::Pending { .. }) => context.wait_for_repaint(),
            Err(error) => panic!("{error:?}"),
        }
    };
    println!("{} x {}", image.size[0], image.size[1]);
    assert_eq!(loader.byte_size(), image.size[0] * image.size[1] * 4);
    assert!(!loader.has_pending());
    loader.forget(&url);
    assert_eq!(loader.byte_size(), 0);
    loader.forget_all();
}

/// What a loader sees of egui, with the same names and types.
#[allow(dead_code)] // egui makes and calls all of it
mod egui {
    use std::sync::{Arc, Condvar, Mutex};

    #[derive(Clone, Default)]
    pub struct Context(Arc<(Mutex<bool>, Condvar)>);

    impl Context {
        pub fn request_repaint(&self) {
            *self.0 .0.lock().unwrap() = true;
            self.0 .1.notify_all();
        }

        /// What egui's event loop does between two frames.
        pub fn wait_for_repaint(&self) {
            let mut is_wanted = self.0 .1.wait_while(self.0 .0.lock().unwrap(), |is_wanted| !*is_wanted).unwrap();
            *is_wanted = false;
        }
    }

    pub struct ColorImage {
        pub size: [usize; 2],
        pub pixels: Vec<[u8; 4]>, // of egui::Color32
    }

    impl ColorImage {
        pub fn from_rgba_premultiplied(size: [usize; 2], rgba: &[u8]) -> Self {
            ColorImage { size, pixels: rgba.chunks_exact(4).map(|pixel| pixel.try_into().unwrap()).collect() }
        }
    }

    pub mod load {
        use super::{ColorImage, Context};
        use std::sync::Arc;

        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SizeHint {
            Scale(u32), // of OrderedFloat<f32>
            Width(u32),
            Height(u32),
            Size { width: u32, height: u32, maintain_aspect_ratio: bool },
        }

        #[derive(Clone, Debug)]
        pub enum LoadError {
            NotSupported,
            Loading(String),
        }

        pub enum ImagePoll {
            Pending { size: Option<[f32; 2]> }, // of Vec2
            Ready { image: Arc<ColorImage> },
        }

        pub type ImageLoadResult = Result<ImagePoll, LoadError>;

        pub trait ImageLoader: std::any::Any {
            fn id(&self) -> &str;
            fn load(&self, ctx: &Context, uri: &str, size_hint: SizeHint) -> ImageLoadResult;
            fn forget(&self, uri: &str);
            fn forget_all(&self);
            fn byte_size(&self) -> usize;
            fn has_pending(&self) -> bool {
                false
            }
        }
    }
}
