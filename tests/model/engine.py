# SPDX-License-Identifier: Apache-2.0
"""Explores a model: all states breadth first, or long random walks. Knows nothing about WorldFS.

A model is an object with
    name, size            text for the report
    start()               the first state: nested tuples of numbers (hashable, no -1)
    steps(state)          yields (label, next state); a label is a tuple, its first member the action
    wrong(state)          None, or the property that the state violates
    say(label)            a line for a trace
    settled(state)        None, or what still waits (only asked at the end of a walk)
    calm_start(state, random), calm(state, steps)
                          the state and the steps that remain when faults have stopped
    same(state)           one representative of all states that differ by renaming (optional)
"""
import time


class Found:
    def __init__(self, problem, trace):
        self.problem, self.trace = problem, trace


class Result:
    def __init__(self):
        self.states = self.edges = self.depth = self.walks = 0
        self.complete = True
        self.found = None
        self.actions = {}
        self.seconds = 0.0


MOST_CALM = 300


def settle(model, state, random):
    """Faults stop here. Returns (problem or None, labels)."""
    state, labels = model.calm_start(state, random), []
    while True:
        waits = model.settled(state)
        if not waits:
            return None, labels
        options = list(model.calm(state, model.steps(state)))
        if not options or len(labels) >= MOST_CALM:
            return "liveness: " + waits, labels
        label, state = random.choice(options)
        labels.append(label)
        problem = model.wrong(state)
        if problem:
            return problem, labels


def explore(model, most_states=10_000_000, most_seconds=600.0, random=None, calm_every=0):
    """Every reachable state, shortest traces first. Keeps hashes (64 bits) of what was seen. From every calm_every-th
    state faults stop and everything must settle."""
    result, begun = Result(), time.monotonic()
    same = getattr(model, "same", lambda state: state)
    first = same(model.start())
    parents = {hash(first): None}
    level = [first]
    while level and not result.found:
        following = []
        for state in level:
            if len(parents) > most_states or time.monotonic() - begun > most_seconds:
                result.complete = False
                level = following = []
                break
            parent = hash(state)
            for label, after in model.steps(state):
                result.edges += 1
                after = same(after)
                key = hash(after)
                if key in parents:
                    continue
                parents[key] = parent
                result.actions[label[0]] = result.actions.get(label[0], 0) + 1
                problem = model.wrong(after)
                calm = []
                if not problem and calm_every and len(parents) % calm_every == 0:
                    result.walks += 1
                    problem, calm = settle(model, after, random)
                    if problem and not problem.startswith("liveness"):
                        problem = None      # found again later, by a shorter way
                if problem:
                    trace = trace_of(model, same, first, parents, key)
                    if problem.startswith("liveness"):
                        trace += ["(from here on no faults)"] + [model.say(label) for label in calm[:12]]
                    result.found = Found(problem, trace)
                    following = []
                    break
                following.append(after)
            if result.found:
                break
        if following or result.found:
            result.depth += 1
        level = following
    result.states = len(parents)
    result.seconds = time.monotonic() - begun
    return result


def trace_of(model, same, first, parents, key):
    """Replays the chain of hashes from the first state, so that states need not be kept. Nodes keep their names."""
    chain = []
    while key is not None:
        chain.append(key)
        key = parents[key]
    chain.reverse()
    state, lines = model.start(), []
    for wanted in chain[1:]:
        for label, after in model.steps(state):
            if hash(same(after)) == wanted:
                lines.append(model.say(label))
                state = after
                break
    return lines


def walk(model, random, walks, steps, most_seconds):
    """Random walks with faults, each with an end without faults in which everything must settle."""
    result, begun = Result(), time.monotonic()
    for _ in range(walks):
        if time.monotonic() - begun > most_seconds:
            break
        result.walks += 1
        state, lines, problem = model.start(), [], None
        frozen, until = None, 0
        for count in range(random.randint(min(10, steps), steps)):
            options = list(model.steps(state))
            if not options:
                break
            if count >= until:          # one node takes no step for a while: stopped, or cut from the others
                frozen = random.choice((None, 0, 1, 2))
                until = count + random.randrange(2, 25)
            awake = [option for option in options if option[0][1] != frozen] or options
            kinds = sorted({option[0][0] for option in awake})
            kind = random.choice(kinds)
            label, state = random.choice([option for option in awake if option[0][0] == kind])
            lines.append(label)
            result.edges += 1
            problem = model.wrong(state)
            if problem:
                break
        if not problem:
            problem, calm = settle(model, state, random)
            lines += calm
            result.edges += len(calm)
        result.depth = max(result.depth, len(lines))
        if problem:
            result.found = Found(problem, [model.say(label) for label in lines])
            break
    result.states = result.edges
    result.seconds = time.monotonic() - begun
    return result
