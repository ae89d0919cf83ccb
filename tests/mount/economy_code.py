# SPDX-License-Identifier: Apache-2.0
"""The programs of test-economy: their Lua, and their effects written once more in Python.

The second word of a code is the program's name; a comment makes it as large as a test
needs.
"""

STEPS = """
local done

local function all(list)
  local out = array()
  for i, step in ipairs(list) do out[i] = done(step) end
  return out
end

local function told(r)
  if r.ok then return "ok" end
  return r.error.code
end

local function act(r, kind)
  if not r.ok then return r.error.code end
  if kind == "read_artifact" then return {r.data.read_price_paid, r.data.artifact.owner} end
  if kind == "invoke_artifact" then return {r.data.price_paid, r.data.result == nil and null or r.data.result} end
  if kind == "submit_to_mint" then return {r.data.submission_id} end
  return "ok"
end

local function call(r)
  if not r.ok then return r.error.code end
  return {r.price_paid, r.result == nil and null or r.result}
end

local kinds = {
  pay = function(to, amount) return told(pay(to, amount)) end,
  act = function(kind, members) return act(kernel_actions[kind](members), kind) end,
  invoke = function(id, args) return call(invoke(id, table.unpack(args))) end,
  rue = function(id, bid)
    local made = kernel_actions.submit_for_mint(id, bid)
    if not made.ok then return made.error.code end
    local name = made.data.submission_id
    return {name, told(kernel_actions.cancel_mint{submission_id = name})}
  end,
  must = function(step)
    local r = done(step)
    if type(r) == "string" and r ~= "ok" then error("it must be done") end
    return r
  end,
  fail = function() error("as it was told") end,
  try = function(steps)
    local ok = pcall(all, steps)
    return ok and "went well" or "caught"
  end,
  balance = function(id) return kernel_state.get_balance(id) end,
  own = function() return get_balance() end,
  quota = function(id, name) return kernel_state.get_quota(id, name) or "none" end,
  used = function(id) return kernel_state.get_resource(id, "disk") end,
  prices = function(id)
    local row = kernel_state.get_artifact_metadata(id)
    return row and {row.owner, row.invoke_price, row.read_price} or "none"
  end,
  content = function(id)
    local text = kernel_state.read_artifact(id)
    return text and #text or "none"
  end,
  who = function() return {ctx.caller, ctx.origin, ctx.artifact_id} end,
}

done = function(step) return kinds[step[1]](table.unpack(step, 2)) end

function run(steps) return all(steps) end
"""

LUA = {
    "steps": STEPS,
    "add": "function run(a, b) return a + b end",
    # Pays, and then may find that it should not have.
    "till": """
function run(amount)
  local paid = pay(ctx.caller, amount)
  if not paid.ok then error(paid.error.code) end
  if get_balance() % 2 == 1 then error("odd") end
  return get_balance()
end
""",
    # Costs one more each time, if it may change itself.
    "riser": """
function run()
  local row = kernel_state.get_artifact_metadata(ctx.artifact_id)
  return kernel_actions.write_artifact{
    artifact_id = ctx.artifact_id, price = row.invoke_price + 1}.ok
end
""",
    # Puts another program in its own place while it runs.
    "changer": """
function run()
  local r = kernel_actions.write_artifact{
    artifact_id = ctx.artifact_id, code = "-- add\\nfunction run(a, b) return a + b end"}
  local s = invoke(ctx.artifact_id, 1, 2)
  return {r.ok, s.ok, s.result == nil and null or s.result}
end
""",
    # Deletes itself, unless too much would be lost with it, and goes on.
    "last": """
function run()
  if get_balance() > 20 then return "rich" end
  local gone = kernel_actions.delete_artifact{artifact_id = ctx.artifact_id}
  local paid = pay(ctx.origin, 1)
  local made = kernel_actions.write_artifact{
    artifact_id = ctx.artifact_id .. ".left", content = "x"}
  return {gone.ok, paid.ok, made.ok}
end
""",
    # Runs itself until that fails, and tells how often it did not.
    "deep": """
function run()
  local r = invoke(ctx.artifact_id)
  if r.ok then return r.result + 1 end
  return 0
end
""",
    "rich": "function check(caller) return {allowed = kernel_state.get_balance(caller) >= 500} end",
    "readers": 'function check(_, action) return {allowed = action == "read" or action == "invoke"} end',
    "broken": 'function check() error("broken") end',
    "odd": "function check() return {allowed = 1} end",
    "giver": "function check(caller) return {allowed = pay(caller, 1).ok} end",
}
CONTRACTS = ("rich", "readers", "broken", "odd", "giver")
PROGRAMS = tuple(name for name in LUA if name not in CONTRACTS)


def code_of(name, comment=""):
    return f"-- {name} {comment}\n{LUA[name]}"


class LuaError(Exception):
    """The code raised an error."""


