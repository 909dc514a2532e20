import { Array as Arr, Clock, Context, Effect, Fiber, FiberMap, Layer, Option, Schedule } from "effect";
import { Conflict, Forbidden, type PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import { ChatPlatform, type MembersPage, type RoleMember, Urgency } from "../platforms/mod.ts";
import type { Millis } from "../timestamp.ts";
import { TurnAccount } from "../turns/mod.ts";

export interface ListedMember extends Pick<RoleMember, "chatId" | "username" | "displayName" | "nickname"> {
  /** When the member joined; 0 if unknown. */
  readonly at: Millis;
}

/** The members of a guild without bots, those who joined last first. */
export interface MemberList {
  readonly members: ReadonlyArray<ListedMember>;
  readonly readAt: Millis;
}

interface KeptList extends MemberList {
  /** The account that had the list read. */
  readonly account: string;
}

/** How many members of a guild have been read, and about how many there are. */
export interface ListProgress {
  readonly done: number;
  readonly total: number;
}

/** Guilds with more members are not listed: a list of 100,000 members takes 100 requests and 30 MB of memory. @internal */
export const mostListed = 100_000;

/** How many members a node keeps in all lists together. */
const mostKept = 2 * mostListed;

/**
 * How long a list is kept for each of its members, in milliseconds. A list of 1,000 costs one request and is kept for 6
 * seconds, a list of 50,000 costs 50 and is kept for 5 minutes.
 */
const keptPerMember = 6;

/** How many members are sorted before they are merged with others. */
const sortedAtOnce = 1_000;

/** After a page was read, the next one is worth waiting for. */
const pageRetries = { schedule: Schedule.spaced("2 seconds"), times: 3 };

type ListError = Conflict | Forbidden | PlatformUnavailable;

/**
 * Reads the members of guilds, and keeps them for a while. A list that nobody waits for any more is read to its end, so
 * that it is there when they come back. @internal
 */
export class MemberLists extends Context.Service<MemberLists>()("@accountlink/core/MemberLists", {
  make: Effect.gen(function* () {
    const { roles } = yield* ChatPlatform;
    const reading = yield* FiberMap.make<GuildId, MemberList, ListError>();
    const progress = new Map<GuildId, ListProgress>();
    const lists = new Map<GuildId, KeptList>();

    const keep = (guildId: GuildId, list: KeptList) => {
      lists.delete(guildId);
      for (const surplus of surplusOf(lists, list)) lists.delete(surplus);
      lists.set(guildId, list);
    };

    const readAll = Effect.fnUntraced(function* (guildId: GuildId) {
      if (roles === undefined) return yield* new Conflict({ reason: "members_hidden" });
      const guild = Option.getOrNull(yield* roles.findGuildRoles(guildId));
      if (guild === null) return yield* new Forbidden({ reason: "bot_not_in_guild" });
      if (guild.memberCount > mostListed) return yield* new Conflict({ reason: "too_many_members" });
      const members: Array<ListedMember> = [];
      let after: ChatId | null = null;
      do {
        const asked = Effect.catchTag(
          roles.membersPage(guildId, after),
          "MembersHidden",
          () => new Conflict({ reason: "members_hidden" }),
        );
        const page: MembersPage = yield* after === null
          ? asked
          : Effect.retry(asked, { ...pageRetries, while: ({ _tag }) => _tag === "PlatformUnavailable" });
        for (const member of page.members)
          if (!member.isBot && member.isPending !== true) members.push(listed(member));
        progress.set(guildId, { done: members.length, total: Math.max(guild.memberCount, members.length) });
        after = page.next;
      } while (after !== null);
      const list: KeptList = {
        members: yield* sortedInSteps(members, newestFirst),
        readAt: yield* Clock.currentTimeMillis,
        account: yield* TurnAccount,
      };
      keep(guildId, list);
      return list;
    });

    const start = (guildId: GuildId) =>
      FiberMap.run(
        reading,
        guildId,
        readAll(guildId).pipe(
          Effect.provideService(Urgency, "background"),
          Effect.ensuring(Effect.sync(() => progress.delete(guildId))),
        ),
      );

    return {
      /**
       * Returns the members of a guild. Fails with `Conflict` `members_hidden` if the platform does not list them, and
       * `too_many_members` if there are more than `mostListed`.
       */
      find: Effect.fn("MemberLists.find")(function* (guildId: GuildId) {
        const known = lists.get(guildId);
        const now = yield* Clock.currentTimeMillis;
        if (known !== undefined && now < known.readAt + known.members.length * keptPerMember) return known;
        const running = Option.getOrUndefined(yield* FiberMap.get(reading, guildId));
        return yield* Fiber.join(running ?? (yield* start(guildId)));
      }),

      /** Returns how far the list of a guild has been read; null if nothing of it is there. */
      progress: (guildId: GuildId): ListProgress | null => {
        const read = lists.get(guildId)?.members.length;
        // What needs the list may take a while after it was read.
        return progress.get(guildId) ?? (read === undefined ? null : { done: read, total: read });
      },
    };
  }),
}) {
  static readonly layer = Layer.effect(MemberLists, MemberLists.make);
}

/**
 * Returns the guilds whose lists make room for a new one: as long as there are too many members, the account with most of
 * them loses its largest list. So many guilds of one account cost another account no list, and a large guild costs small
 * ones of its account none. Of lists of one size, the oldest goes first.
 */
const surplusOf = (lists: ReadonlyMap<GuildId, KeptList>, { account, members }: KeptList) => {
  let tooMany = members.length - mostKept;
  for (const list of lists.values()) tooMany += sizeOf(list);
  if (tooMany <= 0) return [];
  const upTo = new Map([[account, members.length]]);
  const ranked = [...lists]
    .toReversed()
    .toSorted(([, one], [, other]) => sizeOf(one) - sizeOf(other))
    .map(([guildId, list]) => {
      const rank = (upTo.get(list.account) ?? 0) + sizeOf(list);
      upTo.set(list.account, rank);
      return { guildId, size: sizeOf(list), rank };
    })
    .toSorted((one, other) => other.rank - one.rank);
  const surplus: Array<GuildId> = [];
  for (const { guildId, size } of ranked) {
    if (tooMany <= 0) break;
    surplus.push(guildId);
    tooMany -= size;
  }
  return surplus;
};

/** Sorts in steps, between which the process does other work: 100,000 members at once would take 200 ms. @internal */
export const sortedInSteps = Effect.fnUntraced(function* <A>(
  all: ReadonlyArray<A>,
  order: (one: A, other: A) => number,
) {
  let parts: ReadonlyArray<ReadonlyArray<A>> = Arr.chunksOf(all, sortedAtOnce);
  do {
    // Sorted neighbours are merged, which takes far fewer comparisons than to sort them anew.
    parts = yield* Effect.forEach(Arr.chunksOf(parts, 2), (pair) =>
      Effect.map(Effect.yieldNow, () => pair.flat().toSorted(order)),
    );
  } while (parts.length > 1);
  return parts[0] ?? [];
});

const sizeOf = ({ members }: MemberList): number => members.length;

const listed = ({ chatId, username, displayName, nickname, joined }: RoleMember): ListedMember => {
  const at = Date.parse(joined ?? "");
  return { chatId, username, displayName, nickname, at: Number.isNaN(at) ? 0 : at };
};

/** A position in the order of members. */
export type MemberPlace = Pick<ListedMember, "at" | "chatId">;

/** Sorts members who joined last first, and equal times by chat ID as strings. @internal */
export const newestFirst = (one: MemberPlace, other: MemberPlace): number =>
  other.at - one.at || (one.chatId < other.chatId ? -1 : Number(one.chatId > other.chatId));
