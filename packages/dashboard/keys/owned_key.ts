/**
 * Keys as their owners see them.
 */
import type { GuildId } from "@accountlink/core";
import { type ApiKey, isAccepted } from "@accountlink/core/keys";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "@accountlink/html";
import { dayMs } from "../look/time.ts";

/** A key, with what its owner is told of it. */
export type OwnedKey = ApiKey & {
  readonly access: "full" | "read" | "verify";
  readonly lastUsedAt: Millis | null;
  /** Until when an earlier secret is accepted; null where none is. */
  readonly previousSecretEndsAt: Millis | null;
};

/** A guild of an owner, as far as the platform tells. */
export interface OwnedGuild {
  readonly guildId: GuildId;
  readonly name: string | null;
  /** Whether the bot is in it. */
  readonly bot: boolean;
  /** Whether the owner may manage it. */
  readonly manager: boolean;
}

type KeyState = "active" | "disabled" | "expired" | "revoked";

/** What a key is at a time: its status, or expired. */
const stateOf = (key: ApiKey, now: Millis): KeyState =>
  key.status === "active" && !isAccepted(key, now) ? "expired" : key.status;

/** Whether an accepted key expires within a week. */
export const endsSoon = (key: ApiKey, now: Millis): boolean =>
  isAccepted(key, now) && key.expiresAt !== null && key.expiresAt - now < 7 * dayMs;

const states = {
  active: { label: "Active", tone: "good" },
  disabled: { label: "Disabled", tone: "warn" },
  expired: { label: "Expired", tone: "bad" },
  revoked: { label: "Revoked", tone: "bad" },
} as const;

/** The state of a key, in a word. */
export const stateHtml = (key: ApiKey, now: Millis): Html => {
  const { label, tone } = states[stateOf(key, now)];
  return html`<span class="badge ${tone}">${label}</span>`;
};

/** What a key is for. */
export const accesses = {
  full: { label: "Everything", hint: "Look-ups, writes, alts and verification sessions" },
  read: { label: "Reading", hint: "Look-ups, bulk, status, alts and reading reviews" },
  verify: { label: "Verification", hint: "Verification sessions and single look-ups" },
} as const satisfies Record<OwnedKey["access"], { readonly label: string; readonly hint: string }>;

/** The name of a key; its public id where it has none. */
export const nameOf = ({ name, id }: Pick<ApiKey, "name" | "id">): string =>
  name === "" ? `Key ${id}` : name;

/** Where a key counts: everywhere, or in a guild. */
export const scopeText = ({ scope }: ApiKey, guilds: ReadonlyArray<OwnedGuild>): string => {
  if (scope.kind === "global") return "All communities";
  const name = guilds.find(({ guildId }) => guildId === scope.guildId)?.name ?? null;
  return name === null ? `Community ${scope.guildId}` : `${name} (${scope.guildId})`;
};
