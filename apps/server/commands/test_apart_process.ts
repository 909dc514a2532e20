/** For tests: runs the command line as a process whose dev platform runs in a process of its own. */
import { fork } from "node:child_process";
import type { DevPlatformOptions } from "@accountlink/dev-platforms";
import { Effect, Redacted } from "effect";
import { DevPlatformStart, startDevPlatform } from "../layers/dev_platform_start.ts";
import { runCommandLine } from "./command_line.ts";
import { runProcess } from "./process.ts";

type Client = NonNullable<NonNullable<DevPlatformOptions["clients"]>["chat"]>;
type Sent = ReturnType<typeof sentOf>;

/** Processes send each other no redacted values. */
const sentOf = (port: number, { botToken, clients, gameKey, ...rest }: DevPlatformOptions) => ({
  port,
  rest,
  botToken: Redacted.value(botToken),
  clients: Object.entries(clients ?? {}).map(
    ([name, client]: [string, Client]) =>
      [name, { ...client, clientSecret: Redacted.value(client.clientSecret) }] as const,
  ),
  gameKey: gameKey && Redacted.value(gameKey),
});

const optionsOf = ({ rest, botToken, clients, gameKey }: Sent): DevPlatformOptions => ({
  ...rest,
  botToken: Redacted.make(botToken),
  clients: Object.fromEntries(
    clients.map(([name, client]) => [
      name,
      { ...client, clientSecret: Redacted.make(client.clientSecret) } satisfies Client,
    ]),
  ),
  gameKey: gameKey === undefined ? undefined : Redacted.make(gameKey),
});

const startApart: typeof startDevPlatform = Effect.fnUntraced(function* (port, options) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(import.meta.filename, ["dev-platform"], { execArgv: [] })),
    (started) => Effect.sync(() => started.kill()),
  );
  return yield* Effect.callback<string>((resume) => {
    child.once("message", (url) => resume(Effect.succeed(url as string)));
    child.send(sentOf(port, options));
  });
});

const runPlatform = (sent: Sent) =>
  startDevPlatform(sent.port, optionsOf(sent)).pipe(
    Effect.tap((url) => Effect.sync(() => process.send?.(url))),
    Effect.andThen(Effect.never),
    Effect.scoped,
    Effect.runFork,
  );

if (process.argv[2] === "dev-platform") {
  // A closed terminal interrupts every process of its group, and the server still asks the platform while it stops.
  process.on("SIGINT", () => {}).on("disconnect", () => process.exit());
  process.once("message", (sent) => runPlatform(sent as Sent));
} else {
  runProcess(Effect.provideService(runCommandLine, DevPlatformStart, startApart));
}
