/*
 * sdd/gainmap.h - Gain maps: small pictures inside a JPEG, AVIF or HEIF that say how much brighter
 * each place of it is on a display for HDR.
 *
 * The library shows, scales and stores the picture itself, as a program does that knows nothing of
 * HDR. It tells where the map lies and what its values mean, and decodes it; rendering is left to
 * the application.
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         static const unsigned char grey[1] = { 128 };
 *         sdd_gain_map_info info = SDD_GAIN_MAP_INFO_INIT;
 *         sdd_image *image = NULL;
 *         if (sdd_image_create(1, 1, SDD_PIXEL_FORMAT_GREY8, grey, 0, &image) != SDD_OK) return 1;
 *         if (sdd_image_get_gain_map_info(image, &info) == SDD_ERROR_NOT_FOUND) puts("none");
 *         sdd_image_release(image);
 *         return 0;
 *     }
 *
 * It prints: none
 */
#ifndef SDD_GAINMAP_H
#define SDD_GAINMAP_H

#include "image.h"

SDD_BEGIN_DECLS

/** Kinds of gain maps: sdd_gain_map_info.kind. */
typedef int32_t sdd_gain_map_kind;

SDD_ENUM(sdd_gain_map_kind) {
    /* ISO 21496-1, described in an APP2 segment of the map, or in an item "tmap" of an AVIF or
       HEIF. A map that is described in another way, too, is of this kind. */
    SDD_GAIN_MAP_ISO = 1,
    /* Ultra HDR 1.0 of Android, which is Adobe's gain map 1.0: described in XMP. */
    SDD_GAIN_MAP_ULTRA_HDR = 2,
    /* Apple's HDRGainMap: described in XMP, or an auxiliary picture of a HEIF. */
    SDD_GAIN_MAP_APPLE = 3
};

/**
 * Where a gain map lies and what its values mean. Filled by sdd_image_get_gain_map_info().
 *
 * For a value v of the map, from 0 to 1, the boost of a channel is
 * 2^(min + (max - min) * v^(1 / gamma)) on a display whose headroom is capacity_max or more. All
 * numbers are finite, no min is above its max, and gammas are above 0. Arrays have red, green and
 * blue.
 *
 * For SDD_GAIN_MAP_APPLE the boost is 1 + (2^max - 1) * L(v), where L is the inverse of the
 * transfer function of ITU-R BT.709, and gamma and offsets are 0. The max is that of XMP or, in
 * older files, of the maker note of Exif; 0 if it is unknown.
 */
typedef struct sdd_gain_map_info {
    size_t struct_size;
    sdd_gain_map_kind kind; /* one of SDD_GAIN_MAP_ */
    /* 1: the image is the rendition for HDR, and the map makes the one for SDR, by dividing.
       0: the image is the rendition for SDR, which is what files have almost always. */
    int32_t is_base_hdr;
    /* Where the map lies in sdd_image_bytes(). In a JPEG it is a JPEG of its own; in an AVIF or
       HEIF this is the data of its item, without the boxes around it, and both are 0 if that is in
       several pieces, such as the tiles of a grid. */
    size_t offset;
    size_t size;
    double min_boost[3];   /* log2; GainMapMin */
    double max_boost[3];   /* log2; GainMapMax */
    double gamma[3];       /* Gamma */
    double offset_sdr[3];  /* is added to linear SDR values before they are multiplied */
    double offset_hdr[3];  /* is taken from linear HDR values after that */
    double capacity_min;   /* log2 of the headroom of a display up to which the map has no effect */
    double capacity_max;   /* log2 of the headroom from which on it has all of its effect */
} sdd_gain_map_info;

#define SDD_GAIN_MAP_INFO_INIT \
    { sizeof(sdd_gain_map_info), 0, 0, 0, 0, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, 0, 0 }

/**
 * Finds the gain map of an image, and reads its description. Never decodes.
 *
 * A map is looked for in sdd_image_bytes(): of a JPEG among the first 16 pictures of its
 * multi-picture index (CIPA DC-007), of an AVIF or HEIF that is no animation among its items
 * (ISO/IEC 23008-12).
 *
 * @param image Borrowed.
 * @param info Its struct_size says how much is wanted. All 0 with any status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is none, or the image has no bytes, as one that a load
 *     has scaled; SDD_ERROR_BAD_IMAGE_DATA: the picture announces one that lies behind its end
 *     (SDD_DETAIL_IMAGE_TRUNCATED), or whose description cannot be read or means nothing
 *     (SDD_DETAIL_IMAGE_CORRUPT); SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_get_gain_map_info(sdd_image *SDD_NULLABLE image,
                                               sdd_gain_map_info *SDD_NULLABLE info);

/**
 * Decodes the gain map of an image, on the calling thread, which WAITS; in this process also if the
 * image came with SDD_DECODE_ISOLATED. The limits are those of sdd_image_decode(). AVIF and HEIF
 * need a coder of the process or an installed one.
 *
 * @param image Borrowed.
 * @param map Receives the values as SDD_PIXEL_FORMAT_RGBA8, turned as the image is, most often
 *     smaller than it; owned by the caller: release with sdd_image_release(). It has no
 *     sdd_image_bytes(). NULL on an error.
 * @return As sdd_image_get_gain_map_info(); SDD_ERROR_BAD_IMAGE_DATA also if the map cannot be
 *     decoded, or there is no memory.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_gain_map(sdd_image *SDD_NULLABLE image,
                                      sdd_image *SDD_NULLABLE *SDD_NULLABLE map);

SDD_END_DECLS

#endif /* SDD_GAINMAP_H */
