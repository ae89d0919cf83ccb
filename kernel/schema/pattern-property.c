/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `\p{...}`: names of properties as ECMA-262 spells them. Source: ECMA-262, tables 67 to 69, and
 * Unicode's PropertyValueAliases.txt. General categories have names and letters that mean the same.
 * PCRE2 has scripts and the other properties under ECMA-262's names.
 */
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/schema/pattern-impl.h"

struct category {
	const char *letters; /* PCRE2's spelling */
	const char *names;   /* other names, each followed by a space */
};

static const struct category categories[] = {
	{"L", "Letter "},
	{"L&", "LC Cased_Letter "},
	{"Lu", "Uppercase_Letter "},
	{"Ll", "Lowercase_Letter "},
	{"Lt", "Titlecase_Letter "},
	{"Lm", "Modifier_Letter "},
	{"Lo", "Other_Letter "},
	{"M", "Mark Combining_Mark "},
	{"Mn", "Nonspacing_Mark "},
	{"Mc", "Spacing_Mark "},
	{"Me", "Enclosing_Mark "},
	{"N", "Number "},
	{"Nd", "Decimal_Number digit "},
	{"Nl", "Letter_Number "},
	{"No", "Other_Number "},
	{"P", "Punctuation punct "},
	{"Pc", "Connector_Punctuation "},
	{"Pd", "Dash_Punctuation "},
	{"Ps", "Open_Punctuation "},
	{"Pe", "Close_Punctuation "},
	{"Pi", "Initial_Punctuation "},
	{"Pf", "Final_Punctuation "},
	{"Po", "Other_Punctuation "},
	{"S", "Symbol "},
	{"Sm", "Math_Symbol "},
	{"Sc", "Currency_Symbol "},
	{"Sk", "Modifier_Symbol "},
	{"So", "Other_Symbol "},
	{"Z", "Separator "},
	{"Zs", "Space_Separator "},
	{"Zl", "Line_Separator "},
	{"Zp", "Paragraph_Separator "},
	{"C", "Other "},
	{"Cc", "Control cntrl "},
	{"Cf", "Format "},
	{"Cs", "Surrogate "},
	{"Co", "Private_Use "},
	{"Cn", "Unassigned "},
};

/* Each name is followed by a space. PCRE2 lacks Changes_When_NFKC_Casefolded. */
static const char binary_properties[] =
	"ASCII_Hex_Digit AHex Alphabetic Alpha Any Bidi_Control Bidi_C Bidi_Mirrored Bidi_M "
	"Case_Ignorable CI "
	"Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased "
	"CWL "
	"Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point "
	"DI "
	"Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod "
	"Emoji_Modifier_Base EBase "
	"Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base "
	"Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST "
	"ID_Continue IDC "
	"ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase "
	"Lower Math "
	"Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS "
	"Quotation_Mark QMark "
	"Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation "
	"Term "
	"Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space "
	"XID_Continue XIDC "
	"XID_Start XIDS ";

static bool name_is(struct wfs_bytes name, const char *text)
{
	return wfs_bytes_equal(name, wfs_bytes_text(text));
}

/* Is @name one of the words of @list? */
static bool is_listed(struct wfs_bytes name, const char *list)
{
	for (const char *end; (end = strchr(list, ' ')); list = end + 1) {
		const struct wfs_bytes word = {.data = list, .size = (size_t)(end - list)};

		if (wfs_bytes_equal(name, word))
			return true;
	}
	return false;
}

static const char *category_find(struct wfs_bytes name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(categories); i++) {
		const bool is_name = is_listed(name, categories[i].names);

		if (is_name || (name_is(name, categories[i].letters) && !name_is(name, "L&")))
			return categories[i].letters;
	}
	return NULL;
}

/* Removes `@key=` from the beginning. Return: was it there? */
static bool take_key(struct wfs_bytes *name, const char *key)
{
	const size_t size = strlen(key);

	if (name->size <= size || memcmp(name->data, key, size) != 0)
		return false;
	name->data = (const char *)name->data + size;
	name->size -= size;
	return true;
}

static void append_property(
	struct wfs_buffer *out, bool negated, const char *kind, struct wfs_bytes name)
{
	wfs_buffer_append_text(out, negated ? "\\P{" : "\\p{");
	wfs_buffer_append_text(out, kind);
	wfs_buffer_append(out, name.data, name.size);
	wfs_buffer_append_byte(out, '}');
}

/* Appends a script without checking its name: PCRE2 refuses unknown ones. */
static bool append_script(
	struct wfs_buffer *out, bool negated, const char *kind, struct wfs_bytes name)
{
	const char *const text = name.data;

	for (size_t i = 0; i < name.size; i++)
		if (!pattern_is_letter(text[i]) && text[i] != '_')
			return false;
	append_property(out, negated, kind, name);
	return true;
}

bool pattern_property(struct wfs_bytes name, bool negated, bool in_class, struct wfs_buffer *out)
{
	struct wfs_bytes value = name;
	const char *letters;

	if (take_key(&value, "Script=") || take_key(&value, "sc="))
		return append_script(out, negated, "sc:", value);
	if (take_key(&value, "Script_Extensions=") || take_key(&value, "scx="))
		return append_script(out, negated, "scx:", value);
	if (name_is(name, "ASCII")) {
		const char *const range = negated ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}";

		wfs_buffer_printf(out, in_class ? "%s" : "[%s]", range);
		return true;
	}
	if (name_is(name, "Assigned")) {
		append_property(out, !negated, "", wfs_bytes_text("Cn"));
		return true;
	}
	const bool has_key = take_key(&value, "General_Category=") || take_key(&value, "gc=");

	letters = category_find(value);
	if (letters)
		append_property(out, negated, "", wfs_bytes_text(letters));
	else if (!has_key && is_listed(name, binary_properties))
		append_property(out, negated, "", name);
	else
		return false;
	return true;
}
