import { Cache, Context, Effect, Exit, Layer, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import { Conflict, type StoreEffect, type StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
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

    const count = Effect.fnUntraced(function* (account: string) {
      let left = yield* planOf(account);
      if (left === Infinity) return left;
      for (const { scope } of yield* keys.listScopes(account)) {
        if (left > 0) left -= yield* links.countLinks(scope.pid, { enough: left });
      }
      return Math.max(0, left);
    });

    /** The links that writes of this node may make before they end, which a count sees or not. */
    const pending = new Map<string, number>();
    const pendingOf = (account: string) => pending.get(account) ?? 0;

    const rooms = yield* Cache.makeWith(
      (account: string) =>
        Effect.map(count(account), (counted) => ({
          counted,
          left: Math.max(0, counted - pendingOf(account)),
        })),
      {
        capacity: 10_000,
        timeToLive: Exit.match({
          onFailure: () => 0,
          onSuccess: ({ counted }) => (counted === 0 ? "5 seconds" : "1 minute"),
        }),
      },
    );

    const use = Effect.fnUntraced(function* <A, E, R>(
      account: string,
      wanted: number,
      write: (granted: number) => Effect.Effect<A, E, R>,
    ) {
      let room = yield* Cache.get(rooms, account);
      // A write takes room even if it then makes no link, so an account is counted again when its room is used up.
      if (room.left < Math.min(wanted, room.counted)) {
        const used = room;
        yield* Cache.invalidateWhen(rooms, account, (known) => known === used);
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
    const admitted = Effect.fnUntraced(function* <A, E, R>(
      pid: Pid,
      chatId: ChatId,
      granted: number,
      write: Effect.Effect<A, E, R>,
    ) {
      const isAdmitted = granted > 0 || Option.exists(yield* links.findByChatId(pid, chatId), isLinked);
      return yield* isAdmitted ? write : new Conflict({ reason: "link_limit" });
    });

    return {
      /** Returns the most links of an account's plan; Infinity without a cap. */
      planOf,

      roomOf: ({ account }: Pick<DataScope, "account">): LinkRoom => ({
        count: count(account),
        use: (wanted, write) => use(account, wanted, write),
      }),

      /** Runs a write, or fails with `Conflict` `link_limit` if it makes a link and the account can have no more. */
      admit: <A, E, R>({ account, pid }: DataScope, chatId: ChatId, write: Effect.Effect<A, E, R>) =>
        use(account, 1, (granted) => admitted(pid, chatId, granted, write)),

      /** Called after links were removed, so that a full account has room at once. */
      freed: ({ account }: Pick<DataScope, "account">) => Cache.invalidate(rooms, account),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkCap, LinkCap.make);
}
