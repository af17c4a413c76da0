//! Transports and coders of the application.

mod server;

use sdd::*;
use server::{png, Server};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Mutex;
use std::time::Duration;

/// Passes its transfers to the test, and tells what was called for them.
struct Passing {
    transfers: Mutex<Sender<Transfer>>,
    calls: Mutex<Sender<String>>,
}

impl Passing {
    fn add_to(downloader: &Downloader) -> (Receiver<Transfer>, Receiver<String>) {
        let ((transfers, passed), (calls, called)) = (channel(), channel());
        let passing = Passing { transfers: Mutex::new(transfers), calls: Mutex::new(calls) };
        downloader.add_transport("passing", passing).unwrap();
        (passed, called)
    }

    fn called(&self, what: String) {
        let _ = self.calls.lock().unwrap().send(what);
    }
}

impl Transport for Passing {
    fn start(&self, transfer: Transfer, request: &TransferRequest<'_>) {
        let fields = request.headers.iter().filter(|(name, _)| name.starts_with("X-")).count();
        self.called(format!("{} {} {fields} {}", request.method, request.url, request.body.len()));
        self.transfers.lock().unwrap().send(transfer).unwrap();
    }

    fn cancel(&self, _: u64) {
        self.called("cancel".into());
    }

    fn set_priority(&self, _: u64, priority: Priority) {
        self.called(format!("{priority:?}"));
    }

    fn can_load(&self, url: &str) -> bool {
        !url.ends_with("other")
    }
}

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_transport_answers_on_another_thread() {
    let downloader = Downloader::new().unwrap();
    let (transfers, calls) = Passing::add_to(&downloader);
    let request = DownloadRequest::new("passing:a").method("POST", b"body").header("X-One", "1");
    let request = downloader.download(request);
    let mut transfer = transfers.recv_timeout(LIMIT).unwrap();
    assert_eq!(calls.recv_timeout(LIMIT).unwrap(), "POST passing:a 1 4");
    request.set_priority(Priority::High).unwrap();
    assert_eq!(calls.recv_timeout(LIMIT).unwrap(), "High");
    let body = png(3, 2, 1);
    transfer.respond(200, &[("Content-Type", "image/png"), ("X-Two", "2")], Some(body.len() as u64)).unwrap();
    assert!(transfer.respond(200, &[("bad name", "")], None).is_err());
    for piece in body.chunks(10) {
        transfer.write(piece).unwrap();
    }
    transfer.finish();
    let picture = request.wait().unwrap();
    assert_eq!((picture.image.width(), picture.image.height()), (3, 2));
    assert_eq!(picture.report.response.unwrap().header("x-two").as_deref(), Some("2"));
    assert_eq!(downloader.download("passing:other").wait().unwrap_err().detail(), sys::SDD_DETAIL_URL_SCHEME);
}

#[test]
fn a_transfer_ends_with_its_request_or_its_transport() {
    let downloader = Downloader::new().unwrap();
    let (transfers, calls) = Passing::add_to(&downloader);
    let request = downloader.download("passing:a");
    let mut transfer = transfers.recv_timeout(LIMIT).unwrap();
    drop(request);
    assert!(calls.iter().any(|call| call == "cancel"));
    assert_eq!(transfer.write(b"late").unwrap_err().status(), Status::NOT_FOUND);

    let request = downloader.download("passing:b");
    drop(transfers.recv_timeout(LIMIT).unwrap());
    assert_eq!(request.wait().unwrap_err().status(), Status::TRANSPORT);

    let request = downloader.download("passing:c");
    transfers.recv_timeout(LIMIT).unwrap().fail(Status::CONNECTION_LOST, "The archive is closed.");
    let error = request.wait().unwrap_err();
    assert_eq!((error.status(), error.message()), (Status::CONNECTION_LOST, "The archive is closed."));

    let (sender, outcome) = channel();
    downloader.download("passing:d").on_end(move |outcome| sender.send(outcome.err()).unwrap());
    let mut transfer = transfers.recv_timeout(LIMIT).unwrap();
    drop(downloader);
    assert!(matches!(outcome.recv(), Ok(Some(Error::Cancelled(_)))));
    assert!(transfer.write(b"late").is_err());
    drop(transfer);
    assert!(transfers.recv().is_err()); // the transport was freed
}

/// Two bytes of size, then frames of grey pixels.
struct Film;
struct FilmDecoder {
    body: Vec<u8>,
    frame: usize,
    size: usize,
}

impl Coder for Film {
    type Decoder = FilmDecoder;
    const CAN_ENCODE: bool = true;

