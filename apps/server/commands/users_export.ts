/**
 * `accountlink users export`
 */
import { AddressVault, type FoundUser, formatTimestamp, type Millis, UserData } from "@accountlink/core";
import { Clock, Console, Effect, Option } from "effect";
import { Command } from "effect/cli";
import { NetAddress } from "effect/net";
import { chatIdFlag } from "../internal/flags.ts";
import { paragraphs } from "../internal/help.ts";
import { keyJson } from "../internal/key_output.ts";
import { jsonWanted, printable } from "../internal/output.ts";
import { managementLayer } from "../management.ts";

export const exportUserCommand = Command.make("export", { chatId: chatIdFlag }, ({ chatId }) =>
  Effect.gen(function* () {
    const found = yield* (yield* UserData).find(chatId);
    const user = { chatId, ...(yield* userJson(found)) };
    yield* Console.log(printable(JSON.stringify(user, null, jsonWanted() ? 0 : 2)));
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    paragraphs(
      "Print all that is kept about a chat user, as JSON: records in every scope, sightings, sessions, flows, accounts with their keys, and the audit entries that name the user.",
      "The addresses of sightings are decrypted, since they are the user's own data. Nobody else should get to see them.",
    ),
  ),
  Command.withShortDescription("Print all that is kept about a chat user"),
  Command.withExamples([
    { command: "accountlink users export --chat-id 100001 > user.json", description: "To a file" },
  ]),
);

const userJson = Effect.fnUntraced(function* (found: FoundUser) {
  const vault = yield* AddressVault;
  const now = yield* Clock.currentTimeMillis;
  const sightings = yield* Effect.forEach(found.sightings, ({ pid, sighting: { address, seenAt } }) =>
    Effect.map(vault.reveal(address), (revealed) => ({
      pid,
      // Null when its key is not among the address keys any more.
      address: Option.getOrNull(Option.map(revealed, ({ ip }) => NetAddress.formatIp(ip))),
      seenAt: formatTimestamp(seenAt),
    })),
  );
  return {
    accounts: found.accounts,
    keys: found.keys.map((key) => keyJson(key, now)),
    records: found.records.map(({ scope, record: { linkedAt, lastVerifiedAt, chatId: _, ...record } }) => ({
      scope,
      ...record,
      linkedAt: formatTimestamp(linkedAt),
      lastVerifiedAt: formatTimestamp(lastVerifiedAt),
    })),
    sightings,
    // The hash of its sid says nothing to anybody.
    sessions: found.sessions.map(({ id: _, createdAt, expiresAt, completedAt, ...session }) => ({
      ...session,
      createdAt: formatTimestamp(createdAt),
      expiresAt: formatTimestamp(expiresAt),
      completedAt: timeOrNull(completedAt),
    })),
    flows: found.flows.map(({ pid, gameId, expiresAt }) => ({
      pid,
      gameId,
      expiresAt: formatTimestamp(expiresAt),
    })),
    entries: found.entries.map(({ at, ...entry }) => ({ ...entry, at: formatTimestamp(at) })),
  };
});

const timeOrNull = (time: Millis | null): string | null => (time === null ? null : formatTimestamp(time));
