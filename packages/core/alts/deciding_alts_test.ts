import { assert, test } from "@accountlink/test-servers/effect";
import { Duration, Effect, Fiber, Layer, Option, Semaphore } from "effect";
import { TestClock } from "effect/testing";
import * as FastCheck from "fast-check";
import { PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GuildGuard, GuildManagers } from "../platforms/guild_guard.ts";
import { guildId } from "../test_services.ts";
import { maxListedAlts, type WeighedAlt } from "./alt_candidates.ts";
import { makeDecidingAlts, type UnknownMembers } from "./deciding_alts.ts";

const chat = (id: number) => String(20_001 + id) as ChatId;

const alt = (id: number, weight: number): WeighedAlt => ({
  chatId: chat(id),
  gameId: null,
  weight,
  evidence: [{ kind: "address", weight, lastSeenAt: 0, chatUsers: 2 }],
  freshness: 1_000 - id,
});

/** 150 candidates, the most recently seen first. Each candidate weighs more than the one before. */
const candidates = Array.from({ length: 150 }, (_, id) => alt(id, id / 1_000));

/** Answers whether a chat user is a member; null for a failure of the platform. */
type Answer = (chatId: ChatId) => Effect.Effect<boolean | null>;

/** A platform that answers this many questions a second, one after the other. */
const atRate = (perSecond: number, isMember: (chatId: ChatId) => boolean | null): Answer => {
  const turn = Semaphore.makeUnsafe(1);
  return (chatId) =>
    turn.withPermits(1)(Effect.as(Effect.sleep(Duration.millis(1_000 / perSecond)), isMember(chatId)));
};

/** Runs `makeDecidingAlts` in virtual time. Returns the result, the chat users asked about, and the duration. */
const decide = Effect.fnUntraced(function* (
  alts: ReadonlyArray<WeighedAlt>,
  answer: Answer,
  unknownMembers: UnknownMembers = "refuse",
) {
  const asked: Array<ChatId> = [];
  const platform = Layer.mock(ChatPlatform)({
    findMembers: () => Effect.succeed(new Map()),
    findMember: (_, chatId) =>
      Effect.suspend(() => {
        asked.push(chatId);
        return Effect.flatMap(answer(chatId), (isMember) =>
          isMember === null
            ? new PlatformUnavailable({ operation: "ChatPlatform.findMember" })
            : Effect.succeed(
                isMember ? Option.some({ nickname: null, joined: null, roles: [] }) : Option.none(),
              ),
        );
      }),
  });
  const search = Effect.flatMap(makeDecidingAlts, (of) => of(alts, guildId, unknownMembers)).pipe(
    Effect.provide(GuildGuard.layer.pipe(Layer.provide([platform, Layer.mock(GuildManagers)({})]))),
  );
  const running = yield* Effect.forkChild(Effect.timed(Effect.result(search)), { startImmediately: true });
  for (let step = 0; step < 600 && running.pollUnsafe() === undefined; step++)
    yield* TestClock.adjust("20 millis");
  const [duration, result] = yield* Fiber.join(running);
  return { result, asked, took: Duration.toMillis(duration) };
});

const idsOf = (alts: ReadonlyArray<WeighedAlt>) => alts.map(({ chatId }) => chatId);

test("a search asks only about the most recent and heaviest candidates if all are members", function* () {
  const { result, asked, took } = yield* decide(
    candidates,
    atRate(50, () => true),
  );
  assert.strictEqual(result._tag, "Success");
  if (result._tag === "Failure") return;
  assert.deepStrictEqual(idsOf(result.success.listed), idsOf(candidates.slice(0, maxListedAlts)));
  assert.strictEqual(result.success.heaviest?.chatId, chat(149));
  assert.isAtMost(asked.length, 29);
  assert.isAtMost(took, 1_000);
});

test("a search continues for several rounds if the platform is slow", function* () {
  const { result, took } = yield* decide(
    candidates,
    atRate(7, () => true),
  );
  assert.strictEqual(result._tag, "Success");
  assert.isAbove(took, 2_000);
  assert.isAtMost(took, 10_000);
});

test("if the platform does not answer, a search fails or, on request, leaves out candidates", function* () {
  const silent = (): Effect.Effect<never> => Effect.never;
  const refused = yield* decide(candidates, silent);
  assert.deepStrictEqual([refused.result._tag, refused.took], ["Failure", 2_000]);
  const left = yield* decide(candidates, silent, "leave out");
  assert.deepStrictEqual(left.result._tag === "Success" && left.result.success.unknown, 150);

  const failing = atRate(1_000, () => null);
  assert.strictEqual((yield* decide(candidates, failing)).result._tag, "Failure");
  const { result } = yield* decide(candidates, failing, "leave out");
  assert.deepStrictEqual(result._tag === "Success" && result.success.unknown, 150);

  const heaviestFails = atRate(1_000, (id) => (id === chat(149) ? null : true));
  const without = yield* decide(candidates, heaviestFails, "leave out");
  const found = without.result._tag === "Success" ? without.result.success : null;
  assert.deepStrictEqual([found?.unknown, found?.heaviest?.chatId], [1, chat(148)]);
  assert.strictEqual((yield* decide(candidates, heaviestFails)).result._tag, "Failure");
});

test("a search finds the same candidates as asking about everybody", function* () {
  const worlds = FastCheck.tuple(
    FastCheck.uniqueArray(FastCheck.nat(90), { maxLength: 90, size: "max" }),
    FastCheck.array(FastCheck.nat(5), { minLength: 91, maxLength: 91 }),
    FastCheck.array(FastCheck.boolean(), { minLength: 91, maxLength: 91 }),
  );
  for (const [ids, weights, memberships] of FastCheck.sample(worlds, 50)) {
    const alts = ids.map((id) => alt(id, (weights[id] ?? 0) / 5));
    const isMember = (chatId: ChatId) => memberships[Number(chatId) - 20_001] ?? false;
    const members = alts
      .filter(({ chatId }) => isMember(chatId))
      .toSorted((one, other) => other.freshness - one.freshness);
    const { result } = yield* decide(alts, (chatId) => Effect.succeed(isMember(chatId)));
    assert.deepStrictEqual(result._tag === "Success" && result.success, {
      listed: members.slice(0, maxListedAlts),
      heaviest: members.toSorted((one, other) => other.weight - one.weight)[0] ?? null,
      unknown: 0,
    });
  }
});
