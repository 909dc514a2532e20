/** The languages of the chat platform, by its own names: it refuses every command if one of them has a name in another. */
import type { Locale } from "discord-api-types/v10";
import type { PlainKey } from "../languages/language.ts";
import type { Language } from "../languages/mod.ts";

const locales: Readonly<Record<`${Locale}`, true>> = {
  bg: true,
  cs: true,
  da: true,
  de: true,
  el: true,
  "en-GB": true,
  "en-US": true,
  "es-419": true,
  "es-ES": true,
  fi: true,
  fr: true,
  hi: true,
  hr: true,
  hu: true,
  id: true,
  it: true,
  ja: true,
  ko: true,
  lt: true,
  nl: true,
  no: true,
  pl: true,
  "pt-BR": true,
  ro: true,
  ru: true,
  "sv-SE": true,
  th: true,
  tr: true,
  uk: true,
  vi: true,
  "zh-CN": true,
  "zh-TW": true,
};

export const chatLocales = Object.keys(locales);

/** The name of a command as a client in this locale shows it: in English, unless the platform has the locale. */
export const commandName = (
  { name, texts }: { readonly name: string; readonly texts: { readonly name: PlainKey } },
  locale: string,
  language: Language,
): string => (Object.hasOwn(locales, locale) ? language.text(texts.name) : name);
