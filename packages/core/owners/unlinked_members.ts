import { Context, Effect, Layer } from "effect";
import { BlockStore } from "../admission/block_store.ts";
import type { DataScope } from "../data_scope.ts";
import type { ChatId, GuildId, Pid } from "../ids.ts";
import { isOrWasLinked } from "../links/link.ts";
import { LinkStore } from "../links/link_store.ts";
import { pageOf } from "../list_page.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { ReminderStore } from "../reminders/reminder_store.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Millis } from "../timestamp.ts";
import {
  type ListedMember,
  type MemberList,
  MemberLists,
  type MemberPlace,
  newestFirst,
} from "./member_lists.ts";

export interface UnlinkedMember extends ListedMember {
  /** When the bot reminded the member to link; null if it did not. */
  readonly reminded: Millis | null;
  /** Whether the member may not link. */
  readonly isBlocked: boolean;
}

export interface UnlinkedPage {
  readonly members: ReadonlyArray<UnlinkedMember>;
  /** The place after which the next page begins; null on the last page. */
  readonly next: MemberPlace | null;
  /** The number of members who are linked, and of all members, without bots. */
  readonly linked: number;
  readonly total: number;
  /** When the list of members was read. */
  readonly readAt: Millis;
}

/** Who comes first: the members who joined last, or those who joined first. */
export type MemberOrder = "newest" | "oldest";

/** How many members are looked up at once. */
const atOnce = 1_000;

/** From this number of members on, the links are counted once in the time for which their list is kept. */
const large = 5_000;

/** Finds some of many members in parts, so that other fibers run in between. */
const foundAmong = Effect.fnUntraced(function* <E>(
  members: ReadonlyArray<ListedMember>,
  find: (part: ReadonlyArray<ListedMember>) => Effect.Effect<Iterable<ChatId>, E>,
) {
  const found = new Set<ChatId>();
  for (let start = 0; start < members.length; start += atOnce) {
    for (const chatId of yield* find(members.slice(start, start + atOnce))) found.add(chatId);
    yield* Effect.yieldNow;
  }
  return found;
});

/** Finds the members of a guild who have no link in a scope. The caller checks that the owner has the scope. */
export class UnlinkedMembers extends Context.Service<UnlinkedMembers>()("@accountlink/core/UnlinkedMembers", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const guard = yield* GuildGuard;
    const lists = yield* MemberLists;

    /** Who of a large list is linked, by scope. */
    const counted = new WeakMap<MemberList, Map<Pid, ReadonlySet<ChatId>>>();

    const linkedIn = Effect.fnUntraced(function* (pid: Pid, list: MemberList) {
      const known = counted.get(list)?.get(pid);
      if (known !== undefined) return known;
      const linked = yield* foundAmong(list.members, (part) =>
        Effect.map(links.findGamesByChatIds(pid, chatIdsOf(part)), (games) => games.keys()),
      );
      if (list.members.length >= large) {
        counted.set(list, (counted.get(list) ?? new Map<Pid, ReadonlySet<ChatId>>()).set(pid, linked));
      }
      return linked;
    });

    const { blockHash, reminderHash } = yield* Secrets;
    const blocks = yield* BlockStore;
    const reminders = yield* ReminderStore;

    /** Adds when members were reminded to link, and whether they are blocked. */
    const described = Effect.fnUntraced(function* (
      { pid }: DataScope,
      guildId: GuildId,
      members: ReadonlyArray<ListedMember>,
    ) {
      const hashes = yield* Effect.forEach(members, ({ chatId }) => blockHash(pid, { chatId, gameId: null }));
      const reminded = yield* Effect.forEach(members, ({ chatId }) => reminderHash(guildId, chatId));
      // Earlier releases kept reminders by the hash of the scope.
      const known = yield* reminders.reminded({ pid, guildId }, [...reminded, ...hashes]);
      const blocked = yield* blocks.findHashes(pid, hashes);
      return members.map((member, index) => ({
        ...member,
        reminded: known.get(reminded[index] ?? "") ?? known.get(hashes[index] ?? "") ?? null,
        isBlocked: blocked.has(hashes[index] ?? ""),
      }));
    });

    return {
      /**
       * Returns the members to remind: they have been in the guild without a link since before a time, and are neither
       * reminded nor blocked. Those who joined last come first. Fails as `MemberLists.find`. Leaves out members whose time
       * of joining is unknown.
       */
      toRemind: Effect.fn("UnlinkedMembers.toRemind")(function* (
        scope: DataScope,
        guildId: GuildId,
        before: Millis,
      ) {
        yield* guard.enter(scope, guildId);
        const list = yield* lists.find(guildId);
        const linked = yield* linkedIn(scope.pid, list);
        const open = list.members.filter(({ chatId, at }) => at > 0 && at < before && !linked.has(chatId));
        const late = yield* foundAmong(open, (part) =>
          Effect.map(links.findByChatIds(scope.pid, chatIdsOf(part)), (records) =>
            [...records]
              .filter(([, record]) => isOrWasLinked(record) && record.linkedAt >= before)
              .map(([chatId]) => chatId),
          ),
        );
        const waiting = open.filter(({ chatId }) => !late.has(chatId));
        const due = yield* foundAmong(waiting, (part) =>
          Effect.map(described(scope, guildId, part), (some) =>
            chatIdsOf(some.filter(({ reminded, isBlocked }) => reminded === null && !isBlocked)),
          ),
        );
        return [...due];
      }),

      /**
       * Returns members without a link, those who joined last first, or those who joined first. Fails as
       * `MemberLists.find`. In a guild with many members, the answer may be as old as their list, which is kept for up to
       * some minutes.
       *
       * @param search the beginning of a name, or an ID; empty for all members
       */
      page: Effect.fn("UnlinkedMembers.page")(function* (
        scope: DataScope,
        guildId: GuildId,
        search: string,
        place: MemberPlace | null,
        limit: number,
        order: MemberOrder = "newest",
      ) {
        yield* guard.enter(scope, guildId);
        const list = yield* lists.find(guildId);
        const { members, readAt } = list;
        const isOldest = order === "oldest";
        const isAfter = (member: ListedMember) =>
          place === null || (isOldest ? newestFirst(member, place) : newestFirst(place, member)) < 0;
        const linked = yield* linkedIn(scope.pid, list);
        const wanted = search.toLowerCase();
        const ordered = isOldest ? members.toReversed() : members;
        const found: Array<ListedMember> = [];
        for (let start = 0; start < ordered.length && found.length <= limit; start += atOnce) {
          for (const member of ordered.slice(start, start + atOnce))
            if (!linked.has(member.chatId) && isAfter(member) && isMeant(member, wanted)) found.push(member);
          yield* Effect.yieldNow;
        }
        const { page, last: next } = pageOf(found, limit);
        return {
          members: yield* described(scope, guildId, page),
          next,
          linked: linked.size,
          total: members.length,
          readAt,
        } satisfies UnlinkedPage;
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(UnlinkedMembers, UnlinkedMembers.make);
}

const chatIdsOf = (members: ReadonlyArray<ListedMember>) => members.map(({ chatId }) => chatId);

const isMeant = ({ chatId, username, displayName, nickname }: ListedMember, wanted: string): boolean =>
  wanted === "" ||
  chatId === wanted ||
  [username, displayName, nickname].some((name) => name?.toLowerCase().startsWith(wanted) === true);
