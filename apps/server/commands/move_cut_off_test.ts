import { once } from "node:events";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isProof, runUntil, startRedis } from "@accountlink/test-servers";
import { Effect } from "effect";
import { describe, expect, it, onTestFinished } from "vitest";
import { secretOf, storageAt } from "./test_command_line.ts";
import { ask, finish, makeWorkplace, rowsIn, secretIn, startServer, type Workplace } from "./test_program.ts";
import { makeShared, whyNothingShared } from "./test_shared.ts";

const missing = await whyNothingShared();

/** Enough for a process to be met amid its copy. */
const links = 6_000;

const fill = async ({ file, json }: Workplace) => {
  const { token } = await json("keys", "create", "--account", "acme", "--kind", "staff", "--per-window", "0");
  const lines = Array.from({ length: links }, (_, index) => `${100_001 + index},${1 + index}`);
  const path = await file("links.csv", ["chatId,gameId", ...lines].join("\n"));
  await json("links", "import", "--account", "acme", path);
  return String(token);
};

/** Starts a move in a process of its own, and returns it once some links are copied. */
const startMove = async (from: Workplace, to: string, copied: () => Promise<number> | number) => {
  const move = from.start("move", "--to", to);
  while (move.exitCode === null && (await copied()) < 500) await setImmediate();
  expect(move.exitCode).toBeNull();
  return move;
};

const count = "SELECT COUNT(*) AS count FROM links";

const linksIn = (folder: string) => () => {
  try {
    return Number(rowsIn(join(folder, "accountlink.db"), count)[0]?.["count"]);
  } catch {
    // The database or its tables are not made yet, or held by the move.
    return 0;
  }
};

const gameOf = async ({ environment }: Workplace, token: string) => {
  const { url, stop } = await startServer(environment);
  const found = await ask(url, token, "GET /v2/chat?chatId=100001");
  const { data } = (await found.json()) as { readonly data?: { readonly gameId: string } };
  await stop();
  return data?.gameId;
};

const doctorOf = async (place: Workplace) => (await place.run("doctor")).stdout;

describe.skipIf(missing !== null)(`a move ${missing ?? ""}`, () => {
  // In the gate, move_test.ts interrupts a move, without a process of its own.
  it.runIf(isProof)(
    "that is killed leaves its source acting and its target refused, and goes on: embedded, Postgres and back",
    async () => {
      const { database } = await makeShared();
      const embedded = await makeWorkplace();
      const token = await fill(embedded);
      const ACCOUNTLINK_SECRET = secretIn(embedded.dataFolder);
      const onPostgres = await makeWorkplace(storageAt(database.url, ACCOUNTLINK_SECRET));
      const folder = join(embedded.folder, "back");
      const back = await makeWorkplace({ ACCOUNTLINK_DATA_DIR: folder, ACCOUNTLINK_SECRET });
      const linksInPostgres = () =>
        Effect.runPromise(database.query(count)).then(
          ([row]) => Number((row as { readonly count: unknown }).count),
          () => 0,
        );
      for (const [source, target, to, copied] of [
        [embedded, onPostgres, database.url, linksInPostgres],
        [onPostgres, back, folder, linksIn(folder)],
      ] as const) {
        const killed = await startMove(source, to, copied);
        killed.kill("SIGKILL");
        await once(killed, "exit");
        expect(await copied()).toBeLessThan(links);
        expect(await target.run("serve")).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("a move into it is not finished") as unknown,
        });
        expect(await doctorOf(source)).not.toContain("acts on nobody");
        expect(await source.json("keys", "list")).toMatchObject({ keys: [{ status: "active" }] });
        expect(await source.json("move", "--to", to)).toMatchObject({ moved: { links } });
        expect(await doctorOf(source)).toContain("acts on nobody");
        expect(await doctorOf(target)).not.toContain("acts on nobody");
        expect(await gameOf(target, token)).toBe("1");
      }
    },
  );

  it.each(isProof ? ["postgres", "redis"] : ["postgres"])(
    "that a server joins fails, and its source goes on: %s",
    async (kind) => {
      const { url: address } =
        kind === "redis" ? await runUntil(onTestFinished)(startRedis()) : (await makeShared()).database;
      const source = await makeWorkplace({ ...storageAt(address), ACCOUNTLINK_PLATFORM: "none" });
      const token = await fill(source);
      const target = join(source.folder, "moved");
      const move = await startMove(source, target, linksIn(target));
      move.kill("SIGSTOP");
      const { url, stop } = await startServer(source.environment);
      move.kill("SIGCONT");
      expect(await finish(move)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/expected (stopped servers|a source that nobody writes to)/) as unknown,
      });
      expect(await doctorOf(source)).not.toContain("acts on nobody");
      const linked = await ask(url, token, "PATCH /v2/game", { chatId: "100001", gameId: "99001" });
      expect(await linked.json()).toMatchObject({ data: { gameId: "99001" } });
      await stop();
      const moved = join(source.folder, "again");
      expect(await source.json("move", "--to", moved)).toMatchObject({ moved: { links } });
      const back = await makeWorkplace({ ACCOUNTLINK_DATA_DIR: moved, ACCOUNTLINK_SECRET: secretOf("s") });
      expect(await gameOf(back, token)).toBe("99001");
    },
  );
});
