import type { ChatId, GuildId, StoragePorts } from "@accountlink/core";
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
import { expectEqual } from "../expect.ts";
import { problemOf, roleSteps, settings, start, uniqueGuildId } from "../roles/role_steps.ts";
import { eraseUser, makeScopes, origin } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";

const tried = (chatId: ChatId): LogEntry => ({ is: "refused", chatId, gameId: null, why: "blocked" });

const on = { ...settings, logChannelId: "70" };

const line = (chatId: ChatId, text = "Ada 🎮"): LogLine => ({ text, chatIds: [chatId] });

/** The log of a new plan, whose operations have defaults. */
const newLogSteps = Effect.gen(function* () {
  const store = yield* GuildLogStore;
  const { global } = yield* makeScopes;
  const guildId = uniqueGuildId();
  const plan = yield* roleSteps(global, guildId);
  const place = { pid: global.pid, guildId };
  const node = uniqueText();
  const record = { position: 0, told: [], problems: [], message: null, closedAt: null };
  return {
    ...plan,
    remove: plan.store.remove({ ...origin, ...place, at: start }),
    scope: global,
    store,
    place,
    /** Returns the log if the node holds it. */
    holdLog: (holder = node, at = start, of: GuildId = guildId) =>
      Effect.map(
        store.hold({ node: holder, at, until: at + 1_000, limit: 1_000 }),
        (held) => held.find((each) => each.guildId === of) ?? null,
      ),
    add: (chatId: ChatId, at = start) => store.add(global.pid, tried(chatId), at),
    waiting: Effect.map(store.waiting(place, 2_000), (entries) => entries.map(({ entry }) => entry.chatId)),
    record: (parts: Partial<Parameters<typeof store.record>[0]> = {}) =>
      store.record({ ...place, node, at: start, ...record, ...parts }),
    post: (messageId: string, lines: ReadonlyArray<LogLine>, at = start) =>
      store.record({
        ...place,
        node,
        ...record,
        at,
        message: { channelId: "70", messageId, lines },
      }),
    edits: (at = start + 10) => store.dueEdits(place, at, 10),
  };
});

