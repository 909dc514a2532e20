import type { ChatId, DataScope, Pid, StoragePorts } from "@accountlink/core";
import { LinkStore } from "@accountlink/core";
import { verificationFlows } from "@accountlink/core/flow";
import { uploads } from "@accountlink/core/imports";
import { KeyStore, keyRecords } from "@accountlink/core/keys";
import { type DayCount, dayCounts } from "@accountlink/core/limits";
import {
  accountId,
  type KeyPart,
  type RecordIndex,
  Records,
  type RecordType,
  type TxBody,
} from "@accountlink/core/records";
import { sessionBursts, verificationSessions } from "@accountlink/core/sessions";
import { recordTypes } from "@accountlink/core/storage";
import { Arbitrary, type Array as Arr, Context, Effect, Schema, Struct } from "effect";
import { hostileTexts, uniqueChatId, uniquePid, uniqueText, unstorableTexts } from "../mod.ts";
import { expectDefect, expectEqual } from "./expect.ts";
import { atOnce, eraseUser, makeScopes, origin } from "./scopes.ts";
import type { Cases } from "./suite.ts";
import { storeKey } from "./verification_steps.ts";

type Values = Readonly<Record<string, unknown>>;

/** A random record of a scope, about a chat user if its type has an index of users. */
const recordOf = Effect.fnUntraced(function* ({ fields, ofUser }: RecordType, pid: Pid, chatId: ChatId) {
  const sampled = yield* Arbitrary.sampleEffect(Arbitrary.schema(Schema.Struct(fields)), { count: 1 });
  const record: Record<string, unknown> = { ...(sampled[0] as Values) };
  for (const [field, type] of Object.entries(fields)) {
    for (const value of [uniqueText(), uniqueChatId()]) if (Schema.is(type)(value)) record[field] = value;
  }
  if ("pid" in fields) record["pid"] = pid;
  const [user] = ofUser?.index.either ?? ofUser?.index.fields ?? [];
  if (user !== undefined) record[user] = chatId;
  return record;
});

const valuesOf = (record: Values, fields: ReadonlyArray<string>) =>
  fields.map((field) => record[field.replace("-", "")] as KeyPart);

const isOnly = ({ only }: RecordIndex, record: Values): boolean => {
  if (only === undefined) return true;
  const value = record[only.field];
  return "has" in only ? (value as Values)[only.has] !== null : only.values.includes(String(value));
};

/** The records, which a storage provides besides its ports. */
const records = Effect.map(Effect.context(), (context) => Context.getUnsafe(context, Records)("RecordTypes"));

const read = <A>(body: TxBody<A>) => Effect.flatMap(records, (all) => all.read("find", body));

const get = (type: RecordType, record: Values) => read((tx) => tx.get(type, ...valuesOf(record, type.key)));

/** Finds a record by its key and by each of its indexes, and checks that all of them agree. */
const find = Effect.fnUntraced(function* (type: RecordType, record: Values) {
  const found = yield* get(type, record);
  for (const index of Object.values<RecordIndex>(type.indexes)) {
    const fields = [...(index.either?.slice(0, 1) ?? []), ...index.fields];
    const values = valuesOf((found ?? record) as Values, fields);
    if (values.includes(null as never)) continue;
    const listed = yield* read((tx) => tx.list(index, values));
    const isIn = found !== undefined && isOnly(index, found as Values);
    expectEqual(listed, isIn ? [found] : [], `${type.name}.${index.name}`);
  }
  return found;
});

const ofAccount = Effect.fnUntraced(function* (type: RecordType, account: string) {
  if (!type.isOfAccount) return [];
  const found = yield* read((tx) => tx.ofAccount(type, account));
  return found.map((record) => valuesOf(record as Values, type.key));
});

/** The types of records to which fields of others refer. */
const parents: ReadonlyArray<readonly [string, RecordType]> = [
  ["flow", verificationFlows],
  ["importId", uploads],
  ["keyId", keyRecords],
];

