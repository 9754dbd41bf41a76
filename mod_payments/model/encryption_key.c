/* SPDX-License-Identifier: Apache-2.0 */
#include "model/encryption_key.h"

#include <apr_strings.h>

const char *pay_encryption_key_context(const pay_scope_t *scope, apr_pool_t *p)
{
    return apr_psprintf(p, "encryption key account %u %s", scope->account,
                        pay_mode_name(scope->mode));
}
