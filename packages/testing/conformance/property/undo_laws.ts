/** The law of undo for what a community has: links, blocks, reviews, rules and settings. */
import type { ChatId, GameId } from "@accountlink/core";
import type { BlockedUser } from "@accountlink/core/admission";
import { isOrWasLinked, type LinkRecord } from "@accountlink/core/links";
import { noPlan, type PlanSettings } from "@accountlink/core/roles";
import { Effect, Option, Struct } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, chess, dan, poker } from "../scopes.ts";
import { accountUndoLaws } from "./account_undo_laws.ts";
import { hashed, hashOf } from "./link_operations.ts";
import { type World, worldOf } from "./operation.ts";
import { type CommandSubjects, nth } from "./subjects.ts";
import { at, type Law, law, type Part, type Step } from "./undo_law.ts";

const { constantFrom, record, subarray, uniqueArray } = FastCheck;

const chatId = constantFrom(ada, bob, dan);
const gameId = constantFrom(chess, poker);

const orRefused = <A>(write: Step<A>): Step<A | "refused"> =>
  Effect.catchTag(write, "Conflict", () => Effect.succeed("refused" as const));

const blocked = (chat: ChatId | null, game: GameId | null) => ({ chatId: chat, gameId: game }) as BlockedUser;

const fileOf = ({ pid }: World) => ({ id: `law ${pid}`, name: "law.csv", isUndoable: true });

const rule = { roleId: "1", when: { is: "linked" }, nickname: null } as const;

const settings: FastCheck.Arbitrary<PlanSettings> = record({
  rules: constantFrom([], [rule]),
  unlinked: constantFrom("keep" as const, "remove" as const),
  state: constantFrom("on" as const, "paused" as const),
}).map((chosen) => ({ ...noPlan, ...chosen }));

/** Acts by what people call them. */
export const undoLaws = {
  ...accountUndoLaws,

  import: law({
    input: record({
      lines: uniqueArray(record({ chatId, gameId, lastVerifiedAt: constantFrom(0, 2, 9) }), {
        selector: (line) => line.chatId,
      }),
      existing: constantFrom("keep" as const, "replace" as const, "newest" as const),
    }),
    act: ({ imports, write, ...world }, { lines, existing }, times) =>
      imports.importBatch({
        ...write,
        file: fileOf({ imports, write, ...world }),
        isContinued: times === 2,
        links: lines,
        existing,
        proof: "import",
        progress: null,
      }),
    undo: (world) =>
      Effect.repeat(world.imports.undo({ ...world.write, id: fileOf(world).id, limit: 2 }), {
        until: ({ isDone }) => isDone,
      }),
    parts: ["links", "blocks"],
  }),

  unlink: law({
    input: record({ chatId }),
    act: ({ links, write }, input) => links.removeGame({ ...write, ...input }),
    undo: ({ links, write }, input, removed) =>
      Option.match(removed, {
        onNone: () => Effect.void,
        onSome: ({ gameId: game }) =>
          orRefused(links.restoreGame({ ...write, ...hashed(input.chatId), gameId: game, removedAt: at })),
      }),
    parts: ["links"],
  }),

  link: law({
    input: record({ chatId, gameId }),
    act: ({ links, write }, input) =>
      orRefused(links.setGame({ ...write, ...hashed(input.chatId), gameId: input.gameId })),
    parts: ["links"],
  }),

  "move a link": law({
    input: record({ oldChatId: chatId, newChatId: chatId }),
    act: ({ links, write }, input) =>
      orRefused(links.moveChat({ ...write, ...input, chatHash: hashed(input.newChatId).chatHash })),
    parts: ["links"],
  }),

  /** Of one user or a list. Links that a block removes do not come back when it ends. */
  block: law({
    input: record({
      users: subarray([blocked(ada, null), blocked(bob, null), blocked(null, chess)], { minLength: 1 }),
      reason: constantFrom(null, "Raids"),
    }),
    act: ({ blocks, write, pid }, { users, reason }) =>
      Effect.gen(function* () {
        const targets = users.map((user) => ({ ...user, hash: hashOf(user.chatId ?? user.gameId) }));
        const known = yield* blocks.findHashes(
          pid,
          targets.map(({ hash }) => hash),
        );
        const admitted = targets.filter(({ hash }) => !known.has(hash));
        yield* Effect.forEach(admitted, (target) => blocks.set({ ...write, ...target, reason }));
        return admitted;
      }),
    undo: ({ blocks, write }, _, admitted) =>
      Effect.forEach(admitted, (target) => blocks.remove({ ...write, ...target })),
    parts: ["blocks"],
  }),

  review: law({
    input: record({
      chatId: constantFrom(ada, bob),
      verdict: constantFrom("same" as const, "different" as const),
    }),
    act: ({ reviews, write, pid, users, keyIds }, { chatId: user, verdict }) =>
      Effect.gen(function* () {
        const pair = { chatId: user, otherChatId: users.get(dan) ?? dan };
        const known = yield* reviews.findByChatId(pid, user, null);
        if (known.some(({ otherChatId }) => otherChatId === pair.otherChatId)) return null;
        yield* orRefused(reviews.set({ ...write, ...pair, verdict, note: null, keyId: nth(keyIds, 0) }));
        return pair;
      }),
    undo: ({ reviews, write }, _, pair) =>
      pair === null ? Effect.void : orRefused(reviews.remove({ ...write, ...pair })),
    parts: ["reviews"],
  }),

  rules: law({
    input: record({ settings }),
    act: ({ plans, place, write }, { settings: chosen }) =>
      Effect.gen(function* () {
        const before = Option.getOrNull(yield* plans.find(place));
        yield* plans.put({ ...write, ...place, settings: chosen, position: 0 });
        return before;
      }),
    undo: ({ plans, place, write }, _, before) =>
      before === null
        ? plans.remove({ ...write, ...place })
        : plans.put({
            ...write,
            ...place,
            settings: Struct.omit(before, ["scope", "guildId"]),
            position: 0,
          }),
    parts: ["plans"],
  }),

  "settings of a community": law({
    input: record({ logChannelId: constantFrom(null, "70"), remindAfterDays: constantFrom(null, 7) }),
    act: ({ communities, place, write }, update) =>
      Effect.gen(function* () {
        const before = Option.getOrNull(yield* communities.find(place));
        yield* communities.update({ ...write, ...place, update, position: 0 });
        return Struct.pick(before ?? { logChannelId: null, remindAfterDays: null }, [
          "logChannelId",
          "remindAfterDays",
        ]);
      }),
    undo: ({ communities, place, write }, _, update) =>
      communities.update({ ...write, ...place, update, position: 0 }),
    parts: ["communities"],
  }),

  "settings of a list": law({
    input: record({ displayName: constantFrom(null, "Rook"), minGameAgeDays: constantFrom(null, 30) }),
    act: ({ keys, write, pid }, update) =>
      Effect.gen(function* () {
        const before = Option.getOrThrow(yield* keys.findScopeByPid(pid)).settings;
        yield* keys.updateSettings({ ...write, update });
        return Struct.pick(before, ["displayName", "minGameAgeDays"]);
      }),
    undo: ({ keys, write }, _, update) => keys.updateSettings({ ...write, update }),
    parts: ["settings"],
  }),

  /** The platform has refused a change that was stored before it was tried. */
  "change a role": law({
    input: record({ chatId, change: constantFrom("gave" as const, "took" as const) }),
    act: ({ roleHistory, place }, { chatId: user, change }) =>
      Effect.gen(function* () {
        const changes = [{ roleId: "1", change }];
        const earlier = yield* roleHistory.page(place, null, 100);
        // It is unknown whether an earlier one without an answer was made.
        if (earlier.some(({ chatId: who, outcome }) => who === user && outcome === "trying")) return [];
        return yield* roleHistory.begin({ ...place, chatId: user, changes, because: "sweep", at });
      }),
    undo: ({ roleHistory, place }) =>
      Effect.gen(function* () {
        const tried = (yield* roleHistory.page(place, null, 10)).filter(
          ({ outcome, at: time }) => outcome === "trying" && time === at,
        );
        yield* roleHistory.end(tried.map((change) => ({ change, isMade: false })));
      }),
    parts: ["history"],
  }),

  "give roles back": law({
    input: record({ roleIds: constantFrom(["1"], ["1", "2"]) }),
    act: ({ roleHistory, place, write }, { roleIds }) =>
      roleHistory.reverse({ ...write, ...place, change: "took", roleIds, since: 1, count: 1 }),
    parts: ["history"],
  }),

  "delete data": law({
    input: record({ keepsBlocks: constantFrom(true, false) }),
    act: ({ links, write }, input) => links.deleteScope({ ...write, ...input }),
    parts: ["links", "blocks", "reviews", "history"],
  }),
} as const satisfies Readonly<Record<string, Law>>;

