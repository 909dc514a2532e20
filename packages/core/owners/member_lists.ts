import { Clock, Context, Effect, Fiber, FiberMap, Layer, Option, Schedule } from "effect";
import { Conflict, Forbidden, type PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import { ChatPlatform, type RoleMember } from "../platforms/chat_platform.ts";
import { IsBackground } from "../platforms/platform_refusals.ts";
import type { Millis } from "../timestamp.ts";

/** A member of a guild, as the platform lists it. */
export interface ListedMember extends Pick<RoleMember, "chatId" | "username" | "displayName" | "nickname"> {
  /** When the member joined; 0 if unknown. */
  readonly at: Millis;
}

/** The members of a guild without bots, those who joined last first. */
export interface MemberList {
  readonly members: ReadonlyArray<ListedMember>;
  readonly readAt: Millis;
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
    const lists = new Map<GuildId, MemberList>();

    /** Keeps a list. The largest of the others go first, so that no large guild costs small ones their lists. */
    const keep = (guildId: GuildId, list: MemberList) => {
      lists.delete(guildId);
      lists.set(guildId, list);
      let kept = 0;
      for (const { members } of lists.values()) kept += members.length;
      const others = [...lists].filter(([other]) => other !== guildId);
      for (const [largest, { members }] of others.toSorted(
        ([, one], [, other]) => sizeOf(other) - sizeOf(one),
      )) {
        if (kept <= mostKept) return;
        lists.delete(largest);
        kept -= members.length;
      }
    };

    const readAll = Effect.fnUntraced(function* (guildId: GuildId) {
      if (roles === undefined) return yield* new Conflict({ reason: "members_hidden" });
      const guild = Option.getOrNull(yield* roles.findGuildRoles(guildId));
      if (guild === null) return yield* new Forbidden({ reason: "bot_not_in_guild" });
      if (guild.memberCount > mostListed) return yield* new Conflict({ reason: "too_many_members" });
      const members: Array<ListedMember> = [];
      let after: ChatId | null = null;
      for (;;) {
        const asked = Effect.catchTag(
          roles.membersPage(guildId, after),
          "MembersHidden",
          () => new Conflict({ reason: "members_hidden" }),
        );
        const page: ReadonlyArray<RoleMember> = yield* after === null
          ? asked
          : Effect.retry(asked, { ...pageRetries, while: ({ _tag }) => _tag === "PlatformUnavailable" });
        if (page.length === 0) break;
        for (const member of page) if (!member.isBot) members.push(listed(member));
        progress.set(guildId, { done: members.length, total: Math.max(guild.memberCount, members.length) });
        after = page.at(-1)?.chatId ?? null;
      }
      const list = { members: members.toSorted(newestFirst), readAt: yield* Clock.currentTimeMillis };
      keep(guildId, list);
      return list;
    });

    const start = (guildId: GuildId) =>
      FiberMap.run(
        reading,
        guildId,
        readAll(guildId).pipe(
          Effect.provideService(IsBackground, true),
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
