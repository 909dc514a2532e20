/** The commands of the bot, as the chat platform lists them. */
import type { PlainKey } from "../languages/language.ts";
import type { Language } from "../languages/mod.ts";

export interface Listing {
  /** The English name, which identifies the command in every language. It is never changed. */
  readonly name: string;
  /** The keys of the texts. An entry in the menu of a user has no description. */
  readonly texts: { readonly name: PlainKey; readonly description: PlainKey | null };
  /** The options that a user may type. A user is required where it is the only one. */
  readonly options?: ReadonlyArray<"user" | "text" | "game">;
  /** The permission that a member needs by default, by the number of its bit; null for everybody. */
  readonly permission: number | null;
}

const textsOf = <const Name extends "verify" | "unlink" | "whois" | "update" | "panel" | "help">(
  name: Name,
) => ({ name: `chat.command.${name}.name`, description: `chat.command.${name}.description` }) as const;

const menuOf = <const Name extends "whois" | "update">(name: Name) =>
  ({ name: `chat.command.${name}.menu`, description: null }) as const;

const permissions = { manageServer: 5, manageRoles: 28, moderateMembers: 40 } as const;

/** The only command that answers to everybody. */
export const panelName = "panel";

export const verifyListing: Listing = { name: "verify", texts: textsOf("verify"), permission: null };

export const listings: ReadonlyArray<Listing> = [
  verifyListing,
  { name: "unlink", texts: textsOf("unlink"), permission: null },
  {
    name: "whois",
    texts: textsOf("whois"),
    options: ["user", "game"],
    permission: permissions.moderateMembers,
  },
  { name: "Linked account", texts: menuOf("whois"), permission: permissions.moderateMembers },
  { name: "update", texts: textsOf("update"), options: ["user"], permission: permissions.manageRoles },
  { name: "Update roles", texts: menuOf("update"), permission: permissions.manageRoles },
  { name: panelName, texts: textsOf("panel"), options: ["text"], permission: permissions.manageServer },
  { name: "help", texts: textsOf("help"), permission: null },
];

/** The languages of the chat platform, by its own names: it refuses every command if one of them has a name in another. */
export const chatLocales: ReadonlyArray<string> =
  "bg cs da de el en-GB en-US es-419 es-ES fi fr hi hr hu id it ja ko lt nl no pl pt-BR ro ru sv-SE th tr uk vi zh-CN zh-TW".split(
    " ",
  );

/** The name of a command as a client in this locale shows it: in English, unless the platform has the locale. */
export const commandName = (
  { name, texts }: Pick<Listing, "name" | "texts">,
  locale: string,
  language: Language,
): string => (chatLocales.includes(locale) ? language.text(texts.name) : name);
