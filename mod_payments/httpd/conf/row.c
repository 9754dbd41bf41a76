/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/row.h"

#include "httpd/conf/parse.h"

#include <string.h>

static void *place(pay_conf_t *conf, const pay_conf_member_t *member)
{
    return (char *)conf + member->at;
}

static apr_status_t read_value(void *out, const pay_conf_row_t *row, const char *text,
                               apr_pool_t *p)
{
    switch (row->kind) {
    case PAY_CONF_FLAG:
        return pay_conf_parse_flag(out, text, row->words);
    case PAY_CONF_COUNT:
        return pay_conf_parse_count(out, text, (int)row->min, (int)row->max);
    case PAY_CONF_BYTES:
        return pay_conf_parse_size(out, text, row->min, row->max);
    case PAY_CONF_WAIT_OR_OFF:
        if (!strcasecmp(text, "off")) {
            *(apr_interval_time_t *)out = 0;
            return APR_SUCCESS;
        }
        return pay_conf_parse_wait(out, text, row->min, row->max);
    case PAY_CONF_WAIT:
        return pay_conf_parse_wait(out, text, row->min, row->max);
    case PAY_CONF_TEXT:
        text = row->text(text, p);
        if (text) {
            *(const char **)out = text;
        }
        return text ? APR_SUCCESS : APR_EINVAL;
    default:
        return APR_ENOTIMPL; /* PAY_CONF_OWN */
    }
}

const char *pay_conf_set_value(cmd_parms *cmd, void *dir, const char *arg)
{
    const pay_conf_row_t *row = cmd->cmd->cmd_data;
    const char *fault;
    apr_status_t rv;

    (void)dir;
    fault = row->scope == PAY_CONF_GLOBAL ? ap_check_cmd_context(cmd, GLOBAL_ONLY) : NULL;
    if (fault) {
        return fault;
    }
    rv = read_value(place(pay_conf_get(cmd->server), row->members), row, arg, cmd->pool);
    if (rv != APR_SUCCESS) {
        return pay_conf_wrong(cmd, row->want, arg);
    }
    pay_conf_said(cmd, row->members->part);
    return NULL;
}

void pay_conf_said(const cmd_parms *cmd, int part)
{
    pay_conf_get(cmd->server)->said[cmd->cmd - pay_conf_directives] |= (unsigned char)(1u << part);
}

void pay_conf_defaults(pay_conf_t *out)
{
    const command_rec *directive = pay_conf_directives;
    const pay_conf_member_t *member;

    for (; directive->name; directive++) {
        member = ((const pay_conf_row_t *)directive->cmd_data)->members;
        for (; member->size; member++) {
            if (member->standard) {
                memcpy(place(out, member), member->standard, member->size);
            }
        }
    }
}

void pay_conf_inherit(pay_conf_t *out, const pay_conf_t *base, const pay_conf_t *add)
{
    const pay_conf_row_t *row;
    const pay_conf_member_t *member;
    int i;

    for (i = 0; pay_conf_directives[i].name; i++) {
        row = pay_conf_directives[i].cmd_data;
        if (row->scope == PAY_CONF_HOST) {
            continue;
        }
        for (member = row->members; member->size; member++) {
            if (!(add->said[i] & 1u << member->part)) {
                memcpy(place(out, member), (const char *)base + member->at, member->size);
            }
        }
        out->said[i] = base->said[i] | add->said[i];
    }
}
