# Tests the examples that show many pictures: they must show what Pillow makes of the same files. Sourced by
# Tests/examples.sh. Uses $bin, $work, $base, $slow, $pictures, $urls, start, gives, says, skip, fail, ok, and from
# dataset.sh the Python that has Pillow.

# shows FILE WIDTH HEIGHT COLUMNS GREY FIT NAME...: checks that FILE has those pictures in cells of that size, each in
# the middle of its cell, over grey; "-" is an empty cell. With FIT "preview" only the top rows of the picture are
# there.
shows() {
    local python
    python=$(python_with 'numpy, PIL')
    if [ -z "$python" ]; then
        skip "comparing ${1##*/}: no NumPy, or no Pillow"
        return
    fi
    "$python" - "$work/pictures" "$@" <<'PYTHON' || fail "${1##*/}: another picture than Pillow's"
import pathlib, sys
import numpy as np
from PIL import Image, ImageOps

folder, file = map(pathlib.Path, sys.argv[1:3])
width, height, columns, grey = map(int, sys.argv[3:7])
fit, names = sys.argv[7], sys.argv[8:]
ground = (grey, grey, grey)
shown = Image.open(file)
assert shown.mode == "RGB" and shown.size == (columns * width, -(-len(names) // columns) * height), (shown.mode, shown.size)

def drawn(name):
    cell = Image.new("RGB", (width, height), ground)
    if name == "-":
        return cell
    picture = Image.open(folder / name).convert("RGBA")
    picture = Image.alpha_composite(Image.new("RGBA", picture.size, ground), picture).convert("RGB")
    if fit == "fill":  # enlarged pictures are interpolated
        return ImageOps.fit(picture, (width, height), Image.BILINEAR if picture.width < width else Image.BOX)
    if picture.width > width or picture.height > height:
        picture = ImageOps.contain(picture, (width, height), Image.BOX)
    cell.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
    return cell

def differ(one, other):
    return np.abs(one.astype(int) - other.astype(int)).mean() if one.size else 0

for number, name in enumerate(names):
    left, top = number % columns * width, number // columns * height
    cell = np.asarray(shown.crop((left, top, left + width, top + height)))
    expected = np.asarray(drawn(name))
    if fit == "preview":
        empty = (cell == grey).all(axis=(1, 2))
        rows = int(empty.argmax()) if empty.any() else height
        assert 0 < rows < height - 4, rows
        assert empty[rows:-4].all()  # the last four rows are the progress bar
        cell, expected = cell[:rows - 1], expected[:rows - 1]  # the last row may be of half a pixel
    # libjpeg reduces before it transforms, which changes sharp edges.
    assert differ(cell, expected) < (0.01 if name == "-" else 6), (number, name, differ(cell, expected))
PYTHON
}

check_load() {
    gives 1 "$bin/load" "${base}plasma.jpg" "${base}tiles.png" "${base}missing.png"
    [ "$(sed -n 's/.*plasma.jpg: 1600 x 1200 from: //p' "$work/out" | tr '\n' ' ')" = "network memory " ] ||
        fail "load.c: $(cat "$work/out")"
    says '/missing.png: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    says '/missing.png: SDD_ERROR_BLOCKED: .'
    gives 0 "$bin/load" "${base}plasma.jpg" # another process
    [ "$(sed -n 's/.*plasma.jpg: 1600 x 1200 from: //p' "$work/out" | tr '\n' ' ')" = "disk memory " ] ||
        fail "load.c: $(cat "$work/out")"
    gives 2 "$bin/load"
    ok "load.c"
}

check_sdd_load() { # check_sdd_load COMMAND...: the example in Rust
    local directory=$work/sdd-load
    gives 1 "$@" -d "$directory" -s 100 "${base}plasma.jpg" "${base}missing.png" "${base}tiles.png"
    [ "$(sed -nE 's/.*(plasma|tiles).*from: ([a-z]+), [0-9]+ ms$/\1 \2/p; s/.*(missing).png: (SDD_ERROR_[A-Z_]+): .*/\1 \2/p' \
        "$work/out")" = "plasma network
missing SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE
tiles network
plasma memory
missing SDD_ERROR_BLOCKED
tiles memory" ] || fail "sdd-load: $(cat "$work/out")"
    says '/plasma.jpg: 100 x 75 from: '
    printf '%s\n' "${base}plasma.jpg" "" >"$work/list"
    gives 0 "$@" -d "$directory" -i "$work/list" # another process, and another size
    says '/plasma.jpg: 1600 x 1200 from: disk, [0-9]+ ms$'
    says '/plasma.jpg: 1600 x 1200 from: memory, [0-9]+ ms$'
    gives 2 "$@"
    ok "sdd-load"
}

check_contact_sheet() {
    local sheet=("$bin/contact_sheet" -d "$work/contact-sheet") names=() many=() number
    for number in {1..33}; do # another URL each time: the server ignores the query
        names+=("${pictures[@]}")
        many+=("${pictures[@]/%/?$number}")
    done
    names+=(- -)
    printf '%s\n' "${many[@]/#/$base}" "${base}missing.png" "${base}page.html" >"$work/list"
    gives 1 "${sheet[@]}" -i "$work/list" -n 15 -o "$work/sheet.png"
    says '^198 pictures, 0 of them from the disk, 2 missing$'
    says '/missing.png: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    says '/page.html: SDD_ERROR_BAD_IMAGE_DATA: .'
    shows "$work/sheet.png" 160 120 15 128 inside "${names[@]}"
    gives 1 "${sheet[@]}" -i "$work/list" -n 20 -f -s 60x90 -j 2 -o "$work/sheet.jpg" # made of cached pictures
    says '^198 pictures, 198 of them from the disk, 2 missing$'
    gives 0 "$bin/probe" "$work/sheet.jpg"
    says ': JPEG, 1200 x 900, 3 channels of 8 bits$'
    gives 0 "${sheet[@]}" -f -s 200x100 -o "$work/sheet.png" "${urls[@]}"
    shows "$work/sheet.png" 200 100 3 128 fill "${pictures[@]}"
    gives 1 "${sheet[@]}" -o "$work/nowhere/sheet.png" "${urls[@]}"
    gives 1 "$bin/contact_sheet" -d "$work/list" -o "$work/sheet.none" "${urls[@]}" # a file in place of a directory
    gives 2 "${sheet[@]}" -s 0x100 -o "$work/sheet.none" "${urls[@]}"
    gives 2 "${sheet[@]}" -o "$work/sheet.none"
    [ ! -e "$work/sheet.none" ] || fail "contact_sheet.c: a sheet without pictures"
    ok "contact_sheet.c: what Pillow would put on the sheet"
}

check_viewer() {
    if [ ! -x "$bin/viewer" ]; then return; fi # skipped at build time
    export SDL_RENDER_DRIVER=software
    if have Xvfb; then
        start "display " bash -c 'exec Xvfb -displayfd 3 -screen 0 1280x1024x24 3> >(exec sed -u "s/^/display /")'
        export DISPLAY=:$line SDL_VIDEODRIVER=x11
    else
        skip "viewer.c in X: no Xvfb"
        export SDL_VIDEODRIVER=dummy
    fi
    gives 0 "$bin/viewer" -s 400x400 -o "$work/viewer.png" "${base}plasma.jpg"
    says '/plasma.jpg: 400 x 300$'
    shows "$work/viewer.png" 400 400 1 32 inside plasma.jpg
    gives 0 "$bin/viewer" -s 400x300 -o "$work/viewer.png" "${base}glass.png" # the background shows through
    shows "$work/viewer.png" 400 300 1 32 inside glass.png
    gives 0 "$bin/viewer" -p 0 -s 400x300 -o "$work/viewer.png" "${urls[@]}"
    [ "$(wc -l <"$work/out")" -ge ${#urls[@]} ] || fail "viewer.c: not all were shown"
    shows "$work/viewer.png" 400 300 1 32 inside tiles.png # the last picture
    gives 0 "$bin/viewer" -1 -o "$work/viewer.png" "${slow}mandelbrot.png"
    shows "$work/viewer.png" 800 600 1 32 preview mandelbrot.png
    gives 1 "$bin/viewer" -o "$work/viewer.png" "${base}missing.png" "${urls[0]}"
    says '/missing.png: SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: .'
    shows "$work/viewer.png" 800 600 1 32 inside -
    gives 0 "$bin/viewer" -n 3 -o "$work/viewer.png" "${slow}ripples.jpg?viewer"
    gives 1 "$bin/viewer" -o "$work/nowhere/viewer.png" "${urls[0]}"
    gives 2 "$bin/viewer" -o "$work/viewer.png"
    ok "viewer.c: what Pillow would show"
}
