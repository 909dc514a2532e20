/** The panel: a message for everybody, with which members link their accounts. */
import { type Pid, PlatformUnavailable, StorageUse } from "@accountlink/core";
import type { WriteOrigin } from "@accountlink/core/audit";
import { CommunityStore, foundOrNew, placeOf, type ScopedGuild } from "@accountlink/core/communities";
import { InvalidParameter } from "@accountlink/core/errors";
import { makeGuildChannels } from "@accountlink/core/platforms";
import { DashboardChannels } from "@accountlink/http-api";
import { Clock, Effect } from "effect";
import { type Language, Languages } from "../languages/mod.ts";
import { makeCommunity } from "./community.ts";
import { type Message, messageBody, plainText } from "./message.ts";

/** The most characters of a manager's text, in UTF-16 as the chat platform counts them. */
export const { longestPanelText } = DashboardChannels;

/** Returns a function that makes a panel. Without a text, one sentence asks members to link. */
export const makePanelMessage = Effect.map(makeCommunity, (community) =>
  Effect.fnUntraced(function* (place: ScopedGuild, text: string | null, language: Language) {
    const game = community.game(language);
    const sentence = text === null ? language.text("chat.panel.ask", { game }) : plainText(text);
    const needed = yield* community.needed(language);
    const message: Message = {
      content: [
        `**${yield* community.lastingName(place)}**`,
        sentence,
        ...(needed === null ? [] : [needed.text]),
      ].join("\n"),
      buttons: [
        needed?.hasWay === false
          ? community.codeButton(language)
          : { label: language.text("chat.verify.start"), url: community.verifyUrl(place) },
        { label: language.text("chat.verify.roles"), action: "roles" },
      ],
      isPublic: true,
    };
    return message;
  }),
);

/**
 * Returns a function that posts a panel in the language of the guild, and returns the ID of the message. A panel that
 * was posted in the channel before is changed instead, unless it is gone. Fails with `InvalidParameter` for a channel in
 * which the bot may not post.
 */
export const makePostPanel = Effect.gen(function* () {
  const store = yield* CommunityStore;
  const languages = yield* Languages;
  const panelOf = yield* makePanelMessage;
  const { channels, findChannels } = yield* makeGuildChannels;
  const { resting } = yield* StorageUse;

  return Effect.fn("Panel.post")(
    function* (place: ScopedGuild, channelId: string, text: string | null, origin: WriteOrigin) {
      if (resting() !== null) return yield* new PlatformUnavailable({ operation: "Panel.post" });
      const { channels: listed, locale } = yield* findChannels(place.guildId);
      if (!listed.some(({ id, mayPost }) => id === channelId && mayPost)) return yield* closed;
      const typed = text === null || text.trim() === "" ? null : text;
      const language = yield* languages.ofLocale(locale);
      const message = messageBody(yield* panelOf(place, typed, language));
      const { post, edit } = yield* channels;
      const { panels } = foundOrNew(yield* store.find(placeOf(place)), place);
      const posted = panels.find((panel) => panel.channelId === channelId)?.messageId ?? null;
      const isChanged = posted !== null && (yield* edit(channelId, posted, message));
      const once = onceOf(place.scope.pid, posted ?? channelId);
      const messageId = isChanged ? posted : yield* post(channelId, message, once);
      const at = yield* Clock.currentTimeMillis;
      yield* store.savePanel({
        ...origin,
        ...placeOf(place),
        panel: { channelId, messageId, text: typed },
        at,
      });
      return messageId;
    },
    Effect.catchTag("PostRefused", ({ reason }) =>
      Effect.fail(reason === "channel_closed" ? closed : InvalidParameter.one("text", { is: "panel_text" })),
    ),
  );
});

/** The same for every panel that takes the place of the same message, so that posts at once make one panel. */
const onceOf = (pid: Pid, replaced: string): string => `${pid.slice(-12)}${replaced.slice(-12)}`;

const closed = InvalidParameter.one("channelId", { is: "channel" });
