/* SPDX-License-Identifier: Apache-2.0 */
/* genesis_escrow: sales, refusals, and that nobody ends up without both the artifact and its
 * price. Random trades are compared with a model. Numbers in comments are those of test cases of
 * a comparable system. */
#include "tests/fixture/market.h"

#define ESCROW(method, args) CALL("genesis_escrow", method, args)
#define DEPOSIT(args) ESCROW("deposit", args)
#define PURCHASE(id) ESCROW("purchase", "'" id "'")
#define CANCEL(id) ESCROW("cancel", "'" id "'")
#define CHECK(id) ESCROW("check", "'" id "'")
#define DELETE(id) ACTION("delete_artifact", "'artifact_id':'" id "'")
#define DENIED WFS_E_NOT_AUTHORIZED
#define NOT_FOR_SALE(id) "{'artifact_id':'" id "','for_sale':false}"

/* --- helpers --- */

/* Writes a document whose size changes the disk that its owner uses. */
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
	WFS_AUTO_JSON json_t *artifact = market_document(fixture, "sys.artifact", id);

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
IN_MARKET(a_sale_pays_the_seller_and_moves_the_artifact)
{
	write_doc(fixture, "alice", CONTENT_10);
	assert_int_equal(used_disk_of(fixture, "alice"), 10);
	assert_call(fixture, "alice", DEPOSIT("'doc',30"), 0,
		"{'artifact_id':'doc','price':30,'seller':'alice'}");
	assert_owner(fixture, "doc", "genesis_escrow");
	/* What the escrow has still counts for its seller's disk. */
	assert_int_equal(used_disk_of(fixture, "alice"), 10);
	assert_int_equal(used_disk_of(fixture, "bob"), 0);
	assert_call(fixture, "bob", CHECK("doc"), 0,
		"{'artifact_id':'doc','for_sale':true,'price':30,'seller':'alice'}");

	assert_call(fixture, "bob", PURCHASE("doc"), 0,
		"{'artifact_id':'doc','buyer':'bob','price':30,'seller':'alice'}");
	assert_owner(fixture, "doc", "bob");
	assert_int_equal(scrip_of(fixture, "alice"), 130);
	assert_int_equal(scrip_of(fixture, "bob"), 20);
	assert_int_equal(used_disk_of(fixture, "alice"), 0);
	assert_int_equal(used_disk_of(fixture, "bob"), 10);
	assert_call(fixture, "bob", CHECK("doc"), 0, NOT_FOR_SALE("doc"));
	assert_none_for_sale(fixture);
	WFS_AUTO_FREE char *maker = member_of(fixture, "doc", "created_by");
	assert_string_equal(maker, "alice");
	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','content':'mine'"));
}

/* 162 */
IN_MARKET(a_sale_that_is_cancelled_gives_it_back)
{
	write_doc(fixture, "alice", CONTENT_10);
	done(fixture, "alice", DEPOSIT("{'artifact':'doc','price':30}"));
	assert_refused(fixture, "bob", CANCEL("doc"), DENIED, "'alice' sells it");
	assert_call(fixture, "alice", CANCEL("doc"), 0, "{'artifact_id':'doc','owner':'alice'}");
	assert_owner(fixture, "doc", "alice");
	assert_int_equal(used_disk_of(fixture, "alice"), 10);
	assert_none_for_sale(fixture);
	assert_refused(fixture, "alice", CANCEL("doc"), WFS_E_NOT_FOUND, "'doc' is not for sale");
	assert_refused(fixture, "bob", PURCHASE("doc"), WFS_E_NOT_FOUND, "'doc' is not for sale");
}

IN_MARKET(what_was_bought_is_sold_on)
{
	write_doc(fixture, "alice", CONTENT_10);
	done(fixture, "alice", DEPOSIT("'doc',20"));
	done(fixture, "bob", PURCHASE("doc"));
	done(fixture, "bob", DEPOSIT("'doc',75"));
	done(fixture, "alice", ESCROW("run", "'purchase','doc'"));
	assert_owner(fixture, "doc", "alice");
	assert_int_equal(scrip_of(fixture, "alice"), 45);
	assert_int_equal(scrip_of(fixture, "bob"), 105);
}

