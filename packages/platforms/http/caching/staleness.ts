/**
 * How old a platform's answer may be. The age counts from the request to the platform, even for callers that joined
 * the request later.
 */
import { Duration } from "effect";

export interface Staleness {
  /** The maximum age of an answer with a guild, which also says that the bot is in the guild. */
  readonly guild: Duration.Duration;
  /** The maximum age of an answer with a member of a guild. */
  readonly member: Duration.Duration;
  /** The maximum age of an answer with the profile of a user. */
  readonly profile: Duration.Duration;
  /**
   * The maximum age of an answer that a bot, member or user is absent. It is short, since people retry right after
   * joining.
   */
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
