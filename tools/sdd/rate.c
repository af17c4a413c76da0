#include "rate.h"

void rate_count(struct rate *rate, int64_t bytes)
{
    int64_t now = now_us();
    if (rate->bytes_per_second <= 0 || bytes <= 0) return;
    if (rate->paid_until < now) rate->paid_until = now;
    rate->paid_until += (int64_t)((double)bytes * 1e6 / (double)rate->bytes_per_second);
}

bool rate_is_over(const struct rate *rate) { return rate->bytes_per_second > 0 && rate->paid_until > now_us(); }

/* libcurl reads up to a hundred buffers of a connection at once, and nothing pauses it meanwhile: with this size, what
   arrives in a twentieth of a second. */
int32_t rate_buffer(int64_t bytes_per_second)
{
    int64_t size = bytes_per_second / 2000;
    return size < 1024 ? 1024 : size > 65536 ? 65536 : (int32_t)size;
}

/* In the background of the library a downloader starts no transfer and reads from none; its limits on silence and
   slowness rest. A server notices once the buffers of the connection are full. */
int rate_keep(struct rate *rate, sdd_downloader *downloader)
{
    int64_t left = rate->paid_until - now_us();
    bool pauses = rate->bytes_per_second > 0 && left > 0;
    if (pauses && !rate->is_paused) sdd_downloader_enter_background(downloader, 0);
    if (!pauses && rate->is_paused) sdd_downloader_enter_foreground(downloader);
    rate->is_paused = pauses;
    return !pauses ? -1 : left > 60000000 ? 60000 : (int)(left / 1000) + 1;
}
