/**
 * What a deployment sets of the pages of the flow.
 */
import type { GuildId } from "@accountlink/core";
import { Context } from "effect";

/** The pages of this deployment. */
export interface PageSettingsShape {
  /** What users call the chat platform, in a sentence. */
  readonly chatName: string;
  /** What users call the game platform, in a sentence. */
  readonly gameName: string;
  /** Where users find a guild on the chat platform, or the platform itself for null; null when it has no pages. */
  readonly chatHome: ((guildId: GuildId | null) => string) | null;
  /** The operator's privacy policy. */
  readonly privacyUrl: string | null;
  /** How users reach the operator: an e-mail address, a web address or a text. */
  readonly contact: string | null;
}

/** The settings of this deployment; provide another value to change them. */
export const PageSettings = Context.Reference<PageSettingsShape>("@accountlink/http/PageSettings", {
  defaultValue: () => ({
    chatName: "the chat platform",
    gameName: "the game platform",
    chatHome: null,
    privacyUrl: null,
    contact: null,
  }),
});
