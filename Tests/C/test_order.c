/* The choice of the next waiting request: order, priorities, limits, reserved slots. */
#include "rules.h"

/* -------------------------------------------------------------------------------- order, priorities */

/* D10: a new order also applies to requests that wait already. D14: priority comes before order. */
CASE(d10_d14_the_order_changes_while_they_wait)
{
    OWNED_DOWNLOADER downloader = downloader_of(1);
    submit_number(downloader, 1, at("/hold/order"), 0);
    for (int i = 2; i <= 6; i++)
        submit_number(downloader, i, atf("/ok?order%d", i), i % 2 ? SDD_PRIORITY_HIGH : SDD_PRIORITY_NORMAL);
    CHECK_STATUS(sdd_downloader_set_execution_order(downloader, SDD_ORDER_LIFO), SDD_OK);
    release("order");
    CHECK_ORDER(downloader, 1, 5, 3, 6, 4, 2);
    submit_number(downloader, 1, at("/hold/order-back"), 0);
    for (int i = 2; i <= 6; i++) submit_number(downloader, i, atf("/ok?order%d", i), 0);
    CHECK_STATUS(sdd_downloader_set_execution_order(downloader, SDD_ORDER_FIFO), SDD_OK);
    release("order-back");
    CHECK_ORDER(downloader, 1, 2, 3, 4, 5, 6);
}

CASE(o0_o7_r1_r2_five_priorities)
{
    sdd_downloader *downloader = downloader_of(1);
    submit_number(downloader, 0, at("/hold/five"), 0);
    for (int i = 1; i <= 5; i++) submit_number(downloader, i, atf("/ok?five%d", i), SDD_PRIORITY_VERY_LOW + i - 1);
    for (int i = 6; i <= 10; i++) submit_number(downloader, i, atf("/ok?five%d", i), SDD_PRIORITY_VERY_HIGH - (i - 6));
    release("five");
    CHECK_ORDER(downloader, 0, 5, 6, 4, 7, 3, 8, 2, 9, 1, 10);

    /* The default is the normal one. */
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    for (sdd_priority priority = SDD_PRIORITY_DEFAULT; priority <= SDD_PRIORITY_VERY_HIGH; priority++) {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = atf("/ok?given%d", (int)priority);
        request.options = SDD_OPTION_BYTES_ONLY;
        request.priority = priority;
        request.completed = note_end;
        sdd_token token = submit(downloader, &request);
        CHECK_EQUAL(info_of(token).priority, priority ? priority : SDD_PRIORITY_NORMAL);
        CHECK_EQUAL(info_of(token).effective_priority, priority ? priority : SDD_PRIORITY_NORMAL);
    }
    destroy(downloader);
    ends.count = 0;
}

/* R3: requests that share a transfer have the highest priority among them, as long as that one stays. */
CASE(r3_z5_a_joiner_raises_the_priority_until_it_leaves)
{
    OWNED_DOWNLOADER downloader = downloader_of(1);
    submit_number(downloader, 0, at("/hold/joined"), 0);
    sdd_token first = submit_number(downloader, 1, at("/ok?joined1"), SDD_PRIORITY_LOW);
    submit_number(downloader, 2, at("/ok?joined2"), SDD_PRIORITY_NORMAL);
    sdd_token third = submit_number(downloader, 3, at("/ok?joined3"), SDD_PRIORITY_LOW);
    /* The joiner raises the priority and stays. */
    sdd_token joiner = submit_number(downloader, 11, at("/ok?joined1"), SDD_PRIORITY_HIGH);
    CHECK_EQUAL(info_of(first).priority, SDD_PRIORITY_LOW);
    CHECK_EQUAL(info_of(first).effective_priority, SDD_PRIORITY_HIGH);
    CHECK_EQUAL(info_of(joiner).effective_priority, SDD_PRIORITY_HIGH);
    /* A joiner with a lower priority does not lower it. */
    sdd_token less = submit_number(downloader, 12, at("/ok?joined1"), SDD_PRIORITY_VERY_LOW);
    CHECK_EQUAL(info_of(less).effective_priority, SDD_PRIORITY_HIGH);
    /* The joiner raises the priority, which falls again when that one leaves. */
    sdd_token leaver = submit_number(downloader, 13, at("/ok?joined3"), SDD_PRIORITY_VERY_HIGH);
    CHECK_EQUAL(info_of(third).effective_priority, SDD_PRIORITY_VERY_HIGH);
    CHECK_STATUS(sdd_cancel(leaver), SDD_OK);
    CHECK_EQUAL(info_of(third).effective_priority, SDD_PRIORITY_LOW);
    release("joined");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    static const int expected[] = { 13, 0, 1, 11, 12, 2, 3 };
    CHECK_EQUAL(ends.count, 7);
    for (int i = 0; i < 7; i++) CHECK_EQUAL(ends.numbers[i], expected[i]);
    CHECK_STATUS(ends.errors[0], SDD_ERROR_CANCELLED);
    ends.count = 0;
}

