/**
 * Runs the Roblox game server in `examples` for one player, in a Luau interpreter whose `HttpService` sends
 * real requests. Prints the player's code, each request, each pause and the outcome.
 *
 * SERVICE=http://127.0.0.1:8080 SECRET=alk_… GUILD= PLAYER=1 LEAVES=no node test/client/luau_game.ts
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { LuauState } from "luau-web";

const { SERVICE = "", SECRET = "", GUILD = "", PLAYER = "", LEAVES = "no" } = process.env;

/**
 * Roblox functions that the interpreter lacks. Its `pcall` catches nothing, so functions return a failure
 * instead of raising an error, and this `pcall` treats the failure as an error.
 */
const roblox = `
local failures = {}
local function failed()
  local failure = {}
  failure.AddPrefix = function() return failure end
  failures[failure] = true
  return failure
end
local unprotected = pcall
pcall = function(run)
  local ok, result = unprotected(run)
  if type(result) == "table" and failures[result] then return false, "failed" end
  return ok, result
end
local HttpService = {
  GetSecret = function()
    if SECRET == "" then return failed() end
    return { AddPrefix = function(_, prefix) return prefix .. SECRET end }
  end,
  GenerateGUID = function() return newId() end,
  JSONEncode = function(_, value) return encode(value) end,
  JSONDecode = function(_, text)
    local decoded = decode(text)
    return if decoded.ok then decoded.value else { data = failed() }
  end,
  RequestAsync = function(_, request)
    local headers = request.Headers
    local answer = ask(request.Url, request.Method, headers["Authorization"], headers["Idempotency-Key"], request.Body)
    if answer.status == 0 then return failed() end
    return { StatusCode = answer.status, Body = answer.text, Headers = { ["RETRY-After"] = answer.retryAfter } }
  end,
}
game = { GetService = function() return HttpService end }
task = { wait = function(seconds) return pause(seconds) end }
`;

const print = (...words: ReadonlyArray<unknown>) => process.stdout.write(`${words.join(" ")}\n`);

let hasLeft = false;
const player = { UserId: Number(PLAYER), IsDescendantOf: () => !hasLeft };

const state = await LuauState.createAsync({
  SECRET,
  newId: () => randomUUID(),
  encode: ({ clientId, guildId }: { readonly clientId: string; readonly guildId?: string }) =>
    JSON.stringify({ clientId, guildId }),
  warn: (text: string) => print("warn", text),
  decode: (text: string) => {
    try {
      return { ok: true, value: JSON.parse(text) as unknown };
    } catch {
      return { ok: false };
    }
  },
  pause: async (seconds: number) => {
    print("pause", seconds);
    // Shorter than on Roblox, to save time.
    await sleep(150);
    hasLeft = LEAVES === "yes";
    return seconds;
  },
  ask: async (address: string, method: string, authorization: string, id?: string, body?: string) => {
    print("request", method, id);
    const isJson = typeof body === "string";
    const headers = {
      authorization,
      ...(isJson ? { "content-type": "application/json" } : {}),
      ...(typeof id === "string" ? { "idempotency-key": id } : {}),
    };
    try {
      const response = await fetch(address, { method, headers, ...(isJson ? { body } : {}) });
      const retryAfter = response.headers.get("retry-after") ?? "";
      return { status: response.status, text: await response.text(), retryAfter };
    } catch {
      return { status: 0, text: "", retryAfter: "" };
    }
  },
});

const game = fileURLToPath(new URL("../../examples/game_server.luau", import.meta.url));
const source = readFileSync(game, "utf8")
  .replace("https://links.example", SERVICE)
  .replace(/(local guild: string\? =) nil/, GUILD === "" ? "$1 nil" : `$1 "${GUILD}"`);
await state.loadstring(roblox, "roblox", true)();
const [link] = (await state.loadstring(source, "game_server", true)()) as [
  (player: unknown, show: (code: string, address: string) => void) => Promise<[string]>,
];
const [outcome] = await link(player, (code, address) => print("show", code, address));
print("end", outcome);
process.exit();
