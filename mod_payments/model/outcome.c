/* SPDX-License-Identifier: Apache-2.0 */
#include "model/outcome.h"

static const char *const held_names[] = {
    [PAY_NOT_HELD] = "",
    [PAY_HELD_OVERDUE] = "overdue",
    [PAY_HELD_NO_ACQUIRER] = "no-acquirer",
    [PAY_HELD_DIFFERENT] = "different",
    [PAY_HELD_LATE] = "late",
};
_Static_assert(sizeof(held_names) / sizeof(held_names[0]) == PAY_HELD_COUNT, "a name each");

const char *pay_held_name(pay_held_t held)
{
    return (unsigned int)held < PAY_HELD_COUNT ? held_names[held] : "unknown";
}
