import { Data } from "effect";
import type { NotAdmitted } from "../admission/admission.ts";
import type { ChatId, GameId, GuildId, Pid, Sid } from "../ids.ts";
import type { GameProof, OwnProof } from "../links/link_proof.ts";
import type { ChatProfile, GameProfile, Guild } from "../platforms/profile.ts";
import type { SessionState } from "../sessions/session_store.ts";
import type { Millis } from "../timestamp.ts";
import type { ProofStep } from "./flow_store.ts";
import type { GameWay, NeededForWay } from "./game_ways.ts";

/**
 * How a browser enters the flow: with a session, or with the public id of a scope. The values are not validated yet.
 */
export type FlowEntry =
  | { readonly sid: string }
  | { readonly pid: string; readonly guildId: string | null; readonly redirect: string | null };

/** An account in a flow. The profile is null if the platform does not know the account or does not answer. */
export interface FlowAccount<Id, Profile> {
  readonly id: Id;
  readonly profile: Profile | null;
}

/** A game account that its owner proves by putting the words into its description. */
export interface NamedAccount extends FlowAccount<GameId, GameProfile> {
  readonly words: string;
  /** The URL of the page where the user edits the description; null if the platform has no such page. */
  readonly descriptionPage: string | null;
}

/** A game account that the user has proven to another community, which is never named. */
export interface KnownAccount {
  readonly id: GameId;
  readonly proof: OwnProof;
  readonly provenAt: Millis;
}

/** The data of a flow's page. */
export interface FlowView {
  readonly entry: FlowEntry;
  readonly sid: Sid | null;
  /** Who asks for the link, by `makeAskingName`. */
  readonly asking: string;
  /** Where users get help; null if the owner did not set it. */
  readonly supportUrl: string | null;
  /** The guild's name is null if the platform does not answer. */
  readonly guild: Guild | null;
  readonly redirect: string | null;
  readonly expiresAt: Millis;
  readonly chat: FlowAccount<ChatId, ChatProfile> | null;
  readonly game: FlowAccount<GameId, GameProfile> | null;
  /** The only game user that the session may link; null if it may link any. */
  readonly player: FlowAccount<GameId, GameProfile> | null;
  /** The linked game account that confirming would replace, or null. */
  readonly replaces: FlowAccount<GameId, GameProfile> | null;
  /** The chat user who would lose the game account, since the scope allows one; the newest of several, or null. */
  readonly takenFrom: FlowAccount<ChatId, ChatProfile> | null;
  /** How the game account was proven; null before. */
  readonly gameProof: GameProof | null;
  /** The ways that can be used, in the order in which pages offer them; none if the session names the player. */
  readonly ways: ReadonlyArray<GameWay>;
  readonly needs: NeededForWay;
  /** The game accounts that the user has proven to other communities, without the one proven here. */
  readonly known: ReadonlyArray<KnownAccount & FlowAccount<GameId, GameProfile>>;
  /** The game accounts that the chat platform named, without the proven one. */
  readonly connections: ReadonlyArray<FlowAccount<GameId, GameProfile>>;
  /** The game account that the user named, to prove it by words; null before. */
  readonly named: NamedAccount | null;
  readonly csrf: string;
}

export interface FlowEnded {
  readonly entry: FlowEntry;
  readonly guildId: GuildId | null;
  /** The redirect with the outcome in its query, or null. */
  readonly redirect: string | null;
}

/** The page after a confirmation, with the linked accounts. */
export interface FlowLinked extends FlowEnded {
  readonly chat: FlowAccount<ChatId, ChatProfile>;
  readonly game: FlowAccount<GameId, GameProfile>;
  readonly linkChanged: boolean;
  /** Whether the user kept their existing link. */
  readonly kept: boolean;
  /** The owner's text for users who have finished, or null. */
  readonly doneText: string | null;
}

/**
 * - `unknown`: the session or scope does not exist, or has no active key.
 * - `bot_gone`: linking is off because the bot was removed from the community.
 * - `unknown_code`: no session has the code.
 * - `ended_code`: the session of the code has ended.
 * - `bad_redirect`: no active key of the scope lists the origin of the redirect.
 * - `no_guild`: the scope belongs to another guild, or the bot is not in the guild.
 * - `expired`: the deadline has passed.
 * - `over`: the session is completed, cancelled or failed.
 * - `wrong_user`: the session is for another chat user.
 * - `player_named`: the session names its player, so no other game account can be proven.
 * - `not_a_member`: the chat user is not in the guild.
 * - `platform_down`: a platform does not answer; `cause` is the error `PlatformUnavailable`.
 * - `denied`: the user denied the sign-in.
 * - `sign_in_invalid`: the sign-in belongs to another browser, was used already or has expired, or the platform's
 *   response is invalid.
 * - `unfinished`: a proof is missing.
 * - `lost`: the browser has no flow, or its flow was completed.
 * - `forged`: the form does not come from a page of this flow.
 * - `link_changed`: the link changed since the user saw it, or was removed since the accounts were proven.
 * - `full`: the account of the scope can have no more links.
 * - `blocked`: the scope keeps one of the users out.
 * - `taken`: another chat user has the game account, and the scope allows one.
 * - `too_young`, `age_unknown`: the scope admits accounts from an age on, and an account is younger, or its platform does
 *   not tell its age.
 * - `too_many_tries`: the flow looked up too many names, or looked for its words too often.
 */
export type FlowRefusal =
  | "unknown"
  | "unknown_code"
  | "ended_code"
  | "bad_redirect"
  | "no_guild"
  | "bot_gone"
  | "expired"
  | "over"
  | "wrong_user"
  | "player_named"
  | "not_a_member"
  | "platform_down"
  | "denied"
  | "sign_in_invalid"
  | "unfinished"
  | "lost"
  | "forged"
  | "link_changed"
  | "full"
  | "taken"
  | "too_many_tries"
  | NotAdmitted["reason"];

/** The community and the site of an ended session. */
export interface SessionOnward {
  readonly pid: Pid;
  readonly guildId: GuildId | null;
  /** The redirect with the outcome in its query, or null. */
  readonly redirect: string | null;
}

export class FlowRefused extends Data.TaggedError("FlowRefused")<{
  readonly reason: FlowRefusal;
  /** The entry with which the browser can start again; null if unknown. */
  readonly entry: FlowEntry | null;
  /** The final state of the session, if the reason is `over`. */
  readonly state?: SessionState;
  /** Whether the deadline of the session has passed too, if the reason is `over`. */
  readonly isPast?: boolean;
  /** Whether the two accounts of a completed session are still linked, if the reason is `over`. */
  readonly isStillLinked?: boolean;
  /** The sign-in that was denied or is invalid, the step whose account is not admitted, or whose platform is down. */
  readonly step?: ProofStep;
  /** When the account is old enough, if the reason is `too_young`. */
  readonly from?: Millis;
  /** The account that signed in, if the refusal is of this account. */
  readonly account?: FlowAccount<ChatId, ChatProfile>;
  /** Where users get help with the refusal of a step; null if the owner did not set it. */
  readonly supportUrl?: string | null;
  /** Where the user can go on, if the session has ended. */
  readonly onward?: SessionOnward;
  /** The text for the cookie that shows this refusal again, or null. */
  readonly lastPage?: string | null;
  readonly cause?: unknown;
}> {
  override readonly message = `Cannot continue the verification: ${this.reason}`;
}
