import { LinkStore, type StoragePorts } from "@accountlink/core";
import type { FeedEvent } from "@accountlink/core/events";
import { erasedMark } from "@accountlink/core/users";
import { expectEqual, expectThat, pluck } from "../expect.ts";
import { ada, bob, chess, makeScopes, origin, poker } from "../scopes.ts";
import { newVerificationSteps } from "../sessions/verification_steps.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "../users/user_steps.ts";
import { eventSteps, happeningOf, newEventSteps } from "./event_steps.ts";

const source = "operator";

export const appends: Cases<StoragePorts> = {
  "an event has its own ID, the time of its write, and the source of its actor": function* () {
    const { pid, all } = yield* newEventSteps;
    const store = yield* LinkStore;
    const actors = [
      { type: "key", id: "Aa0Bb1Cc2Dd3" },
      { type: "user", id: ada },
      { type: "account", id: "acme", member: "100001" },
      { type: "operator", id: "ada" },
    ] as const;
    for (const [at, actor] of actors.entries()) {
      const gameId = at % 2 === 0 ? chess : poker;
      yield* store.setGame({ ...origin, actor, pid, at, chatId: ada, gameId } as Parameters<
        typeof store.setGame
      >[0]);
    }
    const events = yield* all;
    expectEqual(pluck(events, "at"), [0, 1, 2, 3]);
    expectEqual(
      events.map(({ data }) => ("source" in data ? data.source : null)),
      ["api", "user", "dashboard", "operator"],
    );
    expectThat(
      events.every(({ id }) => /^evt_[0-9A-HJKMNP-TV-Z]{26}$/.test(id)),
      "an ID is evt_ and a ULID",
    );
    expectEqual(new Set(events.map(({ id }) => id)).size, 4, "The number of IDs");
    expectEqual(yield* all, events, "The second read");
  },

  "an erasure removes the user from earlier events, and appends an event to each scope": function* () {
    const user = yield* newUserSteps;
    const { global, guild } = yield* makeScopes;
    const [one, other] = [yield* eventSteps(global), yield* eventSteps(guild)];
    yield* one.links.set(user.chatId, chess, 1);
    yield* one.links.set(bob, chess, 2);
    yield* one.links.move(user.chatId, ada, 3);
    yield* other.links.set(user.chatId, poker, 4);
    const before = yield* one.all;
    yield* user.eraseAll;
    const after = yield* one.all;
    expectEqual(after.slice(0, 3).map(placeOf), before.map(placeOf), "The places of earlier events");
    expectEqual(after.map(happeningOf), [
      [
        "link.set",
        {
          chatId: erasedMark,
          gameId: erasedMark,
          previousGameId: null,
          linkVersion: 1,
          lastVerifiedAt: 1,
          source,
        },
      ],
      [
        "link.set",
        { chatId: bob, gameId: chess, previousGameId: null, linkVersion: 1, lastVerifiedAt: 2, source },
      ],
      [
        "link.moved",
        {
          chatId: ada,
          previousChatId: erasedMark,
          gameId: chess,
          linkVersion: 1,
          lastVerifiedAt: 3,
          source,
        },
      ],
      ["user.erased", { chatId: user.chatId }],
    ]);
    expectEqual(pluck(yield* other.all, "type"), ["link.set", "user.erased"]);
    yield* one.links.set(user.chatId, poker, 8);
    yield* user.eraseAll;
    expectEqual(
      (yield* one.happened).filter(([type]) => type === "user.erased").map(([, data]) => data),
      [{ chatId: user.chatId }, { chatId: user.chatId }],
    );
  },

  "the event of a session that an erasure fails does not name the user": function* () {
    const steps = yield* newVerificationSteps;
    const user = yield* newUserSteps;
    const { all } = yield* eventSteps(steps.key.scope);
    yield* steps.create({ chatId: user.chatId, clientId: "player-7" });
    yield* user.eraseAll;
    const events = yield* all;
    expectEqual(pluck(events, "type"), ["session.failed", "user.erased"]);
    expectEqual(events[0]?.data as unknown, {
      clientId: erasedMark,
      chatId: erasedMark,
      gameId: null,
      linkChanged: false,
      previousGameId: null,
      error: "link_removed",
    });
  },
};

const placeOf = ({ id, at, type, position }: FeedEvent) => ({ id, at, type, position });
