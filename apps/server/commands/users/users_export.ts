import { UserExports } from "@accountlink/core/users";
import { Console, Effect } from "effect";
import { Command } from "effect/cli";
import { chatIdFlag } from "../../cli/flags.ts";
import { jsonWanted } from "../../cli/output.ts";
import { paragraphs } from "../../cli/usage.ts";
import { printable } from "../../message_text.ts";
import { managementLayer } from "../management_layer.ts";

export const exportUserCommand = Command.make("export", { chatId: chatIdFlag }, ({ chatId }) =>
  Effect.gen(function* () {
    const user = yield* (yield* UserExports).of(chatId);
    yield* Console.log(printable(JSON.stringify(user, null, (yield* jsonWanted) ? 0 : 2)));
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    paragraphs(
      "Print everything that is stored about a chat user as JSON: links in every community, sightings at addresses and in browsers, reviews, sessions, flows, sign-ins, accounts with their keys, roles in accounts, and the audit entries that name the user.",
      "The IP addresses of sightings are decrypted, since they are the user's own data. Give the output to nobody else.",
    ),
  ),
  Command.withShortDescription("Print everything that is stored about a chat user"),
  Command.withExamples([
    { command: "accountlink users export --chat-id 100001 > user.json", description: "To a file" },
  ]),
);
