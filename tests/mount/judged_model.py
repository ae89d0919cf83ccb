# SPDX-License-Identifier: Apache-2.0
"""Which principal sees what, computed independently for test-judged.

Written from the rules alone: patterns are matched by recursion and regular expressions, nothing is
cached between two moments, and nothing here is taken from the program. `Model.answer` is the answer
that every interface must give to a question. Checks of its own: python3 -m doctest judged_model.py
"""
import functools
import re

READ_STATE = "introspect.reducer_state"
LIST_CELLS = "introspect.list_cells"
JOURNAL = "introspect.journal"
JOURNAL_HEAD = "introspect.journal_head"
MANIFEST = "introspect.manifest"
BLOB_GET = "blob.get"
# The effects that a grant of sys/query@1 allows.
QUERY_EFFECTS = (READ_STATE, LIST_CELLS, JOURNAL, JOURNAL_HEAD, MANIFEST, "introspect.status", "query.kernel")

# The names in the root, and the effect that reads each.
ROOT = {
    "README": JOURNAL_HEAD, "manifest": MANIFEST, "reducers": LIST_CELLS, "artifacts": LIST_CELLS,
    "principals": LIST_CELLS, "plans": LIST_CELLS, "turns": LIST_CELLS, "blob": BLOB_GET,
    "journal": JOURNAL, "at": JOURNAL_HEAD, "ctl": None,
}
# Directories that are empty here, and the reducers whose cells they would show.
EMPTY = {"artifacts": "sys.artifact", "principals": "sys.ledger", "plans": "sys.plan", "turns": "sys.turn"}

NOT_SEEN, ABOVE, COVERED = range(3)


class Stop(Exception):
    """A path leads nowhere; the argument is the answer."""


# --- scopes ---