/* Z3: a request that has waited long enough gains one priority level, and later one more. The waits are those of
   replies. */
CASE(z3_waiting_raises_the_priority)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 1;
    config.ageing_ms = 200;
    sdd_downloader *downloader = make_downloader(&config), *clock = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    submit_number(downloader, 0, at("/hold/ageing"), 0);
    sdd_token old = submit_number(downloader, 1, at("/ok?ageing1"), SDD_PRIORITY_LOW);
    fetch(clock, &r, at("/ok?delay=450"), SDD_OPTION_BYTES_ONLY);
    submit_number(downloader, 2, at("/ok?ageing2"), SDD_PRIORITY_NORMAL);
    CHECK_EQUAL(info_of(old).priority, SDD_PRIORITY_LOW);
    release("ageing");
    CHECK_ORDER(downloader, 0, 1, 2);
    destroy(clock);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------------ limits */

static int running_on(const sdd_token *tokens, int count)
{
    int running = 0;
    for (int i = 0; i < count; i++) running += info_of(tokens[i]).state == SDD_STATE_RUNNING;
    return running;
}

CASE(g1_z3_a_host_gets_no_more_than_its_share)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 20;
    config.max_concurrent_per_host = 2;
    sdd_downloader *downloader = make_downloader(&config);
    sdd_token one[5], other[5];
    /* A host is a name with a port, so these are two servers on two ports. */
    for (int i = 0; i < 5; i++) {
        char path[40];
        snprintf(path, sizeof path, "/hold/share?%d", i);
        one[i] = submit_number(downloader, i, at(path), 0);
        other[i] = submit_number(downloader, i, address_at("SDD_TEST_SERVER_2", path), 0);
    }
    for (int most = 2; most <= 4; most++) {
        CHECK_STATUS(sdd_downloader_set_max_concurrent_per_host(downloader, most), SDD_OK);
        CHECK_EQUAL(statistics_of(downloader).running, 2 * most);
        CHECK_EQUAL(running_on(one, 5), most);
        CHECK_EQUAL(running_on(other, 5), most);
        wait_for_requests("/hold/share", most);
    }
    /* Lowering the limit stops no transfer; the queue waits until fewer are running. */
    CHECK_STATUS(sdd_downloader_set_max_concurrent_per_host(downloader, 1), SDD_OK);
    CHECK_EQUAL(statistics_of(downloader).running, 8);
    CHECK_STATUS(sdd_cancel(one[0]), SDD_OK);
    CHECK_EQUAL(running_on(one + 1, 4), 3);
    CHECK_EQUAL(info_of(one[4]).state, SDD_STATE_WAITING);
    release("share");
    order_at("SDD_TEST_SERVER_2", "/release/share");
    destroy_after_ends(downloader, 10);
}

CASE(z3_slots_are_reserved_for_urgent_requests)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 4;
    config.reserved_urgent_slots = 2;
    sdd_downloader *downloader = make_downloader(&config);
    sdd_token ordinary[6], urgent[3];
    for (int i = 0; i < 6; i++) ordinary[i] = submit_number(downloader, i, atf("/hold/kept?%d", i), 0);
    CHECK_EQUAL(running_on(ordinary, 6), 2);
    for (int i = 0; i < 3; i++)
        urgent[i] = submit_number(downloader, 10 + i, atf("/hold/kept?urgent%d", i), SDD_PRIORITY_HIGH + i % 2);
    CHECK_EQUAL(running_on(urgent, 3), 2);
    CHECK_EQUAL(statistics_of(downloader).running, 4);
    for (int i = 0; i < 3; i++) CHECK_STATUS(sdd_cancel(urgent[i]), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_reserved_urgent_slots(downloader, 0), SDD_OK);
    CHECK_EQUAL(running_on(ordinary, 6), 4);
    release("kept");
    destroy_after_ends(downloader, 9);
}

int main(void) { return run_cases(); }
