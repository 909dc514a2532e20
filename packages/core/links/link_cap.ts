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
const share = 10;
const countedFor = 600_000;

/** How long a node refuses an account after it found no room, in milliseconds, unless a link was removed here. */
const fullFor = 5_000;

const maxAccounts = 10_000;

/** What a node knows of an account since its last count. */
interface Room {
  left: number;
  isFull: boolean;
  until: Millis;
  /** Held by one count and the write that it admits. */
  readonly turn: Semaphore.Semaphore;
}

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
 * Keeps the number of an account's links, over all its scopes, within its plan. Writes and batches that run on several
 * nodes at the same time may pass the plan by their own number. The operator's own accounts have no cap. Fixtures and
 * imports on the command line do not ask this service. @internal
 */
export class LinkCap extends Context.Service<LinkCap>()("@accountlink/core/LinkCap", {
  make: Effect.gen(function* () {
    const limits = yield* Limits;
    const keys = yield* KeyStore;
    const links = yield* LinkStore;
    const rooms = new Map<string, Room>();

    const roomFor = (account: string): Room => {
      const known = rooms.get(account);
      if (known !== undefined) return known;
      const room = { left: 0, isFull: false, until: 0, turn: Semaphore.makeUnsafe(1) };
      if (rooms.size >= maxAccounts) rooms.clear();
      rooms.set(account, room);
      return room;
    };

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
    const take = (room: Room, wanted: number, now: Millis): number | null => {
      if (now >= room.until) return null;
      if (room.isFull) return 0;
      if (room.left < wanted) return null;
      room.left -= wanted;
      return wanted;
    };

    const recount = Effect.fnUntraced(function* (account: string, room: Room, wanted: number) {
      const now = yield* Clock.currentTimeMillis;
      const taken = take(room, wanted, now);
      if (taken !== null) return taken;
      const counted = yield* countRoom(account);
      const granted = Math.min(wanted, counted);
      room.left = Math.floor((counted - granted) / share);
      room.isFull = counted === 0;
      room.until = now + (room.isFull ? fullFor : countedFor);
      return granted;
    });

    /**
     * Takes room for `wanted` links and runs `work` with what there was. After a count, `work` runs before the next
     * count of the account, which sees the links that it made.
     */
    const withRoom = Effect.fnUntraced(function* <A, E, R>(
      account: string,
      wanted: number,
      work: (granted: number) => Effect.Effect<A, E, R>,
    ) {
      const room = roomFor(account);
      const taken = take(room, wanted, yield* Clock.currentTimeMillis);
      if (taken !== null) return yield* work(taken);
      return yield* room.turn.withPermit(Effect.flatMap(recount(account, room, wanted), work));
    });

    const roomOf = ({ account }: Pick<DataScope, "account">): LinkRoom => ({
      count: countRoom(account),
      reserve: (wanted) => withRoom(account, wanted, Effect.succeed),
      release: (reserved, made) =>
        Effect.sync(() => {
          const known = rooms.get(account);
          if (known !== undefined) known.left += reserved - made;
        }),
    });

    return {
      roomOf,

      /** Runs a write, or fails with `Conflict` `link_limit` if it makes a link and the account can have no more. */
      admit: <A, E, R>(scope: DataScope, chatId: ChatId, write: Effect.Effect<A, E, R>) =>
        withRoom(
          scope.account,
          1,
          Effect.fnUntraced(function* (granted) {
            if (granted > 0) return yield* write;
            const record = yield* links.findByChatId(scope.pid, chatId);
            if (!Option.exists(record, isLinked)) return yield* new Conflict({ reason: "link_limit" });
            return yield* write;
          }),
        ),

      /** Called after links were removed, so that a full account has room at once. */
      freed: ({ account }: Pick<DataScope, "account">) =>
        Effect.sync(() => {
          const room = rooms.get(account);
          if (room?.isFull === true) room.until = 0;
        }),
    };
  }),
}) {
  static readonly layer = Layer.effect(LinkCap, LinkCap.make);
}
