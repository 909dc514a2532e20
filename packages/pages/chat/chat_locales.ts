/** The languages of the chat platform, by its own names: it refuses every command if one of them has a name in another. */
import type { PlainKey } from "../languages/language.ts";
import type { Language } from "../languages/mod.ts";

export const chatLocales: ReadonlyArray<string> =
  "bg cs da de el en-GB en-US es-419 es-ES fi fr hi hr hu id it ja ko lt nl no pl pt-BR ro ru sv-SE th tr uk vi zh-CN zh-TW".split(
    " ",
  );

/** The name of a command as a client in this locale shows it: in English, unless the platform has the locale. */
export const commandName = (
  { name, texts }: { readonly name: string; readonly texts: { readonly name: PlainKey } },
  locale: string,
  language: Language,
): string => (chatLocales.includes(locale) ? language.text(texts.name) : name);