/** Names a new account in a record whose type names accounts, or the given one. */
const nameAccount = Effect.fnUntraced(function* (
  { fields }: RecordType,
  record: Record<string, unknown>,
  name = uniqueText(),
) {
  if (fields["account"] !== accountId) return;
  yield* KeyStore.use((keys) => keys.ensureAccount({ name, chatId: null, tier: "free" }));
  record["account"] = yield* read((tx) => tx.accountId(name));
});

/** The types of records whose key exists. */
const ofKeys: ReadonlySet<RecordType> = new Set([verificationSessions, sessionBursts]);

const exists = (found: object | undefined): boolean => found !== undefined;

const write = <A>(body: TxBody<A>) =>
  Effect.flatMap(records, (all) => all.write("write", uniqueText(), body));

const put = (type: RecordType, record: Values) =>
  Effect.as(
    write((tx) => tx.put(type, record)),
    record,
  );

/** The operations that store a record. Each text is tried by one of them, and each field by all. */
const stores = (type: RecordType, record: Values): Arr.NonEmptyReadonlyArray<TxBody<unknown>> => [
  (tx) => tx.put(type, record),
  (tx) => tx.create(type, record),
  (tx) => tx.claim(type, record),
  (tx) => tx.putAll(type, [record]),
  (tx) => tx.mergeAll(type, [record], {}),
];

/** A random record of a scope, to which its parents and its account exist. */
const newRecord = Effect.fnUntraced(function* (
  type: RecordType,
  scope: DataScope,
  chatId: ChatId,
  account?: string,
) {
  const record = yield* recordOf(type, scope.pid, chatId);
  for (const [field, parent] of parents) {
    if (field in type.fields)
      record[field] = (yield* put(parent, yield* recordOf(parent, scope.pid, chatId)))["id"];
  }
  if (ofKeys.has(type)) record["keyId"] = (yield* storeKey(scope)).id;
  yield* nameAccount(type, record, account);
  return record;
});

const keepsTexts = Effect.fnUntraced(function* (type: RecordType) {
  const indexed = Object.values(type.indexes).flatMap(({ either = [], fields }) => [...either, ...fields]);
  const sorted = new Set([...type.key, ...indexed]);
  // A text that is sorted is unique, and so short that a key of an engine has room for two.
  const valueOf = (field: string, text: string) =>
    sorted.has(field) ? `${uniqueText()}${text.slice(0, 800)}` : text;
  const record = yield* newRecord(type, (yield* makeScopes).global, uniqueChatId());
  const fieldsFor = (sample: unknown) =>
    Object.entries(type.fields).flatMap(([field, values]) => {
      const isName = values === accountId || parents.some(([name]) => name === field);
      return isName || !Schema.is(values)(sample) ? [] : [field];
    });
  const [free, lists] = [fieldsFor("'"), fieldsFor(["'", "'"])];
  for (const [at, field] of free.entries()) {
    for (const [index, text] of unstorableTexts.entries()) {
      const spoilt = { ...record, [field]: valueOf(field, text) };
      const ways = stores(type, spoilt);
      yield* expectDefect(write(ways[(at + index) % ways.length] ?? ways[0]));
      if (type.key.includes(field)) yield* expectDefect(get(type, spoilt));
    }
  }
  // Nothing has been stored.
  yield* write((tx) => tx.create(type, record));
  for (const text of free.length + lists.length === 0 ? [] : hostileTexts) {
    const texts = free.map((field) => [field, valueOf(field, text)] as const);
    const spoilt = {
      ...record,
      ...Object.fromEntries([...texts, ...lists.map((field) => [field, [text, text]] as const)]),
    };
    expectEqual(yield* get(type, yield* put(type, spoilt)), spoilt, type.name);
  }
});

/** The types of records whose scope exists. */
const ofScopes =
  /^(?:keys|sightings|alt_reviews|verification_sessions|verification_flows|webhooks|communities|role_plans)$/;

