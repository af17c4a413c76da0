"""Images: pixels in the library's memory, which views, NumPy and Pillow share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from . import _constants as c
from ._colour import Colour, colour_of
from ._constants import ImageFormat, PixelFormat
from ._errors import InvalidArgument, RequestError, check
from ._gain_map import GainMapInfo, gain_map_info_of
from ._help import takes
from ._native import ffi, lib, text
from ._pixels import LAYOUTS, Layout, shape_of, strides_of, to_pil, without_padding
from ._structs import Choices, Struct
from ._transforms import Transform, transforms_of
from ._values import buffer, flag, in_range, number, real, shown, sides
from ._words import PACKAGES

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from PIL.Image import Image as PillowImage
    from typing_extensions import Buffer, Protocol, Unpack

    from ._options import FormatName, PictureOptions, PixelFormatName

    class Array(Protocol):
        """An array of NumPy, which its types call a buffer from Python 3.12 on only."""

        @property
        def __array_interface__(self) -> Any: ...


View = memoryview  # Image has a method of that name

_FORMATS = Choices("format", **{member.name.lower(): member.value for member in ImageFormat
                                if member not in (ImageFormat.NONE, ImageFormat.APPLICATION)})  # fmt: skip
_SUFFIXES = {
    ".jpg": ImageFormat.JPEG, ".jpeg": ImageFormat.JPEG, ".jpe": ImageFormat.JPEG, ".jfif": ImageFormat.JPEG,
    ".png": ImageFormat.PNG, ".gif": ImageFormat.GIF, ".webp": ImageFormat.WEBP, ".avif": ImageFormat.AVIF,
    ".heif": ImageFormat.HEIF, ".heic": ImageFormat.HEIF, ".tif": ImageFormat.TIFF, ".tiff": ImageFormat.TIFF,
    ".bmp": ImageFormat.BMP, ".ico": ImageFormat.ICO, ".jxl": ImageFormat.JXL,
}  # fmt: skip
_WRITTEN_BY_CODERS = {
    ImageFormat.WEBP: "WebP", ImageFormat.AVIF: "AVIF", ImageFormat.JXL: "JPEG XL", ImageFormat.GIF: "GIF",
}  # fmt: skip
_SHOWN_SIDE = 1024
"""Most pixels of a side of the picture that a notebook shows."""


_gc, _buffer = ffi.gc, ffi.buffer
_size_of, _data_of = lib.sdd_bytes_size, lib.sdd_bytes_data


def owned_view(pointer: Any, size: int, owner: Any) -> memoryview:
    """A read-only view of memory of the library, which keeps `owner` alive as long as anything uses the view.

    The function for its end does nothing: it holds the owner. A method of a tuple does that with the least work.
    """
    return memoryview(_buffer(_gc(pointer, (owner,).count), size)).toreadonly()


def view_of_bytes(pointer: Any, owner: Any) -> memoryview:
    """A read-only view of an sdd_bytes, or NULL, whose reference belongs to the object `owner`."""
    size = _size_of(pointer)
    return owned_view(_data_of(pointer), size, owner) if size else memoryview(b"")


def bytes_view(handle: Any) -> memoryview:
    """A read-only view of an sdd_bytes. Takes over one reference, which is released with the view."""
    owner = ffi.gc(handle, lib.sdd_bytes_release)
    return view_of_bytes(owner, owner)


class Image:
    """A picture: immutable, with its pixels in memory of the library.

    `memoryview()`, `to_numpy()`, NumPy's `asarray()` and, where the layouts agree, `to_pil()` share these pixels
    without a copy. They stay valid as long as anything views them, also after `close()`. From Python 3.12 on an image
    is itself a buffer: `memoryview(image)`.

    Images may be used from any thread, and in the child of a fork. They cannot be pickled.
    """

    __slots__ = ("__weakref__", "_handle", "_info")

    _handle: Any
    """None once the image is closed."""
    _info: Any
    """The sdd_image_info, from its first use on."""

    def __init__(self, *arguments: object) -> None:
        raise TypeError("Images come from loads, Image.decode() and Image.from_pixels().")

    @classmethod
    def _take(cls, handle: Any) -> Image:
        """Makes the object for an sdd_image, and takes over one reference."""
        return cls._of(ffi.gc(handle, lib.sdd_image_release))

    @classmethod
    def _of(cls, owner: Any) -> Image:
        """Makes the object for an sdd_image whose reference belongs to the object `owner`."""
        image = cls.__new__(cls)
        image._info = None
        image._handle = owner
        return image

    # ---- making

    @staticmethod
    @takes("PictureOptions")
    def decode(data: Buffer, **options: Unpack[PictureOptions]) -> Image:
        """Decodes a JPEG or PNG in memory, on this thread. `options` are those of `PictureOptions`.

        >>> import sdd
        >>> grey = Image.from_pixels(b"\\x00\\x80", 2, 1, PixelFormat.GREY8)
        >>> Image.decode(grey.encode(ImageFormat.PNG), pixel_format="grey8").size
        (2, 1)
        """
        from ._options import PictureOptions
        from ._plans import decode_options, names_of
        from ._values import no_option

        given: dict[str, Any] = dict(options)
        form = decode_options(given)
        for name in given:
            raise no_option(name, names_of(PictureOptions), "of decoding")
        out = ffi.new("sdd_image **")
        with buffer("data", data) as view:
            status = lib.sdd_image_decode(ffi.from_buffer(view), view.nbytes, form.c if form else ffi.NULL, out)
        check(status)
        return Image._take(out[0])

    @staticmethod
    def from_pixels(
        pixels: Buffer | Array, width: int, height: int,
        pixel_format: PixelFormat | PixelFormatName = PixelFormat.RGBA8, stride: int = 0,
    ) -> Image:  # fmt: skip
        """Makes an image from a copy of pixels: `height` rows, the top one first, of `stride` bytes (0: no padding).

        `pixels` are bytes or an array of uint8, or of uint16 for formats of 16 bits.
        """
        width, height = in_range("width", width, 32), in_range("height", height, 32)
        stride = in_range("stride", stride)
        chosen: Any = pixel_format
        if isinstance(chosen, str):
            chosen = PixelFormat.__members__.get(chosen.upper())
        layout = LAYOUTS.get(chosen)
        if layout is None:
            names = ", ".join(member.name.lower() for member in PixelFormat)
            raise _invalid(f"pixel_format must be a PixelFormat or one of {names}, not {shown(pixel_format)}.")
        if width < 1 or height < 1 or stride < 0:
            raise _invalid(f"{width} x {height} pixels, {stride} bytes a row: width and height must be at least 1, and "
                           "stride at least 0.")  # fmt: skip
        row = width * layout.channels * layout.depth
        with buffer("pixels", pixels) as view:
            if view.itemsize != 1 and (layout.depth == 1 or view.format not in ("H", _UINT16[0] + "H")):
                kind = "uint8" if layout.depth == 1 else "uint16"
                raise TypeError(f"pixels must be bytes or an array of {kind}, not items of the format {view.format!r}")
            needed = (stride or row) * (height * layout.planes - 1) + row
            if view.nbytes < needed:
                raise _invalid(f"The buffer has {view.nbytes} bytes; these pixels take {needed}.")
            out = ffi.new("sdd_image **")
            check(lib.sdd_image_create(width, height, chosen, ffi.from_buffer(view), stride, out))
        return Image._take(out[0])

    @staticmethod
    def animation(frames: Iterable[Image], durations: float | Iterable[float], loop_count: int = 0) -> Image:
        """Makes an animated image of frames of one size, for `encode(animated=True)`.

        Each is to be shown for so many seconds, or for those of a list; all `loop_count` times, 0: for ever.
        """
        images = list(frames)
        for image in images:
            if not isinstance(image, Image):
                raise TypeError(f"frames must be Images, not {shown(image)}")
        given = durations if isinstance(durations, Iterable) else [durations] * len(images)
        seconds = [real("durations", length) for length in given]
        if len(seconds) != len(images):
            raise _invalid(f"There are {len(images)} frames, and {len(seconds)} durations.")
        array = ffi.new("sdd_animation_frame[]", len(images))
        for place, image, length in zip(array, images, seconds):
            place.struct_size = ffi.sizeof("sdd_animation_frame")
            place.image = image._live()
            place.duration_us = in_range("durations", round(length * 1e6))
        out = ffi.new("sdd_image **")
        check(lib.sdd_image_create_animation(array, len(images), in_range("loop_count", loop_count, 32), out))
        return Image._take(out[0])

    @staticmethod
    def from_thumbhash(hash: Buffer) -> Image:
        """Makes a small blurred picture of a ThumbHash, to be shown enlarged until the picture itself is there.

        Raises an ImageError for bytes that are no ThumbHash. `Image.thumbhash()` makes one.
        """
        out = ffi.new("sdd_image **")
        with buffer("hash", hash) as view:
            check(lib.sdd_image_from_thumbhash(ffi.from_buffer(view), view.nbytes, out))
        return Image._take(out[0])

    # ---- life

    def close(self) -> None:
        """Gives the image up. Views of its pixels stay valid; every other use raises ValueError."""
        self._handle = None

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _live(self) -> Any:
        # The caller's reference keeps the handle alive while another thread closes the image.
        handle = self._handle
        if handle is None:
            raise ValueError("the image is closed")
        return handle

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Image cannot be pickled; send image.encode() or a copy of image.to_numpy()")

    def __repr__(self) -> str:
        if self._handle is None:
            return "<sdd.Image, closed>"
        preview = ", preview" if self.is_preview else ""
        return f"<sdd.Image {self.width} x {self.height} {self.pixel_format.name}{preview}>"

    # ---- properties

    def _get_info(self, handle: Any = None) -> Any:
        handle = handle or self._live()
        if self._info is None or not self._info.c.pixels_size:  # not decoded yet
            info = Struct("sdd_image_info")
            check(lib.sdd_image_get_info(handle, info.c))
            self._info = info
        return self._info.c

    @property
    def width(self) -> int:
        """Width in pixels."""
        return lib.sdd_image_width(self._live())  # type: ignore[no-any-return]

    @property
    def height(self) -> int:
        """Height in pixels."""
        return lib.sdd_image_height(self._live())  # type: ignore[no-any-return]

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.width, self.height

    @property
    def stride(self) -> int:
        """Bytes from one row to the next."""
        self._decode()
        return lib.sdd_image_stride(self._live())  # type: ignore[no-any-return]

    @property
    def pixel_format(self) -> PixelFormat:
        """The layout of the pixels."""
        return PixelFormat(lib.sdd_image_pixel_format(self._live()))

    @property
    def format(self) -> ImageFormat:
        """The format of the encoded bytes; NONE for an image made from pixels."""
        return ImageFormat(self._get_info().format)

    @property
    def stored_size(self) -> tuple[int, int]:
        """Width and height of the encoded picture, before it was turned; (0, 0) if unknown."""
        info = self._get_info()
        return info.stored_width, info.stored_height

    @property
    def orientation(self) -> int:
        """Exif orientation of the encoded picture, 1 to 8, whether or not it was applied."""
        return self._get_info().orientation  # type: ignore[no-any-return]

    @property
    def has_alpha(self) -> bool:
        """Whether the encoded picture has an alpha channel or transparent colours.

        A coder does not say so: for the pictures of the installed ones it is True, also where all pixels are opaque.
        """
        info = self._get_info()
        return info.channels in (2, 4) and info.format != ImageFormat.JPEG  # which may have four inks

    @property
    def is_preview(self) -> bool:
        """Whether the image was made before the whole picture had arrived."""
        return bool(self._get_info().is_preview)

    @property
    def is_partial(self) -> bool:
        """Whether the body was truncated or damaged."""
        return bool(self._get_info().is_partial)

    @property
    def good_rows(self) -> int:
        """Valid rows, from the top, before the picture was turned."""
        return self._get_info().good_rows  # type: ignore[no-any-return]

    @property
    def encoded(self) -> memoryview | None:
        """The bytes that the image was decoded from, without a copy; None if it has none."""
        pointer = lib.sdd_image_bytes(self._live())
        return bytes_view(lib.sdd_bytes_retain(pointer)) if pointer else None

    # ---- pixels

    def _decode(self) -> None:
        check(lib.sdd_image_decode_pixels(self._live()))

    def _layout(self) -> Layout:
        return LAYOUTS[self.pixel_format]

    def memoryview(self) -> View:
        """The pixels, read-only, as one run of bytes: rows of `stride` bytes, the top one first."""
        handle = self._live()
        self._decode()
        return owned_view(lib.sdd_image_pixels(handle), self._get_info(handle).pixels_size, handle)

    def __buffer__(self, flags: int) -> View:
        layout, (width, height) = self._layout(), self.size
        if self.stride != width * layout.channels * layout.depth:
            raise BufferError("rows with padding are no plain buffer; use to_numpy() or memoryview()")
        return self.memoryview().cast("B" if layout.depth == 1 else "H", shape_of(layout, width, height))

    def tobytes(self) -> bytes:
        """Copies the pixels, without padding between rows."""
        layout, (width, height) = self._layout(), self.size
        length = width * layout.channels * layout.depth
        return without_padding(self.memoryview(), height * layout.planes, self.stride, length)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        layout, (width, height), stride = self._layout(), self.size, self.stride
        shape = shape_of(layout, width, height)
        is_packed = stride == width * layout.channels * layout.depth
        return {
            "version": 3,
            "shape": shape,
            "typestr": "|u1" if layout.depth == 1 else _UINT16,
            "data": self.memoryview(),
            "strides": None if is_packed else strides_of(layout, height, stride),
        }

    def to_numpy(self) -> NDArray[numpy.uint8 | numpy.uint16]:
        """The pixels as a read-only array that shares them: (height, width, channels), (height, width) for grey,
        (3, height, width) for RGB8_PLANAR; uint8, or uint16 for formats of 16 bits."""
        import numpy as np

        layout, (width, height) = self._layout(), self.size
        kind = np.uint8 if layout.depth == 1 else np.uint16
        # NumPy looks through a memoryview to the object behind it, which is writable; but not through another array.
        pixels = np.frombuffer(self.memoryview(), np.uint8)
        return np.ndarray(shape_of(layout, width, height), kind, pixels, 0, strides_of(layout, height, self.stride))

    def to_pil(self) -> PillowImage:
        """A picture of Pillow. RGBA8 and GREY8 share the pixels; Pillow copies other formats into its own layout.

        The profile of pixels that were not converted to sRGB is `info["icc_profile"]`, where Pillow keeps it.
        """
        picture = to_pil(self.memoryview(), self._layout(), self.size, self.stride)
        colour = self.colour
        if colour.icc_profile is not None and not colour.is_converted:
            picture.info["icc_profile"] = colour.icc_profile
        return picture  # type: ignore[no-any-return]

    # ---- frames

    @property
    def frame_count(self) -> int:
        """Frames of an animated picture; 1 for a still one."""
        return self._get_info().frame_count  # type: ignore[no-any-return]

    @property
    def loop_count(self) -> int:
        """How often the frames are to be shown; 0: for ever."""
        return self._get_info().loop_count  # type: ignore[no-any-return]

    def frame(self, index: int) -> Image:
        """Decodes one frame, as it is shown, on this thread."""
        out = ffi.new("sdd_image **")
        status = lib.sdd_image_frame(self._live(), in_range("index", index, 32), out)
        if status == c.ERROR_NOT_FOUND:
            raise IndexError(f"there is no frame {index}: the picture has {self.frame_count}, from 0")
        check(status)
        return Image._take(out[0])

    def frame_duration(self, index: int) -> float:
        """Seconds for which a frame is to be shown, as the file says."""
        number = in_range("index", index, 32)
        return lib.sdd_image_frame_duration_us(self._live(), number) / 1e6  # type: ignore[no-any-return]

    # ---- metadata

    def _metadata(self, kind: int) -> bytes | None:
        data, size = ffi.new("void **"), ffi.new("size_t *")
        handle = self._live()
        status = lib.sdd_image_metadata(handle, kind, ffi.cast("const void **", data), size)
        if status == c.ERROR_NOT_FOUND:
            return None
        check(status)
        return bytes(ffi.buffer(data[0], size[0])) if size[0] else b""

    @property
    def colour(self) -> Colour:
        """What the picture says of its colours, and whether the pixels were converted to sRGB."""
        return colour_of(self._live())

    @property
    def icc_profile(self) -> bytes | None:
        """The colour profile of the picture, also if it was scaled or converted, and one that cannot be used."""
        profile = self.colour.icc_profile
        return self._metadata(c.METADATA_ICC) if profile is None else profile

    @property
    def exif(self) -> bytes | None:
        """The Exif block, from "II" or "MM" on."""
        return self._metadata(c.METADATA_EXIF)

    @property
    def xmp(self) -> bytes | None:
        """The XMP packet, UTF-8."""
        return self._metadata(c.METADATA_XMP)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Keywords and texts of a PNG, comments of a JPEG, in the order of the file."""
        handle, entry = self._live(), Struct("sdd_image_text")
        found: list[tuple[str, str]] = []
        while lib.sdd_image_text_at(handle, len(found), entry.c) == c.OK:
            found.append((text(entry.c.keyword), text(entry.c.text)))
        return found

    @property
    def gain_map_info(self) -> GainMapInfo | None:
        """Where the gain map of a JPEG, AVIF or HEIF lies, and what it means; None if there is none. Decodes nothing."""
        info = Struct("sdd_gain_map_info")
        status = lib.sdd_image_get_gain_map_info(self._live(), info.c)
        if status == c.ERROR_NOT_FOUND:
            return None
        check(status)
        return gain_map_info_of(info.c)

    def gain_map(self) -> Image | None:
        """Decodes the gain map, on this thread, to RGBA8, turned as the image is; None if there is none."""
        out = ffi.new("sdd_image **")
        status = lib.sdd_image_gain_map(self._live(), out)
        if status == c.ERROR_NOT_FOUND:
            return None
        check(status)
        return Image._take(out[0])

    # ---- other pictures made of it

    def transform(self, *transforms: Transform) -> Image:
        """Applies transforms one after the other, on this thread."""
        handle, out = self._live(), ffi.new("sdd_image **")
        with_memory = transforms_of(transforms)
        check(lib.sdd_image_transform(handle, with_memory.array, len(transforms), out))
        return Image._take(out[0])

    def encode(
        self, format: int | FormatName = 0, *, quality: int = 0, max_size: tuple[int, int] | int | None = None,
        max_bytes: int = 0, background: int = 0, progressive: bool = False,
        chroma: Literal["420", "422", "444"] = "420", animated: bool = False,
    ) -> View:  # fmt: skip
        """Encodes the pixels, on this thread, and returns read-only bytes without a copy.

        `format` is an ImageFormat or its name: "jpeg", "png", and where their coders are installed "webp", "avif" and
        "jxl"; 0 is PNG if any pixel is transparent, else JPEG. `quality` is 1 to 100, 0: 90. A larger picture is
        scaled down to fit into `max_size` pixels; the quality, or the size of a PNG, is reduced to fit into
        `max_bytes`. `background` is 0xRRGGBB, shown through alpha in a JPEG. `chroma` is "420", "422" or "444".
        `animated` encodes all frames of an animated image: as an animated PNG, or where their coders are installed as
        "webp" or "gif".
        """
        options, chosen = Struct("sdd_encode_options"), _format_of(format)
        options.set_all({"format": chosen, "quality": quality, "max_bytes": max_bytes, "background": background,
                         "progressive": flag("progressive", progressive), "chroma": _CHROMA.of(chroma),
                         "animated": flag("animated", animated)})  # fmt: skip
        if max_size is not None:
            width, height = sides("max_size", max_size)
            options.set("max_width", width, "max_size")
            options.set("max_height", height, "max_size")
        handle, out = self._live(), ffi.new("sdd_bytes **")
        status = lib.sdd_image_encode(handle, options.c, out)
        if status == c.ERROR_UNSUPPORTED:
            raise RequestError(_not_written(ImageFormat(chosen)), status=status)
        check(status)
        return bytes_view(out[0])

    def thumbhash(self) -> bytes:
        """Makes the ThumbHash of the picture: 17 to 25 bytes, of which `Image.from_thumbhash()` makes what is shown
        until the picture itself is there. Equal pixels have the same hash on every machine.

        >>> Image.from_pixels(b"\\xff\\x00\\x00" * 4, 2, 2, "rgb8").thumbhash().hex()
        'd5fb03070000000000000000000000000000000000000000'
        """
        handle, out = self._live(), ffi.new("sdd_bytes **")
        check(lib.sdd_image_thumbhash(handle, out))
        return bytes(bytes_view(out[0]))

    def save(self, path: str | os.PathLike[str], format: int | FormatName = 0, **options: Any) -> None:
        """Writes the picture to a file, in the format that its name ends with: .jpg, .png, and where their coders are
        installed .webp, .avif and .jxl. `format` and `options` are those of `encode()`; `format` overrides the name.
        """
        if isinstance(path, (bytes, bytearray)) or not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path must be a text or a Path, not {shown(path)}")
        path = Path(path)
        if not format:
            if path.suffix.lower() not in _SUFFIXES:
                end = f"ends with {path.suffix}" if path.suffix else "has no extension"
                raise _invalid(
                    f"The file's name {end}, which names no format of pictures: end it with .jpg, .png, .webp, .avif "
                    'or .jxl, or name the format, as in save(path, "png").'
                )
            format = _SUFFIXES[path.suffix.lower()]
        data = self.encode(format, **options)  # before a file is made
        path.write_bytes(data)

    def _repr_png_(self) -> bytes | None:
        """The picture for a notebook, scaled down if it is large."""
        return None if self.closed else bytes(self.encode(ImageFormat.PNG, max_size=_SHOWN_SIDE))