export type UndoLaw = keyof typeof undoLaws;

/** What is known of a link; its version goes on in an undo. */
const linkOf = (found: Option.Option<LinkRecord>, isUndo: boolean) =>
  Option.match(found, {
    onNone: () => null,
    onSome: (stored) => {
      if (!isUndo) return stored;
      return isOrWasLinked(stored) ? Struct.omit(stored, ["linkVersion"]) : null;
    },
  });

/** Reads a part of the data, for a comparison after an undo or after an act was made again. */
export const stateOf = Effect.fnUntraced(function* (subjects: CommandSubjects, part: Part, isUndo: boolean) {
  const world = yield* worldOf(subjects, {});
  const { place } = world;
  const users = [...world.users.values()];
  switch (part) {
    case "links":
      return yield* Effect.forEach(users, (user) =>
        Effect.map(world.links.findByChatId(world.pid, user), (found) => linkOf(found, isUndo)),
      );
    case "blocks":
      return yield* world.blocks.page(world.pid, null, 100);
    case "reviews":
      return yield* Effect.forEach(users, (user) => world.reviews.findByChatId(world.pid, user, null));
    case "plans":
      return yield* world.plans.find(place);
    case "communities":
      return Option.map(
        yield* world.communities.find(place),
        Struct.pick(["logChannelId", "remindAfterDays"]),
      ).pipe(Option.getOrElse(() => ({ logChannelId: null, remindAfterDays: null })));
    case "settings":
      return yield* world.keys.findScopeByPid(world.pid);
    case "account":
      return Option.map(
        yield* world.keys.findAccount(world.account.name),
        Struct.pick(["displayName", "status", "tier"]),
      );
    case "members":
      return yield* world.members.list(world.account.name);
    case "key":
      return yield* world.keys.findById(world.sessionKey.id);
    case "webhook":
      return yield* world.webhooks.find(nth(world.webhookIds, 0));
    case "history":
      return [
        yield* Effect.forEach(users, (user) => world.roleHistory.givenTo(place, user)),
        yield* world.roleHistory.countByRole(place, "took", 0),
        yield* world.roleHistory.reversals(place),
      ];
  }
});
