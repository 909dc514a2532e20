import { assert, it, test } from "@accountlink/test-servers/effect";
import { aFixture, makeFlow, memoryWorld } from "@accountlink/testing";
import { Context, Effect, Stream } from "effect";
import { newLinks } from "../alts/suspect_store.ts";
import { guildLogEntries } from "../guild_log/guild_log_store.ts";
import { ChatId, GameId, GuildId, Pid } from "../ids.ts";
import { importedLinks, linkImports } from "../imports/link_imports.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyStore } from "../keys/key_store.ts";
import { type RecordIndex, Records, type RecordType, type Tx } from "../records/mod.ts";
import { previewMembers, previewUsers, rolePreviews } from "../roles/preview_store.ts";
import { noPlan } from "../roles/role_plan.ts";
import { verificationFlows } from "../sessions/verification_flow.ts";
import { recordTypes } from "../storage.ts";
import { operator } from "../test_services.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import { UserData } from "./user_data.ts";
import { UserExports } from "./user_export.ts";
import { userRecordsOf } from "./user_records.ts";

const ada = ChatId.make("100001");
const ben = ChatId.make("100002");
const wanted = Pid.make("pid_0123456789abcdefghij");

it("a user who downloads twice leaves a place to another user", async () => {
  const world = await memoryWorld(aFixture({}));
  const begun: Array<ChatId> = [];
  const program = Effect.gen(function* () {
    const { json } = yield* Effect.updateService(UserExports.make, UserData, (data) => ({
      ...data,
      findMost: (chatId: ChatId) =>
        Effect.suspend(() => {
          begun.push(chatId);
          return Effect.never;
        }),
    }));
    for (const chatId of [ada, ada, ben])
      yield* Effect.forkChild(json(chatId, 0), { startImmediately: true });
  });
  await world.run(program);
  await world.close();
  assert.deepEqual(begun, [ada, ben]);
});

it("an export has what flows, logs, imports and previews keep of a user, and not of others", async () => {
  const world = await memoryWorld(aFixture({ links: [{ chatId: ada, gameId: "1" }] }));
  const program = Effect.gen(function* () {
    const scope = yield* (yield* KeyStore).ensureScope("acme", { kind: "global" }, wanted);
    const { pid } = scope;
    const guildId = GuildId.make("70001");
    const [gameId, previousGameId] = [GameId.make("1"), GameId.make("2")];
    const counts = { inserted: 0, replaced: 1, unchanged: 0, kept: 0, removed: 0, restored: 0 };
    const example = { add: [], remove: ["9"], nickname: null };
    const records = Context.getUnsafe(yield* Effect.context(), Records)("UserStore");
    yield* records.write("find", "a user", function* (tx) {
      const proofs = { connections: [previousGameId], named: gameId };
      yield* tx.put(verificationFlows, makeFlow(scope, { chatId: ada, ...proofs }));
      yield* tx.put(newLinks, { pid, chatId: ada, gameId, at: 1, dueAt: 1 });
      const entry = { is: "refused", chatId: ada, gameId, why: "too_young" } as const;
      yield* tx.put(guildLogEntries, { logId: `${pid} ${guildId}`, id: 1, chatId: ada, entry, at: 1 });
      yield* tx.put(linkImports, {
        ...counts,
        id: "one",
        pid,
        name: "links.csv",
        importedAt: 1,
        endsAt: 1,
        entry: null,
        undoEntry: null,
        undoneAt: null,
      });
      const before = { previousGameId, previousLinkedAt: 1, previousVerifiedAt: 1, previousProvenAt: null };
      const imported = { importId: "one", chatId: ada, gameId, linkVersion: 2, verifiedAt: 2 };
      yield* tx.put(importedLinks, { ...imported, ...before, previousProof: null });
      const found = { preview: "one", roleId: "9", change: "took", kind: "linked", keptUntil: 1 } as const;
      yield* tx.put(previewMembers, { pid, guildId, chatId: ada, ...found });
      yield* tx.put(previewUsers, { pid, guildId, chatId: ada, keptUntil: 1 });
      yield* tx.put(rolePreviews, {
        pid,
        guildId,
        id: "one",
        preview: {
          id: "one",
          settings: noPlan,
          state: "done",
          done: 2,
          total: 2,
          roles: [],
          nicknames: { linked: 1, unlinked: 0 },
          unknown: 0,
          bypassed: 0,
          examples: { linked: [ada, ben].map((chatId) => ({ chatId, ...example })), unlinked: [] },
          names: [ada, ben].map((chatId) => ({ chatId, before: null, after: "Ada" })),
        },
        savedAt: 1,
        confirmedAt: null,
      });
    });
    return yield* Stream.mkString(yield* (yield* UserExports).json(ada, 0));
  });
  const text = await world.run(program);
  const at = "1970-01-01T00:00:00.001Z";
  assert.deepNestedInclude(JSON.parse(text), {
    "flows[0].connections": ["2"],
    "flows[0].named": "1",
    "newLinks[0].at": at,
    "logEntries[0].entry.why": "too_young",
    "imports[0].previousGameId": "2",
    "imports[0].previousLinkedAt": at,
    "previewedRoles[0].roleId": "9",
    "previews[0].examples": [{ chatId: ada, add: [], remove: ["9"], nickname: null }],
    "previews[0].names": [{ chatId: ada, before: null, after: "Ada" }],
  });
  assert.notInclude(text, ben);
  await world.close();
});

test("the data of a user has the records of every type with an index by user", function* () {
  const read = new Set<string>();
  const none = ({ name }: RecordType) => Effect.sync(() => (read.add(name), []));
  const list = ({ type }: RecordIndex) => none(type);
  const accounts = () => Effect.succeed(new Map());
  yield* userRecordsOf({ list, listAll: list, getAll: none, accounts } as unknown as Tx, ada, []);
  const missing = recordTypes.filter(({ name, indexes }) => "byUser" in indexes && !read.has(name));
  assert.deepEqual(missing, []);
});

it("what an owner had open during an erasure makes no account, neither theirs nor the operator's", async () => {
  const world = await memoryWorld(aFixture({}));
  const target = { kind: "global" } as const;
  const program = Effect.gen(function* () {
    const [store, keys, webhooks] = [yield* KeyStore, yield* ApiKeys, yield* Webhooks];
    const account = yield* store.ensureAccount({ name: `chat:${ada}`, chatId: ada, tier: "free" });
    yield* UserData.use((users) => users.erase(ada, operator));
    const left = yield* store.listAccounts();
    for (const write of [
      keys.create({ account, target }, operator),
      keys.scopeOf(account, target),
      webhooks.create({ account, target, url: "https://example.com/" }, operator),
    ]) {
      assert.deepInclude(yield* Effect.flip<unknown, unknown, never>(write), {
        _tag: "Conflict",
        reason: "account_suspended",
      });
    }
    assert.deepEqual(yield* store.listAccounts(), left);
    assert.isFalse(left.some(({ name }) => name === account.name));
  });
  await world.run(program);
  await world.close();
});
