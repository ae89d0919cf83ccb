# SPDX-License-Identifier: Apache-2.0
"""Random Lua programs, each from a seed and a number. Every program defines `run` and `step`.

A program keeps what it notices in the table `out`: values, texts of numbers, messages of errors that it
caught, orders of keys, lengths of tables with holes. Its result is `out`, or sometimes a table that it made,
which need not be JSON. Names t1 … hold tables, n1 … numbers, s1 … texts, and f1 … functions.
"""
import random

NUMBERS = ["0", "1", "-1", "2", "3", "7", "-7", "255", "0.5", "-0.0", "0.1", "1.5", "3.0", "1e15", "1e16", "1e100",
           "2^53", "2^63", "-2^63", "1/3", "math.pi", "math.huge", "-math.huge", "0/0", "math.maxinteger", "math.mininteger",
           "0x7fffffff", "0xffffffffffffffff", "1e-310", "5e-324", "9007199254740993", "123456789.123"]
WORDS = ["", "a", "b", "ab", "key", "10", "0x10", "1e1", " 7 ", "-3", "é", "€uro", "a\\0b", "\\xff", "%d", "x.y", "name",
         "longer text with spaces", "ABCdef123", "((a)(b))", "k1", "k2", "k10", "true", "nan"]
PATTERNS = ["%a+", "%d*", "(%w)(%w)", "[^%s]+", ".-", "(.)%1", "%b()", "%f[%w]%w+", "^a", "b$", "[%a_][%w_]*", "()", "x*", "%s*$",
            "(a*(.)%w(%s*))", "[", "%", "(", "%1", ".", "[]]", "[a-", "€"]
FORMATS = ["%d", "%5d", "%-5d|", "%05d", "%+d", "%x", "%X", "%#o", "%5.2f", "%.14g", "%.17g", "%e", "%g", "%.3f", "%10.4s|", "%s",
           "%c", "%i", "%q", "%p", "%a", "%99.99f", "%%", "%5.1s|"]
EVENTS = ["__index", "__newindex", "__call", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__idiv", "__band",
          "__bor", "__bxor", "__shl", "__shr", "__bnot", "__len", "__eq", "__lt", "__le", "__tostring", "__name", "__pairs",
          "__metatable"]
FUNCTIONS = ["pcall", "xpcall", "tostring", "next", "pairs", "setmetatable", "array", "string.rep", "string.find", "string.format",
             "table.sort", "table.insert", "utf8.char", "type", "assert", "rawget", "select", "math.floor", "ctx.random", "invoke"]
REFUSED_EVENTS = ["__gc", "__mode", "__close", "__concat"]
BINARY = ["+", "-", "*", "/", "//", "%", "^", "&", "|", "~", "<<", ">>", "..", "==", "~=", "<", "<=", ">", ">=", "and", "or"]

PRELUDE = """\
local out = array{}
local function text(v)
  local kind = type(v)
  if kind == "number" then return (math.type(v) == "float" and string.format("%.17g", v) or tostring(v)) end
  if kind == "string" then return '"' .. v .. '"' end
  return tostring(v)
end
local function note(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = text((select(i, ...))) end
  out[#out + 1] = table.concat(parts, " "):sub(1, 200):gsub("[\\128-\\255%z]", "?")
end
local function try(f, ...) note("try", pcall(f, ...)) end
"""


