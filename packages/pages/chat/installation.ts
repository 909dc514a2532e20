/** The commands in the form in which the chat platform lists them, in every language. */
import type { RESTPostAPIApplicationCommandsJSONBody } from "discord-api-types/v10";
import { Effect } from "effect";
import type { PlainKey } from "../languages/language.ts";
import { type Language, type LanguageTag, languageTags } from "../languages/mod.ts";
import { Languages } from "../languages/reader_language.ts";
import { type Listing, listings } from "./commands.ts";
import { longestPanelText } from "./panel.ts";

// The enums of discord-api-types exist at run time, and this package only uses its types.
/* oxlint-disable typescript/no-unsafe-enum-assignment */

/** The chat platform's names of languages that it names otherwise. It has no Arabic. */
const locales: Readonly<Partial<Record<string, ReadonlyArray<string>>>> = {
  es: ["es-ES", "es-419"],
  "zh-CN": ["zh-CN", "zh-TW"],
  ar: [],
};

/** @internal */
export const commandBodies: Effect.Effect<ReadonlyArray<RESTPostAPIApplicationCommandsJSONBody>> = Effect.gen(
  function* () {
    const languages = yield* Languages;
    const english = yield* languages.get("en");
    const others = yield* Effect.forEach(
      languageTags.filter((tag) => tag !== "en"),
      languages.get,
    );
    return listings.map((listing) => bodyOf(listing, english, others));
  },
).pipe(Effect.provide(Languages.layer));

const bodyOf = (
  { name, texts, option, permission }: Listing,
  english: Language,
  others: ReadonlyArray<Language>,
): RESTPostAPIApplicationCommandsJSONBody => {
  const inOthers = (key: PlainKey) =>
    Object.fromEntries(
      others.flatMap((language) =>
        localesOf(language.tag).map((locale) => [locale, language.text(key)] as const),
      ),
    );
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
  if (option === undefined) return command;
  const optionBody = {
    name: option,
    name_localizations: inOthers(`chat.option.${option}.name`),
    ...described(`chat.option.${option}.description`),
  };
  const options =
    option === "user"
      ? [{ ...optionBody, type: 6, required: true }]
      : [{ ...optionBody, type: 3, max_length: longestPanelText }];
  return { ...command, options };
};

const localesOf = (tag: LanguageTag): ReadonlyArray<string> => locales[tag] ?? [tag];
