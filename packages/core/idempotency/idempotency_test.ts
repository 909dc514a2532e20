import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import { Conflict, LinkNotFound } from "../errors.ts";
import { KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { chatId, later, operator, services } from "../test_services.ts";
import { UserStore } from "../users/user_store.ts";
import { Idempotency, type NamedRequest } from "./idempotency.ts";
import { IdempotencyStore, keptOutcome } from "./idempotency_store.ts";

const ada = chatId("10001");

const requestOf = (parts: Partial<NamedRequest> = {}): NamedRequest => ({
  keyId: KeyId.make("Aa0Bb1Cc2Dd3"),
  idempotencyKey: "my request",
  content: { write: "a write", chatId: ada },
  ...parts,
});

/** Sends a request that keeps an answer. Returns the answer that is kept then. */
const send = (parts: Partial<NamedRequest> = {}, answer: object = { text: "answer", chatId: ada }) =>
  Idempotency.use(({ begin }) =>
    Effect.gen(function* () {
      const { keep, kept } = yield* begin(requestOf(parts));
      yield* Effect.catchTag(keep(answer), "Conflict", () => Effect.void);
      return Option.getOrNull(yield* kept);
    }).pipe(Effect.scoped),
  );

const [first, second] = [
  { text: "first", chatId: ada },
  { text: "second", chatId: ada },
];
const another = { content: { write: "another", chatId: ada } };
const erase = UserStore.use((users) =>
  users.erase({ ...operator, chatId: ada, at: 0, scopes: [], pseudonym: "erased", ownerHash: "hash" }),
);

const reused = new Conflict({ reason: "idempotency_key_reused" });
const userErased = new Conflict({ reason: "user_erased" });

const test = testWith(services);

test("the first answer is kept for 24 hours", function* () {
  assert.deepStrictEqual<unknown>(yield* send({}, first), first);
  assert.deepStrictEqual<unknown>(yield* later("23 hours")(send({}, second)), first);
  assert.deepStrictEqual(yield* Effect.flip(send(another)), reused);
  assert.deepStrictEqual<unknown>(yield* later("24 hours")(send({}, second)), second);
});

test("a request runs if an earlier one with its key failed, died or was interrupted", function* () {
  const begin = Idempotency.use((service) => service.begin(requestOf()));
  const ends = [Effect.fail(new LinkNotFound()), Effect.die("broken"), Effect.interrupt];
  for (const end of ends) yield* Effect.exit(Effect.scoped(Effect.andThen(begin, end)));
  assert.deepStrictEqual<unknown>(yield* send(another, first), first);
});

test("an erasure finds its user in all chat ID fields of an answer, and in no other fields", function* () {
  const sendOf = (answer: object) => send({ idempotencyKey: JSON.stringify(answer), content: {} }, answer);
  const theirs = [{ previousChatId: ada }, { data: { review: { chatId: "10002", otherChatId: ada } } }];
  const ofAnother = { chatId: "10002", gameId: ada };
  for (const answer of [...theirs, ofAnother]) yield* sendOf(answer);
  yield* erase;
  for (const answer of theirs) assert.deepStrictEqual(yield* Effect.flip(sendOf(answer)), userErased);
  assert.deepStrictEqual<unknown>(yield* sendOf(ofAnother), ofAnother);
});

test("keys and requests are stored as hashes, and a sid is encrypted", function* () {
  const secrets = yield* Secrets;
  const store = yield* IdempotencyStore;
  yield* Effect.gen(function* () {
    const { once, kept } = yield* Idempotency.use(({ begin }) => begin(requestOf()));
    const sealed = yield* secrets.sealAnswer(once.id, JSON.stringify({ sid: "secret" }));
    yield* store.keep(once, keptOutcome({ ...once, sealed }, { chatId: ada }));
    const stored = JSON.stringify(Option.getOrThrow(yield* store.find(once.id)));
    for (const text of ["my request", "a write", "secret"]) assert.notInclude(stored, text);
    assert.deepStrictEqual(yield* kept, Option.some({ result: { chatId: ada, sid: "secret" } }));
  }).pipe(Effect.scoped);
});

test("an answer that an earlier release encrypted as a whole is read", function* () {
  const { once, kept } = yield* Idempotency.use(({ begin }) => begin(requestOf()));
  const answer = { result: { chatId: ada, sid: "secret" } };
  const sealed = yield* (yield* Secrets).sealAnswer(once.id, JSON.stringify(answer));
  yield* (yield* IdempotencyStore).keep(once, { answer: sealed, chatIds: [ada] });
  assert.deepStrictEqual(yield* kept, Option.some(answer));
});
