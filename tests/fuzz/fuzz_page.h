/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_PAGE_H
#define FUZZ_PAGE_H

/* The parts of the checkout in the store of fuzz_store.h besides its charge. */

#include "fuzz_store.h"

#include "model/checkout.h"

static const pay_checkout_t fuzz_page = {.page_id = "abcdefghijklmnopqrstuvwxyz234567",
                                         .link = "",
                                         .phone = "+2348000000000",
                                         .redirect_url = "https://shop.example/done?a=b#c",
                                         .metadata = "{\"cart\": 7}",
                                         .logo_url = "",
                                         .title = "Shoes",
                                         .description = "One pair",
                                         .expires_at = FUZZ_NOW,
                                         .acquirer_url = ""};

#endif
