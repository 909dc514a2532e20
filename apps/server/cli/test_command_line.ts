/**
 * For tests: the command line in this process. It prints into texts, and its folder is that of this
 * process.
 */
import { Console as NodeConsole } from "node:console";
import { Writable } from "node:stream";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Console, Effect, Layer, Sink, Stdio, Stream } from "effect";
import { exitCodeOf, runCommandLine } from "./command_line.ts";
import { Invocation } from "./invocation.ts";

/** How a run ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the words, with these variables and no others. */
export const runInProcess = async (
  words: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  input = "",
): Promise<Ended> => {
  const [stdout, stderr] = [new Printed(), new Printed()];
  const stdio = Stdio.layerTest({
    stdin: Stream.encodeText(Stream.succeed(input)),
    stdout: () =>
      Sink.forEachArray((parts) =>
        Effect.sync(() => {
          for (const part of parts) stdout.write(part);
        }),
      ),
  });
  const exit = await runCommandLine.pipe(
    Effect.provideService(Invocation, { words, environment }),
    Effect.provideService(Console.Console, new NodeConsole({ stdout, stderr })),
    Effect.provide([Layer.merge(NodeServices.layer, stdio), NodeCrypto.layerSecureRandom]),
    Effect.runPromiseExit,
  );
  return { code: exitCodeOf(exit), stdout: stdout.text, stderr: stderr.text };
};

/** A stream that keeps what is written. */
class Printed extends Writable {
  text = "";

  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.text += part.toString();
    done();
  }
}
