import { GameId, type StoragePorts } from "@accountlink/core";
import { Effect, Exit } from "effect";
import { eventually, expectEqual, expectThat, expectUnavailable } from "../expect.ts";
import { commit, idempotencySteps, newRequest, newWritesByName } from "../idempotency/idempotency_steps.ts";
import { newLinkSteps } from "../links/link_steps.ts";
import { ada, atOnce, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "../users/user_steps.ts";
import { newVerificationSteps } from "../verification_steps.ts";
import { Connection } from "./connection.ts";

const games = Array.from({ length: 60 }, (_, i) => GameId.make(`${1_000 + i}`));

export const outageWrites: Cases<StoragePorts | Connection> = {
  // A server that freezes may still store a write after its caller was told that the storage is unavailable.
  "a link write during an outage is stored whole or not at all": function* () {
    const connection = yield* Connection;
    const links = yield* newLinkSteps;
    yield* links.set(ada, chess);
    const [record, entries] = [yield* links.find(ada), yield* links.entries];
    yield* connection.break;
    yield* Effect.all([
      expectUnavailable("setGame", links.set(ada, poker, 1)),
      expectUnavailable("moveChat", links.move(ada, bob, 1)),
      expectUnavailable("removeGame", links.remove(ada, 1)),
      expectUnavailable("deleteScope", links.deleteAll(1)),
    ]).pipe(Effect.ensuring(connection.restore));
    const after = yield* eventually(links.find(ada));
    const written = (yield* links.entries).slice(entries.length).map(({ details }) => details["gameId"]);
    if (after?.gameId === poker) {
      expectEqual(after.linkVersion, 2);
      expectEqual(written, [poker]);
    } else {
      expectEqual(after, record);
      expectEqual(written, []);
    }
  },

  "verification writes during an outage change nothing, and succeed afterwards": function* () {
    const connection = yield* Connection;
    const steps = yield* newVerificationSteps;
    const session = yield* steps.create();
    const flow = yield* steps.proven(session.id);
    yield* connection.break;
    yield* Effect.all([
      expectUnavailable("complete", steps.complete(flow)),
      expectUnavailable("advance", steps.advance(session.id, "cancelled")),
      expectUnavailable("prove", steps.prove(flow, { step: "chat", chatId: bob })),
    ]).pipe(Effect.ensuring(connection.restore));
    expectEqual(yield* eventually(steps.find(session.id)), session);
    expectEqual(yield* steps.links.find(ada), null);
    expectEqual((yield* steps.complete(flow))._tag, "Completed");
  },

  "an erasure during an outage erases nothing, and succeeds afterwards": function* () {
    const connection = yield* Connection;
    const user = yield* newUserSteps;
    const { global } = yield* user.newScopes;
    yield* user.set(global, chess);
    const before = yield* user.find;
    yield* connection.break;
    yield* expectUnavailable("erase", user.erase([global.pid])).pipe(Effect.ensuring(connection.restore));
    expectEqual(yield* eventually(user.find), before);
    expectEqual((yield* user.erase([global.pid]))?.records, 1);
  },

  "a keyed write during an outage stores neither write nor answer, and succeeds afterwards": function* () {
    const connection = yield* Connection;
    const { find } = yield* idempotencySteps;
    const { writes, state } = yield* newWritesByName;
    const [request, before] = [newRequest(), yield* state];
    yield* connection.break;
    yield* expectUnavailable("moveChat", commit(request, writes.moveChat)).pipe(
      Effect.ensuring(connection.restore),
    );
    expectEqual(yield* eventually(state), before);
    expectEqual(yield* find(request), null);
    expectThat((yield* commit(request, writes.moveChat)) !== null, "the commit succeeds");
  },

  "all writes that succeeded before an outage are stored, without gaps in the audit log": function* () {
    const connection = yield* Connection;
    const links = yield* newLinkSteps;
    yield* links.set(ada, chess);
    const writes = games.map((gameId) => Effect.exit(links.set(ada, gameId)));
    const [before, , after] = yield* Effect.all(
      [Effect.all(writes.slice(0, 30), atOnce), connection.break, Effect.all(writes.slice(30), atOnce)],
      atOnce,
    ).pipe(Effect.ensuring(connection.restore));

    const entries = yield* eventually(links.entries);
    const stored = entries.map(({ details }) => details["gameId"]);
    for (const [i, exit] of [...before, ...after].entries()) {
      if (Exit.isSuccess(exit))
        expectThat(stored.includes(games[i]), `the answered write of ${games[i]} is stored`);
      else yield* expectUnavailable("setGame", exit);
    }
    expectEqual(
      entries.map(({ details }) => details["previousGameId"]),
      [null, ...stored.slice(0, -1)],
    );
    expectEqual((yield* links.find(ada))?.gameId, stored.at(-1) as GameId);
  },
};
