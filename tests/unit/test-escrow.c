/* SPDX-License-Identifier: Apache-2.0 */
/* genesis_escrow: sales, what is refused, and that nobody is left with neither; also at random, against a
 * model. Numbers in comments are those of cases of a comparable system. */
#include "tests/unit/market-fixture.h"

#define ESCROW(method, args) CALL("genesis_escrow", method, args)
#define DEPOSIT(args) ESCROW("deposit", args)
#define PURCHASE(id) ESCROW("purchase", "'" id "'")
#define CANCEL(id) ESCROW("cancel", "'" id "'")
#define CHECK(id) ESCROW("check", "'" id "'")
#define DELETE(id) ACTION("delete_artifact", "'artifact_id':'" id "'")
#define DENIED WFS_E_NOT_AUTHORIZED
#define NOT_FOR_SALE(id) "{'artifact_id':'" id "','for_sale':false}"

/* --- helpers --- */

/* Of the size that its disk shows. */
static void write_doc(struct world_fixture *fixture, const char *principal, const char *members)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_true(asprintf(&action, WRITE("'artifact_id':'doc',%s"), members) > 0);
	assert_done(fixture, principal, action);
}

#define CONTENT_10 "'content':'0123456789'"

/* The text of a member of an artifact; caller frees. */
static char *member_of(struct world_fixture *fixture, const char *id, const char *member)
{
	WFS_AUTO_JSON json_t *artifact = document_of(fixture, "sys.artifact", id);

	return strdup(wfs_json_text(artifact, member));
}

static void assert_owner(struct world_fixture *fixture, const char *id, const char *owner)
{
	WFS_AUTO_FREE char *found = member_of(fixture, id, "owner");

	assert_string_equal(found, owner);
}

static void done(struct world_fixture *fixture, const char *principal, const char *action)
{
	json_decref(call_for(fixture, principal, action, 0));
}

static void assert_none_for_sale(struct world_fixture *fixture)
{
	assert_call(fixture, "bob", ESCROW("list_active", ""), 0, "{'count':0,'listings':[]}");
}

/* --- a sale --- */

/* 162 */
static void a_sale_pays_the_seller_and_moves_the_artifact(void **state)
{
	struct world_fixture *const fixture = *state;

	write_doc(*state, "alice", CONTENT_10);
	assert_int_equal(used_disk_of(fixture, "alice"), 10);
	assert_call(*state, "alice", DEPOSIT("'doc',30"), 0,
		"{'artifact_id':'doc','price':30,'seller':'alice'}");
	assert_owner(*state, "doc", "genesis_escrow");
	assert_int_equal(used_disk_of(fixture, "alice"), 10); /* it is no room for nothing */
	assert_int_equal(used_disk_of(fixture, "bob"), 0);
	assert_call(*state, "bob", CHECK("doc"), 0,
		"{'artifact_id':'doc','for_sale':true,'price':30,'seller':'alice'}");

	assert_call(*state, "bob", PURCHASE("doc"), 0,
		"{'artifact_id':'doc','buyer':'bob','price':30,'seller':'alice'}");
	assert_owner(*state, "doc", "bob");
	assert_int_equal(scrip_of(fixture, "alice"), 130);
	assert_int_equal(scrip_of(fixture, "bob"), 20);
	assert_int_equal(used_disk_of(fixture, "alice"), 0);
	assert_int_equal(used_disk_of(fixture, "bob"), 10);
	assert_call(*state, "bob", CHECK("doc"), 0, NOT_FOR_SALE("doc"));
	assert_none_for_sale(*state);
	WFS_AUTO_FREE char *maker = member_of(*state, "doc", "created_by");
	assert_string_equal(maker, "alice");
	assert_done(*state, "bob", WRITE("'artifact_id':'doc','content':'mine'"));
}

/* 162 */
static void a_sale_that_is_cancelled_gives_it_back(void **state)
{
	struct world_fixture *const fixture = *state;

	write_doc(*state, "alice", CONTENT_10);
	done(*state, "alice", DEPOSIT("{'artifact':'doc','price':30}"));
	assert_refused(*state, "bob", CANCEL("doc"), DENIED, "'alice' sells it");
	assert_call(*state, "alice", CANCEL("doc"), 0, "{'artifact_id':'doc','owner':'alice'}");
	assert_owner(*state, "doc", "alice");
	assert_int_equal(used_disk_of(fixture, "alice"), 10);
	assert_none_for_sale(*state);
	assert_refused(*state, "alice", CANCEL("doc"), WFS_E_NOT_FOUND, "'doc' is not for sale");
	assert_refused(*state, "bob", PURCHASE("doc"), WFS_E_NOT_FOUND, "'doc' is not for sale");
}

