import { LinkStore, type StoragePorts } from "@accountlink/core";
import type { EarlierRequest, Once } from "@accountlink/core/idempotency";
import { Effect, Equal, Option, Result } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, atOnce, bob, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import {
  commit,
  idempotencySteps,
  newAnswer,
  newRequest,
  newWritesByName,
  type WriteName,
} from "./idempotency_steps.ts";

const keptIn = (found: EarlierRequest | null) =>
  JSON.parse(found?.answer ?? "null") as { readonly given?: string };

const keeps: Cases<StoragePorts> = {
  "keep stores the answer until its end, for the content of the first request": function* () {
    const { keep, find } = yield* idempotencySteps;
    const [request, answer] = [newRequest(), newAnswer(ada)];
    expectEqual(yield* find(request), null);
    expectThat(yield* keep(request, answer), "the key is free");
    const other = { ...request, fingerprint: "other", endsAt: 200 };
    expectThat(!(yield* keep({ ...other, at: 99 })), "the key is taken");
    const found = yield* find(request);
    expectEqual([found?.fingerprint, found?.endsAt, found?.answer], ["content", 100, answer.answer]);
    expectThat(yield* keep({ ...other, at: 100 }), "the key is free again");
    expectEqual((yield* find(request))?.fingerprint, "other");
  },

  "a refused write stores neither its key nor its answer": function* () {
    const { keep, find } = yield* idempotencySteps;
    const { global } = yield* makeScopes;
    const links = yield* LinkStore;
    const request = newRequest();
    const write = { ...origin, pid: global.pid, at: 1, chatId: ada, once: request };
    expectEqual(yield* links.removeGame(write), Option.none());
    expectEqual(yield* find(request), null);
    expectThat(yield* keep(request), "the key is free");
  },

  "concurrent writes with one key: exactly one is stored, with its own answer": function* () {
    const { find } = yield* idempotencySteps;
    const { global } = yield* makeScopes;
    const { entries } = yield* linkSteps(global);
    const links = yield* LinkStore;
    const context = { ...origin, pid: global.pid, at: 1 };
    for (const chatId of [ada, cyd]) {
      const request = newRequest();
      const givens = Array.from({ length: 5 }, (_, i) => `given ${i}`);
      const move = (sealed: string) => (once?: Once) =>
        links.moveChat({ ...context, oldChatId: chatId, newChatId: bob, once: once && { ...once, sealed } });
      yield* links.setGame({ ...context, chatId, gameId: chess });
      const outcomes = yield* Effect.forEach(givens, (given) => commit(request, move(given)), atOnce);
      const stored = givens.filter((_, i) => outcomes[i] !== null);
      expectEqual(stored.length, 1);
      expectEqual(keptIn(yield* find(request)).given, stored[0]);
      yield* links.removeGame({ ...context, chatId: bob });
    }
    expectEqual((yield* entries).length, 6);
  },

  "concurrent setGame with one key stores the link with its result, once": function* () {
    const links = yield* LinkStore;
    const { find } = yield* idempotencySteps;
    const { global } = yield* makeScopes;
    const { entries, set } = yield* linkSteps(global);
    yield* set(ada, chess);
    const request = newRequest({ chatIds: [ada] });
    const write = { ...origin, pid: global.pid, at: 1, chatId: ada, gameId: poker };
    const racing = Array.from({ length: 5 }, () => Effect.result(links.setGame({ ...write, once: request })));
    const outcomes = yield* Effect.all(racing, atOnce);
    expectEqual(
      outcomes.flatMap((outcome) => (Result.isSuccess(outcome) ? [outcome.success.previousGameId] : [])),
      [chess],
    );
    expectEqual<unknown>(keptIn(yield* find(request)), {
      result: { chatId: ada, gameId: poker, previousGameId: chess },
    });
    expectEqual((yield* entries).length, 2);
  },

  "setGame takes the key of a request whose time is over": function* () {
    const links = yield* LinkStore;
    const { keep, find } = yield* idempotencySteps;
    const { global } = yield* makeScopes;
    const request = newRequest();
    yield* keep(request);
    const write = { ...origin, pid: global.pid, at: 100, chatId: ada, gameId: chess };
    const set = (once?: Once) => links.setGame({ ...write, once });
    expectThat((yield* commit({ ...request, at: 100, endsAt: 200 }, set)) !== null, "the link is set");
    expectEqual((yield* find(request))?.endsAt, 200);
  },

  "sweep deletes ended requests only": function* () {
    const { keep, find, sweep } = yield* idempotencySteps;
    const at = -5_000;
    const ended = newRequest({ at: at - 1, endsAt: at });
    const kept = newRequest({ at: at - 1, endsAt: at + 1 });
    for (const request of [ended, kept]) yield* keep(request);
    yield* sweep(at);
    expectEqual(yield* find(ended), null);
    expectThat((yield* find(kept)) !== null, "the other request is kept");
  },
};

const keyed = (name: WriteName): Cases<StoragePorts> => ({
  [`${name} stores its write and its outcome together, once`]: function* () {
    const { find } = yield* idempotencySteps;
    const { writes, kept, state } = yield* newWritesByName;
    const [request, before] = [newRequest(), yield* state];
    const write = writes[name] as (typeof writes)["setGame"];
    expectThat((yield* commit(request, write)) !== null, "it is stored");
    const after = yield* state;
    expectThat(!Equal.equals(before, after), "the write is stored");
    expectEqual<unknown>(keptIn(yield* find(request)), { result: kept[name] });
    expectEqual(yield* commit(request, write), null);
    expectEqual<unknown>(yield* state, after);
  },
});

/** The cases of `UserStore` test how erasures change stored requests. */
export const idempotencyCases: Cases<StoragePorts> = {
  ...keeps,
  ...keyed("setGame"),
  ...keyed("moveChat"),
  ...keyed("removeGame"),
  ...keyed("deleteScope"),
  ...keyed("setReview"),
  ...keyed("removeReview"),
  ...keyed("createSession"),
  ...keyed("advanceSession"),
};
