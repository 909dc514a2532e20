/**
 * Dashboard routes for the text channels of guilds, and for the panel that the bot posts in them.
 *
 * @example
 * ```ts
 * const ofChannels = [DashboardChannels.getChannels, DashboardChannels.postPanel];
 * ofChannels.map(({ method }) => method); // ["GET", "POST"]
 * ```
 */
import { GuildId, idRules } from "@accountlink/core/ids";
import { Schema } from "effect";
import { optional, required, text } from "../parameter.ts";
import { managed, pid } from "./signed_in.ts";

/** The most characters of a panel's text. */
export const longestPanelText = 300;

const guild = {
  pid,
  guildId: required(
    GuildId,
    `expected ${idRules.guildId}`,
    "ID of the guild; for the scope of a guild, its own",
  ),
};

export const getChannels = managed("admin", "GET", "/channels", {
  id: "getChannels",
  summary: "The text channels of a guild, in the order in which members see them",
  parameters: guild,
  data: {
    channels: Schema.Array(
      Schema.Struct({ id: Schema.String, name: Schema.String, mayPost: Schema.Boolean }),
    ),
  },
});

export const postPanel = managed("admin", "POST", "/panel", {
  id: "postPanel",
  summary:
    "Post the panel with which members link their accounts into a channel, or change the one that was posted there",
  parameters: {
    ...guild,
    channelId: text("ID of a text channel in which the bot may post"),
    text: optional(
      required(
        Schema.String.check(Schema.isMaxLength(longestPanelText)),
        { is: "characters", most: longestPanelText },
        "Text of the panel; left out or empty, one sentence asks to link",
      ),
    ),
  },
  data: { messageId: Schema.String },
});