def _invalid(sentence: str) -> InvalidArgument:
    return InvalidArgument(sentence, status=c.ERROR_INVALID_ARGUMENT)


def _format_of(given: object) -> int:
    """The number of a format, or of its name."""
    if not isinstance(given, str):
        return number("format, an ImageFormat or its name,", given)
    return _FORMATS.of("jpeg" if given.lower() == "jpg" else given.lower())


def _not_written(format: ImageFormat) -> str:
    """Why a picture is not encoded, and what helps."""
    name = _WRITTEN_BY_CODERS.get(format)
    if name is None:
        return (
            f"libsdd does not write {format.name}: it writes JPEG and PNG, and by coders WebP, AVIF, GIF and JPEG XL."
        )
    return (
        f"No coder has written the picture as {name}: it is not installed (Debian: {PACKAGES[name]}), or it refused "
        "the picture; with SDD_LOG=warning in the environment libsdd says why it does not use one."
    )


_CHROMA = Choices("chroma", **{"420": c.CHROMA_420, "422": c.CHROMA_422, "444": c.CHROMA_444})
_UINT16 = "<u2" if sys.byteorder == "little" else ">u2"


_PROBED = ("format", "stored_width", "stored_height", "channels", "depth", "orientation", "is_progressive",
           "frame_count", "loop_count")  # fmt: skip


def probe(data: Buffer) -> dict[str, int] | None:
    """What the first bytes of a JPEG or PNG say of it; None if more bytes are needed.

    The keys are fields of sdd_image_info: format, stored_width, stored_height, channels, depth, orientation,
    is_progressive, frame_count, loop_count.
    """
    info = Struct("sdd_image_info")
    with buffer("data", data) as view:
        status = lib.sdd_image_probe(ffi.from_buffer(view), view.nbytes, info.c)
    if status == c.ERROR_INCOMPLETE:
        return None
    check(status)
    return {name: getattr(info.c, name) for name in _PROBED}
