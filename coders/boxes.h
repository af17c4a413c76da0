/*
 * boxes.h - the pictures in an ISO base media file (ISO/IEC 14496-12, and 23008-12 for pictures): which items make up
 * the primary picture, how large each says that it is, and where its bytes are. The coders look at them before they let
 * a library decode, since the sizes that such a file states outside and inside its pictures may differ.
 */
#ifndef BOXES_H
#define BOXES_H

#include "coder.h"

/* Bytes that are read from their beginning. Reads behind the end give 0 and set `is_over`. */
struct span {
    const unsigned char *bytes;
    size_t size, at;
    int is_over;
};

static inline struct span span_of(const unsigned char *bytes, size_t size)
{
    struct span made = { bytes, size, 0, 0 };
    return made;
}

static inline uint64_t span_number(struct span *span, unsigned count)
{
    uint64_t made = 0;
    if (span->size - span->at < count) {
        span->is_over = 1;
        span->at = span->size;
        return 0;
    }
    while (count-- > 0) made = made << 8 | span->bytes[span->at++];
    return made;
}

static inline void span_skip(struct span *span, uint64_t count)
{
    if (count > span->size - span->at) span->is_over = 1;
    span->at = span->is_over ? span->size : span->at + (size_t)count;
}

#define BOX(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* Reads the next box, and sets `content` to what is in it. Returns its type; 0 at the end, and for a damaged one. */
static inline uint32_t next_box(struct span *span, struct span *content)
{
    size_t begin = span->at;
    uint64_t size;
    uint32_t type;
    if (span->size - span->at < 8) return 0;
    size = span_number(span, 4);
    type = (uint32_t)span_number(span, 4);
    if (size == 1) size = span_number(span, 8);
    if (size == 0) size = span->size - begin;
    if (span->is_over || size < span->at - begin || size > span->size - begin) return 0;
    *content = span_of(span->bytes + span->at, (size_t)size - (span->at - begin));
    span->at = begin + (size_t)size;
    return type;
}

/* Finds the first box of a type. Returns 0 if there is none. */
static inline int find_box(struct span span, uint32_t type, struct span *content)
{
    uint32_t found;
    while ((found = next_box(&span, content)) != 0)
        if (found == type) return 1;
    return 0;
}

/* ---- items */

struct item {
    uint32_t id, type;
    uint32_t width, height;     /* as the file states it ("ispe"); 0: it does not */
    struct span config;         /* the settings of an HEVC decoder ("hvcC") */
    const unsigned char *bytes; /* its data */
    unsigned char *copy;        /* for `free`, if the data was in several places */
    size_t size;
    int is_used;     /* the primary picture needs it */
    int depth;       /* items that it is inside of, one in the other */
    int is_plane;    /* it belongs to another item: its transparency, or the like */
    int is_located;  /* the file states where its data is */
    int is_doubtful; /* the file states something twice, and differently */
};

struct items {
    struct item *items; /* by their ids */
    size_t count;
    struct item *primary;
    struct span meta, data; /* the content of the boxes "meta" and "idat" */
    const struct body *body;
    int keeps_rest; /* data may lie behind the end of the body */
};

static inline void items_free(struct items *items)
{
    for (size_t i = 0; i < items->count; i++) free(items->items[i].copy);
    free(items->items);
    items->items = NULL;
    items->count = 0;
}

static inline int by_id(const void *one, const void *other)
{
    uint32_t a = ((const struct item *)one)->id, b = ((const struct item *)other)->id;
    return a < b ? -1 : a > b;
}

static inline struct item *find_item(const struct items *items, uint64_t id)
{
    struct item wanted = { 0 };
    wanted.id = (uint32_t)id;
    return items->count == 0 ? NULL : bsearch(&wanted, items->items, items->count, sizeof wanted, by_id);
}

/* Reads the list of items ("iinf"). */
static inline sdd_status read_list(struct items *items)
{
    struct span list, box;
    uint32_t type;
    size_t room;
    if (!find_box(items->meta, BOX('i', 'i', 'n', 'f'), &list)) return SDD_ERROR_BAD_IMAGE_DATA;
    span_skip(&list, span_number(&list, 4) >> 24 == 0 ? 2 : 4);
    room = (list.size - list.at) / 20 + 1; /* an entry has at least 20 bytes */
    items->items = calloc(room, sizeof *items->items);
    if (items->items == NULL) return SDD_ERROR_NO_RESOURCES;
    while ((type = next_box(&list, &box)) != 0 && items->count < room) {
        struct item *item = &items->items[items->count];
        unsigned version = (unsigned)(span_number(&box, 4) >> 24);
        if (type != BOX('i', 'n', 'f', 'e') || version < 2) continue;
        item->id = (uint32_t)span_number(&box, version == 2 ? 2 : 4);
        span_skip(&box, 2);
        item->type = (uint32_t)span_number(&box, 4);
        if (!box.is_over) items->count++;
    }
    qsort(items->items, items->count, sizeof *items->items, by_id);
    for (size_t i = 1; i < items->count; i++)
        if (items->items[i].id == items->items[i - 1].id) return SDD_ERROR_BAD_IMAGE_DATA;
    return SDD_OK;
}

