import { Cache, Context, Effect, Exit, Layer, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import { Conflict, type StoreEffect, type StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Limits } from "../limits/quota.ts";
import { isLinked } from "./link.ts";
import { LinkStore } from "./link_store.ts";

/** The new links that an account may still make. */
export interface LinkRoom {
  /** Infinity without a cap. */
  readonly count: StoreEffect<number>;
  /** Runs a write of at most `wanted` new links with the number for which there is room. */
  readonly use: <A, E, R>(
    wanted: number,
    write: (granted: number) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E | StoreUnavailable, R>;
}

/** How many links an account may still make, as this node knows. */
interface Room {
  readonly plan: number;
  /** How many new links the plan had room for when the links were counted. */
  readonly counted: number;
  left: number;
}

/** With less room than this, a write first looks whether it makes a link: as many writes may run at a time. */
const fewLeft = 64;

/**
 * Keeps the number of an account's links, over all its scopes, within its plan. A node remembers a count for a minute,
 * and a full account for 5 seconds, so writes on several nodes may pass the plan by what they make meanwhile. The
 * operator's own accounts have no cap. Fixtures and imports on the command line do not ask this service. @internal
 */
export class LinkCap extends Context.Service<LinkCap>()("@accountlink/core/LinkCap", {
  make: Effect.gen(function* () {
    const limits = yield* Limits;
    const keys = yield* KeyStore;
    const links = yield* LinkStore;

    const planOf = Effect.fnUntraced(function* (account: string) {
      const found = Option.getOrUndefined(yield* keys.findAccount(account));
      const most = found === undefined || found.operator ? 0 : limits[found.tier].links;
      return most === 0 ? Infinity : most;
    });

    const countIn = Effect.fnUntraced(function* (account: string, plan: number) {
      if (plan === Infinity) return plan;
      let left = plan;
      for (const { scope } of yield* keys.listScopes(account)) {
        if (left > 0) left -= yield* links.countLinks(scope.pid, { enough: left });
      }
      return Math.max(0, left);
    });

    /** The links that writes of this node may make before they end, which a count sees or not. */
    const pending = new Map<string, number>();
    const pendingOf = (account: string) => pending.get(account) ?? 0;

    const rooms = yield* Cache.makeWith(
      Effect.fnUntraced(function* (account: string): Effect.fn.Return<Room, StoreUnavailable> {
        const plan = yield* planOf(account);
        // The count may miss writes that end while it runs.
        const before = pendingOf(account);
        const counted = yield* countIn(account, plan);
        return { plan, counted, left: Math.max(0, counted - Math.max(before, pendingOf(account))) };
      }),
      {
        capacity: 10_000,
        timeToLive: Exit.match({
          onFailure: () => 0,
          onSuccess: ({ counted }) => (counted === 0 ? "5 seconds" : "1 minute"),
        }),
      },
    );

    /** Counts a full account anew if it has another plan, such as one that it has just paid. */
    const roomOf = Effect.fnUntraced(function* (account: string) {
      const room = yield* Cache.get(rooms, account);
      if (room.counted > 0 || (yield* planOf(account)) === room.plan) return room;
      yield* Cache.invalidateWhen(rooms, account, (known) => known === room);
      return yield* Cache.get(rooms, account);
    });

    const use = Effect.fnUntraced(function* <A, E, R>(
      account: string,
      known: Room,
      wanted: number,
      write: (granted: number) => Effect.Effect<A, E, R>,
    ): Effect.fn.Return<A, E | StoreUnavailable, R> {
      let room = known;
      // A write takes room even if it then makes no link, so an account is counted again when its room is used up.
      if (room.left < Math.min(wanted, room.counted)) {
        const used = room;
        yield* Cache.invalidateWhen(rooms, account, (cached) => cached === used);
        room = yield* Cache.get(rooms, account);
      }
      const take = Effect.sync(() => {
        const granted = Math.min(wanted, room.left);
        room.left -= granted;
        pending.set(account, pendingOf(account) + granted);
        return granted;
      });
      return yield* Effect.acquireUseRelease(take, write, (granted) =>
        Effect.sync(() => {
          pending.set(account, pendingOf(account) - granted);
          if (pendingOf(account) === 0) pending.delete(account);
        }),
      );
    });

    // One generator function for all writes: V8 holds what a new one captures until a major collection.
    const admit = Effect.fnUntraced(function* <A, E, R>(
      { account, pid }: DataScope,
      chatId: ChatId,
      write: Effect.Effect<A, E, R>,
    ): Effect.fn.Return<A, E | Conflict | StoreUnavailable, R> {
      const room = yield* roomOf(account);
      // A write that makes no link must not take the room of one that runs beside it.
      const isNear = room.left < fewLeft;
      if (isNear && Option.exists(yield* links.findByChatId(pid, chatId), isLinked)) return yield* write;
      const last = (granted: number): Effect.Effect<A, E | Conflict, R> =>
        granted > 0 ? write : Effect.fail(new Conflict({ reason: "link_limit" }));
      return yield* use(account, room, 1, last);
    });

    return {
      /** Returns the most links of an account's plan; Infinity without a cap. */
      planOf,

      roomOf: ({ account }: Pick<DataScope, "account">): LinkRoom => ({
        count: Effect.flatMap(planOf(account), (plan) => countIn(account, plan)),
        use: (wanted, write) => Effect.flatMap(roomOf(account), (room) => use(account, room, wanted, write)),
      }),

      /** Runs a write, or fails with `Conflict` `link_limit` if it makes a link and the account can have no more. */
      admit,

      /** Called after links were removed, so that a full account has room at once. */
      freed: ({ account }: Pick<DataScope, "account">) => Cache.invalidate(rooms, account),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkCap, LinkCap.make);
}
