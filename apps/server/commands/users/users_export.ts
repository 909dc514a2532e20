import { AddressVault, UserData } from "@accountlink/core";
import { signedBy } from "@accountlink/core/audit";
import { formatTimestamp } from "@accountlink/core/timestamp";
import type { FoundUser } from "@accountlink/core/users";
import { Clock, Console, Effect, Option } from "effect";
import { Command } from "effect/cli";
import { NetAddress } from "effect/net";
import { chatIdFlag } from "../../cli/flags.ts";
import { jsonWanted, timeOrNull } from "../../cli/output.ts";
import { paragraphs } from "../../cli/usage.ts";
import { printable } from "../../message_text.ts";
import { keyJson } from "../keys/key_output.ts";
import { managementLayer } from "../management_layer.ts";

export const exportUserCommand = Command.make("export", { chatId: chatIdFlag }, ({ chatId }) =>
  Effect.gen(function* () {
    const found = yield* (yield* UserData).find(chatId);
    const user = { chatId, ...(yield* userJson(found)) };
    yield* Console.log(printable(JSON.stringify(user, null, (yield* jsonWanted) ? 0 : 2)));
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    paragraphs(
      "Print everything that is stored about a chat user as JSON: records in every scope, sightings at addresses and in browsers, reviews, sessions, flows, sign-ins, accounts with their keys, roles in accounts, and the audit entries that name the user.",
      "The IP addresses of sightings are decrypted, since they are the user's own data. Give the output to nobody else.",
    ),
  ),
  Command.withShortDescription("Print everything that is stored about a chat user"),
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
      // Null if the address key of the sighting is no longer configured.
      address: Option.getOrNull(Option.map(revealed, ({ ip }) => NetAddress.formatIp(ip))),
      seenAt: formatTimestamp(seenAt),
    })),
  );
  return {
    accounts: found.accounts,
    memberships: found.memberships.map(({ account: { name }, role, since }) => ({
      account: name,
      role,
      since: formatTimestamp(since),
    })),
    keys: found.keys.map((key) => keyJson(key, now)),
    records: found.records.map(({ scope, record: { linkedAt, lastVerifiedAt, chatId: _, ...record } }) => ({
      scope,
      ...record,
      linkedAt: formatTimestamp(linkedAt),
      lastVerifiedAt: formatTimestamp(lastVerifiedAt),
    })),
    sightings,
    // Leaves out the hash, since it does not identify a browser to the reader.
    browsers: found.browsers.map(({ pid, sighting }) => ({ pid, seenAt: formatTimestamp(sighting.seenAt) })),
    reviews: found.reviews.map(({ pid, review: { otherChatId, verdict, note, at } }) => ({
      pid,
      otherChatId,
      verdict,
      note,
      at: formatTimestamp(at),
    })),
    // Leaves out the hash of the sid, since it is useless to the reader.
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
    signIns: found.signIns.map(({ site, account, guilds, createdAt, expiresAt }) => ({
      site,
      account,
      guilds,
      createdAt: formatTimestamp(createdAt),
      expiresAt: formatTimestamp(expiresAt),
    })),
    entries: found.entries.map(({ at, ...entry }) => ({
      ...entry,
      ...signedBy(entry),
      at: formatTimestamp(at),
    })),
  };
});