/* Gives an item one of the properties in "ipco". */
static inline void set_property(struct item *item, uint32_t type, struct span property)
{
    if (type == BOX('i', 's', 'p', 'e')) {
        uint32_t width, height;
        span_skip(&property, 4);
        width = (uint32_t)span_number(&property, 4);
        height = (uint32_t)span_number(&property, 4);
        if (width > item->width) item->width = width;
        if (height > item->height) item->height = height;
    } else if (type == BOX('h', 'v', 'c', 'C')) {
        /* Which of several a library takes is unknown. */
        item->is_doubtful |= item->config.bytes != NULL && item->config.bytes != property.bytes;
        item->config = property;
    }
}

struct property {
    uint32_t type;
    struct span content;
};

/* Reads which property belongs to which item ("ipma"). */
static inline void associate(struct items *items, struct span list, const struct property *properties, size_t count)
{
    uint64_t head = span_number(&list, 4), entries = span_number(&list, 4);
    unsigned id_size = head >> 24 < 1 ? 2 : 4, index_size = head & 1 ? 2 : 1;
    while (entries-- > 0 && !list.is_over) {
        struct item *item = find_item(items, span_number(&list, id_size));
        for (uint64_t left = span_number(&list, 1); left > 0; left--) {
            uint64_t index = span_number(&list, index_size) & (index_size == 2 ? 0x7fff : 0x7f);
            if (item != NULL && index > 0 && index <= count)
                set_property(item, properties[index - 1].type, properties[index - 1].content);
        }
    }
}

static inline sdd_status read_properties(struct items *items)
{
    struct span all, container, box, list;
    struct property *properties;
    size_t count = 0, room;
    uint32_t type;
    if (!find_box(items->meta, BOX('i', 'p', 'r', 'p'), &all) || !find_box(all, BOX('i', 'p', 'c', 'o'), &container))
        return SDD_ERROR_BAD_IMAGE_DATA;
    room = container.size / 8 + 1;
    properties = calloc(room, sizeof *properties);
    if (properties == NULL) return SDD_ERROR_NO_RESOURCES;
    while ((type = next_box(&container, &box)) != 0 && count < room) {
        properties[count].type = type;
        properties[count++].content = box;
    }
    while ((type = next_box(&all, &list)) != 0)
        if (type == BOX('i', 'p', 'm', 'a')) associate(items, list, properties, count);
    free(properties);
    return SDD_OK;
}

/* Marks what used items refer to: the parts of a grid or an overlay ("dimg"), and planes of transparency, which refer
   to the picture themselves ("auxl"). Returns whether it has marked any, or found one deeper than before, which never
   ends if an item is a part of itself. */
static inline int mark_references(struct items *items, struct span list)
{
    unsigned id_size = span_number(&list, 4) >> 24 == 0 ? 2 : 4;
    struct span box;
    uint32_t type;
    int has_marked = 0;
    while ((type = next_box(&list, &box)) != 0) {
        struct item *from = find_item(items, span_number(&box, id_size));
        if (from == NULL || (type != BOX('d', 'i', 'm', 'g') && type != BOX('a', 'u', 'x', 'l'))) continue;
        for (uint64_t left = span_number(&box, 2); left > 0 && !box.is_over; left--) {
            struct item *to = find_item(items, span_number(&box, id_size));
            int is_part = type == BOX('d', 'i', 'm', 'g');
            struct item *whole = is_part ? from : to, *part = is_part ? to : from;
            if (to == NULL || !whole->is_used || part->depth > whole->depth) continue;
            if (!is_part && !part->is_used) part->is_plane = 1;
            part->is_used = 1;
            part->depth = whole->depth + 1;
            has_marked = 1;
        }
    }
    return has_marked;
}

