import type { ChatId, GameId, GuildId, Sid } from "../ids.ts";
import type { ChatProfile, GameProfile, Guild } from "../platforms/profile.ts";
import type { Millis } from "../timestamp.ts";

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
  /** The linked game account that confirming would replace, or null. */
  readonly replaces: FlowAccount<GameId, GameProfile> | null;
  readonly csrf: string;
}

/** The cookie of the flow, which replaces the cookie in the browser. */
export interface WithCookie {
  readonly cookie: string;
}

export interface FlowEnded {
  readonly entry: FlowEntry;
  readonly guildId: GuildId | null;
  /** The redirect with the outcome in its query, or null. */
  readonly redirect: string | null;
}

/**
 * `browser` is a random text for a cookie by which the browser is recognized later. If null, the browser's cookie stays
 * unchanged.
 */
interface WithBrowserMark {
  readonly browser: string | null;
}

/** What follows a confirmation: a redirect of the browser, or a page with the linked accounts. */
export type FlowConfirmed =
  | (FlowEnded & WithBrowserMark & { readonly redirect: string })
  | (FlowEnded &
      WithBrowserMark & {
        readonly redirect: null;
        readonly chat: FlowAccount<ChatId, ChatProfile>;
        readonly game: FlowAccount<GameId, GameProfile>;
        readonly linkChanged: boolean;
        /** Whether the user kept their existing link. */
        readonly kept: boolean;
        /** The owner's text for users who have finished, or null. */
        readonly doneText: string | null;
      });
