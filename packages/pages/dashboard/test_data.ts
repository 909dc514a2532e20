/** Data that the pages show in tests. */
import type { GuildId, KeyId, Pid } from "@accountlink/core";
import type { KeyDetails } from "@accountlink/core/keys";
import type { OwnGuild } from "@accountlink/core/platforms";
import type { UsageDay, UsageGroup } from "@accountlink/core/usage";
import { makeKey as makeApiKey } from "@accountlink/testing";

const guildId = "700000000000000001" as GuildId;
const scope = { kind: "guild", guildId, pid: "pid_0123456789abcdefghij" as Pid, account: "acme" } as const;

export const makeKey = (chosen: Partial<KeyDetails> = {}): KeyDetails => ({
  ...makeApiKey(scope, { id: "Aa0Bb1Cc2Dd3" as KeyId, name: "Bot" }),
  lastUsedAt: null,
  previousSecretEndsAt: null,
  revokedAt: null,
  ...chosen,
});

export const makeGuild = (name: string): OwnGuild => ({ guildId, name, bot: true, manager: true });

const groups: ReadonlyArray<UsageGroup> = ["lookup", "bulk", "write", "alts", "session"];

/** Days on which each group of routes has the same counts. */
export const makeDays = (count: number, served: number, refused: number): ReadonlyArray<UsageDay> =>
  Array.from({ length: count }, (_, index) => ({
    day: `2026-11-${String(index + 1).padStart(2, "0")}`,
    groups: groups.map((group) => ({ group, served, refused, errors: 0 })),
  }));