IN_MARKET(what_is_for_sale_is_listed_the_oldest_first)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'z'"));
	assert_done(fixture, "bob", WRITE("'artifact_id':'a'"));
	done(fixture, "alice", DEPOSIT("'z',1"));
	done(fixture, "bob", DEPOSIT("'a',2"));
	WFS_AUTO_JSON json_t *all = call_for(fixture, "alice", ESCROW("list_active", ""), 0);
	const json_t *const sales = json_object_get(all, "listings");

	assert_int_equal(json_integer_value(json_object_get(all, "count")), 2);
	assert_string_equal(wfs_json_text(json_array_get(sales, 0), "artifact_id"), "z");
	assert_string_equal(wfs_json_text(json_array_get(sales, 1), "seller"), "bob");
	WFS_AUTO_JSON json_t *one = call_for(fixture, "alice", ESCROW("list_active", "1"), 0);
	assert_int_equal(json_integer_value(json_object_get(one, "count")), 2);
	assert_int_equal(json_array_size(json_object_get(one, "listings")), 1);
	assert_refused(fixture, "alice", ESCROW("list_active", "1001"), WFS_E_INVALID_ARGUMENT,
		"at most 1000, got 1001");
}

/* --- refusals --- */

/* 162 */
IN_MARKET(what_cannot_be_sold_is_not_taken)
{
	write_doc(fixture, "alice", CONTENT_10);
	assert_done(fixture, "alice", WRITE("'artifact_id':'self','access':'self_owned'"));

	assert_refused(fixture, "bob", DEPOSIT("'doc',5"), DENIED, "its owner is 'alice'");
	assert_refused(fixture, "alice", DEPOSIT("'doc',0"), WFS_E_INVALID_ARGUMENT, "1 or more");
	assert_refused(fixture, "alice", DEPOSIT("'doc',-1"), WFS_E_INVALID_ARGUMENT, "/price");
	assert_refused(fixture, "alice", DEPOSIT("'doc'"), WFS_E_MISSING_ARGUMENT, "'price'");
	assert_refused(fixture, "alice", DEPOSIT("'self',5"), DENIED, "is self_owned");
	assert_refused(fixture, "alice", DEPOSIT("'none',5"), WFS_E_NOT_FOUND, "not found");
	assert_refused(fixture, "alice", DEPOSIT("'a b',5"), WFS_E_NOT_FOUND, "not found");
	assert_refused(fixture, "alice", DEPOSIT("'bob',5"), WFS_E_NOT_FOUND, "not found");
	assert_refused(fixture, "alice", DEPOSIT("'genesis_escrow',5"), DENIED, "is 'genesis'");
	done(fixture, "alice", DEPOSIT("'doc',5"));
	assert_refused(fixture, "alice", DEPOSIT("'doc',5"), DENIED, "is 'genesis_escrow'");
}

/* 162 */
IN_MARKET(what_cannot_be_bought_is_not_sold)
{
	write_doc(fixture, "alice", CONTENT_10);
	assert_refused(fixture, "bob", PURCHASE("doc"), WFS_E_NOT_FOUND, "not for sale");
	assert_refused(fixture, "bob", PURCHASE("none"), WFS_E_NOT_FOUND, "not for sale");
	assert_refused(fixture, "bob", PURCHASE("a b"), WFS_E_NOT_FOUND, "not for sale");
	done(fixture, "alice", DEPOSIT("'doc',51"));

	assert_refused(fixture, "alice", PURCHASE("doc"), WFS_E_INVALID_ARGUMENT, "'cancel'");
	assert_refused(fixture, "bob", PURCHASE("doc"), WFS_E_INSUFFICIENT_FUNDS,
		"'bob' has 50 scrip, 51 needed");
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':1"));
	done(fixture, "bob", PURCHASE("doc"));
	assert_refused(fixture, "rich", PURCHASE("doc"), WFS_E_NOT_FOUND, "not for sale");
	assert_refused(fixture, "alice", CANCEL("doc"), WFS_E_NOT_FOUND, "not for sale");
}

