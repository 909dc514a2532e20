import { Clock, Context, Effect, Layer, Option } from "effect";
import { LinkNotFound, type StoreEffect } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { isLinked, type Link } from "../links/link.ts";
import { LinkEvents } from "../links/link_events.ts";
import { LinkStore } from "../links/link_store.ts";
import { platformConcurrency } from "../platforms/guild_guard.ts";
import type { GameProfile } from "../platforms/profile.ts";
import { Profiles } from "../platforms/profiles.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import type { Millis } from "../timestamp.ts";
import { makeOwnCommunity, type OwnCommunity } from "./own_community.ts";
import { type ScopedRecord, UserStore } from "./user_store.ts";

/** A link of a user in one community. @internal */
export interface OwnLink extends OwnCommunity {
  readonly game: { readonly id: GameId; readonly profile: GameProfile | null };
  readonly linkedAt: Millis;
  readonly lastVerifiedAt: Millis;
}

/** Shows users their links, and removes one link. `UserData.erase` removes all data about a user. @internal */
export class OwnLinks extends Context.Service<
  OwnLinks,
  {
    /** Returns the links of every scope, the newest first. */
    readonly list: (chatId: ChatId) => StoreEffect<ReadonlyArray<OwnLink>>;

    /**
     * Removes the user's link in one scope, and fails the user's open sessions in that scope. The user need not be a
     * member of the scope's guild. Returns the removed link.
     */
    readonly remove: (chatId: ChatId, pid: Pid, requestId: string) => StoreEffect<OwnLink, LinkNotFound>;
  }
>()("@accountlink/core/OwnLinks") {
  static readonly layer = Effect.gen(function* () {
    const users = yield* UserStore;
    const links = yield* LinkStore;
    const communityOf = yield* makeOwnCommunity;
    const profiles = yield* Profiles;
    const watch = yield* SessionWatch;
    const events = yield* LinkEvents;

    const findLinks = (chatId: ChatId) =>
      Effect.map(users.findRecords(chatId), (records) => records.filter(isScopedLink));

    const show = Effect.fnUntraced(function* ({ scope, record }: ScopedLink) {
      const { gameId, linkedAt, lastVerifiedAt } = record;
      const [community, profile] = yield* Effect.all([communityOf(scope), profiles.game(gameId)], {
        concurrency: 2,
      });
      return {
        ...community,
        game: { id: gameId, profile },
        linkedAt,
        lastVerifiedAt,
      } satisfies OwnLink;
    });

    return OwnLinks.of({
      list: Effect.fn("OwnLinks.list")(function* (chatId) {
        const found = yield* findLinks(chatId);
        const shown = yield* Effect.forEach(found, show, { concurrency: platformConcurrency });
        return shown.toSorted((one, other) => other.linkedAt - one.linkedAt);
      }),

      remove: Effect.fn("OwnLinks.remove")(function* (chatId, pid, requestId) {
        const link = (yield* findLinks(chatId)).find(({ scope }) => scope.pid === pid);
        if (link === undefined) return yield* new LinkNotFound();
        const at = yield* Clock.currentTimeMillis;
        const actor = { type: "user", id: chatId } as const;
        const removed = yield* links.removeGame({ pid, chatId, at, actor, requestId });
        if (Option.isNone(removed)) return yield* new LinkNotFound();
        yield* watch.announce(removed.value.ended);
        const { gameId: previousGameId } = removed.value;
        yield* events.announce("linkChanged", { scope: link.scope, chatId, gameId: null, previousGameId });
        return yield* show(link);
      }),
    });
  }).pipe(Layer.effect(OwnLinks), Layer.provide(LinkEvents.layer));
}

interface ScopedLink extends ScopedRecord {
  readonly record: Link;
}

const isScopedLink = (found: ScopedRecord): found is ScopedLink => isLinked(found.record);
