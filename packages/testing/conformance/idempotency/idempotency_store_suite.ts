import { LinkStore, type StoragePorts } from "@accountlink/core";
import { Effect, Equal, Exit, Option } from "effect";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, atOnce, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";
import {
  idempotencySteps,
  newAnswer,
  newRequest,
  newWritesByName,
  type WriteName,
} from "./idempotency_steps.ts";

const commits: Cases<StoragePorts> = {
  "commit keeps the answer until its end, for the content of the first request": function* () {
    const { commit, find } = yield* idempotencySteps;
    const [request, answer] = [newRequest(), newAnswer(ada)];
    expectEqual(yield* find(request), null);
    expectEqual(yield* commit(request, Effect.succeed("outcome"), answer), "outcome");
    const { fingerprint, endsAt } = request;
    const earlier = { fingerprint, endsAt, answer: answer.answer, isErased: false };
    const other = { ...request, fingerprint: "other", endsAt: 200 };
    expectEqual(yield* commit({ ...other, at: 99 }, Effect.succeed("again")), null);
    const { fingerprint: kept, ...found } = { ...(yield* find(request)) };
    expectEqual([kept, found.endsAt, found.answer], [fingerprint, earlier.endsAt, earlier.answer]);
    expectEqual(yield* commit({ ...other, at: 100 }, Effect.succeed("again")), "again");
    expectEqual((yield* find(request))?.fingerprint, "other");
  },

  "a failed write stores neither its key nor its answer": function* () {
    const { commit, find } = yield* idempotencySteps;
    const request = newRequest();
    for (const write of [Effect.fail("refused"), Effect.die("broken"), Effect.interrupt]) {
      const exit = yield* Effect.exit(commit(request, write));
      expectThat(Exit.isFailure(exit), "the commit fails");
      expectEqual(Exit.findErrorOption(exit), Exit.findErrorOption(yield* Effect.exit(write)));
      expectEqual(yield* find(request), null);
    }
    expectEqual(yield* commit(request, Effect.succeed("outcome")), "outcome");
  },

  "concurrent commits with one key: exactly one is stored, with its own write": function* () {
    const { commit, find } = yield* idempotencySteps;
    const { global } = yield* makeScopes;
    const { entries } = yield* linkSteps(global);
    const links = yield* LinkStore;
    const context = { ...origin, pid: global.pid, at: 1 };
    for (const chatId of [ada, cyd]) {
      const request = newRequest();
      const answers = Array.from({ length: 5 }, () => newAnswer());
      const set = links.setGame({ ...context, chatId, gameId: chess });
      const outcomes = yield* Effect.forEach(answers, (answer) => commit(request, set, answer), atOnce);
      const stored = answers.filter((_, i) => outcomes[i] !== null);
      expectEqual(stored.length, 1);
      expectEqual((yield* find(request))?.answer ?? null, stored[0]?.answer ?? null);
    }
    expectEqual((yield* entries).length, 2);
  },

  "setGameOnce stores the link with its result, once": function* () {
    const links = yield* LinkStore;
    const { setGameOnce } = links;
    if (setGameOnce === undefined) return;
    const { commit, find } = yield* idempotencySteps;
    const { global } = yield* makeScopes;
    const { entries, set } = yield* linkSteps(global);
    yield* set(ada, chess);
    const request = newRequest({ chatIds: [ada] });
    const write = { ...origin, pid: global.pid, at: 1, chatId: ada, gameId: poker };
    const racing = Array.from({ length: 5 }, () => setGameOnce(write, request));
    const outcomes = yield* Effect.all(racing, atOnce);
    expectEqual(pluck(outcomes.flatMap(Option.toArray), "previousGameId"), [chess]);
    expectEqual(JSON.parse((yield* find(request))?.answer ?? ""), {
      result: { chatId: ada, gameId: poker, previousGameId: chess, updated: true },
    });
    expectEqual((yield* entries).length, 2);
    expectEqual(yield* commit(request, Effect.succeed("again")), null);
  },

  "sweep deletes ended requests only": function* () {
    const { commit, find, sweep } = yield* idempotencySteps;
    const at = -5_000;
    const ended = newRequest({ at: at - 1, endsAt: at });
    const kept = newRequest({ at: at - 1, endsAt: at + 1 });
    for (const request of [ended, kept]) yield* commit(request, Effect.void);
    yield* sweep(at);
    expectEqual(yield* find(ended), null);
    expectThat((yield* find(kept)) !== null, "the other request is kept");
  },
};

const commitOf = (name: WriteName): Cases<StoragePorts> => ({
  [`commit of ${name}: stores the write and its answer together, once`]: function* () {
    const { commit, find } = yield* idempotencySteps;
    const { writes, state } = yield* newWritesByName;
    const [request, answer, before] = [newRequest(), newAnswer(), yield* state];
    const write: Effect.Effect<unknown, unknown> = writes[name];
    const size = name === "deleteScope" ? "bulk" : undefined;
    expectThat((yield* commit(request, write, answer, size)) !== null, "it is stored");
    const after = yield* state;
    expectThat(!Equal.equals(before, after), "the write is stored");
    expectEqual((yield* find(request))?.answer, answer.answer);
    expectEqual(yield* commit(request, write, answer, size), null);
    expectEqual<unknown>(yield* state, after);
  },
});

/**
 * Tests an `IdempotencyStore` with the writes of the other storage ports. The suite of `UserStore` tests how erasures
 * change stored requests.
 */
export const idempotencyStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("IdempotencyStore", options, {
    ...commits,
    ...commitOf("setGame"),
    ...commitOf("moveChat"),
    ...commitOf("removeGame"),
    ...commitOf("deleteScope"),
    ...commitOf("setReview"),
    ...commitOf("removeReview"),
    ...commitOf("createSession"),
    ...commitOf("advanceSession"),
  });
