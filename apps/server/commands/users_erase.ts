/**
 * `accountlink users erase`
 */
import { type ChatId, UserData, type UserErased } from "@accountlink/core";
import { Effect } from "effect";
import { Command, Flag } from "effect/cli";
import { chatIdFlag } from "../internal/flags.ts";
import { paragraphs } from "../internal/help.ts";
import { operatorOrigin } from "../internal/operator.ts";
import { answer, countOf } from "../internal/output.ts";
import { managementLayer } from "../management.ts";
import { Place } from "../place.ts";

const flags = {
  chatId: chatIdFlag,
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Erase nothing, and say what would be erased"),
    Flag.withDefault(false),
  ),
};

export const eraseUserCommand = Command.make("erase", flags, ({ chatId, dryRun }) =>
  Effect.gen(function* () {
    const erased = yield* dryRun ? preview(chatId) : (yield* UserData).erase(chatId, operatorOrigin());
    const place = yield* Place;
    const did = dryRun ? "Would erase" : "Erased";
    yield* answer(
      { dryRun, chatId, ...erased, ...place.json },
      `${did} chat user ${chatId} from ${place.text}: ${countsOf(erased)}`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    paragraphs(
      "Erase a chat user from every scope, at once: links, records and sightings are deleted, sessions and proofs that are under way end, and the audit log names the user no more.",
      "An account of the user loses its chat ID and its name, and its keys are refused within a second. It cannot be undone.",
    ),
  ),
  Command.withShortDescription("Erase a chat user from every scope"),
  Command.withExamples([
    {
      command: "accountlink users erase --chat-id 100001 --dry-run",
      description: "See what would be erased",
    },
    { command: "accountlink users erase --chat-id 100001", description: "Erase it" },
  ]),
);

/** What an erasure would erase now. */
const preview = Effect.fnUntraced(function* (chatId: ChatId) {
  const { records, sightings, entries, accounts, keys } = yield* (yield* UserData).find(chatId);
  return {
    records: records.length,
    sightings: sightings.length,
    entries: entries.length,
    accounts: accounts.length,
    revokedKeys: keys.filter(({ status }) => status !== "revoked").map(({ id }) => id),
  } satisfies UserErased;
});

const countsOf = ({ records, sightings, entries, accounts, revokedKeys }: UserErased): string =>
  [
    countOf(records, "record"),
    countOf(sightings, "sighting"),
    `what names them in ${countOf(entries, "line")} of the audit log`,
    countOf(accounts, "account"),
    countOf(revokedKeys.length, "key"),
  ].join(", ");