    fn can_decode(&self, first: &[u8]) -> CanDecode {
        match first {
            [b'F', b'I', b'L', b'M', ..] => CanDecode::Yes,
            _ if b"FILM".starts_with(first) => CanDecode::NeedsMore,
            _ => CanDecode::No,
        }
    }

    fn open(&self, task: &CoderTask) -> Result<FilmDecoder, CoderError> {
        assert!(task.max_pixels > 0);
        Ok(FilmDecoder { body: Vec::new(), frame: 0, size: 0 })
    }

    fn encode(
        &self,
        picture: &Frame<'_>,
        quality: u32,
        write: &mut dyn FnMut(&[u8]) -> Result<(), CoderError>,
    ) -> Result<(), CoderError> {
        write(b"FILM")?;
        write(&[picture.width as u8, picture.height as u8, quality as u8])?;
        write(&picture.pixels[..4])
    }

    const CAN_ENCODE_FRAMES: bool = true;

    fn encode_frames(
        &self,
        frames: &mut dyn Frames,
        quality: u32,
        write: &mut dyn FnMut(&[u8]) -> Result<(), CoderError>,
    ) -> Result<(), CoderError> {
        let mut made = vec![quality as u8];
        while let Some(frame) = frames.next()? {
            made.extend([frame.pixels[0], frame.duration.as_millis() as u8]);
            made.extend([frame.frame_count as u8, frame.loop_count as u8]);
        }
        write(&made)
    }
}

impl Decoder for FilmDecoder {
    fn feed(&mut self, bytes: &[u8], is_last: bool) -> Result<(), CoderError> {
        self.body.extend_from_slice(bytes);
        if is_last && self.body.len() < 6 {
            return Err(CoderError::Truncated);
        }
        self.size = usize::from(self.body.get(4).copied().unwrap_or(0)) * usize::from(self.body[5]);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
        let frames = &self.body[6..];
        let (width, height) = (self.body[4].into(), self.body[5].into());
        let pixels = match frames.get(self.frame * self.size..) {
            Some(pixels) if !pixels.is_empty() => pixels,
            _ => return Ok(None),
        };
        self.frame += 1;
        let mut frame = Frame::new(width, height, PixelFormat::Grey8, pixels);
        frame.frame_count = (frames.len() / self.size) as u32;
        frame.duration = Duration::from_millis(40);
        Ok(Some(frame))
    }
}

#[test]
fn a_coder_decodes_animations_and_encodes() {
    let format = ImageFormat::application(7);
    register_coder("film", format, Some("image/x-film"), Film).unwrap();
    let image = Image::decode(b"FILM\x02\x01\x01\x02\x03\x04").unwrap();
    assert_eq!((image.width(), image.height(), image.info().format), (2, 1, Some(format)));
    assert_eq!((image.info().frame_count, image.frame_duration(1)), (2, Duration::from_millis(40)));
    assert_eq!(image.frame(1).unwrap().pixels().unwrap().row(0), [3, 3, 3, 255, 4, 4, 4, 255]);
    let options = EncodeOptions::new().format(format).quality(50);
    assert_eq!(&image.encode(&options).unwrap()[..], b"FILM\x02\x01\x32\x01\x01\x01\xff");
    let grey = |value| Image::from_pixels(1, 1, PixelFormat::Grey8, &[value], 1).unwrap();
    let (dark, light) = (grey(9), grey(200));
    let frames = [(&dark, Duration::from_millis(5)), (&light, Duration::from_millis(6))];
    let made = Image::animation(&frames, 3).unwrap();
    assert_eq!(&made.encode(&options.animated()).unwrap()[..], [50, 9, 5, 2, 3, 200, 6, 2, 3]);
    assert_eq!(&made.encode(&options).unwrap()[..4], b"FILM");
    assert!(Image::animation(&[], 0).is_err());

    // Too few pixels in memory: the library cannot know, and the crate refuses the frame.
    let error = Image::decode(b"FILM\x02\x02\x01\x02\x03").unwrap_err();
    assert_eq!(error.detail(), sys::SDD_DETAIL_IMAGE_CODER);
    assert_eq!(Image::decode(b"FILM\x02").unwrap_err().detail(), sys::SDD_DETAIL_IMAGE_TRUNCATED);
    assert!(Downloader::new().unwrap().header("Accept").unwrap().unwrap().contains("image/x-film"));
    unregister_coder("film").unwrap();
    assert!(unregister_coder("film").is_err());
    assert_eq!(image.frame(0).unwrap().pixels().unwrap().row(0)[0], 1); // the coder lives as long as the animation
    assert!(Image::decode(b"FILM\x02\x01\x01\x02\x03\x04").is_err());
}

/// A picture of 4 x 3 pixels, drawn at any size.
struct Drawn;