IN_MARKET(a_price_that_nobody_can_pay_or_hold_is_refused_at_the_purchase)
{
	write_doc(fixture, "alice", CONTENT_10);
	done(fixture, "alice", DEPOSIT("'doc',9223372036854775807"));
	assert_refused(fixture, "rich", PURCHASE("doc"), WFS_E_INSUFFICIENT_FUNDS, "has 1000");
	done(fixture, "alice", CANCEL("doc"));
}

/* An artifact of 25,000 bytes. Caller frees it. */
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

IN_MARKET(a_buyer_has_to_have_the_disk)
{
	write_big(fixture, "alice", "one");
	write_big(fixture, "bob", "two");
	done(fixture, "alice", DEPOSIT("'one',5"));
	assert_refused(fixture, "bob", PURCHASE("one"), WFS_E_QUOTA_EXCEEDED, "of its disk left");
	assert_done(fixture, "bob", DELETE("two"));
	done(fixture, "bob", PURCHASE("one"));
}

IN_MARKET(what_is_for_sale_takes_the_sellers_disk)
{
	WFS_AUTO_FREE char *two = big("two");

	write_big(fixture, "bob", "one");
	done(fixture, "bob", DEPOSIT("'one',5"));
	assert_refused(fixture, "bob", two, WFS_E_QUOTA_EXCEEDED, "of its disk left");
	done(fixture, "bob", CANCEL("one"));
	assert_owner(fixture, "one", "bob");
}

IN_MARKET(what_it_earns_meanwhile_is_the_sellers)
{
	const int64_t before = scrip_of(fixture, "alice");

	assert_done(fixture, "alice",
		WRITE("'artifact_id':'doc','code':'function run() return 1 end',"
		      "'policy':{'invoke_price':3,'read_price':4}"));
	done(fixture, "alice", DEPOSIT("'doc',30"));

	assert_done(fixture, "bob", INVOKE("'artifact_id':'doc'"));
	assert_done(fixture, "bob", ACTION("read_artifact", "'artifact_id':'doc'"));

	assert_int_equal(scrip_of(fixture, "alice"), before + 7);
	assert_int_equal(scrip_of(fixture, "genesis_escrow"), 0);
}

IN_MARKET(who_may_not_transfer_may_not_buy)
{
	write_doc(fixture, "alice", CONTENT_10);
	done(fixture, "alice", DEPOSIT("'doc',5"));
	assert_done(fixture, "tester",
		"{'action_type':'principal','id':'miser','scrip':50,'quotas':{'disk':1000}}");
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','to':'miser',"
		"'params':{'actions':['invoke_artifact']}}");

	assert_refused(fixture, "miser", PURCHASE("doc"), DENIED, "action.transfer");
}

/* --- while it is for sale --- */

