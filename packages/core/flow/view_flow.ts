import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { makeAskingName } from "../communities/asking_name.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isLinked } from "../links/link.ts";
import { LinkStore } from "../links/link_store.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { Profiles } from "../platforms/profiles.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { VerificationFlow } from "./flow_store.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import { makeUsableGameWays } from "./game_ways.ts";
import {
  belongsTo,
  type Cookie,
  deadlineOf,
  flowIdOf,
  makeFindFlow,
  newCookie,
  withEntry,
} from "./held_flow.ts";
import { makeKnownAccounts } from "./known_accounts.ts";
import { wordsOf } from "./words/words.ts";

export const makeView = Effect.gen(function* () {
  const subjects = yield* FlowSubjects;
  const secrets = yield* Secrets;
  const profiles = yield* Profiles;
  const accounts = yield* makeFlowAccounts;
  const random = yield* SecureRandom.SecureRandom;
  const askingName = yield* makeAskingName;
  const findFlow = yield* makeFindFlow;
  const flowWords = yield* makeFlowWords;
  const knownAccounts = yield* makeKnownAccounts;
  const { descriptionPage } = yield* GamePlatform;
  const usableGameWays = yield* makeUsableGameWays;

  const named = Effect.fnUntraced(function* (flow: VerificationFlow | null) {
    if (flow === null || flow.named === null) return null;
    return {
      ...(yield* accounts.game(flow.named)),
      words: yield* flowWords(flow, flow.named),
      descriptionPage: descriptionPage?.(flow.named) ?? null,
    };
  });

  /** Returns the game accounts that the chat user has proven to other communities, without the one proven here. */
  const knownTo = Effect.fnUntraced(function* (
    subject: FlowSubject,
    { chatId, gameId }: Pick<VerificationFlow, "chatId" | "gameId">,
  ) {
    const found = chatId === null ? [] : yield* knownAccounts(subject, chatId);
    return yield* forEachLimited(
      found.filter(({ id }) => id !== gameId),
      (known) => Effect.map(accounts.game(known.id), (account) => ({ ...known, ...account })),
      { concurrency: 3 },
    );
  });

  /** Returns the accounts that a flow has proven, and those that it could prove. */
  const accountsOf = Effect.fnUntraced(function* (flow: VerificationFlow | null, subject: FlowSubject) {
    if (flow === null) return noAccounts;
    const { pid, chatId, gameId, gameProof } = flow;
    const others = flow.connections.filter((id) => id !== gameId);
    const { proven, ...rest } = yield* Effect.all(
      {
        proven: accounts.all(pid, chatId, gameId),
        known: knownTo(subject, flow),
        connections: forEachLimited(others, accounts.game, { concurrency: 3 }),
        named: named(flow),
      },
      { concurrency: "unbounded" },
    );
    return { ...proven, ...rest, gameProof };
  });

  const guildOf = Effect.fnUntraced(function* ({ guildId }: FlowSubject) {
    return guildId === null ? null : ((yield* profiles.guild(guildId)) ?? { id: guildId, name: null });
  });

  return Effect.fn("VerificationFlows.view")(function* (entry: FlowEntry, given: Cookie) {
    const subject = yield* subjects.resolve(entry);
    const own = yield* findFlow(given);
    const flow = own !== null && belongsTo(own, subject) ? own : null;
    const isAlive = (deadlineOf(given) ?? 0) > (yield* Clock.currentTimeMillis);
    const cookie = given !== null && isAlive ? given : yield* newCookie(random, subject.expiresAt);
    const { guild, player, held, ways } = yield* Effect.all(
      {
        ways: usableGameWays,
        guild: guildOf(subject),
        player: orNull(subject.gameId, accounts.game),
        held: accountsOf(flow, subject),
      },
      { concurrency: "unbounded" },
    );
    return {
      entry,
      sid: subject.sid,
      asking: yield* askingName(subject.scope, {
        displayName: subject.settings.displayName,
        guildName: guild?.name ?? null,
      }),
      supportUrl: subject.settings.supportUrl,
      redirect: subject.redirect,
      expiresAt: (flow ?? subject).expiresAt,
      guild,
      ...held,
      player,
      ways: player === null ? ways.filter((way) => way !== "connection" && way !== "known") : [],
      csrf: yield* secrets.flowCsrf(yield* flowIdOf(secrets, cookie), subject.session ?? subject.pid),
      // If the browser already has a flow, its cookie stays unchanged: with another entry, it would not find the flow.
      cookie: own === null ? withEntry(cookie, entry) : cookie,
    };
  });
});

const noAccounts = {
  chat: null,
  game: null,
  replaces: null,
  gameProof: null,
  known: [],
  connections: [],
  named: null,
};

/** Makes a function that returns the words for a game account: the same as long as a flow lasts, and others in each flow. */
export const makeFlowWords = Effect.map(
  Secrets,
  (secrets) =>
    ({ wordSeed }: VerificationFlow, gameId: GameId) =>
      Effect.map(secrets.flowWords(wordSeed, gameId), wordsOf),
);

export const makeFlowAccounts = Effect.gen(function* () {
  const links = yield* LinkStore;
  const profiles = yield* Profiles;

  // Reads profiles without the membership in a guild, because no page shows the membership.
  const chat = (id: ChatId) => Effect.map(profiles.chat(id, null), (profile) => ({ id, profile }));
  const game = (id: GameId) => Effect.map(profiles.game(id), (profile) => ({ id, profile }));

  const both = (chatId: ChatId, gameId: GameId) =>
    Effect.all({ chat: chat(chatId), game: game(gameId) }, { concurrency: "unbounded" });

  /** Returns the linked game account that a new link would replace, or null. */
  const replacedBy = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId, gameId: GameId) {
    const record = Option.getOrNull(yield* links.findByChatId(pid, chatId));
    return record === null || !isLinked(record) || record.gameId === gameId ? null : record.gameId;
  });

  const all = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId | null, gameId: GameId | null) {
    const replacedId = chatId === null || gameId === null ? null : yield* replacedBy(pid, chatId, gameId);
    return yield* Effect.all(
      {
        chat: orNull(chatId, chat),
        game: orNull(gameId, game),
        replaces: orNull(replacedId, game),
      },
      { concurrency: "unbounded" },
    );
  });

  return { chat, game, both, all };
});

const orNull = <A, B, E>(value: A | null, use: (value: A) => Effect.Effect<B, E>) =>
  value === null ? Effect.succeed(null) : use(value);
