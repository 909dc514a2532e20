/**
 * A process that dies with `kill -9` around a write: its client sends the request again under the same
 * `Idempotency-Key`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, isProof } from "@accountlink/test-servers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { idempotentWrites } from "../contract/idempotent_writes.ts";
import { devPlatformOn } from "../support/dev_platform.ts";
import { patience } from "../support/patience.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import * as dying from "./dying.ts";

const options = { tier: "premium", links: { 100001: "1", 100002: "2" } } as const;
const named = (name: string) => ({ "idempotency-key": name });

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
      env: { ...dying.env, ACCOUNTLINK_DEV_PLATFORM_PORT: String(platformPort) },
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
    await dying.expectNoAnswer(
      server.send(write.line(path), { ...request, headers: { ...request.headers, ...dying.header } }),
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
    const unanswered = dying.expectNoAnswer(server.send("PATCH /v2/game", request));
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
