/* forks.c - see forks.h. What the child must find is in sdd.h, "fork". */
#include "forks.h"

#include <stdio.h>

#include "fake_curl.h"
#include "report.h"
#include "system_faults.h"

struct child { struct chance chance; int site; };

static void expect_dead(const struct child *child)
{
    const struct site *site = &sites[child->site];
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = "http://host1.example/o/1";
    EXPECT(sdd_downloader_resume(site->downloader) == SDD_ERROR_FORKED, "in a child the parent's downloader lives");
    EXPECT(sdd_downloader_submit(site->downloader, &request) == 0, "in a child the parent's downloader takes a request");
    EXPECT(sdd_loader_cancel_all(site->loader) == SDD_ERROR_FORKED, "in a child the parent's loader lives");
    EXPECT(sdd_downloader_destroy(site->downloader) == SDD_ERROR_FORKED, "in a child the parent's downloader ends");
    for (int i = 0; i < call_count; i++)
        EXPECT(sdd_cancel(calls[i].token) == SDD_ERROR_NOT_FOUND, "in a child call %d of the parent is known", i);
}

static void get_with_new_ones(struct child *child, const char *folder)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    sdd_cache *cache = NULL;
    cache_config.directory = folder;
    EXPECT(sdd_cache_create(&cache_config, &cache) == SDD_OK, "a child has no cache: %s", sdd_last_error_message());
    config.cache = cache;
    config.http_cache = 1;
    config.no_installed_coders = 1;
    set_limits(0, 6, 6);
    number_next_downloader(0);
    EXPECT(sdd_downloader_create(&config, &downloader) == SDD_OK, "a child has no downloader: %s", sdd_last_error_message());
    if (one_in(&child->chance, 2)) add_transport(downloader, 0);
    sdd_downloader_add_coder(downloader, costly_coder());
    for (uint32_t left = 1 + below(&child->chance, 3); left > 0; left--) {
        char url[80];
        struct place place = { (int)below(&child->chance, HOSTS), (int)below(&child->chance, PICTURES), 'h' };
        sdd_image *image = NULL;
        write_url(url, sizeof url, &place);
        sdd_status status = sdd_get(downloader, url, 0, -1, &image, NULL, NULL);
        EXPECT(status == SDD_OK && image, "a child does not get a picture: %s", sdd_status_name(status));
        check_picture(image, &place);
        sdd_image_release(image);
    }
    EXPECT(sdd_downloader_destroy(downloader) == SDD_OK, "a child's downloader does not end");
    EXPECT(sdd_cache_destroy(cache) == SDD_OK, "a child's cache does not end");
}

static void be_child(void *context)
{
    struct child *child = context;
    set_faults(0, 0, 0);
    start_network(child->chance.state, 1);
    expect_dead(child);
    get_with_new_ones(child, "cache");
    end_network();
    EXPECT(await_threads() == 0, "a child's objects have ended, and threads are left");
}

void use_child(struct chance *chance, int site)
{
    struct child child = { { below(chance, UINT32_MAX) }, site };
    tell("forks");
    join_task(start_process(be_child, &child));
    tell("the child has ended");
}
