/** Offers a user, on the page of their own data, the game accounts that they have proven to other communities. */
import { Effect, Option } from "effect";
import { makeAdmission } from "../admission/admission.ts";
import { CommunityStore, mayLink } from "../communities/mod.ts";
import { guildOf } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, GameId, GuildId } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isLinked, isProven } from "../links/mod.ts";
import { type GameProfile, platformConcurrency } from "../platforms/mod.ts";
import { makeOwnCommunity, type OwnCommunity, type ScopedRecord, UserStore } from "../users/mod.ts";
import { FlowAccounts } from "./flow_accounts.ts";
import { FlowAdmission, refusePlatformDown } from "./flow_admission.ts";
import { FlowSubjects } from "./flow_subjects.ts";
import { type FlowAccount, type FlowEntry, FlowRefused, type KnownAccount } from "./flow_view.ts";
import { HeldFlows } from "./held_flow.ts";
import { makeKnownAccounts } from "./known_accounts.ts";

/** A community without a proven link of the user, and the game accounts that the user can link there with one press. */
export interface KnownOffer extends OwnCommunity {
  /** The guild in which the user links; null outside guilds. */
  readonly guildId: GuildId | null;
  readonly accounts: ReadonlyArray<KnownAccount & FlowAccount<GameId, GameProfile>>;
}

export interface KnownOffers {
  readonly offers: ReadonlyArray<KnownOffer>;
  /** Whether the user has an account that further communities could be offered. */
  readonly hasProven: boolean;
}

type Place = Exclude<FlowEntry, { readonly sid: string }>;

/** How many communities one page offers. */
const mostCommunities = 25;

/** Whether the user has ever confirmed a link there. Anybody else can make a record of the user. */
const hasConfirmed = ({ record }: ScopedRecord) => isProven(record.proof);
const isProvenIn = (scoped: ScopedRecord) => isLinked(scoped.record) && hasConfirmed(scoped);

/** Whether only members of a guild are offered the community. */
const isOfGuild = ({ scope }: ScopedRecord) => guildOf(scope) !== null;

export const makeKnownOffers = Effect.gen(function* () {
  const users = yield* UserStore;
  const communities = yield* CommunityStore;
  const subjects = yield* FlowSubjects;
  const admission = yield* FlowAdmission;
  const { chat: notAdmitted } = yield* makeAdmission;
  const accounts = yield* FlowAccounts;
  const known = yield* makeKnownAccounts;
  const communityOf = yield* makeOwnCommunity;
  const heldFlows = yield* HeldFlows;

  const homesOf = (guildIds: ReadonlyArray<GuildId>): StoreEffect<ReadonlyArray<Place>> =>
    Effect.map(forEachLimited(guildIds, platformConcurrency, communities.findHome), (homes) =>
      homes
        .flatMap(Option.toArray)
        .filter(mayLink)
        .map(({ scope, guildId }) => place(scope.pid, guildId)),
    );

  const offerOf = Effect.fnUntraced(
    function* (entry: Place, chatId: ChatId, proven: Parameters<typeof known.offeredTo>[1]) {
      const subject = yield* subjects.resolve(entry);
      const offered = yield* known.offeredTo(subject, proven);
      if (offered.length === 0) return [];
      // The log of the community tells nothing, since the user has not asked it for anything.
      yield* admission.user(subject, { chatId }, entry);
      if ((yield* notAdmitted(subject, chatId)) !== null) return [];
      const { guildId, scope } = subject;
      const shown = yield* accounts.known(offered);
      return [{ ...(yield* communityOf(scope)), guildId, accounts: shown } satisfies KnownOffer];
    },
    Effect.catchTags({
      FlowRefused: () => Effect.succeed([]),
      PlatformUnavailable: () => Effect.succeed([]),
    }),
  );

  return {
    /**
     * Returns the communities that could have a link of the user by an earlier proof: those in which the user has
     * confirmed a link, or in whose guild the user is a member, as far as there is a record of the user, or `guildIds`
     * names the guild.
     */
    listKnown: Effect.fn("VerificationFlows.listKnown")(function* (
      chatId: ChatId,
      guildIds: ReadonlyArray<GuildId>,
    ) {
      const records = yield* users.findRecords(chatId);
      const proven = yield* known.provenIn(records);
      if (proven.length === 0) return { offers: [], hasProven: false } satisfies KnownOffers;
      const done = new Set<string>(records.filter(isProvenIn).map(({ scope }) => scope.pid));
      const places = new Map<string, Place>();
      for (const each of [
        ...records
          .filter((scoped) => hasConfirmed(scoped) || isOfGuild(scoped))
          .map(({ scope }) => place(scope.pid, guildOf(scope))),
        ...(yield* homesOf(guildIds)),
      ]) {
        if (!done.has(each.pid)) places.set(each.pid, each);
      }
      const offers = yield* forEachLimited(
        [...places.values()].slice(0, mostCommunities),
        platformConcurrency,
        (entry) => offerOf(entry, chatId, proven),
      );
      return { offers: offers.flat(), hasProven: true } satisfies KnownOffers;
    }),

    /**
     * Begins a flow in which a signed-in user has proven the chat account by the sign-in, and the game account to
     * another community.
     */
    beginKnown: Effect.fn("VerificationFlows.beginKnown")(function* (
      chatId: ChatId,
      entry: Place,
      gameId: string,
    ) {
      const subject = yield* subjects.resolve(entry);
      const choice = known.choose(subject, chatId, gameId);
      const chosen = yield* Effect.catchTags(choice, refusePlatformDown(entry));
      if (chosen === undefined) return yield* new FlowRefused({ reason: "unfinished", entry });
      const proof = { step: "chat", chatId, game: { gameId: chosen, gameProof: "known" } } as const;
      yield* admission.user(subject, proof, entry);
      yield* admission.accounts(subject, chatId, proof, entry);
      const cookie = yield* heldFlows.begin(subject, entry);
      const held = yield* heldFlows.find(cookie);
      if (held === null) return yield* heldFlows.refuseGone(cookie, entry);
      return yield* heldFlows.prove(held, proof, cookie);
    }),
  };
});

const place = (pid: Place["pid"], guildId: GuildId | null): Place => ({ pid, guildId, redirect: null });
