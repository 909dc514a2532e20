/**
 * A key that is revoked on one node is refused on all of them within a second, and its streams end.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { keyIdOf } from "@accountlink/core/keys";
import { Effect } from "effect";
import { expect, test } from "vitest";
import { textOf } from "../support/http.ts";
import { makeWorld } from "../support/world.ts";
import { withDelay } from "./pulse.ts";
import { type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();
const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));
const line = "GET /v2/chat?chatId=100001";
const longest = 1_000;

const reportLeaked = ({ nodes: [first] }: Service, key: string) =>
  Effect.promise(async () => {
    const answer = await first?.send("POST /v2/keys/leaked", { body: { key } });
    expect(answer?.status).toBe(200);
  });

const revokeByCommand = ({ environment }: Service, key: string) =>
  Effect.promise(() =>
    promisify(execFile)(process.execPath, [main, "keys", "revoke", keyIdOf(key) ?? ""], {
      env: { PATH: process.env["PATH"], ...environment },
    }),
  );

/** When the last request was sent to each node that accepted the key, from now; it is in use all the time. */
const lastAcceptedAfterNow = ({ nodes }: Service, key: string) => {
  const begin = performance.now();
  const statusOf = async (node: Service["nodes"][number]) => (await node.send(line, { key })).status;
  return Promise.all(
    nodes.map(async (node) => {
      let took = 0;
      for (let sent = 0; (await statusOf(node)) !== 401; sent = performance.now() - begin) {
        took = sent;
        expect(took).toBeLessThan(longest);
      }
      for (let again = 0; again < 20; again++) expect(await statusOf(node)).toBe(401);
      return took;
    }),
  );
};

/** Opens a stream on each node, and gives how long after now each has ended. */
const openStreams = ({ nodes }: Service, key: string) =>
  Effect.promise(() =>
    Promise.all(
      nodes.map(async ({ send, url }) => {
        const { body } = await send("POST /v2/sessions", { key, body: { clientId: "client" } });
        const response = await fetch(`${url()}/v2/sessions/${textOf(body.data?.sid)}/stream`, {
          headers: { authorization: `Bearer ${key}` },
        });
        expect(response.status).toBe(200);
        const told = response.text();
        return async () => {
          const begin = performance.now();
          expect(await told).toMatch(/event: timeout\ndata: \{\}\n\n$/);
          return performance.now() - begin;
        };
      }),
    ),
  );

const cases = [
  ["reported as leaked", reportLeaked, false],
  ["reported as leaked while Redis is away", reportLeaked, true],
  ["revoked on the command line", revokeByCommand, false],
  ["revoked on the command line while Redis is away", revokeByCommand, true],
] as const;

test.skipIf(missing !== null)(
  `a key is refused on every node within a second of its revocation ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const world = makeWorld();
      const rounds = cases.map((each) => ({ each, key: world.key({ links: { 100001: "1" } }) }));
      const service = yield* startService({ fixture: world.fixture });
      const longestOf = [];
      for (const { each, key } of rounds) {
        const [name, revoke, isRedisAway] = each;
        if (isRedisAway) yield* service.redis.freeze;
        // Every node knows the key by now, and trusts it for a while.
        for (const node of service.nodes) {
          const answer = yield* Effect.promise(() => node.send(line, { key }));
          expect([name, answer.status]).toEqual([name, 200]);
        }
        const streams = yield* openStreams(service, key);
        yield* revoke(service, key);
        const { value, delay } = yield* withDelay(
          service.nodes,
          Effect.promise(() =>
            Promise.all([
              lastAcceptedAfterNow(service, key),
              Promise.all(streams.map((endAfterNow) => endAfterNow())),
            ]),
          ),
        );
        const [took, ended] = value;
        for (const time of ended) expect(time).toBeLessThan(longest + delay);
        if (isRedisAway) yield* service.redis.thaw;
        longestOf.push(
          `${name}: ${Math.max(...took).toFixed(0)} ms, streams ${Math.max(...ended).toFixed(0)} ms`,
        );
      }
      console.log(longestOf);
    }).pipe(Effect.scoped, Effect.runPromise),
);