@functools.lru_cache(maxsize=None)
def name_fits(pattern, name):
    """
    >>> name_fits("lib*", "lib"), name_fits("*b*", "lib1"), name_fits("lib", "lib1")
    (True, True, False)
    >>> name_fits("a.c", "abc"), name_fits("*", "a\\nb"), name_fits("*", "*")
    (False, True, True)
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def covers(pattern, path):
    """Does the pattern match the path, or something above it? Both are tuples of names.

    >>> covers(("a",), ("a", "b")), covers(("a", "b"), ("a",)), covers(("**", "c"), ("a", "b", "c", "d"))
    (True, False, True)
    >>> covers(("**",), ()), covers(("a", "**"), ("a",)), covers(("a", "**", "c"), ("a", "c"))
    (True, True, True)
    """
    if not pattern:
        return True
    if pattern[0] == "**":
        return covers(pattern[1:], path) or (bool(path) and covers(pattern, path[1:]))
    return bool(path) and name_fits(pattern[0], path[0]) and covers(pattern[1:], path[1:])


def leads_on(pattern, path):
    """Could the pattern match something below the path?

    >>> leads_on(("a", "b"), ("a",)), leads_on(("a", "b"), ("b",)), leads_on(("a",), ("a", "b"))
    (True, False, False)
    >>> leads_on(("**", "x"), ("a", "b")), leads_on(("a", "**", "x"), ("b",)), leads_on(("a",), ())
    (True, False, True)
    """
    if not pattern:
        return False
    if not path:
        return True
    if pattern[0] == "**":
        return leads_on(pattern[1:], path) or leads_on(pattern, path[1:])
    return name_fits(pattern[0], path[0]) and leads_on(pattern[1:], path[1:])


@functools.lru_cache(maxsize=1 << 16)
def coverage(scope, path):
    """Does a scope allow it? The scope is a tuple of patterns as they are written; None allows everything.

    >>> coverage((), ("x",)), coverage(("a/b", "c"), ("a",)), coverage(("a/b", "c"), ("d",))
    (2, 1, 0)
    """
    patterns = [tuple(pattern.split("/")) for pattern in scope]
    if not patterns or any(covers(pattern, path) for pattern in patterns):
        return COVERED
    return ABOVE if any(leads_on(pattern, path) for pattern in patterns) else NOT_SEEN


class Grant:
    """The grants of a principal."""

    def __init__(self, name, to, cap, params, expires_at_ns=None, source=None):
        self.name, self.to, self.cap, self.params = name, to, cap, params
        self.expires_at_ns = expires_at_ns
        self.source = source  # name of the grant from which it was delegated
        scope = params.get("scope", [])
        self.scope = tuple([scope] if isinstance(scope, str) else scope) if scope else ()

    def live(self, now):
        return self.expires_at_ns is None or now < self.expires_at_ns

    def document(self):
        members = {"name": self.name, "cap": self.cap, "params": self.params}
        if self.expires_at_ns is not None:
            members["expires_at_ns"] = self.expires_at_ns
        return members


# --- names of files ---

def file_name(key):
    """The only name of a key that is a text.

    >>> [file_name(key) for key in ("", "_", ".", "..", ".a", "a/b", "5%", "\\n", "é")]
    ['_', '%5F', '%2E', '%2E.', '.a', 'a%2Fb', '5%25', '%0A', 'é']
    """
    if key == "":
        return "_"
    if key == "_":
        return "%5F"
    if key in (".", ".."):
        return "%2E" + key[1:]
    return re.sub("[\x00-\x1f/%\x7f]", lambda found: f"%{ord(found[0]):02X}", key)


# --- the model ---

class Place:
    """The node to which a path leads: kind is `root`, `reducers`, `reducer`, `blobs`, `journal`,
    `heights`, `empty`, `file`, `link` or `control`. `height` is None in the tree of the head."""

    def __init__(self, kind, height=None, what=None):
        self.kind, self.height, self.what = kind, height, what

    def is_directory(self):
        return self.kind not in ("file", "link", "control")


class Model:
    def __init__(self, world, rules):
        self.world = world  # the state of the world
        self.rules = rules  # rules of the policy in force
        self.grants = {}    # grants by name

    # --- judging ---

    def allowed_by_policy(self, who, effect, reducer=None):
        """Is the effect allowed for this reducer, or (without a reducer) could it be for some
        reducer?"""
        cap = "sys/blob@1" if effect.startswith("blob.") else "sys/query@1"
        asked = {"effect": effect, "cap": cap, "principal": who, "origin": "host", "reducer": reducer,
                 "artifact": None}
        open_question = reducer is None and effect in (READ_STATE, LIST_CELLS)
        for rule in self.rules:
            when = dict(rule["when"])
            if open_question and when.pop("reducer", None) and rule["decision"] == "deny":
                continue
            if all(self.fits(pattern, asked[member]) for member, pattern in when.items()):
                return rule["decision"] == "allow"
        return False

    @staticmethod
    def fits(pattern, text):
        if text is None:
            return False
        return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern

    def verdict(self, who, effect, now, reducer=None):
        """`ok`, or the code of the refusal."""
        cap = "sys/blob@1" if effect.startswith("blob.") else "sys/query@1"
        held = [grant for grant in self.grants.values() if grant.to == who and grant.cap == cap]
        if not held:
            return "not_authorized"
        if not any(grant.live(now) for grant in held):
            return "expired"
        return "ok" if self.allowed_by_policy(who, effect, reducer) else "policy_denied"

    def demand(self, who, effect, now, reducer=None):
        code = self.verdict(who, effect, now, reducer)
        if code != "ok":
            raise Stop("refused", code)

    def covered(self, who, path, now):
        return max((coverage(grant.scope, path) for grant in self.grants.values()
                    if grant.to == who and grant.cap == "sys/query@1" and grant.live(now)),
                   default=NOT_SEEN)

    def sees_all(self, who):
        """Does the principal see all of the tree, whatever changes?"""
        def always(effect):
            for rule in self.rules:
                when = rule["when"]
                if all(self.fits(when[member], text) for member, text in (("effect", effect), ("principal", who))
                       if member in when):
                    if rule["decision"] != "allow":
                        return False
                    if not set(when) - {"effect", "principal"}:
                        return True
            return False

        return any(grant.to == who and grant.cap == "sys/query@1" and grant.expires_at_ns is None and
                   coverage(grant.scope, ()) == COVERED for grant in self.grants.values()) and \
            all(map(always, QUERY_EFFECTS))

    def content(self, who, place):
        """The document as `who` reads it: only a principal that sees everything gets the hash of
        everything."""
        content = self.world.content(place)
        if place.what == ("journal", "head") and not self.sees_all(who):
            content = re.sub(b',"snapshot_hash":"sha256:[0-9a-f]*"', b"", content)
        return content

    def sees_reducer(self, who, reducer, now):
        return self.covered(who, ("reducers", reducer), now) > NOT_SEEN and (
            self.allowed_by_policy(who, READ_STATE, reducer) or
            self.allowed_by_policy(who, LIST_CELLS, reducer))

    def sees_cell(self, who, reducer, name, now):
        return self.covered(who, ("reducers", reducer, name), now) == COVERED and \
            self.allowed_by_policy(who, READ_STATE, reducer)

    def demand_listing(self, who, now, reducer):
        """A list of something that the principal may not read is refused, too. Raises Stop."""
        self.demand(who, LIST_CELLS, now, reducer)
        self.demand(who, READ_STATE, now, reducer)

    # --- the tree ---

    def step(self, who, place, name, now):
        """Follows a path by one name. Raises Stop."""
        if not place.is_directory():
            raise Stop("not_directory")
        found = getattr(self, "step_" + place.kind)(who, place, name, now)
        if found is None:
            raise Stop("missing")
        return found

    def step_root(self, who, place, name, now):
        if name not in ROOT or (name in ("at", "ctl") and place.height is not None):
            return None
        if name == "ctl":
            return Place("control")
        if name == "at":
            if self.verdict(who, BLOB_GET, now) != "ok":
                self.demand(who, JOURNAL_HEAD, now)
            return Place("heights")
        self.demand(who, ROOT[name], now)
        if name == "blob":
            return Place("blobs", place.height)
        seen = self.covered(who, (name,), now)
        if name in ("README", "manifest"):
            return Place("file", place.height, (name,)) if seen == COVERED else None
        if seen == NOT_SEEN:
            return None
        return Place("empty", place.height, EMPTY[name]) if name in EMPTY else Place(name, place.height)

    def step_heights(self, who, place, name, now):
        if name == "head":
            return Place("link")
        if re.fullmatch("[1-9][0-9]*", name) and int(name) <= self.world.height:
            return Place("root", int(name))
        return None

    def step_reducers(self, who, place, name, now):
        if name in self.world.reducers and self.sees_reducer(who, name, now):
            return Place("reducer", place.height, name)
        return None

    def step_reducer(self, who, place, name, now):
        if name in self.world.cells(place.what, place.height) and \
                self.sees_cell(who, place.what, name, now):
            return Place("file", place.height, ("cell", place.what, name))
        return None

    def step_blobs(self, who, place, name, now):
        plain = name.removeprefix("sha256:")
        if plain in self.world.blobs(place.height):
            return Place("file", place.height, ("blob", plain))
        return None

    def step_journal(self, who, place, name, now):
        height = place.height or self.world.height
        seq = re.fullmatch("(0|[1-9][0-9]*)\\.json", name)
        if name not in ("head", "log.jsonl") and not (seq and int(seq[1]) < height):
            return None
        if self.covered(who, ("journal", name), now) < COVERED:
            return None
        return Place("file", place.height, ("journal", name))

    def step_empty(self, who, place, name, now):
        return None

    def names(self, who, place, now):
        """The names of a directory. Raises Stop."""
        if place.kind == "root":
            candidates = ROOT
        elif place.kind == "reducers":
            candidates = self.world.reducers
        elif place.kind == "reducer":
            self.demand_listing(who, now, place.what)
            candidates = self.world.cells(place.what, place.height)
        elif place.kind == "empty":
            self.demand_listing(who, now, place.what)
            candidates = []
        elif place.kind == "blobs":
            candidates = self.world.blobs(place.height)
        elif place.kind == "journal":
            height = place.height or self.world.height
            candidates = ["head", "log.jsonl"] + [f"{seq}.json" for seq in range(height)]
        else:  # `at` has too many names to list
            candidates = []
        return frozenset(name for name in candidates if self.there(who, place, name, now))

    def there(self, who, place, name, now):
        try:
            self.step(who, place, name, now)
        except Stop:
            return False
        return True

    def find(self, who, question, now, follow=True):
        """The node to which a path leads. Raises Stop."""
        height = None
        if question.at is not None:
            height = self.height_of(question.at)
        place = Place("root", height)
        for i, name in enumerate(question.path):
            place = self.step(who, place, name, now)
            if place.kind == "link" and (follow or i + 1 < len(question.path)):
                place = Place("root", self.world.height)
        if place.kind == "control" and question.door != "mount":
            raise Stop("missing")
        return place

    def height_of(self, at):
        kind, _, number = (at or "head").partition(":")
        if kind != "head" and not 0 < int(number) <= self.world.height:
            raise Stop("unavailable")
        return int(number) if kind == "exact" else self.world.height

    # --- questions ---

    def answer(self, question, now):
        """The answer as a tuple, or the reason of a refusal."""
        try:
            return getattr(self, "answer_" + question.kind)(question.who, question, now)
        except Stop as stop:
            return stop.args

    def answer_stat(self, who, question, now):
        place = self.find(who, question, now, follow=question.door != "mount")
        if place.kind == "file":
            return "file", len(self.content(who, place))
        if place.kind == "link":
            return ("symlink", str(self.world.height))
        return ("control",) if place.kind == "control" else ("directory",)

    def answer_hash(self, who, question, now):
        place = self.find(who, question, now)
        if place.kind != "file":
            return ("none",)
        has_hash = place.what[0] in ("cell", "blob", "manifest")
        return ("hash", self.world.hash(place)) if has_hash else ("none",)

    def answer_names(self, who, question, now):
        place = self.find(who, question, now)
        if not place.is_directory():
            raise Stop("not_directory")
        names = self.names(who, place, now)
        return "names", names if question.door == "mount" else names - {"ctl"}

    def answer_read(self, who, question, now):
        place = self.find(who, question, now)
        if place.is_directory():
            raise Stop("is_directory")
        return "bytes", self.content(who, place)

    def answer_state(self, who, question, now):
        self.demand(who, READ_STATE, now)
        height = self.height_of(question.at)
        if question.reducer not in self.world.reducers or \
                not self.sees_reducer(who, question.reducer, now):
            raise Stop("reducer_missing")
        name = file_name(question.key)
        if name not in self.world.cells(question.reducer, height) or \
                not self.sees_cell(who, question.reducer, name, now):
            return ("nothing",)
        return "bytes", self.world.content(Place("file", height, ("cell", question.reducer, name)))

    def answer_cells(self, who, question, now):
        reducer = question.reducer
        self.demand(who, LIST_CELLS, now)
        if self.sees_reducer(who, reducer, now):
            self.demand_listing(who, now, reducer)
        height = self.height_of(question.at)
        if reducer not in self.world.reducers or not self.sees_reducer(who, reducer, now):
            raise Stop("reducer_missing")
        return "cells", frozenset(
            (name, self.world.hash(Place("file", height, ("cell", reducer, name))))
            for name in self.world.cells(reducer, height) if self.sees_cell(who, reducer, name, now))

    def answer_manifest(self, who, question, now):
        self.demand(who, MANIFEST, now)
        height = self.height_of(question.at)
        if self.covered(who, ("manifest",), now) < COVERED:
            raise Stop("missing")
        return "document", self.world.document(Place("file", height, ("manifest",)))

    def answer_head(self, who, question, now):
        self.demand(who, JOURNAL_HEAD, now)
        return "height", self.world.height

    def answer_journal(self, who, question, now):
        self.demand(who, JOURNAL, now)
        return "seqs", tuple(seq for seq in range(question.first, self.world.height)
                             if self.covered(who, ("journal", f"{seq}.json"), now) == COVERED)

    def answer_blob(self, who, question, now):
        self.demand(who, BLOB_GET, now)
        if question.hash not in self.world.blobs(None):
            raise Stop("missing")
        return "bytes", self.world.content(Place("file", None, ("blob", question.hash)))