IN_MARKET(what_is_for_sale_is_changed_by_nobody)
{
	write_doc(fixture, "alice", CONTENT_10);
	done(fixture, "alice", DEPOSIT("'doc',5"));

	assert_refused(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"), DENIED, "doc");
	assert_refused(fixture, "alice", WRITE("'artifact_id':'doc','price':9"), DENIED, "doc");
	assert_refused(fixture, "alice",
		ACTION("edit_artifact", "'artifact_id':'doc','old_string':'0','new_string':''"),
		DENIED, "doc");
	assert_refused(fixture, "alice", DELETE("doc"), DENIED, "may not delete 'doc'");
	assert_refused(fixture, "alice",
		ACTION("transfer_ownership", "'artifact_id':'doc','to':'bob'"), DENIED,
		"its owner is 'genesis_escrow'");
}

/* 162 */
IN_MARKET(who_was_let_write_it_is_not_any_more)
{
	write_doc(fixture, "alice",
		CONTENT_10 ",'access':'transferable_freeware','metadata':{'authorized_writer':"
			   "'rich','kept':1}");
	assert_done(fixture, "rich", WRITE("'artifact_id':'doc','price':1"));
	done(fixture, "alice", DEPOSIT("'doc',5"));

	assert_refused(fixture, "rich", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	assert_refused(fixture, "alice", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	done(fixture, "bob", PURCHASE("doc"));
	assert_refused(fixture, "rich", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	assert_done(fixture, "bob", WRITE("'artifact_id':'doc','price':2"));
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", "doc");
	assert_non_null(strstr(text, "\"metadata\":{\"kept\":1}"));
}

IN_MARKET(no_rule_lets_others_change_what_is_for_sale)
{
	write_doc(fixture, "alice", CONTENT_10 ",'access':'public'");
	done(fixture, "alice", DEPOSIT("'doc',5"));

	assert_refused(fixture, "rich", DELETE("doc"), DENIED, "it is for sale");
	assert_refused(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"), DENIED,
		"it is for sale");
	done(fixture, "bob", PURCHASE("doc"));
	assert_done(fixture, "rich", WRITE("'artifact_id':'doc','price':1"));
}

IN_MARKET(who_takes_it_back_has_what_he_gave)
{
	write_doc(fixture, "alice",
		CONTENT_10 ",'access':'transferable_freeware','metadata':{'authorized_writer':"
			   "'rich'}");
	done(fixture, "alice", DEPOSIT("'doc',5"));
	assert_refused(fixture, "rich", WRITE("'artifact_id':'doc','price':2"), DENIED, "doc");
	done(fixture, "alice", CANCEL("doc"));
	assert_done(fixture, "rich", WRITE("'artifact_id':'doc','price':2"));
}

/* The price is held while the code runs: when it is paid out, the sale is over. */
IN_MARKET(what_sells_itself_earns_for_its_seller)
{
	assert_done(fixture, "alice",
		CODE("doc", "return invoke(\\'genesis_escrow\\', \\'purchase\\', \\'doc\\').ok"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','price':3"));
	assert_done(fixture, "rich", ACTION("transfer", "'to':'doc','amount':20"));
	done(fixture, "alice", DEPOSIT("'doc',5"));
	const int64_t before = scrip_of(fixture, "alice");

	assert_done(fixture, "bob", INVOKE("'artifact_id':'doc'"));

	assert_int_equal(scrip_of(fixture, "genesis_escrow"), 0);
	assert_true(scrip_of(fixture, "alice") >= before + 3);
}

IN_MARKET(services_take_no_other_gifts)
{
	write_doc(fixture, "alice", CONTENT_10);
	assert_refused(fixture, "alice",
		ACTION("transfer_ownership", "'artifact_id':'doc','to':'genesis_escrow'"),
		WFS_E_INVALID_ARGUMENT, "'to': 'genesis_escrow' is a service");
	assert_refused(fixture, "alice",
		ACTION("transfer_ownership", "'artifact_id':'doc','to':'genesis_ledger'"),
		WFS_E_INVALID_ARGUMENT, "'to': 'genesis_ledger' is a service");
}

/* --- by code --- */

/* A program that calls a method of the escrow with the arguments it gets. */
#define SHOP                                                                                      \
	CODE("shop",                                                                              \
		"local r = invoke(\\'genesis_escrow\\', ...) return r.error and r.error.code or " \
		"\\'ok\\'")

IN_MARKET(code_sells_and_buys_for_its_artifact)
{
	assert_done(fixture, "alice", SHOP);
	write_doc(fixture, "alice", CONTENT_10);
	const int64_t disk = used_disk_of(fixture, "alice");
	done(fixture, "alice", DEPOSIT("'doc',30"));
	assert_call(
		fixture, "bob", CALL("shop", "run", "'purchase','doc'"), 0, "'insufficient_funds'");
	assert_done(fixture, "alice", ACTION("transfer", "'to':'shop','amount':40"));

	assert_call(fixture, "bob", CALL("shop", "run", "'purchase','doc'"), 0, "'ok'");
	assert_owner(fixture, "doc", "shop");
	assert_int_equal(scrip_of(fixture, "shop"), 10);
	assert_int_equal(scrip_of(fixture, "bob"), 50);
	assert_int_equal(used_disk_of(fixture, "alice"), disk); /* bob pays for the shop's bytes */
	assert_call(fixture, "bob", CALL("shop", "run", "'deposit','doc',20"), 0, "'ok'");
	done(fixture, "bob", PURCHASE("doc"));
	assert_int_equal(scrip_of(fixture, "shop"), 30);
}

IN_MARKET(who_paid_for_its_room_stands_in_for_a_seller_who_is_gone)
{
	assert_done(fixture, "alice", SHOP);
	write_doc(fixture, "alice", CONTENT_10);
	assert_done(
		fixture, "alice", ACTION("transfer_ownership", "'artifact_id':'doc','to':'shop'"));
	assert_call(fixture, "bob", CALL("shop", "run", "'deposit','doc',20"), 0, "'ok'");
	assert_done(fixture, "alice", DELETE("shop"));
	done(fixture, "bob", PURCHASE("doc"));
	assert_int_equal(scrip_of(fixture, "alice"), 120);
}

IN_MARKET(a_sale_by_code_that_fails_is_none)
{
	assert_done(fixture, "alice",
		CODE("shop", "invoke(\\'genesis_escrow\\', ...) error(\\'after all\\')"));
	write_doc(fixture, "alice", CONTENT_10);
	done(fixture, "alice", DEPOSIT("'doc',5"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'shop','amount':40"));
	assert_refused(fixture, "bob", CALL("shop", "run", "'purchase','doc'"), WFS_E_RUNTIME_ERROR,
		"after all");
	done(fixture, "bob", PURCHASE("doc"));
}

/* --- stores of memories --- */

#define SEARCH CALL("genesis_memory_search", "run", "'m','apple'")

IN_MARKET(a_memory_is_sold_with_its_entries)
{
	json_decref(call_for(fixture, "alice", CALL("genesis_memory", "create", "'m'"), 5));
	json_decref(call_for(
		fixture, "alice", CALL("genesis_memory_add", "run", "'m','one apple'"), 1));
	json_decref(
		call_for(fixture, "alice", CALL("genesis_memory_add", "run", "'m','a pear'"), 1));
	const int64_t size = used_disk_of(fixture, "alice");
	assert_true(size > 8192);

	done(fixture, "alice", DEPOSIT("'m',40"));
	assert_int_equal(used_disk_of(fixture, "alice"), size);
	assert_refused(fixture, "alice", SEARCH, DENIED, "may not read 'm'");
	assert_refused(fixture, "bob", SEARCH, DENIED, "may not read 'm'");
	done(fixture, "bob", PURCHASE("m"));
	assert_int_equal(used_disk_of(fixture, "bob"), size);
	WFS_AUTO_JSON json_t *found = call_for(fixture, "bob", SEARCH, 1);
	assert_int_equal(json_integer_value(json_object_get(found, "count")), 2);
	assert_refused(fixture, "alice", SEARCH, DENIED, "may not read 'm'");
	json_decref(call_for(fixture, "bob", CALL("genesis_memory_add", "run", "'m','a plum'"), 1));
	assert_done(fixture, "bob", DELETE("m"));
	assert_int_equal(used_disk_of(fixture, "bob"), 0);
}

/* --- at random --- */

enum { TRADERS = 3, WARES = 12, TRADES = 2000, WARE_SIZE_MAX = 9000 };

static const char *const traders[TRADERS] = {"alice", "bob", "rich"};

/* The state that the market should have. */
struct market {
	uint64_t random;
	int64_t scrip[TRADERS];
	int64_t used[TRADERS];
	int64_t quota[TRADERS];
	struct {
		int owner; /* index of a trader */
		bool sold; /* its owner offers it for sale */
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

/* Has @who room for so many more bytes? */
static bool fits(const struct market *market, int who, int64_t more)
{
	return more <= 0 || market->used[who] + more <= market->quota[who];
}

/* Each trade returns its action, and changes the model as that action should change the market.
 * Return: the error that the action should have. */

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

IN_MARKET(random_sales_leave_what_a_model_says)
{
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