static void what_was_bought_is_sold_on(void **state)
{
	struct world_fixture *const fixture = *state;

	write_doc(*state, "alice", CONTENT_10);
	done(*state, "alice", DEPOSIT("'doc',20"));
	done(*state, "bob", PURCHASE("doc"));
	done(*state, "bob", DEPOSIT("'doc',75"));
	done(*state, "alice", ESCROW("run", "'purchase','doc'"));
	assert_owner(*state, "doc", "alice");
	assert_int_equal(scrip_of(fixture, "alice"), 45);
	assert_int_equal(scrip_of(fixture, "bob"), 105);
}

static void what_is_for_sale_is_listed_the_oldest_first(void **state)
{
	assert_done(*state, "alice", WRITE("'artifact_id':'z'"));
	assert_done(*state, "bob", WRITE("'artifact_id':'a'"));
	done(*state, "alice", DEPOSIT("'z',1"));
	done(*state, "bob", DEPOSIT("'a',2"));
	WFS_AUTO_JSON json_t *all = call_for(*state, "alice", ESCROW("list_active", ""), 0);
	const json_t *const sales = json_object_get(all, "listings");

	assert_int_equal(json_integer_value(json_object_get(all, "count")), 2);
	assert_string_equal(wfs_json_text(json_array_get(sales, 0), "artifact_id"), "z");
	assert_string_equal(wfs_json_text(json_array_get(sales, 1), "seller"), "bob");
	WFS_AUTO_JSON json_t *one = call_for(*state, "alice", ESCROW("list_active", "1"), 0);
	assert_int_equal(json_integer_value(json_object_get(one, "count")), 2);
	assert_int_equal(json_array_size(json_object_get(one, "listings")), 1);
	assert_refused(*state, "alice", ESCROW("list_active", "1001"), WFS_E_INVALID_ARGUMENT,
		"at most 1000, got 1001");
}

/* --- refusals --- */

/* 162 */
static void what_cannot_be_sold_is_not_taken(void **state)
{
	write_doc(*state, "alice", CONTENT_10);
	assert_done(*state, "alice", WRITE("'artifact_id':'self','access':'self_owned'"));

	assert_refused(*state, "bob", DEPOSIT("'doc',5"), DENIED, "its owner is 'alice'");
	assert_refused(*state, "alice", DEPOSIT("'doc',0"), WFS_E_INVALID_ARGUMENT, "1 or more");
	assert_refused(*state, "alice", DEPOSIT("'doc',-1"), WFS_E_INVALID_ARGUMENT, "/price");
	assert_refused(*state, "alice", DEPOSIT("'doc'"), WFS_E_MISSING_ARGUMENT, "'price'");
	assert_refused(*state, "alice", DEPOSIT("'self',5"), DENIED, "is self_owned");
	assert_refused(*state, "alice", DEPOSIT("'none',5"), WFS_E_NOT_FOUND, "not found");
	assert_refused(*state, "alice", DEPOSIT("'a b',5"), WFS_E_NOT_FOUND, "not found");
	assert_refused(*state, "alice", DEPOSIT("'bob',5"), WFS_E_NOT_FOUND, "not found");
	assert_refused(*state, "alice", DEPOSIT("'genesis_escrow',5"), DENIED, "is 'genesis'");
	done(*state, "alice", DEPOSIT("'doc',5"));
	assert_refused(*state, "alice", DEPOSIT("'doc',5"), DENIED, "is 'genesis_escrow'");
}

