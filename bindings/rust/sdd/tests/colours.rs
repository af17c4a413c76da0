//! What pictures say of their colours, and conversion to sRGB.

use sdd::*;

/// A JPEG with the profile "Display P3".
fn display_p3() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../Tests/Fixtures/colour/display-p3.jpg")).unwrap()
}

fn data_url(bytes: &[u8]) -> String {
    let escaped: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    format!("data:image/jpeg,{escaped}")
}

fn check(image: &Image, is_converted: bool) {
    let (colour, info) = (image.colour(), image.info());
    assert_eq!((colour.kind, colour.name, colour.is_converted), (ColourKind::Matrix, "Display P3", is_converted));
    assert_eq!((info.colour_kind, info.is_converted), (ColourKind::Matrix, is_converted));
    let profile = colour.icc_profile.unwrap();
    assert_eq!((&profile[36..40], colour.primaries, colour.transfer), (&b"acsp"[..], 0, 0));
    assert_eq!((colour.gamma, colour.chromaticities), (0, [0; 8]));
}

#[test]
fn pixels_are_converted_where_that_is_asked_for() {
    let jpeg = display_p3();
    let decode =
        |colour, side| Image::decode_with(&jpeg, &DecodeOptions::new().inside(side, side).colour(colour)).unwrap();
    for side in [0, 9] {
        let (plain, stored, converted) =
            (decode(Colour::Default, side), decode(Colour::Stored, side), decode(Colour::Srgb, side));
        check(&plain, false);
        check(&stored, false);
        check(&converted, true);
        assert_eq!(plain.pixels().unwrap().row(3), stored.pixels().unwrap().row(3));
        assert_ne!(plain.pixels().unwrap().row(3), converted.pixels().unwrap().row(3));
    }
    let stored = decode(Colour::Stored, 0);
    assert_eq!(stored.metadata(Metadata::Icc).unwrap(), stored.colour().icc_profile);
}

#[test]
fn loads_are_in_srgb_and_downloads_as_stored() {
    let url = data_url(&display_p3());
    let loader = Loader::builder().no_cache().build().unwrap();
    check(&loader.load(url.as_str()).wait().unwrap().image, true);
    let stored = LoadRequest::new(&url).decode(DecodeOptions::new().colour(Colour::Stored));
    check(&loader.load(stored).wait().unwrap().image, false);
    let downloader = Downloader::new().unwrap();
    check(&downloader.download(url.as_str()).wait().unwrap().image, false);
}

#[test]
fn slots_are_in_srgb_or_as_stored() {
    let url = data_url(&display_p3());
    let loader = Loader::builder().no_cache().build().unwrap();
    let downloader = Downloader::new().unwrap();
    let fill = |is_load: bool, colour| {
        let tensor = Tensor::new(8, 8).colour(colour);
        let builder = if is_load { loader.batch([url.clone()]) } else { downloader.batch([url.clone()]) };
        let mut batch = builder.tensor(&tensor, vec![0; tensor.slot_bytes()]).unwrap();
        let slot = batch.next().unwrap().unwrap().outcome.unwrap();
        assert_eq!(slot.colour_kind(), ColourKind::Matrix);
        (slot.is_converted(), batch.pixels(&slot).to_vec())
    };
    let (stored, converted) = (fill(false, Colour::Stored), fill(false, Colour::Srgb));
    assert_eq!((stored.0, converted.0), (false, true));
    assert_ne!(stored.1, converted.1);
    assert_eq!(fill(false, Colour::Default), stored);
    assert_eq!(fill(true, Colour::Stored), stored);
    assert_eq!(fill(true, Colour::Default), converted);
    assert_eq!(fill(true, Colour::Srgb), converted);
}

/// "HUES", then the profile of its one grey pixel.
struct Hues;

#[derive(Default)]
struct HuesDecoder {
    body: Vec<u8>,
    is_given: bool,
}

impl Coder for Hues {
    type Decoder = HuesDecoder;
    const CAN_ENCODE: bool = true;

    fn can_decode(&self, first: &[u8]) -> CanDecode {
        if first.starts_with(b"HUES") {
            CanDecode::Yes
        } else {
            CanDecode::No
        }
    }

    fn open(&self, _: &CoderTask) -> Result<HuesDecoder, CoderError> {
        Ok(HuesDecoder::default())
    }

    fn encode(
        &self,
        picture: &Frame<'_>,
        _: u32,
        write: &mut dyn FnMut(&[u8]) -> Result<(), CoderError>,
    ) -> Result<(), CoderError> {
        let (primaries, transfer) = picture.code_points.unwrap_or_default();
        write(&[primaries, transfer])?;
        write(picture.icc_profile.unwrap_or_default())
    }
}

impl Decoder for HuesDecoder {
    fn feed(&mut self, bytes: &[u8], _: bool) -> Result<(), CoderError> {
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
        if std::mem::replace(&mut self.is_given, true) {
            return Ok(None);
        }
        let mut frame = Frame::new(1, 1, PixelFormat::Rgb8, &[200, 30, 90]);
        match &self.body[4..] {
            [] => frame.code_points = Some((9, 16)),
            profile => frame.icc_profile = Some(profile),
        }
        Ok(Some(frame))
    }
}

#[test]
fn a_coder_gives_and_gets_what_a_picture_says() {
    let format = ImageFormat::application(11);
    register_coder("hues", format, None, Hues).unwrap();
    let jpeg = Image::decode(&display_p3()).unwrap();
    let profile = jpeg.colour().icc_profile.unwrap();
    let image = Image::decode(&[b"HUES", profile].concat()).unwrap();
    check(&image, false);
    assert_eq!(image.colour().icc_profile, Some(profile));
    let options = EncodeOptions::new().format(format);
    assert_eq!(image.encode(&options).unwrap()[..], [&[0, 0], profile].concat());

    let image = Image::decode(b"HUES").unwrap();
    let colour = image.colour();
    assert_eq!((colour.kind, colour.name), (ColourKind::Hdr, "BT.2020"));
    assert_eq!((colour.primaries, colour.transfer, colour.icc_profile), (9, 16, None));
    assert_eq!(image.encode(&options).unwrap()[..], [9, 16]);
    unregister_coder("hues").unwrap();
}
