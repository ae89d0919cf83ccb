/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed feature hashing (Weinberger and others, 2009, "Feature Hashing for Large Scale Multitask
 * Learning"): each feature adds to one dimension, up or down, as its hash says. Features are words
 * without their endings, runs of 3 to 5 letters of these words, and pairs of neighbours. The n-th
 * occurrence of a feature counts 1/n, so that repeated features do not dominate the text.
 */
#include "kernel/vector/embed.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"

#ifdef __FAST_MATH__
#error "fast math gives other bytes"
#endif
/* Intermediate results of more precision (x87) would be rounded twice, to other bytes. */
static_assert(
	FLT_EVAL_METHOD >= 0 && FLT_EVAL_METHOD != 2, "double arithmetic is that of IEEE 754");

enum {
	WORD_MAX = 48, /* letters; longer runs of letters are cut, so that time stays linear */
	GRAM_MIN = 3,  /* letters of a run, including the marks of a word's begin and end */
	GRAM_MAX = 5,
	STEM_MIN = 3,    /* letters that remain when an ending is removed */
	SEEN_BITS = 14,  /* of a feature's hash: index of the count of its occurrences */
	TIMES_MAX = 255, /* occurrences; later ones count nothing */

	/* Weights of features. Found by trying; half or twice as much hardly makes a difference. */
	WORD_WEIGHT = 2560,
	STOP_WORD_WEIGHT = 256,
	PAIR_WEIGHT = 384,
	GRAM_WEIGHT = 512,
};

/* Start values for the hashes of the kinds of features. */
#define WORD_SEED UINT64_C(0x9e3779b97f4a7c15)
#define PAIR_SEED UINT64_C(0xc2b2ae3d27d4eb4f)
#define GRAM_SEED UINT64_C(0x165667b19e3779f9)

/* Marks before a word's first letter and after its last, in runs of letters. */
enum { WORD_BEGIN = '<', WORD_END = '>' };

struct embedder {
	int64_t sums[WFS_EMBED_DIMS];
	uint8_t seen[1 << SEEN_BITS];   /* occurrences, up to TIMES_MAX */
	uint32_t letters[WORD_MAX + 2]; /* of the current word, from index 1 on */
	size_t letter_count;
	uint64_t previous; /* hash of the previous word, 0: none */
};

/* Words that occur in every text and say nothing about it. Sorted. */
static const char *const stop_words[] = {"a", "about", "after", "again", "all", "almost", "already",
	"also", "although", "always", "am", "an", "and", "another", "any", "are", "around", "as",
	"at", "away", "back", "be", "because", "become", "been", "before", "both", "but", "by",
	"can", "cannot", "come", "comes", "could", "did", "do", "does", "dont", "down", "during",
	"each", "either", "else", "enough", "even", "ever", "every", "few", "first", "five", "for",
	"four", "from", "get", "gets", "give", "given", "go", "goes", "going", "gone", "got", "had",
	"half", "has", "have", "he", "her", "here", "him", "his", "how", "however", "i", "if", "in",
	"instead", "into", "is", "it", "its", "itself", "just", "last", "least", "less", "let",
	"like", "little", "made", "make", "makes", "many", "may", "me", "might", "more", "most",
	"much", "must", "my", "myself", "need", "needs", "never", "new", "next", "no", "not",
	"nothing", "now", "of", "off", "often", "on", "once", "one", "only", "or", "other",
	"others", "otherwise", "our", "out", "over", "own", "perhaps", "put", "quite", "rather",
	"really", "said", "same", "say", "says", "see", "seem", "several", "she", "should", "since",
	"so", "some", "still", "such", "take", "taken", "tell", "ten", "than", "that", "the",
	"their", "them", "then", "there", "these", "they", "thing", "things", "this", "those",
	"though", "three", "through", "to", "together", "too", "try", "two", "under", "until", "up",
	"us", "use", "used", "using", "very", "want", "wants", "was", "way", "we", "well", "went",
	"were", "what", "when", "where", "whether", "which", "while", "who", "whole", "whose",
	"why", "will", "with", "within", "without", "would", "yes", "yet", "you", "your"};

/* --- characters --- */

enum kind {
	APART,  /* separates words */
	LETTER, /* of a word */
	ALONE,  /* is a word of its own: in scripts without blanks, or a symbol */
	SILENT, /* is ignored: `don't` is `dont` */
};

/* Kinds of characters from U+0080 on; unlisted ones are letters.
 * Source: Unicode 15, blocks and general categories. */
static const struct {
	uint32_t first;
	uint32_t last;
	enum kind kind;
} ranges[] = {
	{0x80, 0xa9, APART},
	{0xab, 0xac, APART},
	{0xad, 0xad, SILENT},
	{0xae, 0xb4, APART},
	{0xb6, 0xb9, APART},
	{0xbb, 0xbf, APART},
	{0xd7, 0xd7, APART},
	{0xf7, 0xf7, APART},
	{0x1680, 0x1680, APART},
	{0x2000, 0x200a, APART},
	{0x200b, 0x200d, SILENT},
	{0x200e, 0x2018, APART},
	{0x2019, 0x2019, SILENT},
	{0x201a, 0x206f, APART},
	{0x20a0, 0x2bff, ALONE},
	{0x2e00, 0x2e7f, APART},
	{0x2e80, 0x2fff, ALONE},
	{0x3000, 0x3004, APART},
	{0x3005, 0x3007, ALONE},
	{0x3008, 0x3020, APART},
	{0x3021, 0x9fff, ALONE},
	{0xf900, 0xfaff, ALONE},
	{0xfe00, 0xfe0f, SILENT},
	{0xfe10, 0xfe6f, APART},
	{0xfeff, 0xfeff, SILENT},
	{0xff00, 0xff0f, APART},
	{0xff1a, 0xff20, APART},
	{0xff3b, 0xff40, APART},
	{0xff5b, 0xff65, APART},
	{0xff66, 0xff9f, ALONE},
	{0x1f000, 0x1faff, ALONE},
	{0x20000, 0x3ffff, ALONE},
};

static enum kind kind_of(uint32_t letter)
{
	if (letter == '\'')
		return SILENT;
	if (letter < 0x80)
		return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ? LETTER
											    : APART;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ranges); i++)
		if (letter <= ranges[i].last)
			return letter >= ranges[i].first ? ranges[i].kind : LETTER;
	return LETTER;
}