/* 162 */
static void what_cannot_be_bought_is_not_sold(void **state)
{
	write_doc(*state, "alice", CONTENT_10);
	assert_refused(*state, "bob", PURCHASE("doc"), WFS_E_NOT_FOUND, "not for sale");
	assert_refused(*state, "bob", PURCHASE("none"), WFS_E_NOT_FOUND, "not for sale");
	assert_refused(*state, "bob", PURCHASE("a b"), WFS_E_NOT_FOUND, "not for sale");
	done(*state, "alice", DEPOSIT("'doc',51"));

	assert_refused(*state, "alice", PURCHASE("doc"), WFS_E_INVALID_ARGUMENT, "'cancel'");
	assert_refused(*state, "bob", PURCHASE("doc"), WFS_E_INSUFFICIENT_FUNDS,
		"'bob' has 50 scrip, 51 needed");
	assert_done(*state, "alice", ACTION("transfer", "'to':'bob','amount':1"));
	done(*state, "bob", PURCHASE("doc"));
	assert_refused(*state, "rich", PURCHASE("doc"), WFS_E_NOT_FOUND, "not for sale");
	assert_refused(*state, "alice", CANCEL("doc"), WFS_E_NOT_FOUND, "not for sale");
}

static void a_price_that_nobody_can_pay_or_hold_is_refused_at_the_purchase(void **state)
{
	write_doc(*state, "alice", CONTENT_10);
	done(*state, "alice", DEPOSIT("'doc',9223372036854775807"));
	assert_refused(*state, "rich", PURCHASE("doc"), WFS_E_INSUFFICIENT_FUNDS, "has 1000");
	done(*state, "alice", CANCEL("doc"));
}

/* 25,000 bytes. */
/* Caller frees it. */
static char *big(const char *id)
{
	char *action = NULL;
	char text[25001];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_true(asprintf(&action, WRITE("'artifact_id':'%s','content':'%s'"), id, text) > 0);
	return action;
}

static void write_big(struct world_fixture *fixture, const char *principal, const char *id)
{
	WFS_AUTO_FREE char *action = big(id);

	assert_done(fixture, principal, action);
}

static void a_buyer_has_to_have_the_disk(void **state)
{
	write_big(*state, "alice", "one");
	write_big(*state, "bob", "two");
	done(*state, "alice", DEPOSIT("'one',5"));
	assert_refused(*state, "bob", PURCHASE("one"), WFS_E_QUOTA_EXCEEDED, "of its disk left");
	assert_done(*state, "bob", DELETE("two"));
	done(*state, "bob", PURCHASE("one"));
}

static void what_is_for_sale_takes_the_sellers_disk(void **state)
{
	WFS_AUTO_FREE char *two = big("two");

	write_big(*state, "bob", "one");
	done(*state, "bob", DEPOSIT("'one',5"));
	assert_refused(*state, "bob", two, WFS_E_QUOTA_EXCEEDED, "of its disk left");
	done(*state, "bob", CANCEL("one"));
	assert_owner(*state, "one", "bob");
}

static void what_it_earns_meanwhile_is_the_sellers(void **state)
{
	struct world_fixture *const fixture = *state;
	const int64_t before = scrip_of(fixture, "alice");

	assert_done(*state, "alice",
		WRITE("'artifact_id':'doc','code':'function run() return 1 end',"
		      "'policy':{'invoke_price':3,'read_price':4}"));
	done(*state, "alice", DEPOSIT("'doc',30"));

	assert_done(*state, "bob", INVOKE("'artifact_id':'doc'"));
	assert_done(*state, "bob", ACTION("read_artifact", "'artifact_id':'doc'"));

	assert_int_equal(scrip_of(fixture, "alice"), before + 7);
	assert_int_equal(scrip_of(fixture, "genesis_escrow"), 0);
}

static void who_may_not_transfer_may_not_buy(void **state)
{
	write_doc(*state, "alice", CONTENT_10);
	done(*state, "alice", DEPOSIT("'doc',5"));
	assert_done(*state, "tester",
		"{'action_type':'principal','id':'miser','scrip':50,'quotas':{'disk':1000}}");
	assert_done(*state, "tester",
		"{'action_type':'grant','cap':'sys/act@1','to':'miser',"
		"'params':{'actions':['invoke_artifact']}}");

	assert_refused(*state, "miser", PURCHASE("doc"), DENIED, "action.transfer");
}

/* --- while it is for sale --- */

