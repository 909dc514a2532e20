/** The panel: a message for everybody, with which members link their accounts. */
import { CommunityStore, foundOrNew } from "@accountlink/core/communities";
import { InvalidParameter } from "@accountlink/core/errors";
import { makeGuildChannels } from "@accountlink/core/platforms";
import { DashboardChannels } from "@accountlink/http-api";
import { Effect, Semaphore } from "effect";
import { type Language, Languages } from "../languages/mod.ts";
import { makeCommunity, type Place } from "./community.ts";
import { type Message, messageBody, plain } from "./message.ts";

/** The most characters of a manager's text, in UTF-16 as the chat platform counts them. */
export const { longestPanelText } = DashboardChannels;

/** Returns a function that makes a panel. Without a text, one sentence asks members to link. */
export const makePanelMessage = Effect.map(makeCommunity, (community) =>
  Effect.fnUntraced(function* (place: Place, text: string | null, language: Language) {
    const game = community.game(language);
    const sentence = text === null ? language.text("chat.panel.ask", { game }) : plain(text);
    const message: Message = {
      content: `**${yield* community.name(place)}**\n${sentence}`,
      buttons: [
        { label: language.text("chat.verify.start"), url: community.verifyUrl(place) },
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

  const postNow = Effect.fnUntraced(
    function* (place: Place, channelId: string, text: string | null) {
      const { channels: listed, locale } = yield* findChannels(place.guildId);
      if (!listed.some(({ id, mayPost }) => id === channelId && mayPost)) return yield* closed;
      const typed = text === null || text.trim() === "" ? null : text;
      const language = yield* languages.ofLocale(locale);
      const message = messageBody(yield* panelOf(place, typed, language));
      const { post, edit } = yield* channels;
      const key = { pid: place.scope.pid, guildId: place.guildId };
      const { panels } = foundOrNew(yield* store.find(key), place);
      const posted = panels.find((panel) => panel.channelId === channelId)?.messageId ?? null;
      const isChanged = posted !== null && (yield* edit(channelId, posted, message));
      const messageId = isChanged ? posted : yield* post(channelId, message);
      yield* store.savePanel(key, { channelId, messageId, text: typed });
      return messageId;
    },
    Effect.catchTag("PostRefused", ({ reason }) =>
      Effect.fail(reason === "channel_closed" ? closed : InvalidParameter.one("text", refusedText)),
    ),
  );

  return Effect.fn("Panel.post")((place: Place, channelId: string, text: string | null) =>
    inTurn(`${place.scope.pid} ${channelId}`, postNow(place, channelId, text)),
  );
});

/** The channels in which a panel is being posted, with how many posts wait. All pages of a process share them. */
const turns = new Map<string, { readonly turn: Semaphore.Semaphore; waiting: number }>();

/** Runs one effect of a channel after the other, because two posts at once would make two panels. */
const inTurn = <A, E, R>(channel: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const queue = turns.get(channel) ?? { turn: Semaphore.makeUnsafe(1), waiting: 0 };
    turns.set(channel, queue);
    queue.waiting++;
    const leave = Effect.sync(() => {
      if (--queue.waiting === 0) turns.delete(channel);
    });
    return Effect.ensuring(queue.turn.withPermits(1)(effect), leave);
  });

const closed = InvalidParameter.one("channelId", "expected a channel in which the bot may post");

const refusedText = "the chat platform refuses this text";
