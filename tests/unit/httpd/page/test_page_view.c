/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/view.h"

#include "httpd/page/link.h"
#include "unit.h"

#include <string.h>

/* What payers see of a checkout and of a payment link, as sent to the browser. */

#define NOW apr_time_from_sec(1000000000)

static pay_account_t account = {
    .name = "shop",
    .settings = {"nc", "EUR", "UTC", "Ada's <Tea>", "/logo.png", "Thank you.", "", ""}};

static pay_checkout_t checkout = {.page_id = "P1",
                                  .link = "",
                                  .redirect_url = "https://shop.example/back",
                                  .logo_url = "",
                                  .title = "Tea & cups",
                                  .description = "Two of them",
                                  .acquirer_url = "https://pay.example/1",
                                  .return_trusted = 1};

static pay_charge_t charge = {.scope = {7, PAY_TEST},
                              .seq = 11,
                              .reference = "c-1",
                              .card = {"123456", "7890", "Issuer", "NG", "debit"},
                              .money = {12345, "EUR"},
                              .message = "No funds",
                              .checkout = &checkout};

static pay_page_view_t view = {.account = &account,
                               .charge = &charge,
                               .authority = "shop.example",
                               .return_url = "https://shop.example/back"};

static pay_link_t pay_link = {.reference = "l-1",
                              .page_id = "L1",
                              .title = "Gift",
                              .description = "For whom you like",
                              .money = {0, "EUR"}};

static pay_page_t page = {.account = &account, .link = &pay_link};

static pay_link_payer_t payer = {"1.00", "ada@example.com", "Ada", NULL};

static pay_page_link_view_t link_view = {.page = &page, .authority = "shop.example", .now = NOW};

static const pay_problem_t *faults_of(const char *one, const char *two)
{
    pay_problem_t *problem = NULL;

    pay_problem_add(&problem, one, "is <wrong>", unit_pool);
    pay_problem_add(&problem, two, "is missing", unit_pool);
    return problem;
}

/* ---- the pages */

