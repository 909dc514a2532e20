import { Clock, Context, Effect, Layer, Option, Semaphore } from "effect";
import type { DataScope } from "../data_scope.ts";
import { Conflict, type StoreEffect } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Limits } from "../limits/quota.ts";
import type { Millis } from "../timestamp.ts";
import { isLinked } from "./link.ts";
import { LinkStore } from "./link_store.ts";

/** After a count, a node lets in a tenth of the links that an account may still have, for ten minutes. */
const [share, countedFor] = [10, 600_000];

/** How long a node refuses an account after it found no room, in milliseconds, unless a link was removed here. */
const fullFor = 5_000;

const maxAccounts = 10_000;

/** The links that an account may still make. */
export interface LinkRoom {
  /** Counts how many links the account may still make; Infinity without a cap. */
  readonly count: StoreEffect<number>;
  /** Takes room for `links` new links, and returns for how many there was. */
  readonly reserve: (links: number) => StoreEffect<number>;
  /** Gives room back, of which `made` links took their part. */
  readonly release: (reserved: number, made: number) => Effect.Effect<void>;
}

/**
 * Keeps the number of an account's links, over all its scopes, within its plan. Writes that run at the same time, and
 * batches of other nodes, may pass the plan by their own number. The operator's own accounts have no cap. Fixtures and
 * imports on the command line do not ask this service. @internal
 */
export class LinkCap extends Context.Service<LinkCap>()("@accountlink/core/LinkCap", {
  make: Effect.gen(function* () {
    const limits = yield* Limits;
    const keys = yield* KeyStore;
    const links = yield* LinkStore;
    const oneCount = yield* Semaphore.make(1);
    const rooms = new Map<string, { left: number; readonly isFull: boolean; until: Millis }>();

    const countRoom = Effect.fnUntraced(function* (account: string) {
      const found = Option.getOrUndefined(yield* keys.findAccount(account));
      let left = found === undefined || found.operator ? 0 : limits[found.tier].links;
      if (left === 0) return Infinity;
      for (const { scope } of yield* keys.listScopes(account)) {
        if (left > 0) left -= yield* links.countLinks(scope.pid, { enough: left });
      }
      return Math.max(0, left);
    });

    /** Takes from the room of the last count; null if that needs another count. */
    const take = (account: string, wanted: number, now: Millis): number | null => {
      const known = rooms.get(account);
      if (known === undefined || now >= known.until) return null;
      if (known.isFull) return 0;
      if (known.left < wanted) return null;
      known.left -= wanted;
      return wanted;
    };

    const recount = Effect.fnUntraced(function* (account: string, wanted: number) {
      const now = yield* Clock.currentTimeMillis;
      const taken = take(account, wanted, now);
      if (taken !== null) return taken;
      const room = yield* countRoom(account);
      const granted = Math.min(wanted, room);
      if (rooms.size >= maxAccounts) rooms.clear();
      rooms.set(account, {
        left: room === Infinity ? room : Math.floor((room - granted) / share),
        isFull: room === 0,
        until: now + (room === 0 ? fullFor : countedFor),
      });
      return granted;
    });

    const roomOf = ({ account }: Pick<DataScope, "account">): LinkRoom => ({
      count: countRoom(account),
      reserve: Effect.fnUntraced(function* (wanted) {
        const taken = take(account, wanted, yield* Clock.currentTimeMillis);
        return taken ?? (yield* oneCount.withPermits(1)(recount(account, wanted)));
      }),
      release: (reserved, made) =>
        Effect.sync(() => {
          const known = rooms.get(account);
          if (known !== undefined) known.left += reserved - made;
        }),
    });

    return {
      roomOf,

      /** Fails with `Conflict` `link_limit` if the chat user has no link and the account can have no more. */
      admit: Effect.fnUntraced(function* (scope: DataScope, chatId: ChatId) {
        if ((yield* roomOf(scope).reserve(1)) > 0) return;
        const record = yield* links.findByChatId(scope.pid, chatId);
        if (!Option.exists(record, isLinked)) return yield* new Conflict({ reason: "link_limit" });
      }),

      /** Called after links were removed, so that a full account has room at once. */
      freed: ({ account }: Pick<DataScope, "account">) =>
        Effect.sync(() => {
          if (rooms.get(account)?.isFull === true) rooms.delete(account);
        }),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkCap, LinkCap.make);
}
