import { ChatId, GameId, type StoragePorts, type VerificationSession } from "@accountlink/core";
import { isVoided } from "@accountlink/core/flow";
import { Effect } from "effect";
import { deadline } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { ada, atOnce, chess, poker, rummy } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps, type VerificationSteps } from "../verification_steps.ts";

const rounds = Array.from({ length: 20 }, (_, i) => i);
const crowd = Array.from({ length: 20 }, (_, i) => ChatId.make(`${50_000 + i}`));
const countOf = (results: ReadonlyArray<{ readonly _tag: string }>, tag: string): number =>
  results.filter(({ _tag }) => _tag === tag).length;

const enders = Effect.fnUntraced(function* (steps: VerificationSteps) {
  const { id } = yield* steps.create();
  const flows = yield* Effect.forEach(crowd.slice(0, 3), (chatId) =>
    Effect.map(steps.proven(id, chatId), (flow) => ({ flow, chatId })),
  );
  const each = flows.map(({ flow, chatId }) => {
    return [
      Effect.map(steps.complete(flow, { chatId, at: 1 }), ({ _tag }) => _tag === "Completed"),
      Effect.map(steps.advance(id, "cancelled", 1), (advanced) => advanced?.changed === true),
      Effect.map(steps.advance(id, "expired", deadline), (advanced) => advanced?.changed === true),
    ];
  });
  return { id, each };
});

export const races: Cases<StoragePorts> = {
  "concurrent complete, cancel and expire: the session ends exactly once": function* () {
    for (const round of rounds) {
      const steps = yield* newVerificationSteps;
      const { id, each } = yield* enders(steps);
      const inTurn = each.flatMap((three) => [...three.slice(round % 3), ...three.slice(0, round % 3)]);
      const won = yield* Effect.all(inTurn, atOnce);
      expectEqual(won.filter(Boolean).length, 1);
      const session = (yield* steps.find(id)) as VerificationSession;
      const { chatId, gameId } = session;
      const isLinked = chatId !== null && (yield* steps.links.find(chatId))?.gameId === gameId;
      expectEqual(isLinked, session.state === "completed");
      expectEqual((yield* steps.links.all).length, isLinked ? 1 : 0);
    }
  },

  "concurrent complete of one flow: exactly one succeeds": function* () {
    const steps = yield* newVerificationSteps;
    const flow = yield* steps.proven();
    const results = yield* Effect.forEach(crowd, () => steps.complete(flow), atOnce);
    expectEqual(countOf(results, "Completed"), 1);
    expectEqual(countOf(results, "FlowGone"), crowd.length - 1);
    expectEqual((yield* steps.entries).length, 1);
  },

  "concurrent complete of several flows of one chat user: exactly one succeeds": function* () {
    const games = crowd.map((_, i) => GameId.make(`${1_000 + i}`));
    for (const isLinked of [false, true]) {
      const steps = yield* newVerificationSteps;
      if (isLinked) yield* steps.links.set(ada, poker);
      const flows = yield* Effect.forEach(games, (gameId) =>
        Effect.map(steps.proven(null, ada, gameId), (flow) => ({ flow, gameId })),
      );
      const results = yield* Effect.forEach(
        flows,
        ({ flow, gameId }) => steps.complete(flow, { gameId }),
        atOnce,
      );
      expectEqual(countOf(results, "Completed"), 1);
      expectEqual(countOf(results, "LinkChanged"), games.length - 1);
      const winner = games.find((_, i) => results[i]?._tag === "Completed");
      expectEqual((yield* steps.links.find(ada))?.gameId, winner ?? null);
    }
  },

  "complete concurrent with setGame: one precedes the other": function* () {
    for (const round of rounds) {
      const steps = yield* newVerificationSteps;
      if (round % 2 === 0) yield* steps.links.set(ada, poker);
      const flow = yield* steps.proven();
      const [completed, set] = yield* Effect.all([steps.complete(flow), steps.links.set(ada, rummy)], atOnce);
      const before = round % 2 === 0 ? poker : null;
      expectEqual(set.previousGameId, completed._tag === "Completed" ? chess : before);
      expectThat(["Completed", "LinkChanged"].includes(completed._tag), "it completes or sees the other");
      expectEqual((yield* steps.links.find(ada))?.gameId, rummy);
    }
  },

  "complete concurrent with removeGame: one precedes the other": function* () {
    for (const _ of rounds) {
      const steps = yield* newVerificationSteps;
      yield* steps.links.set(ada, poker);
      const { id } = yield* steps.create();
      const flow = yield* steps.proven(id);
      const [completed] = yield* Effect.all([steps.complete(flow), steps.links.remove(ada)], atOnce);
      const session = yield* steps.find(id);
      expectEqual((yield* steps.links.find(ada))?.gameId, null);
      expectEqual(completed._tag, session?.state === "completed" ? "Completed" : "SessionOver");
      expectEqual(session?.state === "completed" ? null : session?.error, session?.error ?? null);
      expectThat(session?.state === "completed" || session?.state === "failed", "the session has ended");
    }
  },

  "complete concurrent with deleteScope: one precedes the other": function* () {
    for (const round of rounds) {
      const steps = yield* newVerificationSteps;
      if (round % 2 === 0) yield* steps.links.set(ada, poker);
      const { id } = yield* steps.create();
      const flow = yield* steps.proven(id);
      const [completed] = yield* Effect.all([steps.complete(flow), steps.links.deleteAll()], atOnce);
      expectEqual(yield* steps.links.find(ada), null);
      const session = yield* steps.find(id);
      expectEqual(completed._tag, session?.state === "completed" ? "Completed" : "SessionOver");
    }
  },

  "concurrent removals of several chat users of one session end it once without a deadlock": function* () {
    const steps = yield* newVerificationSteps;
    yield* Effect.forEach(crowd, (chatId) => steps.links.set(chatId, chess));
    const [one, other] = [yield* steps.create(), yield* steps.create()];
    yield* Effect.forEach(crowd, (chatId, i) =>
      Effect.forEach(i % 2 === 0 ? [one, other] : [other, one], ({ id }) => steps.proven(id, chatId)),
    );
    yield* Effect.forEach(crowd, (chatId) => steps.links.remove(chatId), atOnce);
    for (const { id } of [one, other]) {
      const session = yield* steps.find(id);
      expectEqual([session?.state, session?.change], ["failed", 2]);
    }
  },

  "prove concurrent with removeGame: the proof is voided, or was made after the removal": function* () {
    for (const _ of rounds) {
      const steps = yield* newVerificationSteps;
      yield* steps.links.set(ada, poker);
      const flow = yield* steps.begin();
      const prove = Effect.andThen(
        steps.prove(flow, { step: "chat", chatId: ada }),
        steps.prove(flow, { step: "game", game: { gameId: chess, gameProof: "oauth" } }),
      );
      yield* Effect.all([prove, steps.links.remove(ada)], atOnce);
      const found = yield* steps.findFlow(flow);
      const isSeen = found?.chatId === ada && found.gameId === chess;
      expectEqual(isSeen ? found.seenVersion : found && isVoided(found), isSeen ? 2 : true);
      expectEqual((yield* steps.complete(flow))._tag, isSeen ? "Completed" : "LinkChanged");
    }
  },
};