class Program:
    def __init__(self, seed, number):
        self.chance = random.Random(f"{seed}/{number}")
        self.lines = []
        self.indent = 1
        self.depth = 0
        self.names = {kind: [f"{kind}{i}" for i in (1, 2, 3)] for kind in "tnsf"}
        self.count = 0

    # --- pieces ---

    def pick(self, items):
        return self.chance.choice(items)

    def is_one_in(self, n):
        return self.chance.randrange(n) == 0

    def name(self, kind):
        return self.pick(self.names[kind])

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def number(self):
        kind = self.chance.randrange(6)
        if kind < 2:
            return self.name("n")
        if kind == 2:
            return str(self.chance.randrange(-3, 20))
        if kind == 3:
            return f"({self.name('n')} {self.pick(BINARY[:7])} {self.pick(NUMBERS)})"
        if kind == 4:
            return self.pick([f"#{self.name('t')}", f"#{self.name('s')}", f"math.floor({self.name('n')})",
                              f"(tonumber({self.name('s')}) or 1)", "ctx.random(10)", "ctx.random()",
                              f"math.sqrt({self.name('n')})", f"math.fmod({self.name('n')}, 3.7)"])
        return self.pick(NUMBERS)

    def string(self):
        kind = self.chance.randrange(5)
        if kind == 0:
            return self.name("s")
        if kind == 1:
            return f"({self.name('s')} .. {self.name('n')})"
        if kind == 2:
            return self.pick([f"tostring({self.name('n')})", f"{self.name('s')}:upper()", f"{self.name('s')}:reverse()",
                              f"{self.name('s')}:sub({self.chance.randrange(-4, 5)}, {self.chance.randrange(-4, 9)})",
                              f"{self.name('s')}:rep({self.chance.randrange(4)}, ',')", f"type({self.value()})"])
        return '"%s"' % self.pick(WORDS)

    def key(self):
        kind = self.chance.randrange(10)
        if kind < 4:
            return str(self.chance.randrange(1, 14))
        if kind < 7:
            return f'"k{self.chance.randrange(20)}"'
        return self.pick([self.name("n"), self.name("s"), self.name("t"), self.name("f"), "true", "false", "null", "1.5", "-1",
                          "2^53"])

    def value(self):
        kind = self.chance.randrange(9)
        if kind < 3:
            return self.number()
        if kind < 5:
            return self.string()
        if kind == 5:
            return self.name("t")
        return self.pick(["nil", "true", "false", "null", self.name("f"), "{}", "array{}", "object{}",
                          f"{{{self.number()}, {self.string()}}}", f"{self.name('t')}[{self.key()}]"])

    def expression(self):
        kind = self.chance.randrange(5)
        if kind == 0:
            return f"{self.value()} {self.pick(BINARY)} {self.value()}"
        if kind == 1:
            return f"{self.pick(['-', 'not ', '#', '~'])}{self.pick([self.name('t'), self.name('n'), self.name('s')])}"
        if kind == 2:
            return f"{self.name('t')}[{self.key()}]"
        return self.value()

    def table(self):
        fields = []
        for _ in range(self.chance.randrange(12)):
            fields.append(self.pick([self.value(), self.value(), f"[{self.key()}] = {self.value()}",
                                     f"k{self.chance.randrange(9)} = {self.value()}"]))
        return "{" + ", ".join(fields) + "}"

    # --- statements ---

    def emit(self, line):
        self.lines.append("  " * self.indent + line)

    def block(self, head, end, statements):
        """A compound statement; at depths above three, a simple one."""
        if self.depth >= 3:
            self.noting()
            return
        self.emit(head)
        self.indent += 1
        self.depth += 1
        for _ in range(statements):
            self.statement()
        self.indent -= 1
        self.depth -= 1
        self.emit(end)

    def noting(self):
        self.emit(f"try(function() return {self.expression()} end)")

    def assigning(self):
        kind = self.pick("ttnns")
        value = {"t": self.table, "n": self.number, "s": self.string}[kind]()
        name = self.name(kind)
        self.emit(f"pcall(function() {name} = {value} end)")

    def holing(self):
        """Adds and removes elements, so that Lua resizes the table; its length then depends on where they
        are."""
        table, i = self.name("t"), self.fresh()
        count, range_ = self.chance.randrange(1, 60), self.chance.randrange(2, 40)
        key = self.pick([f"ctx.random({range_})", f"({i} * 7 % {range_} + 1)", f"{i}", f"('k' .. {i} % {range_})"])
        self.emit(f"pcall(function() for {i} = 1, {count} do local k = {key} "
                  f"{table}[k] = {self.pick(['1', i, 'nil', f'({i} % 3 == 0 and {i} or nil)', 'k'])} end end)")
        self.emit(f"try(function() return #{table}, rawlen({table}) end)")

    def keying(self):
        """Uses tables and functions as keys: Lua orders them by address."""
        table, i = self.name("t"), self.fresh()
        key = self.pick(["{}", "function() end", f"tostring({i})", f"{i} / 2", f"'k' .. {i}", f"{i} % 2 == 0"])
        self.emit(f"pcall(function() for {i} = 1, {self.chance.randrange(1, 30)} do {table}[{key}] = {i} "
                  f"{table}[{i}] = {self.pick([i, 'nil'])} end end)")
        self.emit(f"try({self.pick(['pairs', 'next', 'invoke', 'table.sort', 'table.concat', 'table.unpack', 'ipairs'])}, {table})")

    def stocking(self):
        """Functions of the library are keys that come and go: the length then depends on where the keys are."""
        table = self.name("t")
        keys = self.chance.sample(FUNCTIONS, 6) + [str(i) for i in self.chance.sample(range(1, 17), 10)]
        changes = [f"t[{key}] = 1" for key in keys] + [f"t[{self.pick(keys)}] = nil" for _ in range(8)]
        self.chance.shuffle(changes)
        self.emit(f"pcall(function() local t = {{}} {table} = t {' '.join(changes)} end)")
        self.emit(f"try(function() return #{table}, rawlen({table}) end)")

    def looking(self):
        table = self.name("t")
        body = self.pick(["note(k, v)", f"{table}[k] = nil", "if v == 1 then goto again end note(k) ::again::", "if k == 3 then break end",
                          f"{table}[tostring(k)] = v", "note(math.type(k))"])
        self.emit(f"try(function() local n = 0 for k, v in {self.pick(['pairs', 'pairs', 'ipairs'])}({table}) do "
                  f"n = n + 1 if n > 20 then break end do {body} end end return n end)" if "break" not in body else
                  f"try(function() for k, v in pairs({table}) do {body} end end)")

    def tabling(self):
        t = self.name("t")
        self.emit("try(function() return " + self.pick([
            f"table.insert({t}, {self.value()})", f"table.insert({t}, {self.chance.randrange(8)}, {self.value()})",
            f"table.remove({t})", f"table.remove({t}, {self.chance.randrange(8)})", f"table.concat({t}, ',')",
            f"table.unpack({t}, 1, {self.chance.randrange(9)})", f"table.pack({self.value()}, nil, {self.value()}).n",
            f"table.move({t}, 1, {self.chance.randrange(9)}, {self.chance.randrange(1, 9)}, {self.name('t')})",
            f"next({t}, {self.key()})", f"rawget({t}, {self.key()})", f"rawequal({t}, {self.name('t')})", f"select({self.number()}, 1, 2, 3)",
            f"invoke({self.value()}, {t})", f"kernel.echo({self.value()}, {self.value()})", f"kernel.refuse({self.value()})",
        ]) + " end)")

    def sorting(self):
        t, i = self.name("t"), self.fresh()
        if self.is_one_in(2):
            self.emit(f"{t} = {{}} for {i} = 1, {self.chance.randrange(40)} do "
                      f"{t}[{i}] = {self.pick([f'{i} * 37 % 11', 'ctx.random(9)', 'ctx.random()', f'tostring({i})', f'{{{i} % 4}}'])} end")
        order = self.pick(["", ", function(a, b) return a < b end", ", function(a, b) return a > b end", ", function() return true end",
                           ", function(a, b) return ctx.random(2) == 1 end", ", function(a, b) note(a, b) return a <= b end",
                           ", function(a, b) error({a}) end", ", function(a, b) return tostring(a) < tostring(b) end",
                           f", function(a, b) {t}[1] = nil return false end"])
        self.emit(f"try(table.sort, {t}{order})")
        self.emit(f"try(table.concat, {t}, ' ')")

    def texting(self):
        s, pattern = self.name("s"), self.pick(PATTERNS)
        self.emit("try(function() return " + self.pick([
            f"string.format('{self.pick(FORMATS)}', {self.value()})",
            f"string.format('{self.pick(FORMATS)} {self.pick(FORMATS)}', {self.number()}, {self.string()})",
            f"{s}:find('{pattern}')", f"{s}:match('{pattern}', {self.chance.randrange(-3, 5)})",
            f"{s}:gsub('{pattern}', {self.pick([self.string(), self.name('t'), self.name('f'), chr(39) + '<%0%1>' + chr(39)])})",
            f"{s}:byte(1, {self.chance.randrange(-2, 9)})", f"string.char({self.number()}, 65)", f"{s}:rep({self.number()})",
            f"utf8.len({s}, {self.chance.randrange(-2, 4)})", f"utf8.codepoint({s}, 1, -1)", f"utf8.char({self.number()})",
            f"utf8.offset({s}, {self.chance.randrange(-3, 4)})", f"tonumber({s}, {self.chance.randrange(1, 38)})", f"tonumber({s})",
            f"{s} < {self.string()}, {s} == {self.string()}", f"{s} + {self.number()}", f"-{s}",
            f"(function() local t = {{}} for p, c in utf8.codes({s}) do t[#t + 1] = p t[#t + 1] = c end return table.unpack(t) end)()",
            f"(function() local t = {{}} for a, b in {s}:gmatch('{pattern}') do t[#t + 1] = a t[#t + 1] = b end return #t, t[1], t[2] end)()",
        ]) + " end)")

    def counting(self):
        n, m = self.number(), self.number()
        self.emit("try(function() return " + self.pick([
            f"{n} {self.pick(BINARY[:12])} {m}", f"math.{self.pick(['floor', 'ceil', 'abs', 'sqrt', 'tointeger', 'type', 'modf'])}({n})",
            f"math.{self.pick(['max', 'min', 'fmod', 'ult'])}({n}, {m})", f"{n} // {m}, {n} % {m}", f"{n} ^ {m}", f"{n} == {m}, {n} < {m}",
            f"string.format('%.17g', {n}), tostring({m}), {n} .. ''", f"math.tointeger({n}) or {m} | 0",
        ]) + " end)")

    def metaing(self):
        t, f, event = self.name("t"), self.name("f"), self.pick(EVENTS if not self.is_one_in(9) else REFUSED_EVENTS)
        handler = self.pick([f, self.name("t"), "function(a, b) return b end", "function(a, ...) note('event', type(a), ...) return 7 end",
                             f"function() error('in {event}') end", "function(a, b, c) rawget(a, b) return c end", '"text"', "1", "next",
                             "function(a) return #out end"])
        self.emit(f"try(function() local events = {{{event} = {handler}, __index = {self.pick([self.name('t'), 'nil', 'string'])}}} "
                  f"{t} = setmetatable({self.pick(['{}', '{1, 2, nil, 4}', t])}, events) "
                  f"events.{self.pick(EVENTS + REFUSED_EVENTS)} = {self.pick([f, 'error', 'nil'])} return getmetatable({t}) == events end)")
        for _ in range(self.chance.randrange(1, 4)):
            self.emit("try(function() return " + self.pick([
                f"{t}.x", f"{t}[1]", f"{t} {self.pick(BINARY[:19])} {self.value()}", f"{self.value()} {self.pick(BINARY[:19])} {t}",
                f"-{t}", f"#{t}", f"~{t}", f"{t}(1, 2)", f"tostring({t})", f"getmetatable({t})", f"pairs({t})", f"{t} < {t}", f"{t}:x()",
                f"setmetatable({t}, nil)", f"rawlen({t})"]) + " end)")

    def failing(self):
        self.emit("try(function() " + self.pick([
            f"error({self.value()})", f"error({self.string()}, {self.chance.randrange(4)})", f"error({{code = {self.number()}}})",
            f"local x = {self.value()} return x.y.z", f"return {self.name('n')}.field.of", f"return undefined.{self.pick('abc')}",
            f"undefined({self.value()})", f"assert({self.value()}, {self.value()})", f"return {self.name('t')}.a.b.c + {self.value()}",
            f"local a <const> = {self.number()} return a < {self.value()}", f"return {self.name('t')}:method()",
            f"for i = {self.value()}, {self.value()}, {self.value()} do return i end", f"local x <close> = {self.value()}",
            f"string.rep({self.value()}, {self.value()})", f"setmetatable({self.value()}, {self.value()})",
            f"note(xpcall(error, function(m) return type(m), {self.value()} end, {self.value()}))",
            f"note(xpcall({self.name('f')}, tostring, {self.value()}))", f"return ('x'):{self.pick(['bad', 'rep', 'format'])}({self.value()})",
            "local function deep(n) return n == 0 and error('deep') or deep(n - 1) + 1 end deep(" + str(self.chance.randrange(150)) + ")",
        ]) + " end)")

    def defining(self):
        f, i = self.name("f"), self.fresh()
        self.emit(f"{f} = " + self.pick([
            f"(function() local n = {self.chance.randrange(9)} return function(...) n = n + 1 return n, ... end end)()",
            f"function(a, b, ...) return b, a, select('#', ...) end", f"function({i}) return {self.expression()} end",
            f"function(a) if type(a) == 'number' and a > 0 and a < 50 then return {f}(a - 1) end return a end",
            f"function(...) local t = table.pack(...) return t.n, t[1] end",
            f"function(a) for i = 1, 3 do for j = 1, 3 do if i * j == 4 then goto found end end end ::found:: return a end",
        ]))
        self.emit(f"try({f}, {self.value()}, {self.value()})")

    def looping(self):
        i = self.fresh()
        kind = self.chance.randrange(4)
        if kind == 0:
            self.block(f"for {i} = {self.chance.randrange(-2, 3)}, {self.chance.randrange(1, 6)} do", "end", 2)
        elif kind == 1:
            self.emit(f"do local {i} = 0")
            self.block(f"while {i} < {self.chance.randrange(1, 5)} do {i} = {i} + 1", "end", 2)
            self.emit("end")
        elif kind == 2:
            self.block(f"if {self.value()} then", "end", 2)
        else:
            self.block("do", "end", 2)

    def exhausting(self):
        """Reaches a bound: the program's notes until then are lost, and only the message is left."""
        s, t = self.name("s"), self.name("t")
        self.emit(self.pick([
            "while true do end", f"while true do {s} = {s} .. {s} .. 'x' end", "local function f() return 1 + f() end try(f)",
            f"while true do {t}[#{t} + 1] = {{}} end", f"for i = 1, 1e9 do {t}['k' .. i] = i end", f"({s} .. 'x'):rep(1 << 30)",
            "try(string.find, ('a'):rep(1000), ('a*'):rep(20) .. 'b')", f"for i = 1, 1e9 do {t} = {{{t}}} end",
            "local f = function() end for i = 1, 1e9 do pcall(f, pcall, i) end",
            f"for i = 1, math.huge do {t}[{{}}] = i {t}[i % 100] = nil end",
        ]))

    STATEMENTS = [(noting, 6), (assigning, 8), (holing, 8), (keying, 4), (stocking, 4), (looking, 5), (tabling, 8), (sorting, 4), (texting, 8),
                  (counting, 6), (metaing, 6), (failing, 5), (defining, 4), (looping, 4)]

    def statement(self):
        methods, weights = zip(*self.STATEMENTS)
        self.chance.choices(methods, weights)[0](self)

    def source(self):
        for kind, names in self.names.items():
            for name in names:
                value = {"t": self.table, "n": lambda: self.pick(NUMBERS), "s": lambda: '"%s"' % self.pick(WORDS),
                         "f": lambda: "function(...) return ... end"}[kind]
                # A table's constructor may name tables that do not exist yet: these are nil.
                self.emit(f"pcall(function() {name} = {value()} end)")
        for _ in range(self.chance.randrange(4, 28)):
            self.statement()
        if self.is_one_in(12):
            self.exhausting()
        result = self.pick(["out", "out", "out", self.name("t"), f"{{out, {self.name('t')}}}", f"{{a = out, b = {self.name('t')}}}"])
        names = ", ".join(name for names in self.names.values() for name in names)
        body = "\n".join(self.lines)
        return (f"{PRELUDE}\nlocal {names}\nlocal function body(ctx)\n{body}\n  return {result}\nend\n"
                "function run(...) return body(ctx) end\n"
                "function step(state, event, ctx)\n  t1 = state or {}\n  n1 = event\n"
                "  return body(ctx), {events = array{out}, effects = ctx.seq % 3 == 0 and t2 or nil}\nend\n")


def program(seed, number):
    return Program(seed, number).source()
