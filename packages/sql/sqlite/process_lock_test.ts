import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type SystemUser, spawnScript, userOfServers } from "@accountlink/test-servers";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Exit, Fiber, Scope } from "effect";
import { TestClock } from "effect/testing";
import { acquireFolderLock, acquireProcessLock, type DataFolderInUse } from "./process_lock.ts";
import { makeTempFolder } from "./test_folder.ts";

/** Prints "held" and keeps the lock, or prints "refused", or why the lock cannot be used, and exits. */
const script = `
  import { Effect } from "effect";
  import { acquireProcessLock } from ${JSON.stringify(import.meta.resolve("./process_lock.ts"))};
  await acquireProcessLock(process.argv[1]).pipe(
    Effect.andThen(Effect.sync(() => console.log("held"))),
    Effect.andThen(Effect.callback(() => void setInterval(() => {}, 60_000))),
    Effect.scoped,
    Effect.catchTag("DataFolderInUse", () => Effect.sync(() => console.log("refused"))),
    Effect.catch(({ message }) => Effect.sync(() => console.log(message))),
    Effect.runPromise,
  );
`;

interface Holder {
  readonly child: ChildProcess;
  readonly answer: string;
}

/** @param user who runs the process; by default the user of this one */
const startHolder = (folder: string, user?: SystemUser): Effect.Effect<Holder, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawnScript(import.meta.dirname, script, [folder], user);
      const [line] = await once(child.stdout, "data");
      return { child, answer: String(line).trim() };
    }),
    kill,
  );

const kill = ({ child }: Holder): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  });

const endedProcess = (): number => spawnSync(process.execPath, ["--version"]).pid;

const refusal = (folder: string): Effect.Effect<DataFolderInUse, unknown> =>
  acquireProcessLock(folder).pipe(
    Effect.scoped,
    Effect.flip,
    Effect.filterOrFail((error) => error._tag === "DataFolderInUse"),
    TestClock.withLive,
  );

test("a second server in the same process is refused until the first ends", function* () {
  const folder = yield* makeTempFolder;
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* acquireProcessLock(folder);
      expect((yield* refusal(folder)).pid).toBe(process.pid);
      // The refused attempt has not released the lock of the first server.
      expect((yield* refusal(folder)).pid).toBe(process.pid);
      expect((yield* startHolder(folder)).answer).toBe("refused");
    }),
  );
  expect(readdirSync(folder)).toEqual(["server.lock"]);
  yield* acquireProcessLock(folder);
});

test("a server waits for a process lock that is released within 200 ms", function* () {
  const folder = yield* makeTempFolder;
  const first = yield* Scope.make();
  yield* Scope.provide(acquireProcessLock(folder), first);
  const second = yield* Effect.forkScoped(acquireProcessLock(folder));
  yield* TestClock.adjust(199);
  expect(second.pollUnsafe()).toBeUndefined();
  yield* Scope.close(first, Exit.void);
  yield* TestClock.adjust(1);
  yield* Fiber.join(second);
});

test("a refusal names the process of the running server; a server starts once that process is killed", function* () {
  const folder = yield* makeTempFolder;
  const holder = yield* startHolder(folder);
  expect(holder.answer).toBe("held");

  const error = yield* refusal(folder);
  expect(error).toMatchObject({ folder, pid: holder.child.pid });
  expect(error.message).toBe(
    `Cannot start: data folder "${folder}" is in use by process ${holder.child.pid}, expected one server per folder`,
  );

  yield* kill(holder);
  // The killed server left no journal file that the next server would have to recover.
  expect(readdirSync(folder).toSorted()).toEqual(["server.lock", "server.pid"]);
  yield* acquireProcessLock(folder);
  expect((yield* refusal(folder)).pid).toBe(process.pid);
});

test.each([
  ["is missing", (file: string) => rmSync(file)],
  ["is empty", (file: string) => writeFileSync(file, "")],
  ["names one that is gone", (file: string) => writeFileSync(file, `${endedProcess()} ${hostname()}\n`)],
  ["is from another machine", (file: string) => writeFileSync(file, `${process.pid} elsewhere\n`)],
] as const)("a refused server names no process if the file with its ID %s", function* ([_, damage]) {
  const folder = yield* makeTempFolder;
  yield* acquireProcessLock(folder);
  damage(join(folder, "server.pid"));
  expect((yield* refusal(folder)).message).toBe(
    `Cannot start: data folder "${folder}" is in use by another server, expected one server per folder`,
  );
});

test("exactly one of several servers that start together gets the lock", function* () {
  const folder = yield* makeTempFolder;
  const holders = yield* Effect.replicateEffect(startHolder(folder), 3, { concurrency: "unbounded" });
  const answers = holders.map((holder) => holder.answer).toSorted();
  expect(answers).toEqual(["held", "refused", "refused"]);
});

const server = userOfServers();

test.skipIf(server === null)(
  "a lock that root made first excludes servers of the folder's owner",
  function* () {
    const folder = yield* makeTempFolder;
    const user = server ?? { uid: 0, gid: 0 };
    chownSync(folder, user.uid, user.gid);
    yield* Effect.scoped(acquireProcessLock(folder));
    yield* Effect.scoped(acquireFolderLock(folder, "secret"));
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).uid).toBe(user.uid);
    const first = yield* startHolder(folder, user);
    const second = yield* startHolder(folder, user);
    expect([first.answer, second.answer]).toEqual(["held", "refused"]);
  },
);

test.skipIf(server === null)("a lock that a server can only read refuses its start", function* () {
  const folder = yield* makeTempFolder;
  const user = server ?? { uid: 0, gid: 0 };
  const file = join(folder, "server.lock");
  yield* Effect.scoped(acquireProcessLock(folder));
  chownSync(folder, user.uid, user.gid);
  chmodSync(file, 0o644);
  const { answer } = yield* startHolder(folder, user);
  expect(answer).toContain(`"${file}" can only be read, expected a file of the user who runs the server`);
});

test("a process lock fails with SqlError if the folder does not exist", function* () {
  const folder = join(yield* makeTempFolder, "none");
  const error = yield* acquireProcessLock(folder).pipe(Effect.scoped, Effect.flip);
  expect(error).toMatchObject({ _tag: "SqlError", reason: { _tag: "ConnectionError" } });
});