/* Capitals in scripts whose letters have two bytes.
 * @pairs: each capital precedes its small letter */
static const struct {
	uint32_t first;
	uint32_t last;
	uint32_t distance;
	bool pairs;
} capitals[] = {
	{'A', 'Z', 32, false},
	{0xc0, 0xd6, 32, false},
	{0xd8, 0xde, 32, false},
	{0x100, 0x12f, 1, true},
	{0x132, 0x137, 1, true},
	{0x139, 0x148, 1, true},
	{0x14a, 0x177, 1, true},
	{0x179, 0x17e, 1, true},
	{0x386, 0x386, 38, false},
	{0x388, 0x38a, 37, false},
	{0x38c, 0x38c, 64, false},
	{0x38e, 0x38f, 63, false},
	{0x391, 0x3ab, 32, false},
	{0x3c2, 0x3c2, 1, false},
	{0x400, 0x40f, 80, false},
	{0x410, 0x42f, 32, false},
	{0x460, 0x481, 1, true},
	{0x48a, 0x4bf, 1, true},
	{0x4d0, 0x52f, 1, true},
	{0x531, 0x556, 48, false},
	{0xff21, 0xff3a, 32, false},
};

static uint32_t small(uint32_t letter)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(capitals); i++) {
		if (letter < capitals[i].first)
			break;
		if (letter > capitals[i].last)
			continue;
		if (capitals[i].pairs && (letter - capitals[i].first) % 2 != 0)
			break;
		return letter + capitals[i].distance;
	}
	return letter;
}

/* Return: the code point of a well-formed sequence of @size bytes. */
static uint32_t decode(const uint8_t *at, size_t size)
{
	static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t letter = at[0] & masks[size];

	for (size_t i = 1; i < size; i++)
		letter = letter << 6 | (at[i] & 0x3f);
	return letter;
}

/* --- features --- */

