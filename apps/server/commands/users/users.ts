import { type ChatId, UserData } from "@accountlink/core";
import { type ErasurePreview, type UserErased, UserExports } from "@accountlink/core/users";
import { Effect, Record, Stdio, Stream, Struct } from "effect";
import { chatIdFlag, switchFlag } from "../../cli/flags.ts";
import { answer, countOf, jsonWanted } from "../../cli/output.ts";
import { StorageLocation } from "../../config/resolved_config.ts";
import { printable } from "../../message_text.ts";
import { describe, group, managed, operatorOrigin } from "../command.ts";

const exportUserCommand = managed("export", { chatId: chatIdFlag }, function* ({ chatId }) {
  const text = yield* (yield* UserExports).json(chatId, (yield* jsonWanted) ? 0 : 2);
  const lines = Stream.concat(Stream.map(text, printable), Stream.make("\n"));
  return yield* Stream.run(lines, (yield* Stdio.Stdio).stdout());
}).pipe(
  describe(
    [
      "Print everything that is stored about a chat user as JSON: links in every community, " +
        "sightings at addresses and in browsers, reviews, sessions, flows, sign-ins, accounts with " +
        "their keys, roles in accounts, and the audit entries that name the user.",
      "The IP addresses of sightings are decrypted, since they are the user's own data. Give the output to nobody else.",
    ],
    { "accountlink users export --chat-id 100001 > user.json": "To a file" },
  ),
);

const flags = {
  chatId: chatIdFlag,
  dryRun: switchFlag("dry-run", "Erase nothing, and print what would be erased"),
};

const eraseUserCommand = managed("erase", flags, function* ({ chatId, dryRun }) {
  const before = yield* (yield* UserData).previewErasure(chatId);
  const { staysSuspended, staysBlocked } = before;
  const erased = yield* dryRun ? preview(chatId, before) : (yield* UserData).erase(chatId, operatorOrigin());
  const did = dryRun ? "Would erase" : "Erased";
  const { text, json } = yield* StorageLocation;
  yield* answer(
    { dryRun, chatId, ...erased, staysSuspended, staysBlocked, ...json },
    `${did} chat user ${chatId} from ${text}: ${countsOf(erased)}${
      staysSuspended
        ? ". The user owns a suspended account, so a keyed hash of the chat ID keeps the suspension"
        : ""
    }${staysBlocked ? ". A community blocks the user, so a keyed hash of the chat ID keeps the block" : ""}`,
  );
}).pipe(
  describe(
    [
      "Erase a chat user from every scope: links, records, sightings and reviews are deleted, active " +
        "sessions and proofs end, and the user is removed from the audit log.",
      "An account of the user loses its chat ID and its name, and its keys are refused within a second. It cannot be undone.",
    ],
    {
      "accountlink users erase --chat-id 100001 --dry-run": "See what would be erased",
      "accountlink users erase --chat-id 100001": "Erase it",
    },
  ),
);

const preview = Effect.fnUntraced(function* (chatId: ChatId, { keys }: Pick<ErasurePreview, "keys">) {
  const user = yield* (yield* UserData).find(chatId);
  const counted = Struct.pick(user, [
    "records",
    "sightings",
    "browsers",
    "reviews",
    "entries",
    "messages",
    "accounts",
  ]);
  return {
    ...Record.map(counted, (found) => found.length),
    revokedKeys: keys.map(({ id }) => id),
  } satisfies UserErased;
});

const countsOf = (erased: UserErased): string =>
  [
    countOf(erased.records, "record"),
    countOf(erased.sightings, "sighting"),
    countOf(erased.browsers, "browser"),
    countOf(erased.reviews, "review"),
    `what names them in ${countOf(erased.entries, "line")} of the audit log`,
    `${countOf(erased.messages, "message")} in log channels`,
    countOf(erased.accounts, "account"),
    countOf(erased.revokedKeys.length, "key"),
  ].join(", ");

export const usersCommand = group(
  "users",
  "Show or erase what is stored about a chat user, also next to a running server.",
  [exportUserCommand, eraseUserCommand],
);