static const pay_html_t *form(void)
{
    view.stage = PAY_STAGE_PAY;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *form_at_fault(void)
{
    charge.scope.mode = PAY_LIVE;
    account.settings.shop_name = account.settings.shop_text = account.settings.shop_logo = "";
    checkout.title = checkout.description = "";
    view.faults = faults_of("/card/expiry", "/accountNumber");
    view.action = PAY_ACTION_TRANSFER;
    return form();
}

static const pay_html_t *code(void)
{
    view.stage = PAY_STAGE_CODE;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *asked(void)
{
    view.stage = PAY_STAGE_ASKED;
    view.return_url = "";
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *waiting(void)
{
    view.stage = PAY_STAGE_WAITING;
    view.reloads = PAY_PAGE_RELOADS_MAX - 1;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *waiting_long(void)
{
    view.stage = PAY_STAGE_WAITING;
    view.reloads = PAY_PAGE_RELOADS_MAX;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *came_back(void)
{
    view.stage = PAY_STAGE_WAITING;
    view.came_back = 1;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *approved(void)
{
    view.stage = PAY_STAGE_APPROVED;
    charge.state = PAY_CHARGE_SUCCESSFUL;
    charge.refunded_minor = 45;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *approved_for_an_anonymous_client(void)
{
    view.stage = PAY_STAGE_APPROVED;
    view.return_host = "elsewhere.example";
    charge.channel = PAY_CHANNEL_BANK_TRANSFER;
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *declined(void)
{
    view.stage = PAY_STAGE_DECLINED;
    view.return_url = "";
    charge.card.issuer = "";
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *cancelled(void)
{
    view.stage = PAY_STAGE_CANCELLED;
    charge.card.last4[0] = '\0';
    return pay_page_html(&view, unit_pool);
}

static const pay_html_t *unready(void)
{
    return pay_page_unready(&view, unit_pool);
}

static const pay_html_t *notice(void)
{
    return pay_page_notice("No such <page>", "Ask the shop.", "abc", unit_pool);
}

static const pay_html_t *link_open(void)
{
    return pay_page_link_html(&link_view, unit_pool);
}

static const pay_html_t *link_at_fault(void)
{
    link_view.payer = &payer;
    link_view.faults = faults_of("/amount", "/checkoutCustomerData/lastName");
    pay_link.title = pay_link.description = account.settings.shop_text = "";
    return link_open();
}

static const pay_html_t *link_fixed(void)
{
    pay_link.money.amount_minor = 500;
    return link_open();
}

static const pay_html_t *link_expired(void)
{
    pay_link.expires_at = NOW;
    return link_open();
}

static const pay_html_t *link_disabled(void)
{
    pay_link.disabled_at = NOW;
    return link_open();
}

static const pay_html_t *link_onward(void)
{
    pay_link.money.amount_minor = 500;
    return pay_page_link_onward(&link_view, "P2", unit_pool);
}

/* The common parts. */
#define TEST_MODE                                                                                  \
    " \xe2\x80\x93 " SHOP "\n"                                                                     \
    "<header class=\"ribbon\"><strong>Test Mode.</strong> No money moves here, and "               \
    "no real card is taken.</header>\n"                                                            \
    "<main class=\"card\">\n"                                                                      \
    "<div class=\"shop\"><img src=\"/logo.png\" alt=\"\" width=\"40\" height=\"40\" "              \
    "referrerpolicy=\"no-referrer\"><span>" SHOP "</span></div>\n"
#define CARDS                                                                                      \
    "<details><summary>Cards that can be used in Test Mode</summary>\n"                            \
    "<table class=\"cards\">\n"                                                                    \
    "<caption>Any expiry date in the future, any security code.</caption>\n"                       \
    "<thead><tr><th scope=\"col\">Card number</th><th scope=\"col\">Result"                        \
    "</th></tr></thead>\n"                                                                         \
    "<tbody>\n"                                                                                    \
    "<tr><td><code>5555 5555 5555 4444</code></td><td>is approved</td></tr>\n"                     \
    "<tr><td><code>1234 5678 9876 5432</code></td><td>is declined</td></tr>\n"                     \
    "<tr><td><code>4000 0000 0000 9995</code></td><td>has insufficient funds</td></tr>\n"          \
    "<tr><td><code>4000 0000 0000 0069</code></td><td>has expired</td></tr>\n"                     \
    "<tr><td><code>4000 0000 0000 0119</code></td><td>gets no answer at first, and "               \
    "is approved later</td></tr>\n"                                                                \
    "<tr><td><code>4000 0000 0000 3220</code></td><td>asks for a one-time code: "                  \
    "123456 approves, any other declines</td></tr>\n"                                              \
    "</tbody></table></details>\n"
#define CANCEL                                                                                     \
    "<form method=\"post\" novalidate action=\"P1\">\n"                                            \
    "<input type=\"hidden\" name=\"action\" value=\"cancel\">\n"                                   \
    "<div class=\"actions\"><button type=\"submit\" class=\"secondary\">Cancel the "               \
    "payment</button></div></form>\n"
#define MARK "<span class=\"mark\" aria-hidden=\"true\"></span>\n"
#define NUMERIC "type=\"text\" spellcheck=\"false\" inputmode=\"numeric\" "
#define BACK "<a class=\"button\" rel=\"noreferrer\" href=\"https://shop.example/back\">"
#define SHOP "Ada&#39;s &lt;Tea&gt;"

static const struct {
    const char *name;
    const pay_html_t *(*html)(void);
    const char *want; /* the title, then the part between the ends of the page */
} rows[] = {
    {"form to pay with", form,
     "Pay EUR 123.45" TEST_MODE "<div><h1>Tea &amp; cups</h1>\n"
     "<p class=\"amount\">EUR 123.45</p></div>\n"
     "<p class=\"text\">Two of them</p>\n"
     "<p class=\"text\">Thank you.</p>\n"
     "<form method=\"post\" novalidate action=\"P1\">\n"
     "<input type=\"hidden\" name=\"action\" value=\"card\">\n"
     "<div class=\"field\"><label for=\"number\">Card number</label>\n"
     "<input id=\"number\" name=\"number\" required " NUMERIC
     "autocomplete=\"cc-number\" maxlength=\"40\"></div>\n"
     "<div class=\"fields\">\n"
     "<div class=\"field\"><label for=\"expiry\">Expiry date</label>\n"
     "<span class=\"hint\" id=\"expiry-hint\">MM/YY</span>\n"
     "<input id=\"expiry\" name=\"expiry\" required " NUMERIC
     "autocomplete=\"cc-exp\" maxlength=\"12\" aria-describedby=\"expiry-hint\"></div>\n"
     "<div class=\"field\"><label for=\"csc\">Security code</label>\n"
     "<span class=\"hint\" id=\"csc-hint\">3 or 4 digits</span>\n"
     "<input id=\"csc\" name=\"csc\" required " NUMERIC
     "autocomplete=\"cc-csc\" maxlength=\"4\" aria-describedby=\"csc-hint\"></div>\n"
     "</div>\n"
     "<div class=\"actions\"><button type=\"submit\">Pay EUR 123.45</button></div></form>\n" CARDS
     "<details class=\"choice\"><summary>Pay by bank transfer</summary>\n"
     "<form method=\"post\" novalidate action=\"P1\">\n"
     "<input type=\"hidden\" name=\"action\" value=\"transfer\">\n"
     "<div class=\"field\"><label for=\"bankCode\">Bank code</label>\n"
     "<span class=\"hint\" id=\"bankCode-hint\">000 is Test Bank</span>\n"
     "<input id=\"bankCode\" name=\"bankCode\" required " NUMERIC
     "autocomplete=\"off\" maxlength=\"12\" aria-describedby=\"bankCode-hint\"></div>\n"
     "<div class=\"field\"><label for=\"accountNumber\">Account number</label>\n"
     "<span class=\"hint\" id=\"accountNumber-hint\">The test account is "
     "0000000000</span>\n"
     "<input id=\"accountNumber\" name=\"accountNumber\" required " NUMERIC
     "autocomplete=\"off\" maxlength=\"20\" "
     "aria-describedby=\"accountNumber-hint\"></div>\n"
     "<div class=\"actions\"><button type=\"submit\">Pay EUR 123.45 by bank "
     "transfer</button></div></form>\n"
     "</details>\n" CANCEL},
    {"the same with faults, in Live Mode", form_at_fault,
     "Not paid yet: Pay EUR 123.45 \xe2\x80\x93 shop\n"
     "<main class=\"card\">\n"
     "<div class=\"shop\"><span>shop</span></div>\n"
     "<div><h1>Pay shop</h1>\n"
     "<p class=\"amount\">EUR 123.45</p></div>\n"
     "<div class=\"errors\" role=\"alert\" id=\"errors\" tabindex=\"-1\" autofocus>\n"
     "<h2>Nothing was paid yet. Please correct:</h2>\n"
     "<ul>\n"
     "<li><a href=\"#expiry\">Expiry date is &lt;wrong&gt;</a></li>\n"
     "<li><a href=\"#accountNumber\">Account number is missing</a></li>\n"
     "</ul></div>\n"
     "<form method=\"post\" novalidate action=\"P1\">\n"
     "<input type=\"hidden\" name=\"action\" value=\"card\">\n"
     "<div class=\"field\"><label for=\"number\">Card number</label>\n"
     "<input id=\"number\" name=\"number\" required " NUMERIC
     "autocomplete=\"cc-number\" maxlength=\"40\"></div>\n"
     "<div class=\"fields\">\n"
     "<div class=\"field\"><label for=\"expiry\">Expiry date</label>\n"
     "<span class=\"hint\" id=\"expiry-hint\">MM/YY</span>\n"
     "<span class=\"error\" id=\"expiry-error\">is &lt;wrong&gt;</span>\n"
     "<input id=\"expiry\" name=\"expiry\" required " NUMERIC
     "autocomplete=\"cc-exp\" maxlength=\"12\" aria-describedby=\"expiry-hint "
     "expiry-error\" aria-invalid=\"true\"></div>\n"
     "<div class=\"field\"><label for=\"csc\">Security code</label>\n"
     "<span class=\"hint\" id=\"csc-hint\">3 or 4 digits</span>\n"
     "<input id=\"csc\" name=\"csc\" required " NUMERIC
     "autocomplete=\"cc-csc\" maxlength=\"4\" aria-describedby=\"csc-hint\"></div>\n"
     "</div>\n"
     "<div class=\"actions\"><button type=\"submit\">Pay EUR 123.45</button></div></form>\n" CARDS
     "<details class=\"choice\" open><summary>Pay by bank transfer</summary>\n"
     "<form method=\"post\" novalidate action=\"P1\">\n"
     "<input type=\"hidden\" name=\"action\" value=\"transfer\">\n"
     "<div class=\"field\"><label for=\"bankCode\">Bank code</label>\n"
     "<span class=\"hint\" id=\"bankCode-hint\">000 is Test Bank</span>\n"
     "<input id=\"bankCode\" name=\"bankCode\" required " NUMERIC
     "autocomplete=\"off\" maxlength=\"12\" aria-describedby=\"bankCode-hint\"></div>\n"
     "<div class=\"field\"><label for=\"accountNumber\">Account number</label>\n"
     "<span class=\"hint\" id=\"accountNumber-hint\">The test account is "
     "0000000000</span>\n"
     "<span class=\"error\" id=\"accountNumber-error\">is missing</span>\n"
     "<input id=\"accountNumber\" name=\"accountNumber\" required " NUMERIC
     "autocomplete=\"off\" maxlength=\"20\" aria-describedby=\"accountNumber-hint "
     "accountNumber-error\" aria-invalid=\"true\"></div>\n"
     "<div class=\"actions\"><button type=\"submit\">Pay EUR 123.45 by bank "
     "transfer</button></div></form>\n"
     "</details>\n" CANCEL},
    {"one-time code", code,
     "Confirm EUR 123.45" TEST_MODE "<div><h1>Tea &amp; cups</h1>\n"
     "<p class=\"amount\">EUR 123.45</p></div>\n"
     "<p class=\"text\">Two of them</p>\n"
     "<p class=\"text\">Thank you.</p>\n"
     "<p class=\"text\">Your bank asks for a one-time code. In Test Mode 123456 "
     "approves the payment, and any other declines it.</p>\n"
     "<form method=\"post\" novalidate action=\"P1\">\n"
     "<input type=\"hidden\" name=\"action\" value=\"code\">\n"
     "<div class=\"field\"><label for=\"code\">One-time code</label>\n"
     "<input id=\"code\" name=\"code\" required " NUMERIC
     "autocomplete=\"one-time-code\" maxlength=\"12\"></div>\n"
     "<div class=\"actions\"><button type=\"submit\">Confirm EUR "
     "123.45</button></div></form>\n" CANCEL},
    {"closed page that was asked for", asked,
     "This payment page is closed" TEST_MODE "<div class=\"result pending\">" MARK
     "<h1>This payment page is closed</h1>\n"
     "<p>If you have paid, please do not pay again: the result appears here, and "
     "the shop receives it. If you have not, ask the shop for a new page.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Card</dt><dd>Issuer ending in 7890</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<div class=\"actions\">\n"
     "<a class=\"button\" href=\"P1.return\">Look again</a>\n"
     "</div>\n"},
    {"page that waits", waiting,
     "Your payment is being processed" TEST_MODE "<div class=\"result pending\">" MARK
     "<h1>Your payment is being processed</h1>\n"
     "<p>Please do not pay again. The result appears here by itself.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Card</dt><dd>Issuer ending in 7890</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<div class=\"actions\">\n"
     "<a class=\"button\" href=\"P1\">Look again</a>\n"
     "<a class=\"button secondary\" rel=\"noreferrer\" "
     "href=\"https://shop.example/back\">Return to " SHOP "</a>\n"
     "</div>\n"},
    {"one that has waited long", waiting_long,
     "Your payment is being processed" TEST_MODE "<div class=\"result pending\">" MARK
     "<h1>Your payment is being processed</h1>\n"
     "<p>This takes longer than usual. Please do not pay again: look again later, "
     "or ask the shop.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Card</dt><dd>Issuer ending in 7890</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<div class=\"actions\">\n"
     "<a class=\"button\" href=\"P1\">Look again</a>\n"
     "<a class=\"button secondary\" rel=\"noreferrer\" "
     "href=\"https://shop.example/back\">Return to " SHOP "</a>\n"
     "</div>\n"},
    {"payer who came back", came_back,
     "Your payment is being processed" TEST_MODE "<div class=\"result pending\">" MARK
     "<h1>Your payment is being processed</h1>\n"
     "<p>If you have paid, please do not pay again: the result appears here by itself.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Card</dt><dd>Issuer ending in 7890</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<div class=\"actions\">\n"
     "<a class=\"button\" href=\"P1.return\">Look again</a>\n"
     "<a class=\"button secondary\" rel=\"noreferrer\" href=\"https://pay.example/1\">I "
     "have not paid yet</a>\n"
     "<a class=\"button secondary\" rel=\"noreferrer\" "
     "href=\"https://shop.example/back\">Return to " SHOP "</a>\n"
     "</div>\n"},
    {"approved", approved,
     "Payment approved" TEST_MODE "<div class=\"result approved\">" MARK
     "<h1>Payment approved</h1>\n"
     "<p>Thank you. Your payment was made.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Refunded</dt><dd>EUR 0.45</dd></div>\n"
     "<div><dt>Card</dt><dd>Issuer ending in 7890</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<p>You will be taken back to " SHOP " in a few seconds.</p>\n"
     "<div class=\"actions\">\n" BACK "Return to " SHOP "</a>\n"
     "</div>\n"},
    {"approved, with the way to an anonymous client's host", approved_for_an_anonymous_client,
     "Payment approved" TEST_MODE "<div class=\"result approved\">" MARK
     "<h1>Payment approved</h1>\n"
     "<p>Thank you. Your payment was made.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Paid by</dt><dd>Bank transfer</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<p>The way back leads to elsewhere.example. Go there only if that is where "
     "you came from.</p>\n"
     "<div class=\"actions\">\n" BACK "Go back to elsewhere.example</a>\n"
     "</div>\n"},
    {"declined", declined,
     "Payment declined" TEST_MODE "<div class=\"result declined\">" MARK
     "<h1>Payment declined</h1>\n"
     "<p>The answer was: No funds</p>\n"
     "<p>Nothing was paid. Return to the shop to try again or to pay in another "
     "way.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Card</dt><dd>ending in 7890</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<p>You can close this page.</p>\n"},
    {"cancelled", cancelled,
     "Payment cancelled" TEST_MODE "<div class=\"result cancelled\">" MARK
     "<h1>Payment cancelled</h1>\n"
     "<p>Nothing was paid.</p></div>\n"
     "<dl class=\"facts\">\n"
     "<div><dt>Amount</dt><dd>EUR 123.45</dd></div>\n"
     "<div><dt>Reference</dt><dd>c-1</dd></div>\n"
     "</dl>\n"
     "<p>You will be taken back to " SHOP " in a few seconds.</p>\n"
     "<div class=\"actions\">\n" BACK "Return to " SHOP "</a>\n"
     "</div>\n"},
    {"not ready", unready,
     "This payment cannot be made yet" TEST_MODE "<div><h1>Tea &amp; cups</h1>\n"
     "<p class=\"amount\">EUR 123.45</p></div>\n"
     "<p class=\"text\">Two of them</p>\n"
     "<p class=\"text\">Thank you.</p>\n"
     "<div class=\"result expired\">" MARK "<h2>This payment cannot be made at the moment</h2>\n"
     "<p>Nothing was paid. Please wait a moment and look again, or ask the "
     "shop.</p></div>\n"
     "<div class=\"actions\">\n"
     "<a class=\"button\" href=\"P1\">Look again</a>\n"
     "</div>\n"},
    {"notice", notice,
     "No such &lt;page&gt;\n"
     "<main class=\"card\">\n"
     "<div class=\"result expired\">" MARK "<h1>No such &lt;page&gt;</h1>\n"
     "<p>Ask the shop.</p></div>\n"
     "<p class=\"small\">For questions to the shop: request abc</p>\n"},
    {"open link", link_open,
     "Pay" TEST_MODE "<div><h1>Gift</h1>\n"
     "</div>\n"
     "<p class=\"text\">For whom you like</p>\n"
     "<p class=\"text\">Thank you.</p>\n"
     "<form method=\"post\" novalidate action=\"L1\">\n"
     "<div class=\"field\"><label for=\"amount\">Amount (EUR)</label>\n"
     "<input id=\"amount\" name=\"amount\" required type=\"text\" inputmode=\"decimal\" "
     "autocomplete=\"transaction-amount\" value=\"\"></div>\n"
     "<div class=\"field\"><label for=\"email\">E-mail</label>\n"
     "<input id=\"email\" name=\"email\" required type=\"email\" autocomplete=\"email\" "
     "maxlength=\"254\" value=\"\"></div>\n"
     "<div class=\"field\"><label for=\"firstName\">First name</label>\n"
     "<input id=\"firstName\" name=\"firstName\" required type=\"text\" "
     "autocomplete=\"given-name\" maxlength=\"100\" value=\"\"></div>\n"
     "<div class=\"field\"><label for=\"lastName\">Last name</label>\n"
     "<input id=\"lastName\" name=\"lastName\" required type=\"text\" "
     "autocomplete=\"family-name\" maxlength=\"100\" value=\"\"></div>\n"
     "<div class=\"actions\"><button type=\"submit\">Go on to pay</button></div></form>\n"},
    {"link with faults", link_at_fault,
     "Not paid yet" TEST_MODE "<div><h1>Pay " SHOP "</h1>\n"
     "</div>\n"
     "<div class=\"errors\" role=\"alert\" id=\"errors\" tabindex=\"-1\" autofocus>\n"
     "<h2>Nothing was paid yet. Please correct:</h2>\n"
     "<ul>\n"
     "<li><a href=\"#amount\">Amount is &lt;wrong&gt;</a></li>\n"
     "<li><a href=\"#lastName\">Last name is missing</a></li>\n"
     "</ul></div>\n"
     "<form method=\"post\" novalidate action=\"L1\">\n"
     "<div class=\"field\"><label for=\"amount\">Amount (EUR)</label>\n"
     "<span class=\"error\" id=\"amount-error\">is &lt;wrong&gt;</span>\n"
     "<input id=\"amount\" name=\"amount\" required type=\"text\" inputmode=\"decimal\" "
     "autocomplete=\"transaction-amount\" value=\"\" aria-describedby=\"amount-error\" "
     "aria-invalid=\"true\"></div>\n"
     "<div class=\"field\"><label for=\"email\">E-mail</label>\n"
     "<input id=\"email\" name=\"email\" required type=\"email\" autocomplete=\"email\" "
     "maxlength=\"254\" value=\"ada@example.com\"></div>\n"
     "<div class=\"field\"><label for=\"firstName\">First name</label>\n"
     "<input id=\"firstName\" name=\"firstName\" required type=\"text\" "
     "autocomplete=\"given-name\" maxlength=\"100\" value=\"Ada\"></div>\n"
     "<div class=\"field\"><label for=\"lastName\">Last name</label>\n"
     "<span class=\"error\" id=\"lastName-error\">is missing</span>\n"
     "<input id=\"lastName\" name=\"lastName\" required type=\"text\" "
     "autocomplete=\"family-name\" maxlength=\"100\" value=\"\" "
     "aria-describedby=\"lastName-error\" aria-invalid=\"true\"></div>\n"
     "<div class=\"actions\"><button type=\"submit\">Go on to pay</button></div></form>\n"},
    {"link with an amount", link_fixed,
     "Pay" TEST_MODE "<div><h1>Gift</h1>\n"
     "<p class=\"amount\">EUR 5.00</p></div>\n"
     "<p class=\"text\">For whom you like</p>\n"
     "<p class=\"text\">Thank you.</p>\n"
     "<form method=\"post\" novalidate action=\"L1\">\n"
     "<div class=\"field\"><label for=\"email\">E-mail</label>\n"
     "<input id=\"email\" name=\"email\" required type=\"email\" autocomplete=\"email\" "
     "maxlength=\"254\" value=\"\"></div>\n"
     "<div class=\"field\"><label for=\"firstName\">First name</label>\n"
     "<input id=\"firstName\" name=\"firstName\" required type=\"text\" "
     "autocomplete=\"given-name\" maxlength=\"100\" value=\"\"></div>\n"
     "<div class=\"field\"><label for=\"lastName\">Last name</label>\n"
     "<input id=\"lastName\" name=\"lastName\" required type=\"text\" "
     "autocomplete=\"family-name\" maxlength=\"100\" value=\"\"></div>\n"
     "<div class=\"actions\"><button type=\"submit\">Go on to pay</button></div></form>\n"},
    {"expired link", link_expired,
     "This payment link has expired" TEST_MODE "<div class=\"result expired\">" MARK
     "<h1>This payment link has expired</h1>\n"
     "<p>Nothing was paid. Please ask the shop for another one.</p></div>\n"},
    {"closed link", link_disabled,
     "The shop has closed this payment link" TEST_MODE "<div class=\"result expired\">" MARK
     "<h1>The shop has closed this payment link</h1>\n"
     "<p>Nothing was paid. Please ask the shop for another one.</p></div>\n"},
    {"way on from a link", link_onward,
     "Go on to pay" TEST_MODE "<div><h1>Gift</h1>\n"
     "<p class=\"amount\">EUR 5.00</p></div>\n"
     "<p class=\"text\">For whom you like</p>\n"
     "<p class=\"text\">Thank you.</p>\n"
     "<div class=\"actions\"><a class=\"button\" href=\"P2\">Go on to pay</a></div>\n"},
};

#define HEAD_BEFORE                                                                                \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                      \
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"                   \
    "<meta name=\"robots\" content=\"noindex, nofollow\">\n<title>"
#define HEAD_BEHIND                                                                                \
    "</title>\n<link rel=\"stylesheet\" href=\"" PAY_PAGE_STYLE                                    \
    "\" referrerpolicy=\"no-referrer\">\n</head>\n<body>\n"
#define END "</main>\n</body>\n</html>\n"

/*
 * The text without the parts that each page has; everything that a browser needs to show it is
 * there.
 */
START_TEST(test_shown)
{
    const char *text = rows[_i].html()->text, *behind;
    size_t len;

    ck_assert_int_eq(strncmp(text, HEAD_BEFORE, strlen(HEAD_BEFORE)), 0);
    text += strlen(HEAD_BEFORE);
    behind = strstr(text, HEAD_BEHIND);
    ck_assert_ptr_nonnull(behind);
    text = apr_pstrcat(unit_pool, apr_pstrmemdup(unit_pool, text, (apr_size_t)(behind - text)),
                       "\n", behind + strlen(HEAD_BEHIND), NULL);
    len = strlen(text) - strlen(END);
    ck_assert_str_eq(text + len, END);
    text = apr_pstrmemdup(unit_pool, text, len);
    ck_assert_msg(strcmp(text, rows[_i].want) == 0, "%s:\n%s\nin place of\n%s", rows[_i].name, text,
                  rows[_i].want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_shown, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
