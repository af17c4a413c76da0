/* A target for libFuzzer: one coder, by its table, without the library. The first byte of an input selects how the body
   arrives: at once, or in pieces with previews; the second the size that is wanted; the rest is the body. fuzz.sh builds
   it with each coder. */
#include <sdd/sdd.h>
#include <stdlib.h>
#include <string.h>

const sdd_coder *sdd_coder_main(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PIXELS = 1 << 16, MOST_FRAMES = 20 };

static volatile unsigned sum;
static int draws; /* whether frames may be larger than their pictures */

static void fail(void) { abort(); }

static void read_frame(const sdd_coder_frame *frame, int rows)
{
    if (frame->width <= 0 || frame->height <= 0 || rows > frame->height) fail();
    if ((int64_t)frame->width * frame->height > MAX_PIXELS || frame->stride < (size_t)frame->width * 4) fail();
    if (frame->orientation < 0 || frame->orientation > 8 || frame->frame_count < 0 || frame->duration_us < 0) fail();
    if (frame->picture_width && !draws && (frame->picture_width < frame->width || frame->picture_height < frame->height)) fail();
    for (int y = 0; y < rows; y++)
        for (int i = 0; i < frame->width * 4; i++)
            sum += ((const unsigned char *)frame->pixels)[(size_t)y * frame->stride + (size_t)i];
}

static int show(const sdd_coder *coder, void *decoder)
{
    sdd_coder_preview preview = { .struct_size = sizeof preview, .frame.struct_size = sizeof preview.frame };
    sdd_status status = coder->preview(decoder, &preview, coder->user_data);
    if (status == SDD_OK && preview.frame.pixels != NULL)
        read_frame(&preview.frame, preview.is_refined ? preview.frame.height : preview.good_rows);
    return status == SDD_OK || status == SDD_ERROR_INCOMPLETE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sdd_coder *coder = sdd_coder_main();
    sdd_coder_task task = { sizeof task, MAX_PIXELS, 0, 0 };
    sdd_status status;
    void *decoder = NULL;
    size_t at = 0, piece;
    if (coder == NULL || size < 2) return 0;
    draws = coder->resize != NULL;
    piece = data[0] % 4 == 0 && coder->preview != NULL ? 16u * (1 + data[0]) : size;
    task.damage = data[0] % 2 == 0 ? SDD_DAMAGE_KEEP_REST : SDD_DAMAGE_REFUSE;
    task.wanted_side = data[1] % 3 == 0 ? data[1] : 0;
    data += 2, size -= 2;
    coder->can_decode(data, size, coder->user_data);
    if (coder->open(&task, &decoder, coder->user_data) != SDD_OK) return 0;
    do {
        size_t count = size - at < piece ? size - at : piece;
        uint8_t *copy = piece < size ? malloc(count + 1) : NULL;
        if (copy != NULL) memcpy(copy, data + at, count);
        status = coder->feed(decoder, copy ? copy : data + at, count, at + count == size, coder->user_data);
        free(copy);
        at += count;
        if (status == SDD_OK && at < size && !show(coder, decoder)) piece = size;
    } while (status == SDD_OK && at < size);
    if (status == SDD_OK && coder->resize != NULL && task.wanted_side > 0)
        status = coder->resize(decoder, task.wanted_side, 300 - task.wanted_side, coder->user_data);
    for (int i = 0; status == SDD_OK && i < MOST_FRAMES; i++) {
        sdd_coder_frame frame = { .struct_size = sizeof frame };
        status = coder->next(decoder, &frame, coder->user_data);
        if (status == SDD_OK) read_frame(&frame, frame.height);
    }
    coder->close(decoder, coder->user_data);
    return 0;
}
