import { Cache, Clock, Context, Effect, Exit, Layer } from "effect";
import type { DataScope } from "../data_scope.ts";
import { Conflict } from "../errors.ts";
import type { ChatId, GuildId, Pid } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { ChatPlatform, type RoleMember } from "../platforms/chat_platform.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import type { Millis } from "../timestamp.ts";

/** A member of a guild without a link. */
export interface UnlinkedMember {
  readonly chatId: ChatId;
  readonly username: string | null;
  readonly displayName: string | null;
  /** Since when the user has been a member, as the platform says it; null if unknown. */
  readonly joined: string | null;
}

/** A position in the order of `UnlinkedMembers.page`. */
export interface MemberPlace {
  /** When the member joined; 0 if unknown. */
  readonly at: Millis;
  readonly chatId: ChatId;
}

export interface UnlinkedPage {
  readonly members: ReadonlyArray<UnlinkedMember>;
  /** The place after which the next page begins; null on the last page. */
  readonly next: MemberPlace | null;
  /** The number of members who are linked, and of all members, without bots. */
  readonly linked: number;
  readonly total: number;
}

type ListedMember = UnlinkedMember & { readonly nickname: string | null; readonly at: Millis };

/**
 * How long a list of members is kept, for each of its members. A list of 1,000 costs one request and is kept for 6
 * seconds, a list of 50,000 costs 50 and is kept for 5 minutes.
 */
const keptPerMember = 6;

const keptLists = 8;

/** How many members are looked up at once. */
const atOnce = 1_000;

/** From this number of members on, the links are counted once in the time for which their list is kept. */
const large = 5_000;

/** Finds the members of a guild who have no link in a scope. The caller checks that the owner has the scope. */
export class UnlinkedMembers extends Context.Service<UnlinkedMembers>()("@accountlink/core/UnlinkedMembers", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const guard = yield* GuildGuard;
    const { roles } = yield* ChatPlatform;

    const readAll = Effect.fnUntraced(function* (guildId: GuildId) {
      if (roles === undefined) return yield* new Conflict({ reason: "members_hidden" });
      const members: Array<ListedMember> = [];
      let after: ChatId | null = null;
      for (;;) {
        const page: ReadonlyArray<RoleMember> = yield* Effect.catchTag(
          roles.membersPage(guildId, after),
          "MembersHidden",
          () => new Conflict({ reason: "members_hidden" }),
        );
        if (page.length === 0) break;
        members.push(...page.filter(({ isBot }) => !isBot).map(listed));
        after = page.at(-1)?.chatId ?? null;
      }
      return { members: members.toSorted(newestFirst), readAt: yield* Clock.currentTimeMillis };
    });

    const lists = yield* Cache.makeWith(readAll, {
      capacity: keptLists,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? exit.value.members.length * keptPerMember : 0),
    });

    const linkedAmong = Effect.fnUntraced(function* (pid: Pid, members: ReadonlyArray<ListedMember>) {
      const linked = new Set<ChatId>();
      for (let start = 0; start < members.length; start += atOnce) {
        const chatIds = members.slice(start, start + atOnce).map(({ chatId }) => chatId);
        for (const chatId of (yield* links.findGamesByChatIds(pid, chatIds)).keys()) linked.add(chatId);
        yield* Effect.yieldNow;
      }
      return linked;
    });

    /** The last counts of large guilds, by scope and guild. */
    const counted = new Map<string, { readonly linked: ReadonlySet<ChatId>; readonly readAt: Millis }>();

    const linkedIn = Effect.fnUntraced(function* (
      pid: Pid,
      guildId: GuildId,
      { members, readAt }: { readonly members: ReadonlyArray<ListedMember>; readonly readAt: Millis },
    ) {
      if (members.length < large) return yield* linkedAmong(pid, members);
      const known = counted.get(`${pid} ${guildId}`);
      if (known?.readAt === readAt) return known.linked;
      const linked = yield* linkedAmong(pid, members);
      if (counted.size >= keptLists) counted.clear();
      counted.set(`${pid} ${guildId}`, { linked, readAt });
      return linked;
    });

    return {
      /**
       * Returns members without a link, those who joined last first. Fails with `Conflict` `members_hidden` if the
       * platform does not list the members of the guild. In a guild with many members, the answer may be as old as
       * their list, which is kept for up to some minutes.
       *
       * @param search the beginning of a name, or an ID; empty for all members
       */
      page: Effect.fn("UnlinkedMembers.page")(function* (
        scope: DataScope,
        guildId: GuildId,
        search: string,
        place: MemberPlace | null,
        limit: number,
      ) {
        yield* guard.enter(scope, guildId);
        const list = yield* Cache.get(lists, guildId);
        const { members } = list;
        const linked = yield* linkedIn(scope.pid, guildId, list);
        const wanted = search.toLowerCase();
        const found = members.filter(
          (member) =>
            !linked.has(member.chatId) &&
            (place === null || newestFirst(place, member) < 0) &&
            isMeant(member, wanted),
        );
        const shown = found.slice(0, limit);
        const last = shown.at(-1);
        return {
          members: shown,
          next: found.length > limit && last !== undefined ? last : null,
          linked: linked.size,
          total: members.length,
        } satisfies UnlinkedPage;
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(UnlinkedMembers, UnlinkedMembers.make);
}

const listed = ({ chatId, username, displayName, nickname, joined = null }: RoleMember): ListedMember => {
  const at = Date.parse(joined ?? "");
  return { chatId, username, displayName, nickname, joined, at: Number.isNaN(at) ? 0 : at };
};

const newestFirst = (one: MemberPlace, other: MemberPlace): number =>
  other.at - one.at || (one.chatId < other.chatId ? -1 : Number(one.chatId > other.chatId));

const isMeant = ({ chatId, username, displayName, nickname }: ListedMember, wanted: string): boolean =>
  wanted === "" ||
  chatId === wanted ||
  [username, displayName, nickname].some((name) => name?.toLowerCase().startsWith(wanted) === true);
