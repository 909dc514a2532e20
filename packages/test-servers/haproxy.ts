/** An HAProxy for tests. */
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Schedule } from "effect";
import { findServer } from "./internal/debian_program.ts";
import { freePort } from "./internal/free_port.ts";
import { skipReason } from "./internal/skip_reason.ts";
import { failStart, SupervisedProcess } from "./internal/supervised_process.ts";

const program = findServer({
  names: ["haproxy"],
  path: "usr/sbin/haproxy",
  packages: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
});

/**
 * Why no HAProxy can be started here, or null when one can: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoHaproxy = async (): Promise<string | null> =>
  (await program) === null
    ? skipReason("HAProxy", "there is no haproxy on PATH, and no Debian package of it to unpack")
    : null;

/**
 * Starts an HAProxy that listens on a free port, and gives the port. It is gone with the scope, or with this process.
 *
 * @param configFor the configuration with which it listens on a port of 127.0.0.1
 */
export const startHaproxy = Effect.fnUntraced(function* (configFor: (port: number) => string) {
  const { port, ...files } = yield* Effect.promise(() => prepare(configFor));
  const running = yield* Effect.acquireRelease(
    Effect.promise(() => SupervisedProcess.start(files)),
    (started) => Effect.promise(() => started.remove()),
  );
  yield* Effect.tryPromise(() => listens(port)).pipe(
    Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 500 }),
    Effect.catch(() => Effect.promise(() => failStart("HAProxy: it does not listen", running))),
  );
  return port;
});

const prepare = async (configFor: (port: number) => string) => {
  const found = await program;
  if (found === null)
    throw new Error("Cannot start HAProxy: no program was found, expected whyNoHaproxy to say so");
  const folder = await mkdtemp(join(tmpdir(), "accountlink-haproxy-"));
  const port = await freePort();
  const path = join(folder, "haproxy.cfg");
  await writeFile(path, configFor(port));
  return { port, folder, env: found.env, command: [found.file, "-db", "-f", path] };
};

const listens = async (port: number): Promise<void> => {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect").finally(() => socket.destroy());
};