static void what_is_for_sale_is_changed_by_nobody(void **state)
{
	write_doc(*state, "alice", CONTENT_10);
	done(*state, "alice", DEPOSIT("'doc',5"));

	assert_refused(*state, "alice", WRITE("'artifact_id':'doc','content':'x'"), DENIED, "doc");
	assert_refused(*state, "alice", WRITE("'artifact_id':'doc','price':9"), DENIED, "doc");
	assert_refused(*state, "alice",
		ACTION("edit_artifact", "'artifact_id':'doc','old_string':'0','new_string':''"),
		DENIED, "doc");
	assert_refused(*state, "alice", DELETE("doc"), DENIED, "may not delete 'doc'");
	assert_refused(*state, "alice",
		ACTION("transfer_ownership", "'artifact_id':'doc','to':'bob'"), DENIED,
		"its owner is 'genesis_escrow'");
}

/* 162 */
static void who_was_let_write_it_is_not_any_more(void **state)
{
	write_doc(*state, "alice",
		CONTENT_10 ",'access':'transferable_freeware','metadata':{'authorized_writer':"
			   "'rich','kept':1}");
	assert_done(*state, "rich", WRITE("'artifact_id':'doc','price':1"));
	done(*state, "alice", DEPOSIT("'doc',5"));

	assert_refused(*state, "rich", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	assert_refused(*state, "alice", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	done(*state, "bob", PURCHASE("doc"));
	assert_refused(*state, "rich", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	assert_done(*state, "bob", WRITE("'artifact_id':'doc','price':2"));
	WFS_AUTO_FREE char *text = state_at(*state, WFS_HEIGHT_HEAD, "sys.artifact", "doc");
	assert_non_null(strstr(text, "\"metadata\":{\"kept\":1}"));
}

static void no_rule_lets_others_change_what_is_for_sale(void **state)
{
	write_doc(*state, "alice", CONTENT_10 ",'access':'public'");
	done(*state, "alice", DEPOSIT("'doc',5"));

	assert_refused(*state, "rich", DELETE("doc"), DENIED, "it is for sale");
	assert_refused(*state, "alice", WRITE("'artifact_id':'doc','content':'x'"), DENIED,
		"it is for sale");
	done(*state, "bob", PURCHASE("doc"));
	assert_done(*state, "rich", WRITE("'artifact_id':'doc','price':1"));
}

static void who_takes_it_back_has_what_he_gave(void **state)
{
	write_doc(*state, "alice",
		CONTENT_10 ",'access':'transferable_freeware','metadata':{'authorized_writer':"
			   "'rich'}");
	done(*state, "alice", DEPOSIT("'doc',5"));
	assert_refused(*state, "rich", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	done(*state, "alice", CANCEL("doc"));
	assert_done(*state, "rich", WRITE("'artifact_id':'doc','price':2"));
}

/* The price is held while it runs: the sale is over when it is paid out. */
static void what_sells_itself_earns_for_its_seller(void **state)
{
	struct world_fixture *const fixture = *state;

	assert_done(*state, "alice",
		CODE("doc", "return invoke(\\'genesis_escrow\\', \\'purchase\\', \\'doc\\').ok"));
	assert_done(*state, "alice", WRITE("'artifact_id':'doc','price':3"));
	assert_done(*state, "rich", ACTION("transfer", "'to':'doc','amount':20"));
	done(*state, "alice", DEPOSIT("'doc',5"));
	const int64_t before = scrip_of(fixture, "alice");

	assert_done(*state, "bob", INVOKE("'artifact_id':'doc'"));

	assert_int_equal(scrip_of(fixture, "genesis_escrow"), 0);
	assert_true(scrip_of(fixture, "alice") >= before + 3);
}

static void services_take_no_other_gifts(void **state)
{
	write_doc(*state, "alice", CONTENT_10);
	assert_refused(*state, "alice",
		ACTION("transfer_ownership", "'artifact_id':'doc','to':'genesis_escrow'"),
		WFS_E_INVALID_ARGUMENT, "'to': 'genesis_escrow' is a service");
	assert_refused(*state, "alice",
		ACTION("transfer_ownership", "'artifact_id':'doc','to':'genesis_ledger'"),
		WFS_E_INVALID_ARGUMENT, "'to': 'genesis_ledger' is a service");
}

/* --- by code --- */

/* What it is told: a method of the escrow, with arguments. */
#define SHOP                                                                                      \
	CODE("shop",                                                                              \
		"local r = invoke(\\'genesis_escrow\\', ...) return r.error and r.error.code or " \
		"\\'ok\\'")

static void code_sells_and_buys_for_its_artifact(void **state)
{
	struct world_fixture *const fixture = *state;

	assert_done(*state, "alice", SHOP);
	write_doc(*state, "alice", CONTENT_10);
	const int64_t disk = used_disk_of(fixture, "alice");
	done(*state, "alice", DEPOSIT("'doc',30"));
	assert_call(
		*state, "bob", CALL("shop", "run", "'purchase','doc'"), 0, "'insufficient_funds'");
	assert_done(*state, "alice", ACTION("transfer", "'to':'shop','amount':40"));

	assert_call(*state, "bob", CALL("shop", "run", "'purchase','doc'"), 0, "'ok'");
	assert_owner(*state, "doc", "shop");
	assert_int_equal(scrip_of(fixture, "shop"), 10);
	assert_int_equal(scrip_of(fixture, "bob"), 50);
	assert_int_equal(used_disk_of(fixture, "alice"), disk); /* who pays for the shop's bytes */
	assert_call(*state, "bob", CALL("shop", "run", "'deposit','doc',20"), 0, "'ok'");
	done(*state, "bob", PURCHASE("doc"));
	assert_int_equal(scrip_of(fixture, "shop"), 30);
}

static void who_paid_for_its_room_stands_in_for_a_seller_who_is_gone(void **state)
{
	assert_done(*state, "alice", SHOP);
	write_doc(*state, "alice", CONTENT_10);
	assert_done(
		*state, "alice", ACTION("transfer_ownership", "'artifact_id':'doc','to':'shop'"));
	assert_call(*state, "bob", CALL("shop", "run", "'deposit','doc',20"), 0, "'ok'");
	assert_done(*state, "alice", DELETE("shop"));
	done(*state, "bob", PURCHASE("doc"));
	assert_int_equal(scrip_of(*state, "alice"), 120);
}

static void a_sale_by_code_that_fails_is_none(void **state)
{
	assert_done(*state, "alice",
		CODE("shop", "invoke(\\'genesis_escrow\\', ...) error(\\'after all\\')"));
	write_doc(*state, "alice", CONTENT_10);
	done(*state, "alice", DEPOSIT("'doc',5"));
	assert_done(*state, "alice", ACTION("transfer", "'to':'shop','amount':40"));
	assert_refused(*state, "bob", CALL("shop", "run", "'purchase','doc'"), WFS_E_RUNTIME_ERROR,
		"after all");
	done(*state, "bob", PURCHASE("doc"));
}

/* --- stores of memories --- */

#define SEARCH CALL("genesis_memory_search", "run", "'m','apple'")

static void a_memory_is_sold_with_its_entries(void **state)
{
	struct world_fixture *const fixture = *state;

	json_decref(call_for(*state, "alice", CALL("genesis_memory", "create", "'m'"), 5));
	json_decref(
		call_for(*state, "alice", CALL("genesis_memory_add", "run", "'m','one apple'"), 1));
	json_decref(
		call_for(*state, "alice", CALL("genesis_memory_add", "run", "'m','a pear'"), 1));
	const int64_t size = used_disk_of(fixture, "alice");
	assert_true(size > 8192);

	done(*state, "alice", DEPOSIT("'m',40"));
	assert_int_equal(used_disk_of(fixture, "alice"), size);
	assert_refused(*state, "alice", SEARCH, DENIED, "may not read 'm'");
	assert_refused(*state, "bob", SEARCH, DENIED, "may not read 'm'");
	done(*state, "bob", PURCHASE("m"));
	assert_int_equal(used_disk_of(fixture, "bob"), size);
	WFS_AUTO_JSON json_t *found = call_for(*state, "bob", SEARCH, 1);
	assert_int_equal(json_integer_value(json_object_get(found, "count")), 2);
	assert_refused(*state, "alice", SEARCH, DENIED, "may not read 'm'");
	json_decref(call_for(*state, "bob", CALL("genesis_memory_add", "run", "'m','a plum'"), 1));
	assert_done(*state, "bob", DELETE("m"));
	assert_int_equal(used_disk_of(fixture, "bob"), 0);
}

/* --- at random --- */

enum { TRADERS = 3, WARES = 12, TRADES = 2000, WARE_SIZE_MAX = 9000 };

static const char *const traders[TRADERS] = {"alice", "bob", "rich"};

/* What there must be. */
struct market {
	uint64_t random;
	int64_t scrip[TRADERS];
	int64_t used[TRADERS];
	int64_t quota[TRADERS];
	struct {
		int owner; /* index of a trader */
		bool sold; /* he sells it */
		int64_t price;
		int64_t size;
	} wares[WARES];
};

static int64_t below(struct market *market, int64_t bound)
{
	market->random ^= market->random << 13;
	market->random ^= market->random >> 7;
	market->random ^= market->random << 17;
	return (int64_t)(market->random % (uint64_t)bound);
}

/* Room for that much more? */
static bool fits(const struct market *market, int who, int64_t more)
{
	return more <= 0 || market->used[who] + more <= market->quota[who];
}

/* Each trade gives its action, and does in the model what it has to do. Return: its error. */

static enum wfs_error_code trade_deposit(struct market *market, int who, int ware, char **action)
{
	const int64_t price = below(market, 60);

	assert_true(asprintf(action, DEPOSIT("'w%d',%lld"), ware, (long long)price) > 0);
	if (price == 0)
		return WFS_E_INVALID_ARGUMENT;
	if (market->wares[ware].sold || market->wares[ware].owner != who)
		return WFS_E_NOT_AUTHORIZED;
	market->wares[ware].sold = true;
	market->wares[ware].price = price;
	return WFS_OK;
}

static enum wfs_error_code trade_purchase(struct market *market, int who, int ware, char **action)
{
	const int64_t price = market->wares[ware].price;
	const int seller = market->wares[ware].owner;

	assert_true(asprintf(action, PURCHASE("w%d"), ware) > 0);
	if (!market->wares[ware].sold)
		return WFS_E_NOT_FOUND;
	if (seller == who)
		return WFS_E_INVALID_ARGUMENT;
	if (market->scrip[who] < price)
		return WFS_E_INSUFFICIENT_FUNDS;
	if (!fits(market, who, market->wares[ware].size))
		return WFS_E_QUOTA_EXCEEDED;
	market->scrip[who] -= price;
	market->scrip[seller] += price;
	market->used[seller] -= market->wares[ware].size;
	market->used[who] += market->wares[ware].size;
	market->wares[ware].owner = who;
	market->wares[ware].sold = false;
	return WFS_OK;
}

static enum wfs_error_code trade_cancel(struct market *market, int who, int ware, char **action)
{
	assert_true(asprintf(action, CANCEL("w%d"), ware) > 0);
	if (!market->wares[ware].sold)
		return WFS_E_NOT_FOUND;
	if (market->wares[ware].owner != who)
		return WFS_E_NOT_AUTHORIZED;
	market->wares[ware].sold = false;
	return WFS_OK;
}

static enum wfs_error_code trade_write(struct market *market, int who, int ware, char **action)
{
	const int64_t size = 1 + below(market, WARE_SIZE_MAX);
	const int64_t more = size - market->wares[ware].size;

	assert_true(asprintf(action, WRITE("'artifact_id':'w%d','content':'%0*d'"), ware, (int)size,
			    0) > 0);
	if (market->wares[ware].sold || market->wares[ware].owner != who)
		return WFS_E_NOT_AUTHORIZED;
	if (!fits(market, who, more))
		return WFS_E_QUOTA_EXCEEDED;
	market->used[who] += more;
	market->wares[ware].size = size;
	return WFS_OK;
}

static enum wfs_error_code trade_transfer(struct market *market, int who, int ware, char **action)
{
	const int64_t amount = below(market, 40);
	const int to = ware % TRADERS;

	assert_true(asprintf(action, CALL("genesis_ledger", "transfer", "'%s',%lld"), traders[to],
			    (long long)amount) > 0);
	if (amount == 0)
		return WFS_E_INVALID_ARGUMENT;
	if (market->scrip[who] < amount)
		return WFS_E_INSUFFICIENT_FUNDS;
	market->scrip[who] -= amount;
	market->scrip[to] += amount;
	return WFS_OK;
}

static enum wfs_error_code (*const trades[])(struct market *, int who, int ware, char **action) = {
	trade_deposit, trade_deposit, trade_purchase, trade_purchase, trade_cancel, trade_write,
	trade_transfer};

static void assert_market(struct world_fixture *fixture, const struct market *market)
{
	char id[16];

	for (size_t i = 0; i < TRADERS; i++) {
		assert_int_equal(scrip_of(fixture, traders[i]), market->scrip[i]);
		assert_int_equal(used_disk_of(fixture, traders[i]), market->used[i]);
	}
	for (size_t i = 0; i < WARES; i++) {
		const bool sold = market->wares[i].sold;

		snprintf(id, sizeof(id), "w%zu", i);
		WFS_AUTO_FREE char *sale = state_at(fixture, WFS_HEIGHT_HEAD, "sys.escrow", id);
		assert_owner(
			fixture, id, sold ? "genesis_escrow" : traders[market->wares[i].owner]);
		assert_int_equal(sale != NULL, sold);
	}
}

static void random_sales_leave_what_a_model_says(void **state)
{
	struct world_fixture *const fixture = *state;
	struct market market = {
		.random = 42, .scrip = {100, 50, 1000}, .quota = {100000, 30000, INT64_MAX}};
	size_t counts[WFS_ERROR_CODE_COUNT] = {0};
	const int64_t sum = scrip_sum(fixture);

	for (int i = 0; i < WARES; i++) {
		char action[128];

		market.wares[i].owner = i % TRADERS;
		snprintf(action, sizeof(action), WRITE("'artifact_id':'w%d'"), i);
		assert_done(fixture, traders[i % TRADERS], action);
	}
	for (int i = 0; i < TRADES; i++) {
		const size_t kind = (size_t)below(&market, WFS_ARRAY_COUNT(trades));
		const int ware = (int)below(&market, WARES);
		const int who = (int)below(&market, TRADERS);
		WFS_AUTO_FREE char *action = NULL;
		WFS_AUTO_JSON json_t *answer = NULL;
		const enum wfs_error_code expected = trades[kind](&market, who, ware, &action);
		const int r = act_as(fixture, traders[who], action, &answer);

		if (fixture->error.code != expected || !r != (expected == WFS_OK))
			fail_msg("trade %d, %s: %.120s: expected %d, got %d (%s)", i, traders[who],
				action, expected, fixture->error.code, fixture->error.message);
		counts[expected]++;
		assert_market(fixture, &market);
	}
	assert_int_equal(scrip_sum(fixture), sum);
	assert_true(counts[WFS_OK] > TRADES / 5);
	assert_true(counts[WFS_E_QUOTA_EXCEEDED] > 0 && counts[WFS_E_INSUFFICIENT_FUNDS] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_MARKET(a_sale_pays_the_seller_and_moves_the_artifact),
		IN_MARKET(a_sale_that_is_cancelled_gives_it_back),
		IN_MARKET(what_was_bought_is_sold_on),
		IN_MARKET(what_is_for_sale_is_listed_the_oldest_first),
		IN_MARKET(what_cannot_be_sold_is_not_taken),
		IN_MARKET(what_cannot_be_bought_is_not_sold),
		IN_MARKET(a_price_that_nobody_can_pay_or_hold_is_refused_at_the_purchase),
		IN_MARKET(a_buyer_has_to_have_the_disk),
		IN_MARKET(what_is_for_sale_takes_the_sellers_disk),
		IN_MARKET(what_it_earns_meanwhile_is_the_sellers),
		IN_MARKET(who_may_not_transfer_may_not_buy),
		IN_MARKET(what_is_for_sale_is_changed_by_nobody),
		IN_MARKET(who_was_let_write_it_is_not_any_more),
		IN_MARKET(no_rule_lets_others_change_what_is_for_sale),
		IN_MARKET(who_takes_it_back_has_what_he_gave),
		IN_MARKET(what_sells_itself_earns_for_its_seller),
		IN_MARKET(services_take_no_other_gifts),
		IN_MARKET(code_sells_and_buys_for_its_artifact),
		IN_MARKET(who_paid_for_its_room_stands_in_for_a_seller_who_is_gone),
		IN_MARKET(a_sale_by_code_that_fails_is_none),
		IN_MARKET(a_memory_is_sold_with_its_entries),
		IN_MARKET(random_sales_leave_what_a_model_says),
	};

	return cmocka_run_group_tests_name("escrow", tests, NULL, NULL);
}
