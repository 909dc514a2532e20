/** The commands in the form in which the chat platform lists them, in every language. */
import { longestUsername } from "@accountlink/core/platforms";
import type { RESTPostAPIApplicationCommandsJSONBody } from "discord-api-types/v10";
import { Effect } from "effect";
import type { PlainKey } from "../languages/language.ts";
import type { Language } from "../languages/mod.ts";
import { Languages } from "../languages/reader_language.ts";
import { chatLocales, type Listing, listings } from "./listings.ts";
import { longestPanelText } from "./panel.ts";

// The enums of discord-api-types exist at run time, and this package only uses its types.
/* oxlint-disable typescript/no-unsafe-enum-assignment */

/** @internal */
export const commandBodies: Effect.Effect<ReadonlyArray<RESTPostAPIApplicationCommandsJSONBody>> = Effect.gen(
  function* () {
    const languages = yield* Languages;
    const english = yield* languages.get("en");
    const localized = yield* Effect.forEach(chatLocales, (locale) => {
      const tag = languages.find(locale);
      return tag === null || tag === "en"
        ? Effect.succeed([])
        : Effect.map(languages.get(tag), (language) => [[locale, language] as const]);
    });
    return listings.map((listing) => bodyOf(listing, english, localized.flat()));
  },
).pipe(Effect.provide(Languages.layer));

const bodyOf = (
  { name, texts, options = [], permission }: Listing,
  english: Language,
  localized: ReadonlyArray<readonly [locale: string, language: Language]>,
): RESTPostAPIApplicationCommandsJSONBody => {
  const inOthers = (key: PlainKey) =>
    Object.fromEntries(localized.map(([locale, language]) => [locale, language.text(key)]));
  const shared = {
    name,
    name_localizations: inOthers(texts.name),
    default_member_permissions: permission === null ? null : String(1n << BigInt(permission)),
    // Commands for everybody also work in direct messages, where they lead to the user's own data.
    contexts: permission === null ? [0, 1] : [0],
    integration_types: [0],
  };
  if (texts.description === null) return { ...shared, type: 2 };
  const described = (key: PlainKey) => ({
    description: english.text(key),
    description_localizations: inOthers(key),
  });
  const command = { ...shared, ...described(texts.description), type: 1 } as const;
  if (options.length === 0) return command;
  const bodies = options.map((option) => {
    const shown = {
      name: option,
      name_localizations: inOthers(`chat.option.${option}.name`),
      ...described(`chat.option.${option}.description`),
    };
    return option === "user"
      ? ({ ...shown, type: 6, required: options.length === 1 } as const)
      : ({ ...shown, type: 3, max_length: option === "game" ? longestUsername : longestPanelText } as const);
  });
  return { ...command, options: bodies };
};
