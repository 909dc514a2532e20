/** For tests: runs the command line in this process, in the current folder. */
import { Console as NodeConsole } from "node:console";
import { createServer } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { withTestControl } from "@accountlink/dev-platforms/test_control";
import { HttpSettings, makeWebHandler, type WebHandlerServices } from "@accountlink/http";
import { makePages, type PageServices, PageSettings } from "@accountlink/pages";
import { ChatSettings, LogCouriers, layerPlanNotices, layerReminders } from "@accountlink/pages/chat";
import { docs } from "@accountlink/pages/docs";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { getRequestListener } from "@hono/node-server";
import { Console, Context, Effect, Fiber, Layer, Metric, Sink, Stdio, Stream } from "effect";
import { givenConfig, Invocation } from "../cli/invocation.ts";
import type { Config } from "../config/config.ts";
import { chatSettingsOf, pageSettingsOf } from "../config/page_settings.ts";
import { resolveConfig } from "../config/resolved_config.ts";
import type { Port } from "../listening/port.ts";
import { loggingLayer } from "../telemetry/logging.ts";
import { exitCodeOf, runCommandLine } from "./command_line.ts";
import { startService } from "./serve/server.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Interrupts the command as a signal does, and returns its exit code. */
  readonly stop: () => Promise<number>;
  readonly ended: Promise<number>;
}

/** A secret of a deployment, made of one letter. */
export const secretOf = (letter: string): string => Buffer.alloc(32, letter).toString("base64");

/** The variables of a storage that is not embedded. */
export const storageAt = (url: string, secret: string = secretOf("s")) => ({
  ACCOUNTLINK_STORAGE: url.startsWith("redis") ? "redis" : "postgres",
  ACCOUNTLINK_DATABASE_URL: url,
  ACCOUNTLINK_SECRET: secret,
});

/** Starts a command with only these environment variables, and with metrics of its own. */
export const startInProcess = (
  words: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  input = "",
): RunningCommand => startProgram(runCommandLine, { words, environment }, input);

/** Starts the services of `serve` behind a web handler. */
export const startWebInProcess = (environment: Readonly<Record<string, string>>): RunningCommand =>
  startProgram(runWebServer, { words: [], environment }, "");

const startProgram = <E>(
  program: Effect.Effect<unknown, E, Effect.Services<typeof runCommandLine>>,
  invocation: typeof Invocation.Service,
  input: string,
): RunningCommand => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdio = Stdio.layerTest({
    stdin: Stream.encodeText(Stream.succeed(input)),
    stdout: () =>
      Sink.forEachArray((parts) =>
        Effect.sync(() => {
          for (const part of parts) stdout.write(part);
        }),
      ),
  });
  const fiber = program.pipe(
    Effect.provideService(Invocation, invocation),
    Effect.provideService(Console.Console, new NodeConsole({ stdout, stderr })),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    withTestControl,
    Effect.provide([Layer.merge(NodeServices.layer, stdio), NodeCrypto.layerSecureRandom]),
    Effect.runFork,
  );
  const ended = Effect.runPromise(Fiber.await(fiber)).then((exit) => {
    for (const stream of [stdout, stderr]) stream.end();
    return exitCodeOf(exit);
  });
  const stop = () => {
    Effect.runFork(Fiber.interrupt(fiber));
    return ended;
  };
  return { stdout, stderr, stop, ended };
};

export const runInProcess = async (...invocation: Parameters<typeof startInProcess>): Promise<Ended> => {
  const { ended, ...printed } = startInProcess(...invocation);
  const [code, stdout, stderr] = await Promise.all([ended, text(printed.stdout), text(printed.stderr)]);
  return { code, stdout, stderr };
};

/** Collects the text of streams. Returns a function that returns the text so far. */
export const printedBy = (...streams: ReadonlyArray<Readable>): (() => string) => {
  let printed = "";
  for (const stream of streams) stream.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  return () => printed;
};

/** Waits until a server listens. Returns its URL, and a function that returns what the server has printed so far. */
export const listening = async ({
  stdout,
  stderr,
  ended,
}: Pick<RunningCommand, "stdout" | "stderr"> & { readonly ended: Promise<number | null> }) => {
  const output = printedBy(stdout, stderr);
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /^listening on (\S+)$/m.exec(output())?.[1];
      if (found === undefined) return;
      stdout.off("data", look);
      resolve(found);
    };
    stdout.on("data", look);
    ended
      .then((code) => {
        throw new Error(`Cannot start the server: it ended with code ${code} and printed\n${output()}`);
      })
      .catch(reject);
  });
  return { url, output };
};

/** Serves like `serve`, but through a web handler, as an embedder with its own HTTP server would. */
const runWebServer = Effect.gen(function* () {
  const config = yield* givenConfig;
  process.exitCode = 0;
  const resolved = yield* resolveConfig(config);
  return yield* startService(resolved, ({ port, publicUrl }) => serveWeb(config, port, publicUrl)).pipe(
    Effect.scoped,
    Effect.provide(loggingLayer(config)),
  );
});

const serveWeb = Effect.fnUntraced(function* (config: Config, port: Port, publicUrl: string) {
  const services = yield* Effect.context<WebHandlerServices | PageServices>();
  const withPages = services.pipe(
    Context.add(PageSettings, pageSettingsOf(config)),
    Context.add(ChatSettings, chatSettingsOf(config)),
  );
  const web = makeWebHandler(Layer.succeedContext(withPages), {
    pages: makePages,
    publicUrl,
    clientAddress: "given",
    trustedProxies: config.ACCOUNTLINK_TRUSTED_PROXIES.map(String),
    metrics: true,
    docs,
  });
  const settings = Layer.succeed(HttpSettings, { publicUrl, trustedProxies: [] });
  yield* Layer.build(
    Layer.provide(Layer.mergeAll(LogCouriers.layer, layerReminders, layerPlanNotices), settings),
  );
  yield* Effect.addFinalizer(() => Effect.promise(web.close));
  const listener = getRequestListener(
    (request, { incoming }) => web.fetch(request, { clientAddress: incoming.socket.remoteAddress }),
    { overrideGlobalObjects: false },
  );
  const node = createServer((request, response) => void listener(request, response));
  yield* Effect.acquireRelease(port.open(node), () => Effect.sync(() => node.close()));
});
