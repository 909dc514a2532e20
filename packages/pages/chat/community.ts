/** A community, as messages name it. */

import { type ChatId, ChatPlatform, type GameId, type GuildId, LinkStore } from "@accountlink/core";
import { makeAskingName, type ScopedGuild } from "@accountlink/core/communities";
import { makeUsableGameWays, neededForWay } from "@accountlink/core/flow";
import { KeyStore } from "@accountlink/core/keys";
import { isLinked, type Link } from "@accountlink/core/links";
import { visibleName } from "@accountlink/core/name_text";
import { type Guild, Profiles } from "@accountlink/core/platforms";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect, Option } from "effect";
import { flowPath } from "../flow/flow_form.ts";
import { makeGamePage } from "../game_page.ts";
import type { Language } from "../languages/mod.ts";
import { platformNames } from "../page_render.ts";
import { PageSettings } from "../page_settings.ts";
import { accountText, type Button, plain } from "./message.ts";

export const makeCommunity = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const links = yield* LinkStore;
  const platform = yield* ChatPlatform;
  const profiles = yield* Profiles;
  const askingName = yield* makeAskingName;
  const settings = yield* PageSettings;
  const gamePage = yield* makeGamePage;
  const { publicUrl } = yield* HttpSettings;

  const usableGameWays = yield* makeUsableGameWays;

  const nameBy = <E>(find: (guildId: GuildId) => Effect.Effect<Guild | null, E>) =>
    Effect.fnUntraced(function* ({ scope, guildId }: ScopedGuild) {
      const configured = Option.getOrNull(yield* keys.findScopeByPid(scope.pid));
      const chosen = configured?.settings.displayName ?? (yield* find(guildId))?.name ?? null;
      return plain(yield* askingName(scope, { displayName: chosen, guildName: null }));
    });

  return {
    /** The name of the game platform within a sentence. */
    game: (language: Language): string => platformNames(settings, language).gameName,

    /** How a link was last confirmed, as another sentence of a message; empty if that is unknown. */
    proof: ({ proof }: Link, language: Language): string =>
      proof === null
        ? ""
        : `${language.gap}${language.text(`proof.${proof}`, platformNames(settings, language))}`,

    /**
     * What every member needs before linking, if no way is open to all: a sentence, and whether the pages have no way.
     * Null otherwise, and while the game platform has not told what it has.
     */
    needed: (language: Language) =>
      Effect.map(usableGameWays, (usable) => {
        const need = neededForWay(usable);
        if (need === "connection") {
          return { text: language.text("flow.connect", platformNames(settings, language)), hasWay: true };
        }
        return need === "session"
          ? { text: language.text("flow.none", platformNames(settings, language)), hasWay: false }
          : null;
      }),

    /** Leads to where a member enters the code that a game shows. */
    codeButton: (language: Language): Button => ({
      label: language.text("home.code"),
      url: `${publicUrl}/go`,
    }),

    verifyUrl: ({ scope: { pid }, guildId }: ScopedGuild): string =>
      `${publicUrl}${flowPath({ pid, guildId, redirect: null })}`,

    /** The community's name in the markup of messages: as set by its owner, else the name of the guild or the account's owner. */
    name: nameBy(profiles.guild),

    /** The same for a message that stays. Fails while the platform does not tell the name of the guild. */
    lastingName: nameBy((guildId) => Effect.map(platform.findGuild(guildId), Option.getOrNull)),

    findLink: ({ scope }: ScopedGuild, chatId: ChatId) =>
      Effect.map(links.findByChatId(scope.pid, chatId), (record) =>
        Option.getOrNull(Option.filter(record, isLinked)),
      ),

    accountName: (gameId: GameId) =>
      Effect.map(profiles.game(gameId, []), (profile) => visibleName(profile) ?? gameId),

    account: (gameId: GameId) =>
      Effect.map(
        Effect.all([profiles.game(gameId, []), gamePage(gameId)], { concurrency: "unbounded" }),
        ([profile, page]) => accountText(gameId, profile, page),
      ),
  };
});
