/* Decodes PNG to RGBA8 with libpng. */
#include "../png_rgba8.h"
#include "baseline.h"

int decode_png(const struct body *body, struct picture *picture)
{
    struct rgba8 decoded;
    const int status = png_to_rgba8(body->bytes, body->size, &decoded);
    *picture = (struct picture){ decoded.pixels, decoded.width, decoded.height };
    return status;
}
