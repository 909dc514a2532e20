/** Compares the files that docs/architecture.md lists for a request with the files whose functions run. */
import { randomUUID } from "node:crypto";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { isProof } from "@accountlink/test-servers";
import { expect, it, onTestFinished } from "vitest";
import type { RequestOptions } from "../support/http.ts";
import { startServerHere } from "../support/server.ts";
import { codeOf, readDocument, rowsUnder } from "./document.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const token = `alk_WayOfRequest_${"w".repeat(43)}`;
const unreached = 1_000_000;
const turns = isProof ? 40 : 16;
const chatId = "100001";
const users = ["1", "2"];
/** Runs a tenth of a second after a write: on a busy machine, in every turn. */
const background = "packages/sql/sqlite/client/bulk_connection.ts";

const fixture = {
  keys: [
    {
      key: token,
      account: "acme",
      scope: "global",
      tier: "premium",
      kind: "partner",
      limits: { perWindow: unreached, windowMs: 1_000, daily: unreached, verifyDaily: unreached },
    },
  ],
  links: [
    { account: "acme", scope: "global", chatId, gameId: "1", lastVerifiedAt: "2026-01-01T00:00:00.000Z" },
  ],
  platform: {
    guilds: [],
    chatUsers: [],
    gameUsers: users.map((id) => ({ id, username: `user_${id}`, displayName: id })),
  },
};

/** Sends requests, and returns the source files of which at least one function runs in every request. */
const filesOf = async (request: (turn: number) => Promise<unknown>): Promise<ReadonlyArray<string>> => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  for (let turn = 0; turn < turns; turn++) await request(turn);
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const times = new Map<string, number>();
  for (let turn = 0; turn < turns; turn++) {
    await request(turn);
    // Also resets the counts.
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    for (const { url } of ran) times.set(url, (times.get(url) ?? 0) + 1);
  }
  session.disconnect();
  return [...times.keys()]
    .filter((url) => times.get(url) === turns)
    .map((url) => url.replace("file://", ""))
    .filter((file) => file.startsWith(root) && !/node_modules|_test\.ts|\/test\//.test(file))
    .map((file) => file.slice(root.length))
    .filter((file) => file !== background)
    .toSorted();
};

const runs = async (requestOf: (turn: number) => readonly [`${string} ${string}`, RequestOptions]) => {
  const server = await startServerHere({ fixture, env: { ACCOUNTLINK_TRUSTED_PROXIES: "" } });
  onTestFinished(async () => void (await server.stop()));
  return filesOf(async (turn) => {
    const [line, options] = requestOf(turn);
    const { status } = await server.send(line, { key: token, ...options });
    expect(status).toBe(200);
  });
};

const documented = (heading: string): ReadonlyArray<string> =>
  rowsUnder(readDocument("docs/architecture.md"), [heading, "what happens there"]).map(([file]) =>
    codeOf(file),
  );

it("a lookup and a write execute the ten files that docs/architecture.md lists of each", async () => {
  const lookup = await runs(() => [`GET /v2/chat?chatId=${chatId}`, {}]);
  const ofLookup = documented("file of a lookup");
  expect(lookup).toEqual(expect.arrayContaining([...ofLookup]));
  const write = await runs((turn) => [
    "PATCH /v2/game",
    { body: { chatId, gameId: users[turn % 2] }, headers: { "idempotency-key": randomUUID() } },
  ]);
  const ofWrite = documented("file of a write");
  expect(write.filter((file) => !lookup.includes(file))).toEqual(expect.arrayContaining([...ofWrite]));
  expect([ofLookup.length, ofWrite.length]).toEqual([10, 10]);
});
