/**
 * How old a platform's answer may be. The age counts from the request to the platform, even for callers that joined
 * the request later.
 */
import { Duration } from "effect";

export interface Staleness {
  /** A guild, which implies that the bot is in it. */
  readonly guild: Duration.Duration;
  /** A member of a guild, which implies the membership. */
  readonly member: Duration.Duration;
  /** The profile of a user, which implies that the user exists. */
  readonly profile: Duration.Duration;
  /** The absence of a bot, member or user. Short, since people retry right after joining. */
  readonly absence: Duration.Duration;
}

/**
 * The defaults of cached platforms.
 *
 * @example
 * ```ts
 * import { defaultStaleness } from "@accountlink/platforms/http";
 * import { Duration } from "effect";
 *
 * Duration.toSeconds(defaultStaleness.profile); // 30
 * ```
 */
export const defaultStaleness: Staleness = {
  guild: Duration.seconds(10),
  member: Duration.seconds(5),
  profile: Duration.seconds(30),
  absence: Duration.seconds(1),
};
