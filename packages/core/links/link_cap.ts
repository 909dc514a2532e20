import { Clock, Context, Effect, Exit, identity, Latch, Layer, Option, Semaphore } from "effect";
import { isOperators, MemberStore } from "../accounts/member_store.ts";
import type { DataScope } from "../data_scope.ts";
import { Conflict, type StoreEffect, type StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Limits } from "../limits/quota.ts";
import type { Millis } from "../timestamp.ts";
import { isLinked } from "./link.ts";
import { LinkStore } from "./link_store.ts";

/**
 * After a count, a node lets in a tenth of the links that an account may still have, for ten minutes, without another
 * count. So up to ten nodes together stay within the cap. Close to the cap, each new link is counted.
 */
const [share, countedFor] = [10, 600_000];

/** How long a node refuses an account after it found no room, in milliseconds, unless a link was removed here. */
const fullFor = 5_000;

const maxAccounts = 10_000;

/** The links that an account may still make. */
export interface LinkRoom {
  /** Counts how many links the account may still make; Infinity without a cap. */
  readonly count: StoreEffect<number>;
  /** Reserves room for `links` new links, and returns for how many. Every reservation must be released. */
  readonly reserve: (links: number) => StoreEffect<number>;
  /** Ends a reservation. `made` of its links were made. */
  readonly release: (reserved: number, made: number) => Effect.Effect<void>;
}

interface Known {
  left: number;
  /** Reservations that are not released yet. */
  reserved: number;
  /** Whether the account had no room when it was counted. */
  readonly isFull: boolean;
  until: Millis;
}

/**
 * Keeps the number of an account's links, over all its scopes, within its plan. Accounts without an owner or admin
 * belong to the operator and have no cap. Fixtures and imports on the command line do not ask this service. @internal
 */
export class LinkCap extends Context.Service<LinkCap>()("@accountlink/core/LinkCap", {
  make: Effect.gen(function* () {
    const limits = yield* Limits;
    const keys = yield* KeyStore;
    const members = yield* MemberStore;
    const links = yield* LinkStore;
    const oneCount = yield* Semaphore.make(1);
    const rooms = new Map<string, Known>();

    const countRoom = Effect.fnUntraced(function* (account: string) {
      const found = Option.getOrUndefined(yield* keys.findAccount(account));
      let left = found === undefined ? 0 : limits[found.tier].links;
      if (left === 0 || isOperators(yield* members.list(account))) return Infinity;
      for (const { scope } of yield* keys.listScopes(account)) {
        if (left > 0) left -= yield* links.countLinks(scope.pid, { enough: left });
      }
      return Math.max(0, left);
    });

    const knownRoom = (account: string, now: Millis): Known | undefined => {
      const known = rooms.get(account);
      return known !== undefined && now < known.until ? known : undefined;
    };

    const take = (known: Known, wanted: number): number => {
      known.left -= wanted;
      known.reserved += wanted;
      return wanted;
    };

    /** Opens at the next release of a reservation. */
    let released = Latch.makeUnsafe();

    const reservedOf = (account: string): number => rooms.get(account)?.reserved ?? 0;

    /**
     * Counts the room beside the open reservations. The count may include links of these reservations, so a lack of
     * room is certain only once they are released.
     */
    const countUnreserved = Effect.fnUntraced(function* (account: string, wanted: number) {
      while (true) {
        const [reserved, release] = [reservedOf(account), released.await];
        const room = Math.max(0, (yield* countRoom(account)) - reserved);
        if (room >= wanted || reserved === 0) return room;
        if (Option.isNone(yield* Effect.timeoutOption(release, "1 second"))) return room;
      }
    });

    const recount = Effect.fnUntraced(function* (account: string, wanted: number) {
      const now = yield* Clock.currentTimeMillis;
      const known = knownRoom(account, now);
      if (known !== undefined && known.left >= wanted) return take(known, wanted);
      const room = yield* countUnreserved(account, wanted);
      // Read again, because reservations may have been released during the count.
      const reserved = reservedOf(account);
      const isFull = room === 0 && reserved === 0;
      const granted = Math.min(wanted, room);
      if (rooms.size >= maxAccounts) rooms.clear();
      rooms.set(account, {
        left: room === Infinity ? room : Math.floor((room - granted) / share),
        reserved: reserved + granted,
        isFull,
        until: now + (isFull ? fullFor : room === 0 ? 0 : countedFor),
      });
      return granted;
    });

    const roomOf = ({ account }: Pick<DataScope, "account">): LinkRoom => ({
      count: countRoom(account),

      reserve: Effect.fnUntraced(function* (wanted) {
        const known = knownRoom(account, yield* Clock.currentTimeMillis);
        if (known !== undefined && known.left >= wanted) return take(known, wanted);
        if (known?.isFull === true) return 0;
        return yield* oneCount.withPermits(1)(recount(account, wanted));
      }),

      release: (reserved, made) =>
        Effect.sync(() => {
          const known = rooms.get(account);
          if (known === undefined) return;
          known.reserved -= reserved;
          known.left += reserved - made;
          released.openUnsafe();
          released = Latch.makeUnsafe();
        }),
    });

    return {
      roomOf,

      /**
       * Runs a write of one link. Fails with `Conflict` `link_limit` instead if the chat user has no link and the account
       * can have no more.
       *
       * @param isNew whether the write made a link for a user who had none
       * @param refuse runs the refusal in place of the write
       */
      admit: <A, E, R>(
        scope: DataScope,
        chatId: ChatId,
        write: Effect.Effect<A, E, R>,
        isNew: (written: A) => boolean,
        refuse: (
          limit: Effect.Effect<never, Conflict>,
        ) => Effect.Effect<A, E | Conflict | StoreUnavailable, R> = identity,
      ) => {
        const room = roomOf(scope);
        return Effect.acquireUseRelease(
          room.reserve(1),
          Effect.fnUntraced(function* (reserved) {
            if (reserved === 0) {
              const record = yield* links.findByChatId(scope.pid, chatId);
              if (!Option.exists(record, isLinked)) {
                return yield* refuse(new Conflict({ reason: "link_limit" }));
              }
            }
            return yield* write;
          }),
          (reserved, exit) => room.release(reserved, Exit.isSuccess(exit) && isNew(exit.value) ? 1 : 0),
        );
      },

      /** Called after links were removed, so that a full account has room at once. */
      freed: ({ account }: Pick<DataScope, "account">) =>
        Effect.sync(() => {
          const known = rooms.get(account);
          if (known?.isFull === true) known.until = 0;
        }),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkCap, LinkCap.make);
}
