/** The Roblox game server in `examples`, run by a Luau interpreter. */
import { createServer, type RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { listenLocally } from "@accountlink/test-servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { useFlowServer } from "../contract/flow_server.ts";
import { guild } from "../support/fixtures.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { startProgram } from "./program.ts";

const { fixtures, url, send, newBrowser } = await useFlowServer({
  ACCOUNTLINK_POLL_INTERVAL: "100 millis",
  ACCOUNTLINK_SESSION_TTL: "10 seconds",
});
const key = fixtures.key();
const guildKey = fixtures.key({ guildId: guild });
const program = fileURLToPath(new URL("luau_game.ts", import.meta.url));

/** Starts the game for a player. */
const play = (player: number, { service = url(), secret = key, guildId = "", leaves = "no" } = {}) => {
  const env = { SERVICE: service, SECRET: secret, GUILD: guildId, PLAYER: String(player), LEAVES: leaves };
  const game = startProgram([process.execPath, program], import.meta.dirname, env);
  onTestFinished(game.stop);
  return {
    /** The code that the player sees. */
    code: () => game.untilPrinted(/^show (\S+) \S+\/go$/m),
    ended: async () => {
      const outcome = await game.untilPrinted(/^end (\w+)$/m);
      const lines = game.output().split("\n");
      return { outcome, requests: lines.filter((line) => line.startsWith("request")), lines };
    },
  };
};

/** Enters a code, signs in to both platforms, and confirms or cancels. */
const walk = async (code: string, gameId: string, action: "confirm" | "cancel") => {
  const browser = newBrowser();
  const entered = locationOf(await browser.post("/go", { code }));
  const page = await browser.walk(new URL(entered, url()).search, "100001", gameId);
  expect((await browser.post(`/verify/${action}`, formOf(page))).status).toBe(200);
};

describe("a game on Roblox", () => {
  test.each([
    ["linked", 1, "1", "confirm"],
    ["another", 2, "5", "confirm"],
    ["cancelled", 3, "3", "cancel"],
  ] as const)("a game on Roblox reports the outcome: %s", async (outcome, player, gameId, action) => {
    const { code, ended } = play(player);
    await walk(await code(), gameId, action);
    const end = await ended();
    expect(end.outcome).toBe(outcome);
    expect(end.requests[0]).toMatch(/^request POST [\w-]{36}$/);
  });

  test("a game on Roblox links in the guild of a guild key", async () => {
    const { code, ended } = play(1, { secret: guildKey, guildId: guild });
    await walk(await code(), "1", "confirm");
    expect((await ended()).outcome).toBe("linked");
  });

  test("a game on Roblox logs refusals of the service, such as a missing guild", async () => {
    const { outcome, lines } = await play(1, { secret: guildKey }).ended();
    expect(outcome).toBe("unavailable");
    expect(lines.find((line) => line.startsWith("warn"))).toMatch(
      /POST with 400: .*MISSING_PARAMETER.*guildId/,
    );
  });

  test("a game on Roblox reports an expired session", async () => {
    expect((await play(4).ended()).outcome).toBe("over");
  });

  test("a game on Roblox cancels the session when the player leaves", async () => {
    const { code, ended } = play(5, { leaves: "yes" });
    const shown = await code();
    const { outcome, requests } = await ended();
    expect([outcome, requests.at(-1)]).toEqual(["left", "request DELETE "]);
    expect((await send(`GET /go?code=${shown}`, { from: fixtures.address() })).status).toBe(404);
  });

  test("a game on Roblox without its secret reports that the service is unavailable", async () => {
    const { outcome, requests } = await play(6, { secret: "" }).ended();
    expect({ outcome, requests }).toEqual({ outcome: "unavailable", requests: [] });
  });
});

const serve = async (answer: RequestListener) => {
  const server = createServer(answer);
  onTestFinished(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${await listenLocally(server)}`;
};

describe("a game on Roblox with a failing service", () => {
  test("a game on Roblox retries after 429, 502, 503, 504 and a lost connection, with one idempotency key", async () => {
    const refusals = [429, 502, 503, 504];
    const service = await serve((_, response) => {
      const status = refusals.shift();
      if (status === undefined) response.destroy();
      else response.writeHead(status, { "retry-after": status === 429 ? "86400" : "1" }).end("<html>");
    });
    const { outcome, requests, lines } = await play(7, { service }).ended();
    expect(outcome).toBe("unavailable");
    expect(requests.length).toBe(5);
    expect(new Set(requests).size).toBe(1);
    const pauses = lines.filter((line) => line.startsWith("pause"));
    expect(pauses).toEqual(["pause 30", "pause 1", "pause 1", "pause 1"]);
  });

  test.each([
    [201, "<html>not JSON"],
    [401, '{"error":{"code":"INVALID_API_KEY"}}'],
  ])("a game on Roblox does not retry after %i with %s", async (status, body) => {
    const service = await serve((_, response) => response.writeHead(status).end(body));
    const { outcome, requests } = await play(8, { service }).ended();
    expect([outcome, requests.length]).toEqual(["unavailable", 1]);
  });
});
