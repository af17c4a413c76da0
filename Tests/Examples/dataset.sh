# Tests dataset.py; sourced by Tests/examples.sh. Uses $work, $base, $pictures, $urls, fail, ok, skip, gives, says.

# python_with MODULES: prints the first Python that has them, as "numpy, PIL". apt-get installs them for the system's,
# and another may come first on the PATH.
python_with() {
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null || continue
        echo "$python"
        return
    done
}

# same_as_pillow ARRAY LAYOUT FIT URL-NAME...: every picture is nearly what Pillow makes of it.
same_as_pillow() {
    "$python" - "$work/pictures" "$@" <<'PYTHON' || fail "dataset.py: other pictures than Pillow's"
import pathlib, sys
import numpy as np
from PIL import Image, ImageOps

folder, name, layout, fit, *pictures = sys.argv[1:]
array = np.load(name)
if layout == "chw":
    array = array.transpose(0, 2, 3, 1)
assert array.shape == (len(pictures), 96, 128, 3) and array.dtype == np.uint8, array.shape
for number, picture in enumerate(pictures):
    if picture == "-":  # this item failed
        assert not array[number].any(), number
        continue
    image = Image.open(pathlib.Path(folder, picture)).convert("RGBA")
    image = Image.alpha_composite(Image.new("RGBA", image.size, "black"), image).convert("RGB")
    # Enlarged pictures are interpolated.
    way = Image.Resampling.BILINEAR if image.width < 128 else Image.Resampling.BOX
    expected = np.zeros((96, 128, 3), np.uint8)
    if fit == "fill":
        expected[:] = ImageOps.fit(image, (128, 96), way)
    elif fit == "stretch":
        expected[:] = image.resize((128, 96), way)
    else:
        made = np.asarray(ImageOps.contain(image, (128, 96), way))
        assert made.shape[0] == 96 or made.shape[1] == 128
        expected[:made.shape[0], :made.shape[1]] = made
    difference = np.abs(array[number].astype(int) - expected.astype(int))
    # libjpeg reduces before it transforms, which changes sharp edges.
    assert difference.mean() < 6, (picture, fit, difference.mean())
PYTHON
}

check_dataset() {
    local python runs fit
    python=$(python_with 'numpy, PIL') runs=$(python_with 'cffi, numpy')
    if [ -z "$python" ] || [ -z "$runs" ]; then
        skip "dataset.py: no cffi, no NumPy, or no Pillow"
        return
    fi
    local script=("$runs" -X dev -W error examples/python/dataset.py)
    gives 0 "${script[@]}" -s 19x13 --chw -o "$work/dataset.npy" "file://$PWD/Tests/Fixtures/png/rgb8.png"
    "$python" - "$work/dataset.npy" Tests/Fixtures/png/rgb8.pam <<'PYTHON' || fail "dataset.py: other planes"
import pathlib, sys
import numpy as np
pam = pathlib.Path(sys.argv[2]).read_bytes()
rgba = pam[pam.index(b"ENDHDR\n") + 7:]
sys.exit(np.load(sys.argv[1]).tobytes() != rgba[0::4] + rgba[1::4] + rgba[2::4])
PYTHON
    ok "dataset.py: a file, to the planes of its pixels"

    script+=(-s 128x96)
    for fit in fill stretch inside; do
        gives 0 "${script[@]}" --fit "$fit" -o "$work/dataset.npy" "${urls[@]}"
        says '^6 of 6 pictures in [0-9.]+ s: [0-9.]+ a second, [0-9.]+ MB a second$'
        same_as_pillow "$work/dataset.npy" hwc "$fit" "${pictures[@]}"
        gives 0 "${script[@]}" --fit "$fit" --chw -o "$work/dataset.npy" "${urls[@]}"
        same_as_pillow "$work/dataset.npy" chw "$fit" "${pictures[@]}"
    done
    ok "dataset.py: the pictures are those of Pillow"

    printf '%s\n' "${urls[0]}" "${base}missing.png" "${base}page.html" "" "${urls[1]}" >"$work/list"
    gives 1 "${script[@]}" --ordered -j 2 -a 2 -i "$work/list" -o "$work/dataset.npy" "${urls[2]}" nonsense
    [ "$(grep -oE '^[0-5] (http|nonsense)' "$work/out" | cut -c1 | tr -d '\n')" = 012345 ] ||
        fail "dataset.py: another order"
    says '^3 of 6 pictures in '
    says '^ +1 SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE detail 0 HTTP 404$'
    says '^ +1 SDD_ERROR_BAD_IMAGE_DATA detail 100102 HTTP 200$'
    says '^ +1 SDD_ERROR_INVALID_URL detail 100005 HTTP 0$'
    says '^ +5 of 127\.0\.0\.1:[0-9]+: 2 failed, '
    says '^ +1 of \(no host\): 1 failed, 0 bytes'
    same_as_pillow "$work/dataset.npy" hwc fill "${pictures[2]}" - "${pictures[0]}" - - "${pictures[1]}"
    gives 2 "$runs" examples/python/dataset.py
    ok "dataset.py: one bad item does not stop the others"
}