class Run:
    """One invocation. Its actions go to `economy.attempt`."""

    def __init__(self, economy, artifact, actor, caller):
        self.economy = economy
        self.artifact = artifact  # the artifact as it was when the invocation began
        self.actor = actor
        self.caller = caller

    def act(self, kind, **members):
        return self.economy.attempt(self.actor, {"action_type": kind} | members)

    def invoke(self, name, *args):
        return self.act("invoke_artifact", artifact_id=name, args=list(args))

    def pay(self, to, amount):
        return self.act("transfer", to=to, amount=amount)

    def balance(self):
        return self.economy.balance(self.actor.id)

    # --- programs ---

    def run_add(self, *args):
        if len(args) < 2 or not all(isinstance(number, int) for number in args[:2]):
            raise LuaError
        return args[0] + args[1]

    def run_till(self, amount=None, *_):
        if not isinstance(amount, int) or not self.pay(self.caller, amount).ok:
            raise LuaError
        if self.balance() % 2 == 1:
            raise LuaError
        return self.balance()

    def run_riser(self, *_):
        row = self.economy.artifacts.get(self.actor.id)
        if row is None:
            raise LuaError
        return self.act("write_artifact", artifact_id=row.id, price=row.invoke_price + 1).ok

    def run_changer(self, *_):
        code = "-- add\nfunction run(a, b) return a + b end"
        written = self.act("write_artifact", artifact_id=self.actor.id, code=code)
        invoked = self.invoke(self.actor.id, 1, 2)
        return [written.ok, invoked.ok, invoked.data["result"] if invoked.ok else None]

    def run_last(self, *_):
        if self.balance() > 20:
            return "rich"
        gone = self.act("delete_artifact", artifact_id=self.actor.id)
        paid = self.pay(self.actor.payer, 1)
        made = self.act("write_artifact", artifact_id=self.actor.id + ".left", content="x")
        return [gone.ok, paid.ok, made.ok]

    def run_deep(self, *_):
        invoked = self.invoke(self.actor.id)
        if not invoked.ok:
            return 0
        if not isinstance(invoked.data["result"], int):
            raise LuaError
        return invoked.data["result"] + 1

    def run_steps(self, steps=None, *_):
        if not isinstance(steps, list):
            raise LuaError
        return self.all(steps)

    # --- the steps ---

    def all(self, steps):
        return [self.done(step) for step in steps]

    def done(self, step):
        return getattr(self, "step_" + step[0])(*step[1:])

    @staticmethod
    def told(outcome):
        return "ok" if outcome.ok else outcome.code

    def step_pay(self, to, amount):
        return self.told(self.pay(to, amount))

    def step_act(self, kind, members):
        outcome = self.act(kind, **members)
        if not outcome.ok:
            return outcome.code
        if kind == "read_artifact":
            return [outcome.data["read_price_paid"], outcome.data["owner"]]
        if kind == "invoke_artifact":
            return [outcome.data["price_paid"], outcome.data["result"]]
        if kind == "submit_to_mint":
            return [outcome.data["submission_id"]]
        return "ok"

    def step_invoke(self, name, args):
        return self.step_act("invoke_artifact", {"artifact_id": name, "args": args})

    def step_rue(self, name, bid):
        """Bids, and withdraws the bid."""
        made = self.act("submit_to_mint", artifact_id=name, bid=bid)
        if not made.ok:
            return made.code
        return [made.data["submission_id"], self.told(self.act("cancel_mint", **made.data))]

    def step_must(self, step):
        result = self.done(step)
        if isinstance(result, str) and result != "ok":
            raise LuaError
        return result

    def step_fail(self):
        raise LuaError

    def step_try(self, steps):
        """What was done before the error stays done."""
        try:
            self.all(steps)
        except LuaError:
            return "caught"
        return "went well"

    def step_balance(self, name):
        return self.economy.balance(name)

    def step_own(self):
        return self.balance()

    def step_quota(self, who, resource):
        return self.economy.quotas.get((who, resource), "none")

    def step_used(self, who):
        return self.economy.used.get(who, 0)

    def step_prices(self, name):
        row = self.economy.artifacts.get(name)
        return [row.owner, row.invoke_price, row.read_price] if row else "none"

    def step_content(self, name):
        text = self.economy.content_for(self.actor, name)
        return "none" if text is None else len(text.encode())

    def step_who(self):
        return [self.caller, self.actor.payer, self.actor.id]


def program_of(artifact):
    """The program's name; None if the artifact has no code."""
    return artifact.code.split(None, 2)[1] if artifact.code else None


def run_of(economy, artifact, actor, caller, args):
    """The result of a program, or a LuaError."""
    run = getattr(Run(economy, artifact, actor, caller), f"run_{program_of(artifact)}", None)
    if run is None:
        raise LuaError
    return run(*args)


def check_of(economy, artifact, who, use):
    """The answer of a contract: anything but a clear yes is a no."""
    name = program_of(artifact) if artifact.executable else None
    if name == "rich":
        return economy.balance(who) >= 500
    return name == "readers" and use in ("read", "invoke")