/* Whether each reference takes up its box: libraries read one behind the other, whatever the sizes of boxes say. */
static inline int has_whole_references(struct span list)
{
    unsigned id_size = span_number(&list, 4) >> 24 == 0 ? 2 : 4;
    struct span box;
    while (next_box(&list, &box) != 0) {
        span_skip(&box, id_size);
        span_skip(&box, span_number(&box, 2) * id_size);
        if (box.is_over || box.at < box.size) return 0;
    }
    return list.at == list.size;
}

static inline sdd_status mark_used(struct items *items)
{
    struct span box, list;
    if (!find_box(items->meta, BOX('p', 'i', 't', 'm'), &box)) return SDD_ERROR_BAD_IMAGE_DATA;
    items->primary = find_item(items, span_number(&box, span_number(&box, 4) >> 24 == 0 ? 2 : 4));
    if (items->primary == NULL) return SDD_ERROR_BAD_IMAGE_DATA;
    items->primary->is_used = 1;
    if (!find_box(items->meta, BOX('i', 'r', 'e', 'f'), &list)) return SDD_OK;
    if (!has_whole_references(list)) return SDD_ERROR_BAD_IMAGE_DATA;
    /* An overlay of grids with transparency takes four rounds. */
    for (int round = 0; round < 8; round++)
        if (!mark_references(items, list)) return SDD_OK;
    return SDD_ERROR_UNSUPPORTED;
}

/* ---- the data of items */

struct location_sizes {
    unsigned offset, length, base, index, id, count;
    int has_method;
};

/* Adds a part of an item's data. */
static inline sdd_status add_part(const struct items *items, struct item *item, int method, uint64_t offset,
                                  uint64_t length)
{
    const unsigned char *source = method == 1 ? items->data.bytes : items->body->bytes;
    size_t size = method == 1 ? items->data.size : items->body->size;
    unsigned char *joined;
    if (method > 1) return SDD_ERROR_UNSUPPORTED;
    if (offset > size) return SDD_ERROR_INCOMPLETE;
    if (length == 0) length = size - offset; /* up to the end */
    if (length > size - offset) return SDD_ERROR_INCOMPLETE;
    if (item->size == 0) {
        item->bytes = source + offset;
        item->size = (size_t)length;
        return SDD_OK;
    }
    /* Parts may overlap, but all together are not larger than the file, unless somebody means harm. */
    if (length > items->body->size - item->size) return SDD_ERROR_BAD_IMAGE_DATA;
    joined = malloc(item->size + (size_t)length);
    if (joined == NULL) return SDD_ERROR_NO_RESOURCES;
    memcpy(joined, item->bytes, item->size);
    memcpy(joined + item->size, source + offset, (size_t)length);
    free(item->copy);
    item->bytes = item->copy = joined;
    item->size += (size_t)length;
    return SDD_OK;
}

static inline sdd_status read_location(struct items *items, struct span *list, const struct location_sizes *sizes)
{
    struct item *item = find_item(items, span_number(list, sizes->id));
    int method = sizes->has_method ? (int)span_number(list, 2) & 15 : 0;
    unsigned part_size = sizes->index + sizes->offset + sizes->length;
    uint64_t base, parts;
    span_skip(list, 2); /* the data reference */
    base = span_number(list, sizes->base);
    if (item != NULL) {
        item->is_doubtful |= item->is_located;
        item->is_located = 1;
    }
    parts = span_number(list, 2);
    if (item == NULL || !item->is_used) {
        span_skip(list, parts * part_size);
        return SDD_OK;
    }
    for (; parts > 0 && !list->is_over; parts--) {
        uint64_t offset, length;
        sdd_status status;
        span_skip(list, sizes->index);
        offset = span_number(list, sizes->offset);
        length = span_number(list, sizes->length);
        if (list->is_over) return SDD_OK;
        if (offset > UINT64_MAX - base) return SDD_ERROR_BAD_IMAGE_DATA;
        status = add_part(items, item, method, base + offset, length);
        if (status == SDD_ERROR_INCOMPLETE && items->keeps_rest) {
            span_skip(list, (parts - 1) * part_size);
            return SDD_OK;
        }
        if (status != SDD_OK) return status;
    }
    return SDD_OK;
}

/* Reads the head of the list of places ("iloc"), and returns how many items it has; 0 for a damaged one. */
static inline uint64_t read_sizes(struct span *list, struct location_sizes *sizes)
{
    uint64_t version = span_number(list, 4) >> 24, head = span_number(list, 2);
    sizes->offset = head >> 12 & 15;
    sizes->length = head >> 8 & 15;
    sizes->base = head >> 4 & 15;
    sizes->index = version > 0 ? head & 15 : 0;
    sizes->id = version < 2 ? 2 : 4;
    sizes->has_method = version > 0;
    if (sizes->offset > 8 || sizes->length > 8 || sizes->base > 8 || sizes->index > 8) return 0;
    return span_number(list, version < 2 ? 2 : 4);
}

