# SPDX-License-Identifier: Apache-2.0
"""What a timer must do, written from worldfs(1) alone: its due times, and which of them fire.

`dues` gives the due times by trying every minute, with the zones of Python; kernel/domain/timer/ computes
them otherwise.
"""

import datetime
import zoneinfo

MINUTE = datetime.timedelta(minutes=1)
NAMES = {
    3: dict(zip("jan feb mar apr may jun jul aug sep oct nov dec".split(), range(1, 13))),
    4: dict(zip("sun mon tue wed thu fri sat".split(), range(7))),
}
BOUNDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]


def field_of(index, text):
    """The values that a field of cron names."""
    low, high = BOUNDS[index]
    names = NAMES.get(index, {})
    values = set()
    for item in text.lower().split(","):
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            first, last = low, high
        else:
            first = names.get(first) if first in names else int(first)
            last = (names.get(last) if last in names else int(last)) if last else first
        values.update(range(first, last + 1, int(step or 1)))
    if index == 4 and 7 in values:
        values.add(0)
    return values


class Cron:
    def __init__(self, text, tz="UTC"):
        texts = text.split()
        self.sets = [field_of(i, text) for i, text in enumerate(texts)]
        self.every_hour = texts[1].startswith("*")
        self.either = not texts[2].startswith("*") and not texts[4].startswith("*")
        self.zone = zoneinfo.ZoneInfo(tz)

    def fits(self, local):
        minutes, hours, days, months, weekdays = self.sets
        of_month = local.day in days
        of_week = local.isoweekday() % 7 in weekdays
        day = of_month or of_week if self.either else of_month and of_week
        return local.minute in minutes and local.hour in hours and local.month in months and day

    def is_due(self, utc):
        """Is it due at this minute?"""
        local = utc.astimezone(self.zone)
        if self.fits(local) and (self.every_hour or local.fold == 0):
            return True
        if self.every_hour:
            return False
        before = (utc - MINUTE).astimezone(self.zone).replace(tzinfo=None) + MINUTE
        while before < local.replace(tzinfo=None):  # the clocks were put forward
            if self.fits(before):
                return True
            before += MINUTE
        return False


def cron_dues(text, tz, after_s, until_s):
    """All due times after @after_s, up to @until_s, in seconds since 1970."""
    cron = Cron(text, tz)
    first = after_s // 60 * 60 + 60
    return [second for second in range(first, until_s + 1, 60)
            if cron.is_due(datetime.datetime.fromtimestamp(second, datetime.timezone.utc))]


SECOND = 10**9
STEP = SECOND  # by which a clock must be set to count as set


class Timer:
    """One timer, as the record of its `schedule` says, and how far it has come."""

    def __init__(self, action, at_ns):
        self.catch_up = action.get("catch_up", "one")
        self.created, self.max = at_ns, action.get("max")
        self.every = action["every_ms"] * 10**6 if "every_ms" in action else None
        self.cron = (action["cron"], action.get("tz", "UTC")) if "cron" in action else None
        self.once = at_ns + action["after_ms"] * 10**6 if "after_ms" in action else None
        self.position = at_ns if self.once is None else self.once - 1
        self.fired = 0

    def next(self, after):
        """The first due time after @after; None: there is none."""
        if self.once is not None:
            return self.once if self.once > after else None
        if self.every:
            return self.created + ((after - self.created) // self.every + 1) * self.every
        window = 3600
        while True:
            dues = cron_dues(*self.cron, after // SECOND, after // SECOND + window)
            if dues:
                return dues[0] * SECOND
            window *= 4

    def last(self, until):
        """The last due time up to @until that has not been passed; None: there is none."""
        if self.every:
            due = self.created + (until - self.created) // self.every * self.every
            return due if due > self.position else None
        due = self.next(self.position)
        while due is not None and due <= until:
            later = self.next(due)
            if later is None or later > until:
                return due
            due = later
        return None

    def take(self, due, how, segment):
        """A record says that it has fired (`fire`), or was skipped or ended. Return: what is wrong, or None."""
        if self.next(due - 1) != due:
            return f"{due} is not a due time"
        if due <= self.position:
            return f"{due} has fired before, or later ones have"
        if how == "skip" and self.catch_up != "none":
            return "only none skips"
        if how == "fire" and self.catch_up == "all" and due != self.next(self.position):
            return f"{self.next(self.position)} was left out"
        missed = how == "fire" and segment.before < due < segment.since and segment.since - segment.before > STEP
        if missed and self.catch_up == "none":
            return f"{due} was missed, and fired"
        if missed and self.catch_up == "one":
            if id(self) in segment.caught_up:
                return f"{due} is the second that was missed, and fired"
            segment.caught_up.add(id(self))
        self.position = due
        self.fired += how == "fire"
        segment.count += 1
        return None

    def is_over(self):
        return self.next(self.position) is None or (self.max is not None and self.fired >= self.max)

    def waiting(self, until):
        """About how many firings are due at @until."""
        if self.once is not None:
            return self.position < self.once <= until
        periods = max(0, until - self.position) // (self.every or 60 * SECOND)
        return periods if self.catch_up == "all" else min(1, periods)

    def late(self, segment, slack):
        """What must have fired in @segment, which has ended, and has not? None: nothing."""
        due = None if self.is_over() else self.last(segment.until - slack)
        if due is None or (self.catch_up == "none" and due < segment.since + slack):
            return None
        return due


class Segment:
    """A time in which a driver was at work, and its clock was not set."""

    def __init__(self, since, height, before=0):
        """@before: what was due up to then may have begun to fire before the clock was set."""
        self.since, self.until, self.height, self.before = since, since, height, before
        self.count = 0          # firings
        self.caught_up = set()  # timers that have fired for what they missed
