/** The guilds that the bot is in, known from the bot's own list of guilds. */
import { GuildId } from "@accountlink/core";
import { PlatformUnavailable } from "@accountlink/core/errors";
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { Duration, Effect, Result, Schema, Semaphore } from "effect";
import { countedEntries, RequestFailed, type ResilientClient } from "../../http/mod.ts";
import { ask } from "../answers.ts";
import { bySnowflake, isSnowflake } from "./discord_wire.ts";

/** How many guilds Discord lists per request, in order of ID. */
const pageSize = 200;

/** How long the absence of the bot is believed. */
const absentFor = Duration.minutes(5);

/** How long a lookup waits for other lookups of the list. */
const longestWait = Duration.seconds(4);

const JoinedGuilds = Schema.NullOr(
  countedEntries(Schema.Struct({ id: GuildId.check(Schema.makeFilter(isSnowflake)) })),
);

const noGuilds: typeof JoinedGuilds.Type = { read: [], leftOut: 0 };

/** The guilds after `after` up to `last` that are not in the list are without the bot until `until`. */
interface Range {
  readonly after: bigint;
  readonly last: bigint;
  readonly until: number;
}

const lastId = 2n ** 63n;

/**
 * Reads pages of the list of the bot's guilds. It does not look up each guild, since looking up a guild that the bot is
 * not in is an invalid request, and Discord blocks IP addresses that send many invalid requests.
 */
export const makeOwnGuilds = Effect.fnUntraced(function* (client: ResilientClient) {
  /** Known guilds of the bot. Bounded, because Discord listed them. */
  const known = new Set<GuildId>();
  /** In the order in which they were read. */
  let ranges: ReadonlyArray<Range> = [];
  const reading = yield* Semaphore.make(1);

  /**
   * Reads the guilds after an ID, and returns the last ID that the answer covers. Only an empty page ends the list:
   * Discord leaves guilds out of a page without filling it up.
   */
  const read = Effect.fnUntraced(function* (operation: string, after: bigint) {
    const query = { limit: pageSize, after: String(after) };
    const answer = yield* ask(client, "GET /users/@me/guilds", { operation, query, found: JoinedGuilds });
    const { read: page, leftOut } = Result.getOrThrow(answer) ?? noGuilds;
    const later = page.map(({ id }) => BigInt(id)).filter((id) => id > after);
    const last = later.reduce((one, other) => (one > other ? one : other), later[0] ?? lastId);
    const now = yield* monotonicMillis;
    const isWithin = (id: string) => BigInt(id) > after && BigInt(id) <= last;
    for (const id of known) if (isWithin(id)) known.delete(id);
    for (const { id } of page) known.add(id);
    const others = ranges.filter((range) => now < range.until && (range.after < after || range.last > last));
    const until = now + Duration.toMillis(absentFor);
    // The bot may be in a guild whose entry cannot be read.
    ranges = leftOut > 0 ? others : [...others, { after, last, until }];
    return { page, last, leftOut };
  });

  /** Returns whether the bot is in a guild; null if no range covers it. */
  const recall = (guildId: GuildId, now: number): boolean | null => {
    if (known.has(guildId)) return true;
    const id = BigInt(guildId);
    const covers = ({ after, last, until }: Range) => now < until && after < id && id <= last;
    return ranges.some(covers) ? false : null;
  };

  /**
   * Returns whether the bot may be in a guild. Reads the page after the known ones, so that strange IDs in any order read
   * each page at most twice in 5 minutes.
   */
  const has = Effect.fnUntraced(function* (operation: string, guildId: GuildId) {
    const before = recall(guildId, yield* monotonicMillis);
    if (before !== null) return before;
    const id = BigInt(guildId);
    const find = Effect.gen(function* () {
      const now = yield* monotonicMillis;
      const found = recall(guildId, now);
      if (found !== null) return found;
      const below = ranges.flatMap(({ last, until }) => (now < until && last < id ? [last] : []));
      let { page, last, leftOut } = yield* read(
        operation,
        below.reduce((one, other) => (one > other ? one : other), 0n),
      );
      // Most often the next page is empty, which answers for all higher IDs.
      if (last < id && page.length < pageSize) ({ page, last, leftOut } = yield* read(operation, last));
      if (last < id) ({ leftOut } = yield* read(operation, id - 1n));
      return leftOut > 0 || known.has(guildId);
    });
    return yield* Effect.timeoutOrElse(reading.withPermit(find), {
      duration: longestWait,
      orElse: () => new PlatformUnavailable({ operation, cause: new RequestFailed({ reason: "busy" }) }),
    });
  });

  return {
    has,

    /** Notes that the bot is no longer in a guild. */
    forget: Effect.fnUntraced(function* (guildId: GuildId) {
      known.delete(guildId);
      const id = BigInt(guildId);
      const until = (yield* monotonicMillis) + Duration.toMillis(absentFor);
      ranges = [...ranges, { after: id - 1n, last: id, until }];
    }),

    /**
     * Reads the list anew, and returns the given guilds that the bot is in. The first page starts at the lowest given
     * ID; each further page starts at the lowest ID after the previous page.
     */
    joined: Effect.fnUntraced(function* (guildIds: ReadonlyArray<GuildId>) {
      const joined = new Set<GuildId>();
      let left = guildIds.filter(isSnowflake).toSorted(bySnowflake);
      while (left[0] !== undefined) {
        const { page, last } = yield* read("ChatPlatform.joinedGuilds", BigInt(left[0]) - 1n);
        const listed = new Set(page.map(({ id }) => id));
        for (const id of left) if (listed.has(id)) joined.add(id);
        left = left.filter((id) => BigInt(id) > last);
      }
      return joined;
    }),
  };
});