const refusesWrong = Effect.fnUntraced(function* (type: RecordType) {
  const { global } = yield* makeScopes;
  const record = yield* put(type, yield* newRecord(type, global, uniqueChatId()));
  const other: Values = yield* newRecord(type, global, uniqueChatId());
  const taken = { ...other, ...Struct.pick(record, type.key) };
  yield* expectDefect(write((tx) => tx.create(type, taken)));
  expectEqual<unknown>(yield* get(type, record), record, type.name);
  if (!ofScopes.test(type.name)) return;
  const lost = { ...other, pid: uniquePid() };
  yield* Effect.forEach(stores(type, lost), (store) => expectDefect(write(store)));
  expectEqual(yield* get(type, lost), undefined, type.name);
});

/** Adds 1 to two counts, which it reads by their keys, in a write that waits for no other one. */
const increment = (counts: ReadonlyArray<DayCount>) =>
  write(function* (tx) {
    const found = yield* tx.getAll(
      dayCounts,
      counts.map(({ endsAt, key }) => [endsAt, key]),
    );
    yield* tx.putAll(
      dayCounts,
      found.map((count) => ({ ...count, counted: count.counted + 1 })),
    );
  });

const ofEachType: Cases<StoragePorts> = Object.fromEntries(
  recordTypes.map((type) => [
    `${type.name}: a record is found by key and indexes, goes with its scope and its user, and outlives its account`,
    function* () {
      const links = yield* LinkStore;
      const { account, global, guild } = yield* makeScopes;
      const [user, other] = [uniqueChatId(), uniqueChatId()];
      const add = Effect.fnUntraced(function* (scope: DataScope, chatId: ChatId) {
        const name = chatId === user ? undefined : account.name;
        return yield* put(type, yield* newRecord(type, scope, chatId, name));
      });
      const all = [yield* add(global, user), yield* add(guild, user), yield* add(guild, other)];
      const left = () => Effect.forEach(all as ReadonlyArray<Values>, (record) => find(type, record));
      expectEqual(yield* left(), all, "after a write");
      yield* links.deleteScope({ ...origin, pid: global.pid, at: 0 });
      expectEqual(
        (yield* left()).map(exists),
        [!type.isOfScope, true, true],
        "after the deletion of the scope",
      );
      yield* eraseUser(user);
      const isLeft = type.ofUser === null;
      expectEqual(
        (yield* left()).map(exists),
        [isLeft && !type.isOfScope, isLeft, true],
        "after the erasure of the user",
      );
      const pseudonym = `ended:${uniqueText()}`;
      const before = yield* ofAccount(type, account.name);
      yield* KeyStore.use((keys) => keys.endAccount({ ...origin, name: account.name, pseudonym, at: 0 }));
      expectEqual(
        (yield* left()).map(exists),
        [isLeft && !type.isOfScope, isLeft, type.fields["account"] !== accountId],
        "after the end of the account",
      );
      const after = [yield* ofAccount(type, account.name), yield* ofAccount(type, pseudonym)];
      expectEqual(after, [[], before], "the records of the account");
    },
  ]),
);

/** What storages do with every type of records by themselves. `storageMoveSuite` tests that they are moved. */
export const recordTypeCases: Cases<StoragePorts> = {
  ...ofEachType,

  "what concurrent writes read by several keys holds until their ends": function* () {
    const counts = [uniqueText(), uniqueText()].map((key) => ({ key, endsAt: 1, counted: 0 }));
    for (const count of counts) yield* put(dayCounts, count);
    const all = Array.from({ length: 12 }, (_, index) =>
      increment(index % 2 === 0 ? counts : counts.toReversed()),
    );
    yield* Effect.all(all, { concurrency: "unbounded" });
    for (const count of counts) expectEqual(yield* find(dayCounts, count), { ...count, counted: 12 });
  },

  "a record of a taken key or of an unknown scope is a defect, and stores nothing": function* () {
    yield* Effect.forEach(recordTypes, refusesWrong, atOnce);
  },

  "fields keep every Unicode text; unstorable text is a defect": function* () {
    yield* Effect.forEach(recordTypes, keepsTexts, atOnce);
  },
};
