import type { ChatId, GameId, GuildId, Sid } from "../ids.ts";
import type { ChatProfile, GameProfile, Guild } from "../platforms/profile.ts";
import type { Millis } from "../timestamp.ts";

/** How a browser enters: with a session, or the public id of a scope. Values are unchecked. */
export type FlowEntry =
  | { readonly sid: string }
  | { readonly pid: string; readonly guildId: string | null; readonly redirect: string | null };

/** An account with its profile; null if the platform does not know it or does not answer. */
export interface FlowAccount<Id, Profile> {
  readonly id: Id;
  readonly profile: Profile | null;
}

/** The state of a flow, for its page. */
export interface FlowView {
  readonly entry: FlowEntry;
  readonly sid: Sid | null;
  /** Who asks for the link: the name that the owner set, else that of the scope's guild or, without one, of the account. */
  readonly asking: string;
  /** Where users get help; null if the owner did not say. */
  readonly supportUrl: string | null;
  /** The guild of the flow. Its name is null if the platform does not answer. */
  readonly guild: Guild | null;
  readonly redirect: string | null;
  readonly expiresAt: Millis;
  /** The proven accounts. */
  readonly chat: FlowAccount<ChatId, ChatProfile> | null;
  readonly game: FlowAccount<GameId, GameProfile> | null;
  /** The linked game account that confirming would replace; null if it replaces none. */
  readonly replaces: FlowAccount<GameId, GameProfile> | null;
  /** The field that the forms of the page send. */
  readonly csrf: string;
}

/** Part of a result: the cookie that replaces the one of the browser. */
export interface WithCookie {
  readonly cookie: string;
}

/** A flow that has ended. */
export interface FlowEnded {
  readonly entry: FlowEntry;
  readonly guildId: GuildId | null;
  /** The redirect with the outcome in its query; null for none. */
  readonly redirect: string | null;
}

/** Part of a result: the mark that the browser keeps as long as sightings are kept; null for none. */
interface WithBrowserMark {
  readonly browser: string | null;
}

/** A link that was stored or kept: the redirect, or else what is linked. */
export type FlowConfirmed =
  | (FlowEnded & WithBrowserMark & { readonly redirect: string })
  | (FlowEnded &
      WithBrowserMark & {
        readonly redirect: null;
        readonly chat: FlowAccount<ChatId, ChatProfile>;
        readonly game: FlowAccount<GameId, GameProfile>;
        readonly linkChanged: boolean;
        /** Whether the user kept the link that they had. */
        readonly kept: boolean;
        /** What the owner says to do now; null for nothing. */
        readonly doneText: string | null;
      });
