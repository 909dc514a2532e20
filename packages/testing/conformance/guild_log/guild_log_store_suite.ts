import { type ChatId, GameId, type StoragePorts } from "@accountlink/core";
import {
  erasedLine,
  GuildLogStore,
  type LogEntry,
  type LogLine,
  messageTime,
  mostWaiting,
} from "@accountlink/core/guild_log";
import { Effect, Option } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { newCommunitySteps } from "../communities/community_steps.ts";
import { expectEqual, pluck } from "../expect.ts";
import { listed, problemOf, start } from "../roles/role_steps.ts";
import { eraseUser } from "../scopes.ts";
import type { Cases } from "../suite.ts";

const line = (...chatIds: ReadonlyArray<ChatId>): LogLine => ({ text: "Ada 🎮", chatIds });

/** The log of a new community, whose operations have defaults. */
const newLogSteps = Effect.gen(function* () {
  const store = yield* GuildLogStore;
  const steps = yield* newCommunitySteps();
  const { place } = steps;
  const record = { node: uniqueText(), position: 0, told: [], problems: [], closedAt: null };
  return {
    ...steps,
    store,
    post: (messageId: string, lines: ReadonlyArray<LogLine>, at = start) =>
      store.record({ ...place, ...record, at, message: { channelId: "70", messageId, lines } }),
  };
});

/** `storagePropertySuite` tests which log is held, which entries wait, and how messages are stored, erased and edited. */
export const guildLogCases: Cases<StoragePorts> = {
  "a change of the log channel starts no sweep and keeps the problems of the plan": function* () {
    const { put, hold, settle, status, setLog } = yield* newLogSteps;
    yield* put();
    const node = uniqueText();
    const before = yield* hold(node);
    const problem = problemOf(null, { reason: "many_would_lose" });
    yield* settle(node, [], { problems: [problem], revision: before?.revision ?? 0, sweep: "ended" });
    const held = yield* hold(node);
    yield* setLog("70");
    expectEqual(yield* hold(node), held);
    expectEqual((yield* status).problems, [listed(problem)]);
  },

  "at most a thousand entries wait, and likely alts besides": function* () {
    const { setLog, store, place } = yield* newLogSteps;
    yield* setLog("70");
    const chatId = uniqueChatId();
    const tried: LogEntry = { is: "refused", chatId, gameId: null, why: "blocked" };
    const alike: LogEntry = { is: "alike", chatId, gameId: GameId.make("1"), level: "HIGH" };
    const most = mostWaiting(tried);
    const added = Array.from({ length: most + 1 }, () => store.add(place.pid, tried, start));
    yield* Effect.all(added, { concurrency: 20, discard: true });
    yield* store.add(place.pid, alike, start);
    const waiting = yield* store.waiting(place, 2 * most);
    expectEqual([waiting.length, waiting.at(-1)?.entry], [most + 1, alike]);
  },

  "a line that names an erased user is erased, also for its other users, and edited once": function* () {
    const { setLog, post, store, place } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* setLog("70");
    yield* post("1", [line(ada), line(ada, bob), line()]);
    yield* store.forgetUser(ada, start);
    yield* store.forgetUser(bob, start + 1);
    const edits = yield* store.dueEdits(place, start, 10);
    expectEqual(pluck(edits, "lines"), [[erasedLine, erasedLine, line()]]);
    for (const edit of edits) {
      // Another user was erased after these lines were read.
      yield* store.settleEdit(place, { ...edit, lines: [line(ada)] }, null);
      expectEqual(yield* store.dueEdits(place, start, 10), edits);
      yield* store.settleEdit(place, edit, null);
      // Another node tried the same edit, and failed.
      yield* store.settleEdit(place, edit, start);
    }
    expectEqual(yield* store.dueEdits(place, start, 10), []);
    const holdLog = Effect.map(
      store.hold({ node: uniqueText(), at: start, until: start + 1_000, limit: 1_000_000 }),
      (held) => held.filter(({ guildId }) => guildId === place.guildId),
    );
    expectEqual(pluck(yield* holdLog, "editAt"), [null]);
    yield* setLog(null);
    expectEqual(yield* holdLog, []);
  },

  "old messages are forgotten": function* () {
    const { setLog, post } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* setLog("70");
    yield* post("1", [line(ada)]);
    yield* post("2", [line(bob)], start + messageTime);
    expectEqual(Option.getOrThrow(yield* eraseUser(ada)).messages, 0);
    expectEqual(Option.getOrThrow(yield* eraseUser(bob)).messages, 1);
  },

  "old messages of a log that is off are forgotten": function* () {
    const { setLog, post, store } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* setLog("70");
    // Older than the messages of other logs in the storage.
    yield* post("1", [line(ada)], -messageTime - 10);
    yield* post("2", [line(bob)], -messageTime - 9);
    yield* setLog(null);
    yield* store.forget(-10);
    expectEqual(Option.getOrThrow(yield* eraseUser(ada)).messages, 0);
    expectEqual(Option.getOrThrow(yield* eraseUser(bob)).messages, 1);
  },
};
