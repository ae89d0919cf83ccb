/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of compiled code. */
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/timer/timer.h"

void action_programs_done(struct action_programs *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		wfs_code_free(programs->kept[i].program);
}

/* Finds a cached program that is not running. @author: of the code; code of each author runs in a
 * process of its own */
static struct action_program *find(struct action_programs *programs, const char *id,
	const struct wfs_hash *hash, const char *author)
{
	for (size_t i = 0; i < programs->count; i++) {
		struct action_program *const kept = &programs->kept[i];

		if (wfs_hash_equal(&kept->hash, hash) && strcmp(kept->id, id) == 0 &&
			wfs_code_is_by(kept->program, author) &&
			!wfs_code_is_running(kept->program))
			return kept;
	}
	return NULL;
}

/* Makes room for a program: an empty place, or that of the least recently used one that is not
 * running. */
static struct action_program *make_room(struct action_programs *programs)
{
	struct action_program *oldest = NULL;

	if (programs->count < ACTION_PROGRAMS_MAX)
		return &programs->kept[programs->count++];
	for (size_t i = 0; i < ACTION_PROGRAMS_MAX; i++) {
		struct action_program *const kept = &programs->kept[i];

		if (!wfs_code_is_running(kept->program) && (!oldest || kept->used < oldest->used))
			oldest = kept;
	}
	wfs_require(oldest != NULL);
	wfs_code_free(oldest->program);
	return oldest;
}

/* The last bindings are of actions that worlds of earlier programs do not have. */
enum { TIMER_ACTIONS = 2 };

/* Compiles code. @functions: NULL-ended; it must define one of these; NULL: not checked */
static int compile(struct act *act, const struct wfs_document_artifact *artifact,
	const char *const *functions, struct wfs_code **ret_program, struct wfs_error *error)
{
	const struct wfs_lua_limits limits = action_limits(act->fold);
	enum wfs_lua_failure failure = WFS_LUA_FAILURE_NONE;
	struct wfs_bytes source;
	int r = artifact_text(act->fold, WFS_BUILTIN_CODE, artifact->id, &source, error);

	if (r)
		return wfs_trace(r);
	const struct wfs_code_options options = {
		.program = true,
		.limits = &limits,
		.name = artifact->id,
		.author = author_of(artifact),
		.source = source,
		.functions = functions,
		.bindings = host_bindings,
		.binding_count =
			host_binding_count - (timer_is_enabled(act->fold) ? 0 : TIMER_ACTIONS),
		.budget = &act->fold->budget,
		.ret_failure = &failure,
	};
	r = wfs_code_new(act->fold->box, &options, ret_program, error);
	/* On another machine the code may pass. So the code that had it checked ends here, which
	 * its record says. */
	if (failure == WFS_LUA_FAILURE_BOUND && act->within)
		act->within->stopped = true;
	return wfs_trace(r);
}

static int get(struct act *act, const struct wfs_document_artifact *artifact,
	const char *const *functions, struct wfs_code **ret_program, struct wfs_error *error)
{
	struct action_programs *const programs = fold_kept(act->fold, "action");
	struct wfs_code *program = NULL;

	if (artifact->code_size < 0)
		return wfs_error_set(
			error, WFS_E_INVALID_TYPE, "artifact '%s' has no code", artifact->id);
	struct action_program *kept =
		find(programs, artifact->id, &artifact->code_hash, author_of(artifact));
	if (!kept) {
		int r = compile(act, artifact, functions, &program, error);

		if (r)
			return wfs_trace(r);
		kept = make_room(programs);
		*kept = (struct action_program){.program = program, .hash = artifact->code_hash};
		snprintf(kept->id, sizeof(kept->id), "%s", artifact->id);
	}
	kept->used = ++programs->use_count;
	*ret_program = kept->program;
	return 0;
}

int action_program(struct act *act, const struct wfs_document_artifact *artifact,
	struct wfs_code **ret_program, struct wfs_error *error)
{
	return wfs_trace(get(act, artifact, NULL, ret_program, error));
}

int artifact_check_code(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	static const char *const functions[] = {"run", "check", NULL};
	struct wfs_code *program;

	return wfs_trace(get(act, artifact, functions, &program, error));
}