/* Finds the data of all used items. */
static inline sdd_status read_locations(struct items *items)
{
    struct location_sizes sizes = { 0 };
    struct span list;
    sdd_status status = SDD_OK;
    uint64_t count;
    if (!find_box(items->meta, BOX('i', 'l', 'o', 'c'), &list)) return SDD_ERROR_BAD_IMAGE_DATA;
    count = read_sizes(&list, &sizes);
    if (count == 0) return SDD_ERROR_BAD_IMAGE_DATA;
    for (; status == SDD_OK && count > 0 && !list.is_over; count--) status = read_location(items, &list, &sizes);
    return status;
}

/* Whether a list of places has more pieces than any picture: one may take no bytes of the file, and libraries make a
   record of each before they know what it is for. */
static inline int has_too_many_parts(struct span list)
{
    enum { MOST_PARTS = 1 << 16 };
    struct location_sizes sizes = { 0 };
    uint64_t all = 0;
    for (uint64_t count = read_sizes(&list, &sizes); count > 0 && !list.is_over; count--) {
        uint64_t parts;
        span_skip(&list, sizes.id + (sizes.has_method ? 2u : 0) + 2 + sizes.base);
        parts = span_number(&list, 2);
        span_skip(&list, parts * (sizes.index + sizes.offset + sizes.length));
        all += parts;
        if (all > MOST_PARTS) return 1;
    }
    return 0;
}

/* Whether a file must not be given to a library, for the places of its items or of those of its tracks. */
static inline int has_endless_places(struct span boxes, int depth)
{
    struct span box;
    uint32_t type;
    while ((type = next_box(&boxes, &box)) != 0) {
        int is_meta = type == BOX('m', 'e', 't', 'a');
        if (type == BOX('i', 'l', 'o', 'c') && has_too_many_parts(box)) return 1;
        if (!is_meta && type != BOX('m', 'o', 'o', 'v') && type != BOX('t', 'r', 'a', 'k')) continue;
        if (is_meta) span_skip(&box, 4);
        box = span_of(box.bytes + box.at, box.size - box.at);
        if (depth < 3 && has_endless_places(box, depth + 1)) return 1;
    }
    return 0;
}

/* Reads the items that make up the primary picture. They are to be freed also after an error. SDD_ERROR_NOT_FOUND: the
   file has no items. `keeps_rest`: data that is not there is left out. */
static inline sdd_status items_read(struct items *items, const struct body *body, int keeps_rest)
{
    struct span file = span_of(body->bytes, body->size), box;
    sdd_status status;
    uint32_t type;
    unsigned found = 0;
    memset(items, 0, sizeof *items);
    items->body = body;
    items->keeps_rest = keeps_rest;
    while ((type = next_box(&file, &box)) != 0) {
        if (type != BOX('m', 'e', 't', 'a')) continue;
        items->meta = box;
        found++;
    }
    if (found != 1) return found == 0 ? SDD_ERROR_NOT_FOUND : SDD_ERROR_BAD_IMAGE_DATA;
    items->meta = span_of(items->meta.bytes + 4, items->meta.size < 4 ? 0 : items->meta.size - 4);
    find_box(items->meta, BOX('i', 'd', 'a', 't'), &items->data);
    status = read_list(items);
    if (status == SDD_OK) status = read_properties(items);
    if (status == SDD_OK) status = mark_used(items);
    if (status == SDD_OK) status = read_locations(items);
    for (size_t i = 0; status == SDD_OK && i < items->count; i++)
        if (items->items[i].is_used && items->items[i].is_doubtful) status = SDD_ERROR_BAD_IMAGE_DATA;
    return status;
}

/* Makes the size of a grid or an overlay at least what its data states. */
static inline void widen_canvas(struct item *item)
{
    struct span data = span_of(item->bytes, item->size);
    unsigned size, skipped = item->type == BOX('i', 'o', 'v', 'l') ? 8 : 2;
    uint32_t width, height;
    if (item->type != BOX('g', 'r', 'i', 'd') && item->type != BOX('i', 'o', 'v', 'l')) return;
    size = span_number(&data, 2) & 1 ? 4 : 2;
    span_skip(&data, skipped); /* rows and columns, or the colour of the canvas */
    width = (uint32_t)span_number(&data, size);
    height = (uint32_t)span_number(&data, size);
    if (width > item->width) item->width = width;
    if (height > item->height) item->height = height;
}

#endif
