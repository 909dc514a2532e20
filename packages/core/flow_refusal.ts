/**
 * Why the public verification flow does not go on.
 */
import { Data } from "effect";
import type { ChatId } from "./ids.ts";
import type { ChatProfile } from "./profile.ts";
import type { ShownAccount } from "./services/verification_flows.ts";
import type { SessionState } from "./verification_session.ts";

/** How a browser enters the flow: by a session, or by the public id of a scope. Values are as they were sent. */
export type FlowEntry =
  | { readonly sid: string }
  | { readonly pid: string; readonly guildId: string | null; readonly redirect: string | null };

/**
 * - `unknown`: no such session or scope, or no active key: the one that made the session, or any of the scope.
 * - `bad_redirect`: no active key of the scope sends users there.
 * - `no_guild`: the scope has another guild, or its bot is not in the guild.
 * - `expired`: the time of the session is over.
 * - `over`: the session was completed, cancelled or failed already.
 * - `wrong_user`: the session is for another chat user.
 * - `not_a_member`: the chat user is not in the guild.
 * - `platform_down`: a platform does not answer; `cause` is its `PlatformUnavailable`.
 * - `denied`: the user did not let the platform tell who they are.
 * - `sign_in_invalid`: what came back from a platform belongs to no sign-in of this browser, or was used already.
 * - `unfinished`: a proof is missing.
 * - `lost`: the browser has no flow, or it is used up.
 * - `forged`: the form was not that of the browser's page.
 * - `link_changed`: the link is not the one that the user has seen, or was removed since their proofs.
 */
export type FlowRefusal =
  | "unknown"
  | "bad_redirect"
  | "no_guild"
  | "expired"
  | "over"
  | "wrong_user"
  | "not_a_member"
  | "platform_down"
  | "denied"
  | "sign_in_invalid"
  | "unfinished"
  | "lost"
  | "forged"
  | "link_changed";

/** The flow does not go on. */
export class FlowRefused extends Data.TaggedError("FlowRefused")<{
  readonly reason: FlowRefusal;
  /** Where to begin again, when that is known. */
  readonly entry: FlowEntry | null;
  /** How the session ended, for `over`. */
  readonly state?: SessionState;
  /** Who signed in, for `wrong_user` and `not_a_member`; undefined when only their ID was asked for. */
  readonly account?: ShownAccount<ChatId, ChatProfile>;
  readonly cause?: unknown;
}> {
  override readonly message = `The verification does not go on: ${this.reason}`;
}
