/**
 * How old an answer of a platform may be when it is used. The age counts from the moment the platform was asked, and an
 * answer that several callers waited for is as old for the last as for the first.
 */
import { Duration } from "effect";

export interface Staleness {
  /** A guild, and with it that the bot is in it. */
  readonly guild: Duration.Duration;
  /** A member of a guild, and with it that the user is one. */
  readonly member: Duration.Duration;
  /** The profile of a user, and with it that there is one. */
  readonly profile: Duration.Duration;
  /** That the bot, the member or the user is not there. Short, since people try again right after joining. */
  readonly absence: Duration.Duration;
}

export const defaultStaleness: Staleness = {
  guild: Duration.seconds(10),
  member: Duration.seconds(5),
  profile: Duration.seconds(30),
  absence: Duration.seconds(1),
};
