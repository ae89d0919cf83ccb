/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring worlds that had several manifests. */
#include "tests/fixture/apply.h"
#include "tests/fixture/restore.h"

/* Copies every height at which a manifest changes, and the heights next to it. */
IN_WORLD(copies_from_both_sides_of_a_manifest_come_back)
{
	char first[sizeof(fixture->directory)];
	char copy[256];

	live_with_manifests(fixture, act_for_manifests);
	memcpy(first, fixture->directory, sizeof(first));
	const uint64_t last = height_of(fixture);
	for (uint64_t height = 3; height <= last; height++) {
		memcpy(fixture->directory, first, sizeof(first));
		assert_int_equal(world_fixture_open(fixture), 0);
		copy_at(fixture, height);
		const struct wfs_hash hash = snapshot_of(fixture, height);
		struct wfs_restored restored = restore(fixture);
		assert_true(restored.history);
		assert_true(wfs_hash_equal(&hash, &restored.snapshot_hash));
		assert_sound(fixture);
		world_fixture_close(fixture);
		wfs_directory_remove(fixture->directory);
		copy_path(fixture, "", copy);
		wfs_directory_remove(copy);
	}
}

IN_WORLD(copies_without_a_journal_have_their_manifest)
{
	char name[256];

	live_with_manifests(fixture, act_for_manifests);
	const struct wfs_hash hash = snapshot_of(fixture, height_of(fixture));
	copy_state(fixture);
	/* Without the journal, the copy does not show that this reducer existed once. */
	copy_path(fixture, "reducers/extra", name);
	assert_int_equal(rmdir(name), 0);
	struct wfs_restored restored = restore(fixture);
	assert_true(wfs_hash_equal(&hash, &restored.snapshot_hash));
	assert_state(fixture, "sys.grant", "alice.query.1", NULL);
	assert_sound(fixture);
	/* The restored world takes further changes. */
	WFS_AUTO_JSON json_t *document = manifest_now(fixture);
	undeclare(document, "grants", "name", "bob.blob.1");
	declare(document, "grants",
		"{'name':'bob.query.1','cap':'sys/query@1','to':'bob','params':{}}");
	assert_applied(fixture, document);
	assert_sound(fixture);
}

/* No copy contains the first text of an artifact; later records do not need it. */
IN_WORLD(manifests_behind_a_lost_text_come_back)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	act_for_manifests(
		fixture, "{'action_type':'write_artifact','artifact_id':'note','content':'first'}");
	act_for_manifests(fixture,
		"{'action_type':'write_artifact','artifact_id':'note','content':'second'}");
	live_with_manifests(fixture, act_for_manifests);
	const struct wfs_hash hash = snapshot_of(fixture, height_of(fixture));
	copy_at(fixture, WFS_HEIGHT_HEAD);

	const struct wfs_restored restored = restore(fixture);

	assert_string_equal(restored.lost.artifact_id, "note");
	assert_true(wfs_hash_equal(&hash, &restored.snapshot_hash));
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

IN_WORLD(a_manifest_that_is_missing_is_told)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(fixture->world);
	char hex[WFS_HASH_HEX_SIZE + 1];
	char name[256];

	live_with_manifests(fixture, act_for_manifests);
	copy_at(fixture, WFS_HEIGHT_HEAD);
	wfs_hash_hex(wfs_manifest_hash(manifest), hex);
	snprintf(name, sizeof(name), "blob/%s", hex);
	remove_copy(fixture, name);
	snprintf(
		name, sizeof(name), "blob/%s: is missing: the journal names it as a manifest", hex);
	assert_copy_refused(fixture, name);
}
