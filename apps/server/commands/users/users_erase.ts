import { type ChatId, UserData } from "@accountlink/core";
import type { UserErased } from "@accountlink/core/users";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { chatIdFlag, switchFlag } from "../../cli/flags.ts";
import { countOf } from "../../cli/output.ts";
import { paragraphs } from "../../cli/usage.ts";
import { answerWithLocation, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";

const flags = {
  chatId: chatIdFlag,
  dryRun: switchFlag("dry-run", "Erase nothing, and print what would be erased"),
};

export const eraseUserCommand = Command.make("erase", flags, ({ chatId, dryRun }) =>
  Effect.gen(function* () {
    const erased = yield* dryRun ? preview(chatId) : (yield* UserData).erase(chatId, operatorOrigin());
    const did = dryRun ? "Would erase" : "Erased";
    yield* answerWithLocation(
      { dryRun, chatId, ...erased },
      (location) => `${did} chat user ${chatId} from ${location}: ${countsOf(erased)}`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    paragraphs(
      "Erase a chat user from every scope: links, records, sightings and reviews are deleted, active sessions and proofs end, and the user is removed from the audit log.",
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

const preview = Effect.fnUntraced(function* (chatId: ChatId) {
  const { records, sightings, browsers, reviews, entries, accounts, keys } = yield* (yield* UserData).find(
    chatId,
  );
  return {
    records: records.length,
    sightings: sightings.length,
    browsers: browsers.length,
    reviews: reviews.length,
    entries: entries.length,
    accounts: accounts.length,
    revokedKeys: keys.filter(({ status }) => status !== "revoked").map(({ id }) => id),
  } satisfies UserErased;
});

const countsOf = ({
  records,
  sightings,
  browsers,
  reviews,
  entries,
  accounts,
  revokedKeys,
}: UserErased): string =>
  [
    countOf(records, "record"),
    countOf(sightings, "sighting"),
    countOf(browsers, "browser"),
    countOf(reviews, "review"),
    `what names them in ${countOf(entries, "line")} of the audit log`,
    countOf(accounts, "account"),
    countOf(revokedKeys.length, "key"),
  ].join(", ");
