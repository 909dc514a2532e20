/**
 * Runs a script of a Roblox server in a Luau interpreter, which runs only one thread at a time. `HttpService` sends
 * real requests. Prints what the script prints, each request, and each pause.
 *
 * echo '{"script": "print(1)", "secrets": {}, "http": true, "clock": "real", "input": []}' | node roblox.ts
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { LuauState, type LuauTable } from "luau-web";

export interface Experience {
  readonly script: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Whether the experience allows HTTP requests. */
  readonly http: boolean;
  /** Whether `task.wait` takes real time. With the fast clock, it returns immediately. */
  readonly clock: "real" | "fast";
  /** The global `input` of the script. */
  readonly input: unknown;
  /** The `task.wait` call, counted from 1, during which every player leaves. If left out, no player leaves. */
  readonly leaves?: number;
}

/** Functions of Roblox that the interpreter lacks. The interpreter's own `pcall` catches nothing. */
const roblox = `
pcall = function(run, ...) return protect(run, ...) end
local now = os.clock
local skipped = 0
os = { clock = function() return now() + skipped end, time = os.time }
task = { wait = function(seconds) skipped += pause(seconds) return seconds end }
local HttpService = {
  GetSecret = function(_, name)
    local secret = secretOf(name)
    if secret == nil then error("Can't find secret with given key", 0) end
    return { AddPrefix = function(_, prefix) return prefix .. secret end }
  end,
  GenerateGUID = function() return newId() end,
  UrlEncode = function(_, value) return urlEncode(value) end,
  JSONEncode = function(_, value) return encode(value) end,
  JSONDecode = function(_, value) return decode(value) end,
  RequestAsync = function(_, request)
    local status, body, headers = ask(request.Url, request.Method, request.Headers, request.Body)
    if status == 0 then error(body, 0) end
    return { Success = status < 300, StatusCode = status, Body = body, Headers = decode(headers) }
  end,
}
local added = {}
local Players = { PlayerAdded = { Connect = function(_, handler) table.insert(added, handler) end } }
join = function(id)
  local player = { UserId = id, Name = "Player" .. id, IsDescendantOf = function() return not hasLeft() end }
  player.WaitForChild = function() return player end
  for _, handler in added do handler(player) end
  return player
end
local services = { HttpService = HttpService, Players = Players }
game = { Players = Players, GetService = function(_, name) return services[name] end }
script = { Parent = { AccountLink = "AccountLink" } }
require = function() return AccountLink end
Instance = { new = function()
  return setmetatable({ Destroy = function() print("gone") end }, { __newindex = function(_, name, value)
    if name == "Text" then print(value) end
  end })
end }
UDim2 = { fromScale = function() return 0 end }
`;

const print = (...words: ReadonlyArray<unknown>) => process.stdout.write(`${words.join(" ")}\n`);

const isTable = (value: unknown): value is LuauTable => typeof value === "object" && value !== null;

/** A Luau table whose keys are numbers is an array. */
const toJson = (value: unknown): unknown => {
  if (!isTable(value)) return value;
  const entries = [...value];
  return entries.every(([key]) => typeof key === "number")
    ? entries.map(([, each]) => toJson(each))
    : Object.fromEntries(entries.map(([key, each]) => [String(key), toJson(each)]));
};

const toLuau = (value: unknown): string => {
  if (value === null) return "nil";
  if (Array.isArray(value)) return `{${value.map(toLuau).join()}}`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, each]) => `[${toLuau(name)}]=${toLuau(each)}`)
      .join()}}`;
  return JSON.stringify(value).replaceAll(/\\u(\w{4})/g, "\\u{$1}");
};

const run = async ({ script, secrets, http, clock, input, leaves = Infinity }: Experience) => {
  let pauses = 0;
  const state = await LuauState.createAsync({
    print,
    warn: (message: string) => print("warn", message),
    newId: () => randomUUID(),
    urlEncode: (value: unknown) => encodeURIComponent(String(value)),
    secretOf: (name: string) => secrets[name],
    hasLeft: () => pauses >= leaves,
    encode: (value: unknown) => JSON.stringify(toJson(value)),
    decode: async (json: string) => {
      const [value] = (await load(`return ${toLuau(JSON.parse(json))}`)()) as [unknown];
      return value;
    },
    protect: async (call: (...args: ReadonlyArray<unknown>) => Promise<ReadonlyArray<unknown>>) => {
      try {
        return [true, ...(await call())];
      } catch (error) {
        return [false, error instanceof Error ? error.message : String(error)];
      }
    },
    pause: async (seconds: number) => {
      pauses++;
      print("pause", seconds);
      if (clock === "fast") return seconds;
      await sleep(seconds * 1_000);
      return 0;
    },
    ask: async (url: string, method: string, headers: unknown, body: unknown) => {
      print("request", method, url);
      if (!http) return [0, "Http requests are not enabled. Enable via game settings"];
      const given = { method, headers: toJson(headers) as Record<string, string> };
      try {
        const response = await fetch(url, typeof body === "string" ? { ...given, body } : given);
        // Roblox does not convert header names to lower case.
        const named = [...response.headers].map(([name, value]) => [name.toUpperCase(), value]);
        return [response.status, await response.text(), JSON.stringify(Object.fromEntries(named))];
      } catch {
        return [0, "HttpError: ConnectFail"];
      }
    },
  });
  const load = (source: string) => state.loadstring(source, "roblox", true);
  await load(roblox)();
  const module = readFileSync(new URL("../../clients/luau/src/init.luau", import.meta.url), "utf8");
  const [client] = (await load(module)()) as [unknown];
  state.env.set("AccountLink", client, true);
  const [value] = (await load(`return ${toLuau(input)}`)()) as [unknown];
  state.env.set("input", value, true);
  await load(script)();
};

if (import.meta.main) {
  await run(JSON.parse(await text(process.stdin)) as Experience);
  print("end");
  process.exit();
}
