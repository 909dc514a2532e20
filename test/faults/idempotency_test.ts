/**
 * A process that dies with `kill -9` around a write: its client sends the request again under the same
 * `Idempotency-Key`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, isProof } from "@accountlink/test-servers";
import { Effect } from "effect";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { idempotentWrites } from "../contract/idempotent_writes.ts";
import { devPlatformOn } from "../support/dev_platform.ts";
import type { Answer } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import { startService, whyNoService } from "./service.ts";

/** Kills the server when it begins to answer a request with this header, after everything that it wrote. */
const dying = { "x-die-before-the-answer": "1" };
const preloaded = `
  import { ServerResponse } from "node:http";
  const { writeHead } = ServerResponse.prototype;
  ServerResponse.prototype.writeHead = function (...head) {
    if (this.req.headers["x-die-before-the-answer"] === "1") process.kill(process.pid, "SIGKILL");
    return writeHead.apply(this, head);
  };`;
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded)}` };

const options = { tier: "premium", links: { 100001: "1", 100002: "2" } } as const;
const named = (name: string) => ({ "idempotency-key": name });

/** Expects the connection to break. */
const expectNoAnswer = async (request: Promise<Answer> | undefined): Promise<void> => {
  const [{ status }] = await Promise.allSettled([request]);
  expect(status).toBe("rejected");
};

describe("On a server of its own", () => {
  const world = makeWorld();
  // Each takes a kill and a start. What is stored with the answer is the same for all.
  const writes = Object.entries(idempotentWrites)
    .map(([id, write]) => ({ id, key: world.key(options), ...write }))
    .slice(0, isProof ? undefined : 1);
  const key = world.key(options);
  let folder: string;
  let server: ServerProcess;
  let platformPort: number;
  const start = () =>
    startServer({
      fixture: world.fixture,
      dataFolder: folder,
      env: { ...env, ACCOUNTLINK_DEV_PLATFORM_PORT: String(platformPort) },
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "accountlink-idempotency-"));
    platformPort = await freePort();
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(writes)("$id that was stored is answered once the server is back", async (write) => {
    const path = await write.prepare(server.send, write.key);
    const body = write.body === undefined ? {} : { body: write.body };
    const request = { key: write.key, headers: named("mine"), ...body };
    await expectNoAnswer(
      server.send(write.line(path), { ...request, headers: { ...request.headers, ...dying } }),
    );
    await server.kill();
    server = await start();

    const answers = [
      await server.send(write.line(path), request),
      await server.send(write.line(path), request),
    ];
    for (const { headers, body: answered } of answers) {
      expect(headers["idempotent-replayed"]).toBe("true");
      expect(answered.data).toMatchObject(write.data);
    }
    expect(answers[0]?.body.data).toEqual(answers[1]?.body.data);
  });

  test("a write that was not stored can be sent again soon", async () => {
    const platform = devPlatformOn(platformPort);
    const request = { key, headers: named("mine"), body: { chatId: "100001", gameId: "9" } };
    await platform.fail({ mode: "slow", platform: "game", delayMs: 60_000 });
    const unanswered = expectNoAnswer(server.send("PATCH /v2/game", request));
    await vi.waitFor(async () => {
      const { status, body } = await server.send("PATCH /v2/game", request);
      expect([status, body.error?.details]).toEqual([409, { reason: "idempotency_key_in_use" }]);
    }, patience);
    platform.close();
    await server.kill();
    await unanswered;
    server = await start();

    await vi.waitFor(async () => {
      const { status, headers, body } = await server.send("PATCH /v2/game", request);
      expect([status, headers["idempotent-replayed"]]).toEqual([200, undefined]);
      expect(body.data).toMatchObject({ previousGameId: "1", updated: true });
    }, patience);
  });
});

const missing = await whyNoService();

test.skipIf(missing !== null)(`another node gives the answer that a node owed ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const world = makeWorld();
    const key = world.key(options);
    const { nodes } = yield* startService({ fixture: world.fixture, env });
    const [one, ...others] = nodes;
    const request = { key, headers: named("mine"), body: { chatId: "100001" } };
    const racing = { ...request, headers: named("race"), body: { chatId: "100002" } };
    yield* Effect.promise(async () => {
      await expectNoAnswer(
        one?.send("DELETE /v2/game", { ...request, headers: { ...request.headers, ...dying } }),
      );
      for (const { send } of others) {
        const { headers, body } = await send("DELETE /v2/game", request);
        expect(headers["idempotent-replayed"]).toBe("true");
        expect(body.data).toEqual({ chatId: "100001", removedGameId: "1", deleted: true });
      }
      const answers = await Promise.all(
        [...others, ...others].map(({ send }) => send("DELETE /v2/game", racing)),
      );
      const done = answers.filter(
        ({ status, headers }) => status === 200 && headers["idempotent-replayed"] === undefined,
      );
      expect(done).toHaveLength(1);
      for (const { status } of answers) expect([200, 409]).toContain(status);
    });
  }).pipe(Effect.scoped, Effect.runPromise),
);
