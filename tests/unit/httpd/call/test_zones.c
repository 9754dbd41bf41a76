/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/zones.h"

#include "unit.h"

static const pay_timezone_t *zone_of(const char *name)
{
    const pay_timezone_t *zone;

    ck_assert_int_eq(pay_zones_get(&zone, name, unit_pool), APR_SUCCESS);
    ck_assert_ptr_nonnull(zone);
    return zone;
}

START_TEST(test_loaded_once)
{
    const pay_timezone_t *lagos, *london;

    pay_zones_init(unit_pool);
    lagos = zone_of("Africa/Lagos");
    london = zone_of("Europe/London");
    ck_assert_ptr_ne(lagos, london);
    ck_assert_ptr_eq(zone_of("Africa/Lagos"), lagos);
    ck_assert_ptr_eq(zone_of("Europe/London"), london);
}
END_TEST

START_TEST(test_unknown)
{
    const pay_timezone_t *zone;
    int i;

    pay_zones_init(unit_pool);
    for (i = 0; i <= PAY_ZONES_MAX; i++) {
        ck_assert_int_ne(pay_zones_get(&zone, "Nowhere/Here", unit_pool), APR_SUCCESS);
        ck_assert_ptr_null(zone);
    }
    ck_assert_ptr_eq(zone_of("UTC"), zone_of("UTC")); /* no place was taken */
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_loaded_once);
    tcase_add_test(tcase, test_unknown);
}

UNIT_PROGRAM(add)
