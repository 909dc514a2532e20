import { type ApiKey, isAccepted, type KeyAccess, type KeyDetails } from "@accountlink/core/keys";
import type { OwnGuild } from "@accountlink/core/platforms";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";
import { menuField } from "./field.ts";
import { englishListName } from "./names.ts";
import { capitalised, say } from "./say.ts";
import { inTimeHtml, timeHtml } from "./time.ts";

export type NamedGuild = Pick<OwnGuild, "guildId" | "name">;

type KeyState = "active" | "disabled" | "expired" | "revoked";

const stateOf = (key: ApiKey, now: Millis): KeyState =>
  key.status === "active" && !isAccepted(key, now) ? "expired" : key.status;

export const endsSoon = (key: ApiKey, now: Millis): boolean =>
  isAccepted(key, now) && key.expiresAt !== null && key.expiresAt - now < 7 * dayMs;

const states = {
  active: { label: "Active", tone: "good" },
  disabled: { label: "Disabled", tone: "warn" },
  expired: { label: "Expired", tone: "bad" },
  revoked: { label: "Revoked", tone: "bad" },
} as const;

export const stateHtml = (key: ApiKey, now: Millis): Html => {
  const { label, tone } = states[stateOf(key, now)];
  return html`<span class="badge ${tone}">${label}</span>`;
};

export const accesses = {
  full: { label: "May look up and change links", hint: "Alts and verification sessions too" },
  read: { label: "May look up links", hint: "One or many, with alts and events; it changes nothing" },
  verify: { label: "May verify users", hint: "Verification sessions, and lookups of one user at a time" },
  game: {
    label: "May verify players of a game",
    hint: "As verifying users; the game’s server also says which account plays. Keep this key on your servers",
  },
  manage: {
    label: "May manage the community",
    hint: "Also what your team does here with links, blocks, alts, roles and texts. Only owners make such keys. Keep this key on your servers",
  },
} as const satisfies Record<KeyAccess, { readonly label: string; readonly hint: string }>;

export const nameOf = ({ name, id }: Pick<ApiKey, "name" | "id">): string =>
  name === "" ? `Key ${id}` : name;

export const expiryHtml = (key: ApiKey, now: Millis): Html | string =>
  key.expiresAt === null
    ? "never"
    : html`${timeHtml(key.expiresAt)}${
        endsSoon(key, now) ? html` <span class="badge warn">${inTimeHtml(key.expiresAt - now)}</span>` : null
      }`;

export const scopeText = ({ scope }: Pick<ApiKey, "scope">, guilds: ReadonlyArray<NamedGuild>): string => {
  const name = scope.kind === "global" ? null : guilds.find(({ guildId }) => guildId === scope.guildId)?.name;
  return englishListName({ scope, guildName: name ?? null });
};

/** @param chosen the ID of a key; null for all keys */
export const keyMenu = (keys: ReadonlyArray<KeyDetails>, chosen: string | null): Html =>
  menuField({
    name: "keyId",
    label: say("audit.key_label"),
    value: chosen ?? "",
    choices: [
      { value: "", label: say("audit.all_keys") },
      ...keys.map((key) => ({
        value: key.id as string,
        label: key.name === "" ? capitalised(say("audit.key", { id: key.id })) : key.name,
      })),
    ],
  });
