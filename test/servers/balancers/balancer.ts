import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Schedule } from "effect";
import { type DebianServer, findServer } from "../debian_program.ts";
import { freePort } from "../free_port.ts";
import { skipReason } from "../skip_reason.ts";
import { failStart, SupervisedProcess } from "../supervised_process.ts";

export interface BalancerKind extends DebianServer {
  readonly name: string;
  /** Returns the arguments that run the balancer in the foreground. */
  readonly argumentsFor: (config: string, folder: string) => ReadonlyArray<string>;
}

/** Returns the configuration of a balancer on this port of 127.0.0.1, with its files in this folder. */
type ConfigFor = (port: number, folder: string) => string;

interface BalancerOptions {
  /** Limit of open files; by default, the limit of this process. */
  readonly descriptors?: number;
}

const limitedTo = (descriptors: number) => ["sh", "-c", 'ulimit -n "$0" && exec "$@"', `${descriptors}`];

export const makeBalancer = (kind: BalancerKind) => {
  const program = findServer(kind);
  const [packageName = ""] = kind.names;

  const prepare = async (configFor: ConfigFor, { descriptors }: BalancerOptions) => {
    const found = await program;
    if (found === null) {
      throw new Error(`Cannot start ${kind.name}: no program was found, expected the test to be skipped`);
    }
    const folder = await mkdtemp(join(tmpdir(), `accountlink-${packageName}-`));
    const port = await freePort();
    const path = join(folder, "balancer.conf");
    await writeFile(path, configFor(port, folder));
    const limited = descriptors === undefined ? [] : limitedTo(descriptors);
    const command = [...limited, found.file, ...kind.argumentsFor(path, folder)];
    // SIGKILL would end nginx but not its worker processes.
    return { port, folder, env: found.env, command, endsBy: "TERM" as const };
  };

  return {
    whyNone: async (): Promise<string | null> =>
      (await program) === null
        ? skipReason(kind.name, `there is no ${packageName} on PATH, and no Debian package of it to unpack`)
        : null,

    start: Effect.fnUntraced(function* (configFor: ConfigFor, options: BalancerOptions = {}) {
      const { port, ...files } = yield* Effect.promise(() => prepare(configFor, options));
      const running = yield* Effect.acquireRelease(
        Effect.promise(() => SupervisedProcess.start(files)),
        (started) => Effect.promise(() => started.remove()),
      );
      yield* Effect.tryPromise(() => listens(port)).pipe(
        Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 3_000 }),
        Effect.catch(() => Effect.promise(() => failStart(`${kind.name}: it does not listen`, running))),
      );
      return port;
    }),
  };
};

const listens = async (port: number): Promise<void> => {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect").finally(() => socket.destroy());
};
