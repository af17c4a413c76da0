"""Draws what a terminal shows, as `tmux capture-pane -e` prints it, in its colours."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Optional, Tuple

from PIL import Image, ImageDraw, ImageFont

Colour = Tuple[int, int, int]
WIDTH, HEIGHT, SIZE, MARGIN = 11, 22, 18, 16  # of a character, its font, and around the screen, in pixels
PAPER, INK = (24, 26, 31), (216, 219, 224)
NORMAL = [(24, 26, 31), (232, 92, 92), (120, 192, 110), (222, 184, 96), (97, 158, 239), (198, 120, 221), (86, 182, 194)]
BRIGHT = [(110, 116, 128), (255, 128, 128), (150, 224, 140), (245, 215, 130), (130, 185, 255), (220, 150, 240)]
NORMAL += [INK]
BRIGHT += [(120, 215, 225), (255, 255, 255)]
FONTS = {False: "DejaVuSansMono.ttf", True: "DejaVuSansMono-Bold.ttf"}
SEQUENCE = re.compile(r"\x1b\[([\d;]*)m|\x1b[()].|([^\x1b])")


@dataclass(frozen=True)
class Style:
    ink: Optional[Colour] = None
    paper: Optional[Colour] = None
    is_bold: bool = False
    is_dim: bool = False
    is_reverse: bool = False

    def colours(self) -> tuple[Colour, Colour]:
        ink, paper = self.ink or INK, self.paper or PAPER
        if self.is_dim:
            ink = tuple((a + b) // 2 for a, b in zip(ink, paper))
        return (paper, ink) if self.is_reverse else (ink, paper)


def indexed(number: int) -> Colour:
    """A colour of the 256 that terminals have."""
    if number < 16:
        return (NORMAL + BRIGHT)[number]
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    steps = [0, 95, 135, 175, 215, 255]
    number -= 16
    return steps[number // 36], steps[number // 6 % 6], steps[number % 6]


def changed(style: Style, codes: list[int]) -> Style:
    """The style after a sequence with these numbers (ECMA-48, SGR)."""
    while codes:
        code = codes.pop(0)
        colour: Optional[Colour] = None
        if code in (38, 48) and codes[:1] == [5]:
            colour, codes = indexed(codes[1]), codes[2:]
        elif code in (38, 48) and codes[:1] == [2]:
            colour, codes = (codes[1], codes[2], codes[3]), codes[4:]
        elif code % 10 < 8 and code // 10 in (3, 4, 9, 10):
            colour = (BRIGHT if code >= 90 else NORMAL)[code % 10]
        if colour or code in (39, 49):
            style = replace(style, **{"ink" if code // 10 in (3, 9) else "paper": colour})
        elif code == 0:
            style = Style()
        elif code in (1, 2, 7, 22, 27):
            style = replace(
                style,
                is_bold=code == 1 or (style.is_bold and code != 22),
                is_dim=code == 2 or (style.is_dim and code != 22),
                is_reverse=code == 7 or (style.is_reverse and code != 27),
            )
        else:
            raise ValueError(f"the terminal's sequence {code} has no picture here")
    return style


def draw(screen: str, columns: int) -> Image.Image:
    """A picture of the screen's lines, which are at most so many columns wide."""
    lines = screen.rstrip("\n").split("\n")
    image = Image.new("RGB", (2 * MARGIN + columns * WIDTH, 2 * MARGIN + len(lines) * HEIGHT), PAPER)
    brush = ImageDraw.Draw(image)
    fonts = {is_bold: ImageFont.truetype(name, SIZE) for is_bold, name in FONTS.items()}
    style = Style()  # it goes on over the ends of lines
    for row, line in enumerate(lines):
        column = 0
        for found in SEQUENCE.finditer(line):
            if found[2] is None:
                if found[1] is not None:
                    style = changed(style, [int(code or 0) for code in found[1].split(";")])
                continue
            ink, paper = style.colours()
            x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
            right, bottom = x + WIDTH - 1, y + HEIGHT - 1
            brush.rectangle((x, y, right, bottom), paper)
            if found[2] == "▀":  # fonts leave gaps between these
                brush.rectangle((x, y, right, y + HEIGHT // 2 - 1), ink)
            elif found[2] in "─━╸╺":  # halves of lines, too
                thick = 1 if found[2] == "─" else 3
                left = x + (WIDTH // 2 if found[2] == "╺" else 0)
                end = right - (WIDTH // 2 if found[2] == "╸" else 0)
                brush.rectangle((left, y + HEIGHT // 2 - thick // 2, end, y + HEIGHT // 2 + thick // 2), ink)
            else:
                brush.text((x, y), found[2], ink, fonts[style.is_bold])
            column += 1
    return image
