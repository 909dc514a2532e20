import type { ChatId, GameId, GuildId } from "@accountlink/core";
import { Context } from "effect";
import type { OwnMessages } from "./languages/language.ts";

/** A link of the demo, which signs in as a person. */
export interface ThingToTry {
  readonly url: string;
  readonly person: string;
  readonly note: string;
}

export interface PageSettingsShape {
  /** The name of the chat platform within a sentence. */
  readonly chatName: string;
  /** The name of the game platform within a sentence. */
  readonly gameName: string;
  /**
   * Returns the URL of a guild's page on the chat platform, or of the platform's home page if the ID is null. The
   * setting is null if the platform has no pages.
   */
  readonly chatHome: ((guildId: GuildId | null) => string) | null;
  /** Returns the URL of a user's page on the chat platform. The setting is null if the platform has no pages. */
  readonly chatPage?: ((chatId: ChatId) => string) | null;
  /** Returns the URL of a user's page on the game platform. The setting is null if the platform has no pages. */
  readonly gamePage?: ((gameId: GameId) => string) | null;
  /** The URL of the operator's privacy policy. */
  readonly privacyUrl: string | null;
  /** How users reach the operator: an e-mail address, a URL or text. */
  readonly contact: string | null;
  /** Messages of the deployment in place of the service's own. */
  readonly messages?: OwnMessages;
  /** What the home page of a demo offers to try, in English. */
  readonly toTry?: ReadonlyArray<ThingToTry>;
  /** Whether nobody can sign in. Pages that need a sign-in then answer 503. */
  readonly withoutSignIns?: boolean;
}

/** How the pages name the platforms and the operator. By default, they name neither. */
export const PageSettings = Context.Reference<PageSettingsShape>("@accountlink/http/PageSettings", {
  defaultValue: () => ({
    chatName: "the chat platform",
    gameName: "the game platform",
    chatHome: null,
    privacyUrl: null,
    contact: null,
  }),
});
