/** A server that freezes, as a paused machine does, while many requests arrive. */
import { ChatId, LinkStore, Pid } from "@accountlink/core";
import { isProof, makePostgresDatabase, startPostgres, whyNoPostgres } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer, Logger, Redacted, Schedule } from "effect";
import { layerPostgres } from "./postgres.ts";

const missing = await whyNoPostgres();

/** How late a busy machine may be, in milliseconds. */
const slack = 1_500;

// It takes ten seconds. In the gate, session_test.ts has connections that fall silent.
test.skipIf(missing !== null || !isProof)(
  `40 lookups a second fail in time while Postgres is frozen for 8 seconds, and succeed a second later ${missing ?? ""}`,
  function* () {
    const server = yield* startPostgres();
    const { url } = yield* makePostgresDatabase(server);
    const logged: Array<unknown> = [];
    const logger = Logger.make(({ message }) => void logged.push(String(message)));
    yield* Effect.gen(function* () {
      const links = yield* LinkStore;
      const lookUp = links.findByChatId(Pid.make("pid_0123456789abcdef"), ChatId.make("10001"));
      yield* lookUp;
      const lookups: Array<{ readonly sent: number; readonly ended: number; readonly tag: string }> = [];
      const one = Effect.gen(function* () {
        const sent = performance.now();
        const { _tag: tag } = yield* Effect.exit(lookUp);
        lookups.push({ sent, ended: performance.now(), tag });
      });
      const sending = yield* Effect.forkChild(
        Effect.repeat(Effect.forkChild(one), Schedule.spaced("25 millis")),
      );
      yield* server.freeze;
      const frozen = performance.now();
      yield* Effect.sleep("8 seconds");
      yield* server.thaw;
      const thawed = performance.now();
      yield* Effect.repeat(Effect.sleep("10 millis"), {
        until: () => lookups.some(({ sent, tag }) => sent > thawed + 1_000 && tag === "Success"),
      });
      yield* Fiber.interrupt(sending);
      const during = lookups.filter(({ ended }) => ended > frozen && ended < thawed);
      expect(during.filter(({ tag }) => tag === "Failure").length).toBeGreaterThan(100);
      expect(Math.max(...lookups.map(({ sent, ended }) => ended - sent))).toBeLessThan(2_750 + slack);
      const first = lookups.find(({ ended, tag }) => ended > thawed && tag === "Success");
      expect((first?.ended ?? Infinity) - thawed).toBeLessThan(1_000 + slack);
      expect(logged).toEqual(["Postgres cannot be reached", "Postgres is reachable again"]);
    }).pipe(
      Effect.provide(Layer.provideMerge(layerPostgres({ url: Redacted.make(url) }), Logger.layer([logger]))),
    );
  },
  60_000,
);
