import { Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { Command, Flag } from "effect/cli";
import { accountFlag, accountOf, checkScope, scopeFlags, scopeText, targetOf } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerSecret, describe, managed, operatorOrigin } from "../command.ts";
import { descriptionFlag, failed, typesFlag, urlFlag } from "./webhook_flags.ts";
import { webhookJson } from "./webhook_output.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Account whose events are sent")),
  url: urlFlag,
  ...scopeFlags,
  types: typesFlag,
  description: descriptionFlag.pipe(Flag.withDefault("")),
};

type Choice = Command.Command.Config.Infer<typeof flags>;

export const createWebhookCommand = managed("create", flags, function* (choice) {
  const { url, types, description } = choice;
  const webhooks = yield* Webhooks;
  const account = yield* accountOf(choice.account, "free");
  const { secret, webhook } = yield* webhooks
    .create({ account, target: targetOf(choice), url, types, description }, operatorOrigin())
    .pipe(
      Effect.catchTags({
        InvalidParameter: failed("create the webhook"),
        Conflict: () =>
          new CommandFailed({
            problem: "Cannot create the webhook: its scope has as many as it may",
          }),
      }),
    );
  yield* answerSecret(
    { ...webhookJson(webhook), secret },
    secret,
    `This is the secret of ${webhook.id}, shown this once: ${scopeText(webhook.scope)} scope of account "${webhook.scope.account}"`,
  );
}).pipe(
  Command.validate((choice: Choice) => checkScope(choice)),
  describe("Create a webhook and print its secret once. A running server sends it the events from now on.", {
    "accountlink webhooks create --account acme --url https://example.com/links":
      "A webhook for everything that the account links",
    "accountlink webhooks create --account acme --guild-id 700000000000000001 --url https://example.com/links --type link.set --type link.removed":
      "A webhook for two types of events of one guild",
  }),
);
