/**
 * How old a platform's answer may be. The age counts from the request to the platform, even for callers that joined
 * the request later.
 */
import { Duration } from "effect";

export interface Staleness {
  /** The maximum age of a cached guild. As long as a guild is cached, the bot counts as its member. */
  readonly guild: Duration.Duration;
  /** The maximum age of cached data about a member of a guild. */
  readonly member: Duration.Duration;
  /** The maximum age of a cached user profile, or of the answer that a game user exists. */
  readonly profile: Duration.Duration;
  /**
   * The maximum age of the cached answer that a guild, member or user was not found, and of a profile without badges or
   * groups. It is short, because people join a guild and retry at once.
   */
  readonly absence: Duration.Duration;
}

/**
 * The default maximum ages of cached answers.
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