/* FNV-1a, of letters instead of bytes. */
static uint64_t hash_letters(uint64_t seed, const uint32_t *letters, size_t count)
{
	uint64_t hash = seed;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ letters[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Every bit of the result depends on every bit of @hash (the finalizer of MurmurHash3). */
static uint64_t mix(uint64_t hash)
{
	hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}

static void add_feature(struct embedder *embedder, uint64_t hash, int64_t weight)
{
	const uint64_t mixed = mix(hash);
	uint8_t *const times = &embedder->seen[mixed >> (64 - SEEN_BITS)];
	int64_t *const sum = &embedder->sums[(mixed & UINT32_MAX) * WFS_EMBED_DIMS >> 32];

	if (*times == TIMES_MAX)
		return;
	*times += 1;
	*sum += (mixed >> 32 & 1 ? weight : -weight) / *times;
}

/* --- words --- */

struct word {
	const uint32_t *letters;
	size_t count;
};

static int compare_word(const void *key, const void *entry)
{
	const struct word *const word = key;
	const char *const text = *(const char *const *)entry;

	for (size_t i = 0; i < word->count; i++)
		if (word->letters[i] != (unsigned char)text[i])
			return word->letters[i] < (unsigned char)text[i] ? -1 : 1;
	return text[word->count] ? -1 : 0;
}

static bool ends_in(struct word word, const char *ending)
{
	const size_t size = strlen(ending);

	if (word.count < size + STEM_MIN)
		return false;
	for (size_t i = 0; i < size; i++)
		if (word.letters[word.count - size + i] != (unsigned char)ending[i])
			return false;
	return true;
}

/* English endings, the longer ones first; those that take nothing away protect the word. */
static const struct {
	const char *ending;
	size_t taken;
} endings[] = {
	{"sses", 2},
	{"ies", 2},
	{"ing", 3},
	{"ied", 2},
	{"ed", 2},
	{"ss", 0},
	{"us", 0},
	{"is", 0},
	{"es", 2},
	{"s", 1},
	{"ly", 2},
	{"e", 1},
};

/* How many letters of a word are its stem: `baking`, `baked` and `bakes` are all `bak`. */
static size_t stem_count(struct word word)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(endings); i++) {
		if (!ends_in(word, endings[i].ending))
			continue;
		word.count -= endings[i].taken;
		break;
	}
	/* `stopping` is `stopp` here, and `cries` is `cri`. */
	if (word.count > STEM_MIN && word.letters[word.count - 1] == word.letters[word.count - 2])
		word.count--;
	return word.count;
}

/* Adds the runs of letters of a word between its marks. */
static void add_grams(struct embedder *embedder, const uint32_t *letters, size_t count)
{
	for (size_t size = GRAM_MIN; size <= GRAM_MAX; size++)
		for (size_t i = 0; i + size <= count; i++)
			add_feature(embedder, hash_letters(GRAM_SEED + size, letters + i, size),
				GRAM_WEIGHT);
}

static void add_pair(struct embedder *embedder, uint64_t hash)
{
	if (embedder->previous)
		add_feature(embedder, mix(PAIR_SEED ^ embedder->previous) + hash, PAIR_WEIGHT);
	embedder->previous = hash;
}

static void end_word(struct embedder *embedder)
{
	uint32_t *const letters = embedder->letters + 1;
	const size_t count = embedder->letter_count;
	const struct word word = {letters, count};

	if (count == 0)
		return;
	embedder->letter_count = 0;
	if (bsearch(&word, stop_words, WFS_ARRAY_COUNT(stop_words), sizeof(stop_words[0]),
		    compare_word)) {
		add_feature(embedder, hash_letters(WORD_SEED, letters, count), STOP_WORD_WEIGHT);
		return;
	}
	const uint64_t hash = hash_letters(WORD_SEED, letters, stem_count(word));

	add_feature(embedder, hash, WORD_WEIGHT);
	add_pair(embedder, hash);
	embedder->letters[0] = WORD_BEGIN;
	letters[count] = WORD_END;
	add_grams(embedder, embedder->letters, count + 2);
}

static void add_alone(struct embedder *embedder, uint32_t letter)
{
	const uint64_t hash = hash_letters(WORD_SEED, &letter, 1);

	end_word(embedder);
	add_feature(embedder, hash, WORD_WEIGHT);
	add_pair(embedder, hash);
}

static void add_text(struct embedder *embedder, struct wfs_bytes text)
{
	const uint8_t *at = text.data;
	size_t size = 0;

	for (size_t left = text.size; left > 0; at += size, left -= size) {
		const size_t sequence = wfs_utf8_sequence(at, left);
		const uint32_t letter = small(decode(at, sequence));
		const enum kind kind = sequence ? kind_of(letter) : APART;

		size = sequence ? sequence : 1;
		if (kind == APART || (kind == LETTER && embedder->letter_count == WORD_MAX))
			end_word(embedder);
		if (kind == LETTER)
			embedder->letters[1 + embedder->letter_count++] = letter;
		else if (kind == ALONE)
			add_alone(embedder, letter);
	}
	end_word(embedder);
}

/* --- the vector --- */

int wfs_embed_local(
	struct wfs_bytes text, float ret_vector[static WFS_EMBED_DIMS], struct wfs_error *error)
{
	struct embedder embedder = {0};
	double squares = 0;

	add_text(&embedder, text);
	for (size_t i = 0; i < WFS_EMBED_DIMS; i++)
		squares += (double)embedder.sums[i] * (double)embedder.sums[i];
	/* Features may also cancel each other out completely. */
	if (squares == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "Text cannot be empty");
	const double length = sqrt(squares);

	for (size_t i = 0; i < WFS_EMBED_DIMS; i++)
		ret_vector[i] = (float)((double)embedder.sums[i] / length);
	return 0;
}