const cases: Cases<StoragePorts> = {
  "the log of a plan follows its channel, and tells only what happens from then on": function* () {
    const { put, remove, holdLog, record, scope, place, status } = yield* newLogSteps;
    yield* put(settings, 5);
    expectEqual(yield* holdLog(), null);
    yield* put({ ...on, state: "paused" }, 7);
    const held = { scope, guildId: place.guildId, channelId: "70", position: 7, closedAt: null };
    const nothing = { problems: [], problemAt: null, waitsSince: null, editAt: null };
    expectEqual(yield* holdLog(), { ...held, ...nothing });
    yield* record({ position: 8, problems: ["ü"], closedAt: start });
    expectEqual(yield* holdLog(), { ...held, ...nothing, position: 8, problems: ["ü"], closedAt: start });
    expectEqual((yield* status).problems, [
      { chatId: null, roleId: null, reason: "log_channel_closed", at: start },
    ]);
    yield* put({ ...on, logChannelId: "71" }, 20);
    expectEqual(yield* holdLog(), { ...held, ...nothing, channelId: "71", position: 8, problems: ["ü"] });
    yield* put(settings, 21);
    expectEqual(yield* holdLog(), null);
    yield* put(on, 30);
    expectEqual((yield* holdLog())?.position, 30);
    yield* remove;
    expectEqual(yield* holdLog(), null);
  },

  "a change of the log channel starts no sweep and keeps the problems of the plan": function* () {
    const { put, hold, settle, status } = yield* newLogSteps;
    yield* put(settings);
    const node = uniqueText();
    const before = yield* hold(node);
    const problem = problemOf(null, { reason: "many_would_lose" });
    yield* settle(node, [], { problems: [problem], revision: before?.revision ?? 0, sweep: "ended" });
    const { revision, sweep } = (yield* hold(node)) ?? {};
    yield* put(on);
    const after = yield* hold(node);
    expectEqual([after?.revision, after?.sweep, after?.logChannelId], [revision, sweep, "70"]);
    expectEqual((yield* status).problems, [problem]);
  },

  "entries wait in order for every log of the scope that is on, up to a maximum": function* () {
    const { put, add, holdLog, waiting, record, store, place } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* add(ada);
    yield* put(on);
    yield* add(ada, start + 1);
    yield* add(bob, start + 2);
    expectEqual(yield* waiting, [ada, bob]);
    expectEqual((yield* holdLog())?.waitsSince, start + 1);
    const [first] = yield* store.waiting(place, 1);
    expectEqual(first?.entry, tried(ada));
    yield* record({ told: [first?.id ?? 0] });
    expectEqual(yield* waiting, [bob]);
    for (let i = 0; i < mostWaiting; i++) yield* add(ada);
    expectEqual((yield* waiting).length, mostWaiting);
    yield* put(settings);
    expectEqual(yield* waiting, []);
  },

  "an erased user is taken out of entries and messages, which are due to be edited": function* () {
    const { put, add, holdLog, waiting, post, edits, store, place } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* put(on);
    yield* holdLog();
    yield* add(ada);
    yield* add(bob);
    yield* post("1", [line(ada), line(bob), { text: "3 more", chatIds: [] }]);
    yield* post("2", [line(bob)]);
    expectEqual(yield* edits(), []);
    const erased = Option.getOrThrow(yield* eraseUser(ada));
    expectEqual(erased.messages, 1);
    expectEqual(yield* waiting, [bob]);
    const [edit, ...others] = yield* edits(Number.MAX_SAFE_INTEGER);
    expectEqual(others, []);
    const left = [erasedLine, line(bob), { text: "3 more", chatIds: [] }];
    expectEqual([edit?.messageId, edit?.channelId, edit?.lines], ["1", "70", left]);
    if (edit === undefined) return;
    expectEqual((yield* holdLog())?.editAt, edit.erasedAt);

    yield* store.settleEdit(place, edit, edit.erasedAt + 50);
    expectEqual(yield* edits(edit.erasedAt + 49), []);
    expectEqual(yield* edits(edit.erasedAt + 50), [edit]);
    yield* store.settleEdit(place, { ...edit, lines: [line(ada)] }, null);
    expectEqual((yield* edits(edit.erasedAt + 50)).length, 1);
    yield* put(settings);
    expectEqual((yield* holdLog())?.channelId, null);
    yield* store.settleEdit(place, edit, null);
    expectEqual(yield* holdLog(), null);
    expectEqual(Option.getOrThrow(yield* eraseUser(ada)).messages, 0);
    yield* store.forgetUser(bob, start + 60);
    expectEqual(yield* waiting, []);
    expectEqual(
      (yield* edits(start + 60)).map(({ messageId }) => messageId),
      ["1", "2"],
    );
  },

  "a line that names an erased user is erased, also for its other users, and edited once": function* () {
    const { put, post, store, place } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* put(on);
    yield* post("1", [line(ada), { text: "both", chatIds: [ada, bob] }, { text: "3 more", chatIds: [] }]);
    yield* store.forgetUser(ada, start);
    yield* store.forgetUser(bob, start + 1);
    const edits = yield* store.dueEdits(place, start, 10);
    const left = [erasedLine, erasedLine, { text: "3 more", chatIds: [] }];
    expectEqual(
      edits.map(({ lines }) => lines),
      [left],
    );
    for (const edit of edits) {
      yield* store.settleEdit(place, edit, null);
      // Another node tried the same edit, and failed.
      yield* store.settleEdit(place, edit, start);
    }
    expectEqual(yield* store.dueEdits(place, start, 10), []);
  },

  "old messages are forgotten": function* () {
    const { put, holdLog, post } = yield* newLogSteps;
    const [ada, bob] = [uniqueChatId(), uniqueChatId()];
    yield* put(on);
    yield* holdLog();
    yield* post("1", [line(ada)]);
    yield* post("1", [line(ada)]);
    yield* post("2", [line(bob)], start + messageTime);
    expectEqual(Option.getOrThrow(yield* eraseUser(ada)).messages, 0);
    expectEqual(Option.getOrThrow(yield* eraseUser(bob)).messages, 1);
  },
};

/** Tests a `GuildLogStore` with the other storage ports. `storagePropertySuite` tests holds and panels. */
export const guildLogStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("GuildLogStore", options, cases);
