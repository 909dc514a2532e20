/**
 * Dashboard routes for the text channels of guilds, and for the panel that the bot posts in them.
 *
 * @example
 * ```ts
 * const ofChannels = [DashboardChannels.getChannels, DashboardChannels.postPanel];
 * ofChannels.map(({ method }) => method); // ["GET", "POST"]
 * ```
 */
import { storable } from "@accountlink/core/storable_text";
import { Schema } from "effect";
import { optional, required, text } from "../parameter.ts";
import { demoGuild, guildInScope, managed } from "./signed_in.ts";

/** The most characters of a panel's text. @internal */
export const longestPanelText = 300;

export const getChannels = managed("admin", "GET", "/channels", {
  id: "getChannels",
  summary: "The text channels of a guild, in the order in which members see them",
  parameters: guildInScope,
  example: demoGuild,
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
    ...guildInScope,
    channelId: text("ID of a text channel in which the bot may post"),
    text: optional(
      required(
        Schema.String.check(Schema.isMaxLength(longestPanelText), storable),
        { is: "characters", most: longestPanelText },
        "Text of the panel; left out or empty, one sentence asks to link",
      ),
    ),
  },
  example: { ...demoGuild, channelId: "700000000000000101", text: "Link your account to play with us." },
  data: { messageId: Schema.String },
});