struct DrawnDecoder {
    size: Option<(u32, u32)>,
    pixels: Vec<u8>,
}

impl Coder for Drawn {
    type Decoder = DrawnDecoder;
    const CAN_ESTIMATE: bool = true;
    const CAN_RESIZE: bool = true;

    fn can_decode(&self, first: &[u8]) -> CanDecode {
        if first.starts_with(b"DRAWN") {
            CanDecode::Yes
        } else {
            CanDecode::No
        }
    }

    fn open(&self, _: &CoderTask) -> Result<DrawnDecoder, CoderError> {
        Ok(DrawnDecoder { size: None, pixels: Vec::new() })
    }
}

impl Decoder for DrawnDecoder {
    fn feed(&mut self, _: &[u8], _: bool) -> Result<(), CoderError> {
        Ok(())
    }

    fn estimate(&mut self) -> Result<Option<Estimate>, CoderError> {
        Ok(Some(Estimate { width: 4, height: 3, decode_bytes: 100 }))
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), CoderError> {
        self.size = Some((width, height));
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
        let (width, height) = self.size.ok_or(CoderError::Corrupt)?;
        self.pixels = vec![9; (width * height) as usize];
        Ok(Some(Frame::new(width, height, PixelFormat::Grey8, &self.pixels)))
    }
}

#[test]
fn a_coder_is_told_the_size_to_draw() {
    register_coder("drawn", ImageFormat::application(8), None, Drawn).unwrap();
    let image = Image::decode(b"DRAWN").unwrap();
    assert_eq!((image.width(), image.height(), image.pixels().unwrap().row(0)[0]), (4, 3, 9));
    unregister_coder("drawn").unwrap();
}

/// "ROWS", width, height, then grey pixels.
struct Rows;

#[derive(Default)]
struct RowsDecoder {
    body: Vec<u8>,
    pixels: Vec<u8>,
}

impl Coder for Rows {
    type Decoder = RowsDecoder;
    const CAN_PREVIEW: bool = true;
    const CAN_ESTIMATE: bool = true;

    fn can_decode(&self, first: &[u8]) -> CanDecode {
        if first.starts_with(b"ROWS") {
            CanDecode::Yes
        } else {
            CanDecode::No
        }
    }

    fn open(&self, _: &CoderTask) -> Result<RowsDecoder, CoderError> {
        Ok(RowsDecoder::default())
    }
}

impl Decoder for RowsDecoder {
    fn feed(&mut self, bytes: &[u8], _: bool) -> Result<(), CoderError> {
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    fn estimate(&mut self) -> Result<Option<Estimate>, CoderError> {
        Ok(self.body.get(4..6).map(|sides| {
            let (width, height) = (u32::from(sides[0]), u32::from(sides[1]));
            Estimate { width, height, decode_bytes: u64::from(width * height) }
        }))
    }

    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
        match self.preview()? {
            Preview::Rows { frame, .. } => Ok(Some(frame)),
            _ => Err(CoderError::Truncated),
        }
    }

    fn preview(&mut self) -> Result<Preview<'_>, CoderError> {
        let (width, height) = match self.body.get(4..6) {
            Some(sides) => (u32::from(sides[0]), u32::from(sides[1])),
            None => return Ok(Preview::Nothing),
        };
        self.pixels.clear();
        self.pixels.extend_from_slice(&self.body[6..]);
        let good_rows = self.pixels.len() as u32 / width;
        self.pixels.resize((width * height) as usize, 0);
        let frame = Frame::new(width, height, PixelFormat::Grey8, &self.pixels);
        Ok(if good_rows == 0 { Preview::Size { width, height } } else { Preview::Rows { frame, good_rows } })
    }
}

#[test]
fn a_coder_shows_what_has_arrived() {
    let server = Server::new();
    let downloader = Downloader::builder().min_preview_interval(Duration::from_millis(1), 0, 1).build().unwrap();
    downloader.add_coder("rows", ImageFormat::application(7), None, Rows).unwrap();
    let ((facts, found), (previews, shown)) = (channel(), channel());
    let callbacks = Callbacks::new()
        .facts(move |info| facts.send((info.stored_width, info.stored_height)).unwrap())
        .preview(move |image| previews.send(image.pixels().unwrap().row(0)[0]).unwrap());
    let request = downloader.download_with(server.url("/steps/rows"), callbacks);
    assert_eq!(found.recv_timeout(LIMIT).unwrap(), (200, 200));
    assert_eq!(shown.recv_timeout(LIMIT).unwrap(), 7);
    server.release();
    let picture = request.wait().unwrap();
    let pixels = picture.image.pixels().unwrap();
    assert_eq!((pixels.row(99)[0], pixels.row(100)[0]), (7, 9));
}
